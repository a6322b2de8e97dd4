"""Answers to lesson 17 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
    ("sqrt_plan", "the root rounded down"): (
        ("math.ceil(math.sqrt(length))", "math.isqrt(length)"),
    ),
    ("log_plan", "the larger half first"): (("(start + stop) // 2", "(start + stop + 1) // 2"),),
    ("revolve", "the farthest of equal checkpoints"): (
        (", ahead)\n", ", -ahead)\n"),
        ("ahead = fewest(stop - start, free)[1]", "ahead = abs(fewest(stop - start, free)[1])"),
    ),
    ("checkpoint", "the input on the context"): (
        ("ctx.save_for_backward(x)", "ctx.x = x"),
        ("(x,) = ctx.saved_tensors", "x = ctx.x"),
    ),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("sqrt_plan", "two segments"): (
        "segments-too-long",
        (("math.ceil(math.sqrt(length))", "(length + 1) // 2"),),
    ),
    ("sqrt_plan", "segments of four"): (
        "segments-too-short",
        (("math.ceil(math.sqrt(length))", "4"),),
    ),
    ("log_plan", "a quarter first"): (
        "keeps-much",
        (("(start + stop) // 2", "max(start + 1, (3 * start + stop) // 4)"),),
    ),
    ("revolve", "always in the middle"): (
        "not-the-fewest",
        (
            (
                "ahead = fewest(stop - start, free)[1]",
                "ahead = (stop - start) // 2 if free > 1 else stop - start - 1",
            ),
        ),
    ),
    ("revolve", "always one stage on"): (
        "not-the-fewest",
        (("ahead = fewest(stop - start, free)[1]", "ahead = 1 if free > 1 else stop - start - 1"),),
    ),
    ("checkpoint", "the gradient of x alone"): (
        "parameters-forgotten",
        (
            (
                "y.backward(gradient)\n        return None, start.grad",
                "return None, torch.autograd.grad(y, start, gradient)[0]",
            ),
        ),
    ),
    **{
        (puzzle, f"{what} in {dtype}"): ("rounded", ((old, new.format(dtype)),))
        for puzzle in ("checkpoint", "rng_safe")
        for what, old, new in (
            ("the input", "backward(x)", "backward(x.to(torch.{}).float())"),
            ("what comes in", "backward(gradient)\n", "backward(gradient.to(torch.{}).float())\n"),
            ("what goes out", "None, start.grad", "None, start.grad.to(torch.{}).float()"),
        )
        for dtype in ("float16", "bfloat16")
    },
    ("checkpoint", "twice what comes in"): (
        "incoming-gradient",
        (("y.backward(gradient)", "y.backward(2 * gradient)"),),
    ),
    ("rng_safe", "bfloat16 whatever the dtype"): (
        "other-precision",
        (("torch.get_autocast_dtype(device)", "torch.bfloat16"),),
    ),
    ("rng_safe", "float buffers alone"): (
        "statistics-twice",
        (
            ("stage.buffers()]", "stage.buffers() if buffer.is_floating_point()]"),
            (
                "list(ctx.stage.buffers())",
                "[b for b in ctx.stage.buffers() if b.is_floating_point()]",
            ),
        ),
    ),
}
