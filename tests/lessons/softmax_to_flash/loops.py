"""What each kernel puzzle of lesson 13 asks for, as loops in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from tests.course.puzzles.loops import Numbers, Table, repeats


def _shares(row: Numbers) -> tuple[Numbers, float]:
    """The shares of a row, and the log of the sum of its exponentials."""
    if any(x != x or x == math.inf for x in row):
        return [math.nan] * len(row), math.nan
    most = max(row)
    if most == -math.inf:
        return [0.0] * len(row), -math.inf
    parts = [math.exp(x - most) for x in row]
    return [part / sum(parts) for part in parts], math.log(sum(parts)) + most


@repeats
def softmax(x: Table, rows: int, cols: int) -> dict[str, Any]:
    return {"out": [_shares(row)[0] for row in x]}


@repeats
def softmax_online(x: Table, rows: int, cols: int) -> dict[str, Any]:
    found = [_shares(row) for row in x]
    return {"out": [shares for shares, _ in found], "lse": [lse for _, lse in found]}


def softmax_backward(y: Table, dy: Table, cols: int) -> dict[str, Any]:
    dx = []
    for shares, slopes in zip(y, dy, strict=True):
        total = sum(share * slope for share, slope in zip(shares, slopes, strict=True))
        dx.append([share * (slope - total) for share, slope in zip(shares, slopes, strict=True)])
    return {"dx": dx}


def _added(numbers: Iterable[float]) -> float:
    """A sum in which infinity less infinity is NaN, and no error."""
    total = 0.0
    for each in numbers:
        total += each
    return total


@repeats
def attention_naive(q: Table, k: Table, v: Table, n: int, m: int, scale: float) -> dict[str, Any]:
    out = []
    for query in q:
        scores = [scale * _added(a * b for a, b in zip(query, key, strict=True)) for key in k]
        weights, _ = _shares(scores)
        out.append(
            [
                _added(p * x for p, x in zip(weights, channel, strict=True))
                for channel in zip(*v, strict=True)
            ]
        )
    return {"out": out}


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
