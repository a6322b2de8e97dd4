"""Answers to lessons 16 to 20, `occupancy` and `sectors` that come close.

Each is the solution with a change: the right ones are unusual, the wrong ones are right for most
numbers. They round, cut, drop what is empty, or count what is equal twice.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.puzzle import index
from tests.course.puzzles.rules import SOLUTIONS

Changes = tuple[tuple[str, str], ...]

RIGHT: dict[tuple[str, str], Changes] = {
    ("occupancy", "blocks are counted one by one"): (
        (
            "    return min(most)\n",
            "    return max(n for n in range(limits['blocks'] + 1) if n <= min(most))\n",
        ),
    ),
    ("sectors", "every byte is looked at"): (
        (
            "{first // 32 for first in firsts}",
            "{(first + byte) // 32 for first in firsts for byte in range(itemsize)}",
        ),
    ),
    ("sectors", "counted from the offset's own sector"): (
        ("(offset + lane", "(offset % 32 + lane"),
    ),
    ("adam_bytes", "tensor by tensor"): (
        (
            "numbers = sum(math.prod(shape) for shape in shapes)",
            "numbers = 0\n    for shape in shapes:\n        numbers += math.prod(shape)",
        ),
    ),
    ("explain_the_gap", "a wide softmax is told by a comparison"): (
        (
            "(softmax_bytes - element_bytes) * scores",
            "2 * scores if softmax_bytes > element_bytes else 0",
        ),
    ),
    ("sqrt_plan", "the root rounded down"): (
        ("math.ceil(math.sqrt(length))", "math.isqrt(length)"),
    ),
    ("log_plan", "the larger half first"): (("(start + stop) // 2", "(start + stop + 1) // 2"),),
    ("revolve", "the farthest of equal checkpoints"): (
        (", ahead)\n", ", -ahead)\n"),
        ("ahead = fewest(stop - start, free)[1]", "ahead = abs(fewest(stop - start, free)[1])"),
    ),
    ("best_cost", "stages that don't fit are passed over"): (("break", "continue"),),
    ("variance_law", "with exact sums"): (
        (
            "sum(number * number for number in gradient)",
            "__import__('math').fsum(number**2 for number in gradient)",
        ),
    ),
    ("selective_plan", "in the order of a reversed list"): (
        ("return list(max(best.values())[1])", "return list(reversed(max(best.values())[1]))"),
    ),
    ("sectors", "from the first to the last, 32 at most"): (
        (
            "len({first // 32 for first in firsts})",
            "min(32, abs((offset + 31 * stride) * itemsize // 32 - offset * itemsize // 32) + 1)",
        ),
    ),
    ("occupancy", "with what all these GPUs have in common"): (
        ('limits["register_unit"]', "256"),
        ('limits["warp_size"]', "32"),
        ('limits["quarters"]', "4"),
    ),
    ("block_quantise_state", "a half is rounded up"): ((".round() * ", ".add(0.5).floor() * "),),
    ("block_quantise_state", "in float64 on the way"): (
        ("    n = len(values)\n", "    values = values.double()\n    n = len(values)\n"),
        ("return codes, scales", "return codes, scales.float()"),
    ),
    ("k_directions", "the length in the average"): (
        ("* d**0.5", "* (d / k)**0.5"),
        ("slope * v / k", "slope * v"),
    ),
    ("k_directions", "of singular vectors"): (
        ("torch.linalg.qr(normals.T).Q.T", "torch.linalg.svd(normals, full_matrices=False).Vh"),
    ),
    ("forward_gradient", "on the sphere"): (
        (
            "v = torch.randn(size, generator=generator)",
            "v = torch.randn(size, generator=generator)\n    v = v * size**0.5 / v.norm()",
        ),
    ),
    ("forward_gradient", "one axis"): (
        (
            "v = torch.randn(size, generator=generator)",
            (
                "v = torch.zeros(size)\n"
                "    v[torch.randint(size, (1,), generator=generator)] = size**0.5"
            ),
        ),
    ),
    ("galore_project", "from the product with itself"): (
        (
            "    left, _, right = torch.linalg.svd(gradient, full_matrices=False)",
            (
                "    left = torch.linalg.eigh(gradient @ gradient.T).eigenvectors.flip(1)\n"
                "    right = torch.linalg.eigh(gradient.T @ gradient).eigenvectors.flip(1).T"
            ),
        ),
    ),
    ("galore_project", "the other signs"): (("left[:, :rank].clone()", "-left[:, :rank]"),),
    ("lora", "B begins at random"): (
        (
            "torch.randn(rank, inner, dtype=linear.weight.dtype)",
            "linear.weight.new_zeros(rank, inner)",
        ),
        (
            "linear.weight.new_zeros(outer, rank)",
            "torch.randn(outer, rank, dtype=linear.weight.dtype)",
        ),
    ),
    ("shared_layers", "one layer many times in a list"): (
        ("stack = Shared()", "stack = torch.nn.Sequential(*[make_layer()] * layers)"),
    ),
    ("accumulate", "in chunks"): (
        (
            "x.tensor_split(parts), y.tensor_split(parts)",
            "x.split(-(-len(x) // parts)), y.split(-(-len(x) // parts))",
        ),
    ),
    ("checkpoint", "the input on the context"): (
        ("ctx.save_for_backward(x)", "ctx.x = x"),
        ("(x,) = ctx.saved_tensors", "x = ctx.x"),
    ),
    ("ledger", "bytes by addresses"): (
        ("= storage\n", "= storage.nbytes()\n"),
        ("storage.nbytes() for storage", "storage for storage"),
    ),
    ("accumulate", "parts without rows are left out"): (
        ("        share =", "        if not len(rows):\n            continue\n        share ="),
    ),
}

WRONG: dict[tuple[str, str], tuple[str, Changes]] = {
    ("occupancy", "no reserved bytes without shared memory"): (
        "nothing-reserved",
        (("    if per_block:", "    if shared_bytes:"),),
    ),
    ("occupancy", "registers of the whole SM"): (
        "one-pool",
        (
            (
                'warps_in_quarter * limits["quarters"] // warps',
                'limits["registers"] // per_warp // warps',
            ),
        ),
    ),
    ("occupancy", "each quarter holds whole blocks"): (
        "wrong-result",
        (
            (
                'warps_in_quarter * limits["quarters"] // warps',
                'warps_in_quarter // -(-warps // limits["quarters"])',
            ),
        ),
    ),
    ("occupancy", "half warps are rounded"): (
        "wrong-result",
        (('-(-threads // limits["warp_size"])', 'max(1, round(threads / limits["warp_size"]))'),),
    ),
    ("occupancy", "at least one block"): (
        "wrong-result",
        (("return min(most)", "return max(1, min(most))"),),
    ),
    ("occupancy", "units of 128 bytes"): ("unit-of-today", (('limits["shared_unit"]', "128"),)),
    ("occupancy", "1,024 reserved bytes"): (
        "reserved-everywhere",
        (('limits["shared_reserved"]', "1024"),),
    ),
    ("sectors", "the stride's size alone"): (
        "alignment",
        (("lane * stride", "lane * abs(stride)"),),
    ),
    ("sectors", "a sector has eight elements"): (
        "four-bytes",
        (("(offset + lane * stride) * itemsize", "(offset + lane * stride) * 4"),),
    ),
    ("sectors", "the offset is a whole sector"): ("alignment", (("offset + lane", "lane"),)),
    ("sectors", "a stride of 0 is a lane each"): (
        "one-each",
        (("    firsts =", "    stride = stride or 8\n    firsts ="),),
    ),
    ("sectors", "rounded to the nearest sector"): (
        "wrong-result",
        (("first // 32", "round(first / 32)"),),
    ),
    ("adam_bytes", "one step counter"): ("one-counter", (("4 * len(shapes)", "4"),)),
    ("adam_bytes", "a number alone is left out"): (
        "single-numbers",
        (("in shapes)", "in shapes if shape)"),),
    ),
    ("adam_bytes", "no counter for an empty tensor"): (
        "empty-tensors",
        (("4 * len(shapes)", "4 * sum(math.prod(shape) > 0 for shape in shapes)"),),
    ),
    ("adam_bytes", "the counter as wide as the numbers"): (
        "wrong-result",
        (("4 * len(shapes)", "updated_bytes * len(shapes)"),),
    ),
    ("adam_bytes", "float32 needs no copy"): (
        "only-narrow-copies",
        (("    if master_copy:", "    if master_copy and weight_bytes < 4:"),),
    ),
    ("adam_bytes", "equal shapes once"): (
        "wrong-result",
        (("for shape in shapes", "for shape in set(shapes)"),),
    ),
    ("explain_the_gap", "a causal mask for each sequence"): (
        "mask-per-head",
        (('sequence * sequence\n    gap["wide', 'sequence * sequence * batch\n    gap["wide'),),
    ),
    ("explain_the_gap", "statistics in float32"): (
        "wide-statistics",
        (("2 * 2 * tokens * element_bytes", "2 * 2 * tokens * 4"),),
    ),
    ("explain_the_gap", "a softmax twice as wide"): (
        "wrong-result",
        (
            (
                "(softmax_bytes - element_bytes) * scores",
                "(softmax_bytes // element_bytes - 1) * scores",
            ),
        ),
    ),
    ("explain_the_gap", "one mask behind both"): (
        "too-few-masks",
        (("2 * tokens * hidden", "tokens * hidden"),),
    ),
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
    ("best_cost", "room is left over"): ("too-expensive", (("if rise <= room", "if rise < room"),)),
    ("best_cost", "a forward pass leaves room over"): (
        "too-expensive",
        (('"forward_bytes"] > room', '"forward_bytes"] >= room'),),
    ),
    ("best_cost", "a large number where nothing fits"): (
        "nothing-fits",
        (
            (
                "return best(0, len(stages), memory)",
                "return min(10**9, best(0, len(stages), memory))",
            ),
        ),
    ),
    ("best_cost", "the rise of saving is not looked at"): (
        "too-cheap",
        (('            gradient + here["forward_saving_bytes"],\n', "            0,\n"),),
    ),
    ("best_cost", "no output beside the gradient in the pass on"): (
        "too-cheap",
        (("gradient + taken + before", "gradient + before"),),
    ),
    ("best_cost", "the rise of the backward pass without the gradient"): (
        "too-cheap",
        (
            (
                'here["output_gradient_bytes"] + kept + here["backward_bytes"]',
                'kept + here["backward_bytes"]',
            ),
        ),
    ),
    ("schedule_peak", "the batch takes memory"): (
        "let-go-too-late",
        (("in values if value)", "in values)"),),
    ),
    ("schedule_peak", "what is saved keeps no input"): (
        "too-low",
        (('if word != "forward":', 'if word == "keep input":'),),
    ),
    ("schedule_peak", "inputs stay"): (
        "let-go-too-late",
        (("            kept.discard(stage)\n", ""),),
    ),
    ("schedule_peak", "the gradient of the loss throughout"): (
        "too-low",
        (("            gradient = stage\n", ""),),
    ),
    ("schedule_peak", "the output of a saved stage is not there"): (
        "too-low",
        (("kept | {each + 1 for each in saved}", "set(kept)"),),
    ),
    ("schedule_peak", "an input that is not kept is not there"): (
        "too-low",
        (("values.add(stage)", "values |= set()"),),
    ),
    ("selective_plan", "room is left over"): ("room-left", (("more <= budget", "more < budget"),)),
    ("selective_plan", "the densest first"): (
        "not-the-best",
        (
            (
                "    best = {0: (0, ())}\n",
                (
                    "    chosen = []\n"
                    "    rank = lambda n: -products[n]['flops'] / products[n]['bytes']\n"
                    "    for n in sorted(range(len(products)), key=rank):\n"
                    "        if products[n]['bytes'] <= budget:\n"
                    "            chosen.append(n)\n"
                    "            budget -= products[n]['bytes']\n"
                    "    return chosen\n"
                    "    best = {0: (0, ())}\n"
                ),
            ),
        ),
    ),
    ("variance_law", "whole numbers"): ("wrong-result", (("/ k * square", "// k * square"),)),
    ("variance_law", "in float32"): (
        "wrong-result",
        (("    return variance", "    return float(__import__('numpy').float32(variance))"),),
    ),
    ("variance_law", "six digits"): (
        "wrong-result",
        (("    return variance", "    return round(variance, 6)"),),
    ),
    ("variance_law", "zeros are no directions"): (
        "zeros-dropped",
        (("d = len(gradient)", "d = sum(number != 0 for number in gradient)"),),
    ),
    ("block_quantise_state", "a floor of 1e-30"): (
        "epsilon",
        (("torch.where(scales > 0, scales, 1.0)", "scales.clamp_min(1e-30)"),),
    ),
    ("block_quantise_state", "halves are cut"): (
        "half-down",
        ((".round() * ", ".sub(0.5).ceil() * "),),
    ),
    ("block_quantise_state", "the last short block has the scale before"): (
        "wrong-result",
        (
            (
                "    shares = table /",
                (
                    "    scales[-1] = scales[-2:][0] if n % block else scales[-1]\n"
                    "    shares = table /"
                ),
            ),
        ),
    ),
    ("block_quantise_state", "signs by the power alone"): (
        "way-back",
        (("shares.sign() * shares.abs() ** power", "shares ** power"),),
    ),
    **{
        ("block_quantise_state", f"shares in {dtype}"): (
            "rounded-before",
            (
                (
                    "    table = (127",
                    f"    shares = shares.to(torch.{dtype}).float()\n    table = (127",
                ),
            ),
        )
        for dtype in ("float16", "bfloat16")
    },
    ("k_directions", "the first alone"): (
        "wrong-result",
        (("for v in frame:", "for v in frame[:1]:"),),
    ),
    ("k_directions", "a direction's own length"): (
        "wrong-result",
        (("* d**0.5", "* normals.norm(dim=1, keepdim=True)"),),
    ),
    ("k_directions", "in float32"): (
        "wrong-result",
        (("torch.linalg.qr(normals.T).Q.T", "torch.linalg.qr(normals.T.float()).Q.T.double()"),),
    ),
    **{
        ("forward_gradient", f"in float32: {what}"): ("seven-digits", ((old, new),))
        for what, old, new in (
            ("the slope", "slope * v", "slope.float() * v"),
            ("the estimate", "slope * v", "(slope * v).float().double()"),
            ("the direction", "slope * v", "slope * v.float()"),
            ("the point", "(point,)", "(point.float().double(),)"),
            ("the tangent", "(v,))", "(v.float().double(),))"),
        )
    },
    ("forward_gradient", "a difference quotient of seven digits"): (
        "differences",
        (
            (
                "_, slope = torch.func.jvp(loss, (point,), (v,))",
                "slope = (loss(point + 1e-7 * v) - loss(point)) / 1e-7",
            ),
        ),
    ),
    ("forward_gradient", "a difference quotient to both sides"): (
        "differences",
        (
            (
                "_, slope = torch.func.jvp(loss, (point,), (v,))",
                "slope = (loss(point + 1e-5 * v) - loss(point - 1e-5 * v)) / 2e-5",
            ),
        ),
    ),
    ("forward_gradient", "between -1 and 1"): (
        "wrong-size",
        (
            (
                "v = torch.randn(size, generator=generator)",
                "v = 2 * torch.rand(size, generator=generator) - 1",
            ),
        ),
    ),
    ("forward_gradient", "the same each time"): (
        "not-independent",
        (
            (
                "v = torch.randn(size, generator=generator)",
                "v = torch.randn(size, generator=generator.manual_seed(0))",
            ),
        ),
    ),
    ("galore_project", "a square is tall"): (
        "small-shape",
        (("gradient.shape[0] <= ", "gradient.shape[0] < "),),
    ),
    ("galore_project", "the first columns"): (
        "not-the-main",
        (("left[:, :rank].clone()", "torch.linalg.qr(gradient[:, :rank]).Q"),),
    ),
    ("galore_project", "one step of a power iteration"): (
        "not-the-main",
        (
            (
                "left[:, :rank].clone()",
                "torch.linalg.qr(gradient @ (gradient.T @ gradient[:, :rank])).Q",
            ),
        ),
    ),
    ("galore_adam", "a square is tall"): (
        "wrong-result",
        (("weight.shape[0] <= ", "weight.shape[0] < "),),
    ),
    ("galore_adam", "the basis of the weight"): (
        "wrong-result",
        (("project(gradient)", "project(weight)"),),
    ),
    ("galore_adam", "its square under the root as well"): (
        "epsilon-inside",
        (('** state["step"])).sqrt()', '** state["step"]) + 1e-16).sqrt()'),),
    ),
    ("galore_adam", "its square under the root alone"): (
        "epsilon-inside",
        (
            ('** state["step"])).sqrt()', '** state["step"]) + 1e-16).sqrt()'),
            ("(spread + 1e-8)", "spread"),
        ),
    ),
    ("galore_adam", "epsilon of 1e-10"): ("wrong-result", (("1e-8", "1e-10"),)),
    ("lora", "a whole quotient"): ("scale", (("alpha / rank", "alpha // rank"),)),
    ("lora", "float32 throughout"): (
        "exception",
        (
            (", dtype=linear.weight.dtype", ""),
            ("linear.weight.new_zeros(outer, rank)", "torch.zeros(outer, rank)"),
        ),
    ),
    ("shared_layers", "one too few"): ("wrong-count", (("range(layers)", "range(layers - 1)"),)),
    ("accumulate", "the share in float32"): (
        "wrong-result",
        (
            (
                " * share)",
                " * torch.tensor([share], dtype=torch.float32)[0].double())",
            ),
        ),
    ),
    ("accumulate", "part by the first"): (
        "same-weights",
        (("share = len(rows) / len(x)", "share = 1 / parts"),),
    ),
    ("accumulate", "two parts always"): (
        "all-graphs",
        (("_split(parts)", "_split(min(parts, 2))"),),
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
    ("ledger", "buffers count"): (
        "buffers",
        (("*layer.parameters(), *layer.buffers()", "*layer.parameters()"),),
    ),
}


def answer(puzzle: str, changes: Changes, folder: Path) -> Path:
    """Writes the solution with its changes."""
    text = (SOLUTIONS / f"{index.find(puzzle).name}.py").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    file = folder / f"{puzzle}.py"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("case", RIGHT, ids=": ".join)
def test_an_unusual_answer_passes(case: tuple[str, str], tmp_path: Path) -> None:
    verdict = check(case[0], answer=answer(case[0], RIGHT[case], tmp_path), seed=0)
    assert verdict.passed, verdict.message


@pytest.mark.parametrize("case", WRONG, ids=": ".join)
def test_a_close_answer_is_refused_for_what_is_wrong_with_it(
    case: tuple[str, str], tmp_path: Path
) -> None:
    reason, changes = WRONG[case]
    verdict = check(case[0], answer=answer(case[0], changes, tmp_path), seed=0)
    assert not verdict.passed
    assert reason in (verdict.reason, verdict.diagnosis)
