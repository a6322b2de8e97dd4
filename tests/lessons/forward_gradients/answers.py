"""Answers to lesson 19 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
    ("variance_law", "with exact sums"): (
        (
            "sum(number * number for number in gradient)",
            "__import__('math').fsum(number**2 for number in gradient)",
        ),
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
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
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
}
