"""Answers to lesson 20 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
    ("block_quantise_state", "a half is rounded up"): ((".round() * ", ".add(0.5).floor() * "),),
    ("block_quantise_state", "in float64 on the way"): (
        ("    n = len(values)\n", "    values = values.double()\n    n = len(values)\n"),
        ("return codes, scales", "return codes, scales.float()"),
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
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
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
}
