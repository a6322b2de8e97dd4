"""What each kernel puzzle of lesson 03 asks for, as loops in plain Python."""

from __future__ import annotations

from typing import Any

from tests.course.puzzles.loops import Numbers, Table, transposed


def copy_coalesced(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [a[i] for i in range(size)]}


def sum_columns(a: Table, rows: int, cols: int) -> dict[str, Any]:
    return {"out": [sum(a[row][col] for row in range(rows)) for col in range(cols)]}


def sum_rows(a: Table, rows: int, cols: int) -> dict[str, Any]:
    return {"out": [sum(a[row][col] for col in range(cols)) for row in range(rows)]}


def soa_from_aos(a: Table, size: int) -> dict[str, Any]:
    return {"out": [[a[i][field] for i in range(size)] for field in range(4)]}


def embedding_lookup(table: Table, ids: list[int], size: int, dim: int) -> dict[str, Any]:
    return {"out": [[table[ids[i]][col] for col in range(dim)] for i in range(size)]}


transpose_naive = transposed
