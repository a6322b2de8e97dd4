"""What each kernel puzzle of lesson 05 asks for, as loops in plain Python."""

from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import numpy as np

from tests.course.puzzles.loops import Numbers, Table, hears_other_blocks, repeats

TPB = 64


def _rounded(number: float) -> float:
    return float(np.float32(number))


def _sums_of(a: Numbers, span: int) -> Numbers:
    return [_rounded(sum(a[start : start + span])) for start in range(0, len(a), span)]


def block_sum(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": _sums_of(a, 128)}


def block_sum_sequential(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": _sums_of(a, 256)}


def dot(a: Numbers, b: Numbers, size: int) -> dict[str, Any]:
    return {"out": [sum(a[i] * b[i] for i in range(size))]}


def axis_sum(a: Table, rows: int, cols: int) -> dict[str, Any]:
    return {"out": [_rounded(sum(row)) for row in a]}


@repeats
def argmax(a: Table, cols: int) -> dict[str, Any]:
    out = []
    for row in a:
        numbers = [number for number in row if number == number]
        out.append(row.index(max(numbers)) if numbers else 0)
    return {"out": out}


def softmax_row_max(a: Table, cols: int) -> dict[str, Any]:
    largest = [max(row) for row in a]
    total = [sum(math.exp(x - most) for x in row) for row, most in zip(a, largest, strict=True)]
    return {"largest": largest, "total": total}


def grid_sum(a: Numbers, size: int, blocks: int) -> dict[str, Any]:
    return {"total": [_rounded(sum(a))]}


def histogram(counts: list[int], values: list[int], size: int) -> dict[str, Any]:
    found = list(counts)
    for value in values:
        if 0 <= value < len(found):
            found[value] += 1
    return {"counts": found}


histogram_private = histogram


def _running(numbers: Numbers) -> Numbers:
    found: Numbers = []
    total = 0.0
    for number in numbers:
        total += number
        found.append(total)
    return found


def scan_block(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [s for start in range(0, size, 128) for s in _running(a[start : start + 128])]}


def scan_grid(a: Numbers, size: int, tiles: int) -> dict[str, Any]:
    return {"out": _running(a)}


@hears_other_blocks
def scan_lookback(
    a: Numbers, size: int, ticket: list[int], told: list[int], out: Numbers = ()
) -> dict[str, Any]:
    out = _running(a)
    words = []
    for tile, was in enumerate(told):
        last = min(1920 * (tile + 1), size) - 1
        word = (struct.unpack("<i", struct.pack("<f", out[last]))[0] << 32) + 2
        # A total stays where it is: the block of that tile is held up.
        words.append(was if was & 3 == 1 else word)
    # What is told of a NaN is not compared.
    return {"out": out} if any(x != x for x in a) else {"out": out, "told": words}


def pieces(a: Numbers) -> list[Numbers]:
    return [a[start : start + TPB] for start in range(0, len(a), TPB)]


@hears_other_blocks
def compact(a: Numbers, low: float, size: int, pieces: int) -> dict[str, Any]:
    return {"out": [number for number in a if number > low]}


def segmented_sum(a: Numbers, out: Numbers, key: list[int], size: int) -> dict[str, Any]:
    found = list(out)
    for i in range(size):
        found[key[i]] += a[i]
    return {"out": found}


@hears_other_blocks
def last_block_sum(a: Numbers, b: Numbers, size: int, arrived: list[int]) -> dict[str, Any]:
    return {"first": [sum(a)], "second": [sum(b)], "arrived": arrived}


@hears_other_blocks
def deterministic_sum(a: Numbers, size: int, pieces: int, **parts: Numbers) -> dict[str, Any]:
    exact = math.inf if math.inf in a else float(sum(map(Fraction, a)))
    return {"few": [exact], "many": [exact]}
