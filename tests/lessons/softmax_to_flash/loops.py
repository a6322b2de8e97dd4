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


@repeats
def flash_backward(
    q: Table,
    k: Table,
    v: Table,
    dout: Table,
    out: Table,
    lse: Numbers,
    n: int,
    m: int,
    scale: float,
) -> dict[str, Any]:
    channels = range(len(q[0]))
    dq, dk, dv = ([[0.0] * len(channels) for _ in range(rows)] for rows in (n, m, m))
    delta = [sum(a * b for a, b in zip(dout[i], out[i], strict=True)) for i in range(n)]
    for i in range(n):
        for j in range(m):
            score = float(scale) * sum(q[i][c] * k[j][c] for c in channels)
            p = 0.0 if lse[i] == -math.inf else math.exp(score - lse[i])
            ds = p * (sum(dout[i][c] * v[j][c] for c in channels) - delta[i])
            for c in channels:
                dq[i][c] += float(scale) * ds * k[j][c]
                dk[j][c] += float(scale) * ds * q[i][c]
                dv[j][c] += p * dout[i][c]
    return {"dq": dq, "delta": delta, "dk": dk, "dv": dv}
