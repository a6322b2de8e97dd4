"""What each kernel puzzle of lesson 06 asks for, as loops in plain Python."""

from __future__ import annotations

import math
from typing import Any

from tests.course.puzzles.loops import Numbers, Table


def matmul_naive(a: Table, b: Table, m: int, n: int, k: int) -> dict[str, Any]:
    out = [[sum(a[row][p] * b[p][col] for p in range(k)) for col in range(n)] for row in range(m)]
    return {"out": out}


matmul_tiled = matmul_naive


matmul_register = matmul_naive


matmul_vectorized = matmul_naive


matmul_double_buffered = matmul_naive


def matvec(a: Table, x: Numbers, rows: int, cols: int) -> dict[str, Any]:
    return {"out": [sum(a[row][col] * x[col] for col in range(cols)) for row in range(rows)]}


def matmul_bias_gelu(a: Table, w: Table, bias: Numbers, m: int, n: int, k: int) -> dict[str, Any]:
    out = matmul_naive(a, w, m, n, k)["out"]
    for row in range(m):
        for col in range(n):
            v = out[row][col] + bias[col]
            out[row][col] = v / 2 * (1 + math.erf(v / math.sqrt(2)))
    return {"out": out}


def batched_matmul(q: list[Table], keys: list[Table], m: int, n: int, k: int) -> dict[str, Any]:
    out = []
    for queries, those in zip(q, keys, strict=True):
        out.append([[sum(a * b for a, b in zip(row, key, strict=True)) for key in those]
                    for row in queries])  # fmt: skip
    return {"out": out}


def spmv_csr(
    values: Numbers, columns: list[int], starts: list[int], x: Numbers, rows: int
) -> dict[str, Any]:
    out = []
    for row in range(rows):
        total = 0.0
        for entry in range(starts[row], starts[row + 1]):
            total += values[entry] * x[columns[entry]]
        out.append(total)
    return {"out": out}
