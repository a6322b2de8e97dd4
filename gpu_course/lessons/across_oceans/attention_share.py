"""Puzzle `attention_share`: how much of a layer's work are pairs of tokens, and from where half."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from gpu_course.lessons.across_oceans.pieces import called
from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

NAMES = ("share", "crossover")

VISIBLE: dict[str, Any] = {
    "hidden": 96,
    "heads": 6,
    "kv_heads": 2,
    "head_size": 20,
    "mlp": 200,
    "gated": True,
    "top_k": 1,
    "sequence": 300,
    "causal": True,
}
"""Here every way of the diagnoses comes to numbers of its own."""

_LLAMA_3_8B = {
    "hidden": 4096, "heads": 32, "kv_heads": 8, "head_size": 128, "mlp": 14_336, "gated": True,
    "top_k": 1,
}  # fmt: skip
_GPT_3 = {
    "hidden": 12_288, "heads": 96, "kv_heads": 96, "head_size": 128, "mlp": 49_152,
    "gated": False, "top_k": 1,
}  # fmt: skip

CASES: dict[str, dict[str, Any]] = {
    "visible example": {},
    "without a mask": {"causal": False},
    "two matrices in the MLP": {"gated": False},
    "as many KV heads as heads": {"kv_heads": 6},
    "one KV head": {"kv_heads": 1, "sequence": 5000},
    "four experts for each token": {"top_k": 4},
    "GPT-3, 2,048 tokens, without a mask": _GPT_3 | {"sequence": 2048, "causal": False},
    "Llama 3 8B, 8,192 tokens": _LLAMA_3_8B | {"sequence": 8192},
    "Llama 3 8B, 131,072 tokens": _LLAMA_3_8B | {"sequence": 131_072},
    "one token": {"sequence": 1},
    "one of everything": dict.fromkeys(
        ("hidden", "heads", "kv_heads", "head_size", "mlp", "top_k", "sequence"), 1
    ),
    "a token of one number, wide heads": {
        "hidden": 1, "heads": 64, "kv_heads": 1, "head_size": 8, "mlp": 1, "sequence": 7,
    },
    "half is reached exactly": {
        "hidden": 64, "heads": 4, "kv_heads": 4, "head_size": 16, "mlp": 256, "gated": False,
        "sequence": 384, "causal": False,
    },
    "KV heads that do not divide heads": {"kv_heads": 4},
    "no token": {"sequence": 0},
}  # fmt: skip
"""What differs from the visible example."""


def counted(
    hidden: int,
    heads: int,
    kv_heads: int,
    head_size: int,
    mlp: int,
    gated: bool,
    top_k: int,
    sequence: int,
    causal: bool,
) -> tuple[Any, Any]:
    """Returns (share, crossover), or the puzzle's word where there are none."""
    if sequence < 1 or heads % kv_heads:
        return REFUSED, REFUSED
    weights = hidden * head_size * 2 * (heads + kv_heads) + (2 + gated) * hidden * mlp * top_k
    # Products of one token: two for each weight, four for each number that a pair multiplies.
    of_a_pair = 4 * heads * head_size
    met = Fraction(sequence + 1, 2) if causal else Fraction(sequence)
    pairs = of_a_pair * met
    enough = Fraction(2 * weights, of_a_pair)
    crossover = -((1 - 2 * enough) // 1) if causal else -(-enough // 1)
    return float(pairs / (pairs + 2 * weights)), int(crossover)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.sizes["number"] < 0:
        kv_heads, group = (int(n) for n in rng.integers(1, 9, 2))
        given = {
            "hidden": int(rng.integers(32, 3000)),
            "heads": kv_heads * group,
            "kv_heads": kv_heads,
            "head_size": int(rng.integers(4, 200)),
            "mlp": int(rng.integers(32, 9000)),
            "gated": bool(rng.integers(2)),
            "top_k": int(rng.integers(1, 5)),
            "sequence": int(rng.integers(10, 100_000)),
            "causal": bool(rng.integers(2)),
        }
    else:
        given = VISIBLE | list(CASES.values())[case.sizes["number"]]
    return {"function": "attention_share", "names": NAMES, "arguments": given}


def _reference(inputs: Values, case: Case) -> Values:
    return dict(zip(NAMES, counted(**inputs["arguments"]), strict=True))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if expected["share"] == REFUSED:
        return "not-refused"
    if got.get("share") == REFUSED:
        return "refused"
    share = got.get("share")
    near = isinstance(share, float) and abs(share - expected["share"]) < 1e-12
    return "crossover" if near and got["crossover"] != expected["crossover"] else None


ATTENTION_SHARE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.refusing_once",
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(CASES)),
    random_case=lambda rng: Case("a layer drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    tolerance=(1e-12, 0.0),
    call=lambda inputs: called("attention_share", inputs["arguments"]),
)
