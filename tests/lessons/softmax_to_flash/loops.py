"""What each kernel puzzle of lesson 13 asks for, as loops in plain Python."""

from __future__ import annotations

import math
from typing import Any

from tests.course.puzzles.loops import Numbers, Table, repeats


def _attention(q: Table, k: Table, v: Table, scale: float, first_hidden: int) -> dict[str, Any]:
    """Query i sees the keys before i + first_hidden."""
    out, lse = [], []
    for i, query in enumerate(q):
        keys = range(min(len(k), max(0, i + first_hidden)))
        scores = [scale * sum(a * b for a, b in zip(query, k[j], strict=True)) for j in keys]
        most = max((s for s in scores if s > -math.inf), default=-math.inf)
        if any(math.isnan(s) or s == math.inf for s in scores):
            most = math.nan
        parts = [0.0 if s == -math.inf and most == most else math.exp(s - most) for s in scores]
        total = sum(parts)
        out.append(
            [
                sum(p * v[j][c] for p, j in zip(parts, keys, strict=True)) / (total or 1)
                for c in range(len(query))
            ]
        )
        lse.append(most if total == 0 else most + math.log(total))
    return {"out": out, "lse": lse}


@repeats
def flash_attention(q: Table, k: Table, v: Table, n: int, m: int, scale: float) -> dict[str, Any]:
    return _attention(q, k, v, float(scale), m + n)


@repeats
def flash_attention_causal(
    q: Table, k: Table, v: Table, n: int, m: int, scale: float
) -> dict[str, Any]:
    return _attention(q, k, v, float(scale), m - n + 1)


@repeats
def flash_decode(
    q: Numbers, k: Table, v: Table, m: int, scale: float, chunk: int, splits: int
) -> dict[str, Any]:
    parts = [
        _attention([q], k[s * chunk :][:chunk], v[s * chunk :][:chunk], float(scale), chunk)
        for s in range(splits)
    ]
    whole = _attention([q], k, v, float(scale), m)
    return {
        "part_out": [part["out"][0] for part in parts],
        "part_lse": [part["lse"][0] for part in parts],
        "out": whole["out"][0],
        "lse": whole["lse"],
    }
