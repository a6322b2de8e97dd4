"""Answers to lesson 11 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
    ("parameters", "as a list of shapes"): (
        (
            "    attention = 2 * hidden * queries + 2 * hidden * keys\n",
            (
                "    import math\n"
                "    shapes = [(hidden, queries), (queries, hidden)]\n"
                "    shapes += [(hidden, keys)] * 2\n"
                "    attention = sum(map(math.prod, shapes))\n"
            ),
        ),
        ("return total, active", "return [total, active]"),
    ),
    ("parameters", "the difference is the experts that are not chosen"): (
        (
            '    active = rest + c["layers"] * (top_k or 1) * mlp\n',
            '    active = total - c["layers"] * (experts - top_k) * mlp\n',
        ),
    ),
    ("flops", "as products (m, k, n)"): (
        (
            '    head = 2 * tokens * c["vocabulary"] * c["hidden"]\n',
            (
                '    products = [(tokens, c["hidden"], c["vocabulary"])]\n'
                "    head = sum(2 * m * k * n for m, k, n in products)\n"
            ),
        ),
    ),
    ("flops", "forward, and twice as much back"): (
        ("model = 3 * (weights + pairs + head)", "forward = weights + pairs + head"),
        (
            "return model, model + more[again]",
            "return forward + 2 * forward, forward + 2 * forward + more[again]",
        ),
    ),
    ("mfu", "as a share of the most tokens"): (
        (
            "    passes_per_s = tokens_per_s / (gpus * peak)\n",
            "    passes_per_s = tokens_per_s / gpus / peak\n",
        ),
    ),
    ("mfu", "a comparison that NaN fails"): (
        (
            "if not (math.isfinite(value) and value > 0):",
            'if not 0 < value < float("inf"):',
        ),
    ),
    ("days", "through hours"): (("return seconds / 86_400", "return seconds / 3600 / 24"),),
}
"""Unusual, and right."""

CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("parameters", "PaLM's 12 h^2 for a layer"): (
        "wrong-result",
        (
            (
                "    attention = 2 * hidden * queries + 2 * hidden * keys\n",
                "    attention = 4 * hidden * hidden\n",
            ),
        ),
    ),
    ("parameters", "in floats"): (
        "wrong-type",
        (("return total, active", "return float(total), float(active)"),),
    ),
    ("parameters", "an assertion instead of an error"): (
        "exception",
        (
            (
                '        raise ValueError(f"{kv_heads} do not divide {heads} heads")',
                '        raise AssertionError("heads")',
            ),
        ),
    ),
    ("flops", "causal pairs, half of them"): (
        "wrong-result",
        (("pairs = 4 *", "pairs = 2 *"),),
    ),
    ("mfu", "6ND"): (
        "no-pairs",
        (("    pairs = 12 * layers * width * sequence\n", "    pairs = 0\n"),),
    ),
    ("mfu", "rounded as papers do"): (
        "wrong-result",
        (
            (
                "return model * passes_per_s, (model + more) * passes_per_s",
                "return round(model * passes_per_s, 4), round((model + more) * passes_per_s, 4)",
            ),
        ),
    ),
    ("mfu", "no peak is no share"): (
        "wrong-result",
        (('raise ValueError(f"{name} is {value}")', "return 0.0, 0.0"),),
    ),
    ("days", "8TP / nX"): (
        "wrong-result",
        (
            ("    pairs = 4 * layers * sequence * hidden\n", "    pairs = 0\n"),
            ("per_token = 4 * (weights + pairs) + 3 * head", "per_token = 4 * (weights + head)"),
        ),
    ),
    ("days", "in whole days"): (
        "wrong-result",
        (("return seconds / 86_400", "return round(seconds / 86_400)"),),
    ),
}
"""The lazy and the blunt: refused."""
