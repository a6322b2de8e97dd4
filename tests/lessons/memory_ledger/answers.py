"""Answers to lesson 16 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
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
    ("accumulate", "in chunks"): (
        (
            "x.tensor_split(parts), y.tensor_split(parts)",
            "x.split(-(-len(x) // parts)), y.split(-(-len(x) // parts))",
        ),
    ),
    ("ledger", "bytes by addresses"): (
        ("= storage\n", "= storage.nbytes()\n"),
        ("storage.nbytes() for storage", "storage for storage"),
    ),
    ("accumulate", "parts without rows are left out"): (
        ("        share =", "        if not len(rows):\n            continue\n        share ="),
    ),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
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
    ("accumulate", "gradients of losses that are thrown away"): ("zeros", ((".backward()", ""),)),
    ("ledger", "the sum under another name"): (
        "left-as-set",
        (("    kept = sum", "    all = sum"),),
    ),
    ("ledger", "buffers count"): (
        "buffers",
        (("*layer.parameters(), *layer.buffers()", "*layer.parameters()"),),
    ),
}
