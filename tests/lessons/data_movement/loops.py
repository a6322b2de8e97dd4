"""What each kernel puzzle of lesson 12 asks for, as loops in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.course.puzzles.loops import Numbers, Table, scaled

BETA_M, BETA_V = 0.9, 0.95
ROWS = 8


@np.errstate(invalid="ignore")  # infinity less infinity is NaN, and meant to be
def bias_gelu(x: Table, bias: Numbers, rows: int, cols: int) -> dict[str, Any]:
    out = []
    for row in x:
        sums = [float(np.float32(each) + np.float32(b)) for each, b in zip(row, bias, strict=True)]
        out.append([v / 2 * (1 + math.erf(v / math.sqrt(2))) for v in sums])
    return {"out": out}


def _word(counter: int, number: int, key0: int, key1: int) -> int:
    c0, c1, c2, c3 = counter, 0, 0, 0
    for bumps in range(10):
        k0 = (key0 + bumps * 0x9E3779B9) % 2**32
        k1 = (key1 + bumps * 0xBB67AE85) % 2**32
        upper_a, lower_a = divmod(0xD2511F53 * c0, 2**32)
        upper_b, lower_b = divmod(0xCD9E8D57 * c2, 2**32)
        c0, c1, c2, c3 = upper_b ^ c1 ^ k0, lower_b, upper_a ^ c3 ^ k1, lower_a
    return (c0, c1, c2, c3)[number]


def dropout(
    x: Numbers,
    dy: Numbers,
    size: int,
    quarter: int,
    least: int,
    scale: float,
    key0: int,
    key1: int,
) -> dict[str, Any]:
    out, dx = [], []
    for i in range(size):
        kept = _word(i % quarter, i // quarter, int(key0), int(key1)) >= int(least)
        for to, of in ((out, x), (dx, dy)):
            to.append(float(np.float32(of[i]) * np.float32(scale)) if kept else 0.0)
    return {"out": out, "dx": dx}


@scaled
def rmsnorm(x: Table, weight: Numbers, cols: int, eps: float) -> dict[str, Any]:
    out = []
    for row in x:
        rms = math.sqrt(sum(each * each for each in row) / cols + eps)
        out.append([each / rms * w for each, w in zip(row, weight, strict=True)])
    return {"out": out}


@scaled
def residual_layernorm(
    x: Table, residual: Table, weight: Numbers, bias: Numbers, cols: int, eps: float
) -> dict[str, Any]:
    out, total = [], []
    for left, right in zip(x, residual, strict=True):
        row = [a + b for a, b in zip(left, right, strict=True)]
        mean = sum(row) / cols
        rstd = 1 / math.sqrt(sum((s - mean) ** 2 for s in row) / cols + eps)
        total.append(row)
        out.append([(s - mean) * rstd * w + b for s, w, b in zip(row, weight, bias, strict=True)])
    return {"out": out, "total": total}


@scaled
def layernorm_backward(
    dy: Table,
    x: Table,
    mean: Numbers,
    rstd: Numbers,
    weight: Numbers,
    rows: int,
    cols: int,
    strips: int,
) -> dict[str, Any]:
    dx = []
    part_w = [[0.0] * cols for _ in range(strips)]
    part_b = [[0.0] * cols for _ in range(strips)]
    for row in range(rows):
        h = [(each - mean[row]) * rstd[row] for each in x[row]]
        g = [slope * w for slope, w in zip(dy[row], weight, strict=True)]
        straight = sum(g) / cols
        along = sum(a * b for a, b in zip(g, h, strict=True)) / cols
        dx.append([rstd[row] * (a - straight - b * along) for a, b in zip(g, h, strict=True)])
        for col in range(cols):
            part_w[row // ROWS][col] += dy[row][col] * h[col]
            part_b[row // ROWS][col] += dy[row][col]
    dw, db = ([sum(column) for column in zip(*part, strict=True)] for part in (part_w, part_b))
    return {"dx": dx, "part_w": part_w, "part_b": part_b, "dw": dw, "db": db}


@scaled
def cross_entropy(logits: Table, target: list[int], cols: int, share: float) -> dict[str, Any]:
    loss, slopes = [], []
    for row, right in zip(logits, target, strict=True):
        most = max(row)
        total = sum(math.exp(x - most) for x in row)
        loss.append(math.log(total) + most - row[right])
        slopes.append(
            [share * (math.exp(x - most) / total - (col == right)) for col, x in enumerate(row)]
        )
    return {"loss": loss, "logits": slopes}


@scaled
def adamw(
    w: Numbers,
    m: Numbers,
    v: Numbers,
    grad: Numbers,
    size: int,
    rate: float,
    decay: float,
    eps: float,
    fix_m: float,
    fix_v: float,
) -> dict[str, Any]:
    new = [
        (
            old - rate * decay * old,
            BETA_M * mean + (1 - BETA_M) * g,
            BETA_V * square + (1 - BETA_V) * g * g,
        )
        for old, mean, square, g in zip(w, m, v, grad, strict=True)
    ]
    return {
        "w": [p - rate * (a / fix_m) / (math.sqrt(b / fix_v) + eps) for p, a, b in new],
        "m": [a for _, a, _ in new],
        "v": [b for _, _, b in new],
    }
