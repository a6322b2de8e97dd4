"""What each kernel puzzle of lesson 04 asks for, as loops in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.course.puzzles.loops import Numbers, Table, transposed

TPB = 64


def pieces(a: Numbers) -> list[Numbers]:
    return [a[start : start + TPB] for start in range(0, len(a), TPB)]


def count_smaller(a: Numbers) -> dict[str, Any]:
    return {"out": [sum(other < mine for other in piece) for piece in pieces(a) for mine in piece]}


def block_reverse(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [number for piece in pieces(a) for number in reversed(piece)]}


def pooling(a: Table, cols: int) -> dict[str, Any]:
    return {"out": [[max(row[max(0, col - 3) : col + 1]) for col in range(cols)] for row in a]}


def stencil_halo(a: Numbers, size: int) -> dict[str, Any]:
    ring = [0.0, *a, 0.0]
    return {"out": [ring[i] - 2 * ring[i + 1] + ring[i + 2] for i in range(size)]}


def conv1d(a: Numbers, w: Numbers, size: int, taps: int) -> dict[str, Any]:
    out = []
    for i in range(size):
        out.append(sum(w[k] * a[i + k] for k in range(taps) if i + k < size))
    return {"out": out}


def box_blur_2d(a: Table, rows: int, cols: int) -> dict[str, Any]:
    out = np.zeros((rows, cols), np.float32)
    for row in range(rows):
        for col in range(cols):
            total = 0.0
            for y in (row - 1, row, row + 1):
                for x in (col - 1, col, col + 1):
                    if 0 <= y < rows and 0 <= x < cols:
                        total += a[y][x]
            out[row, col] = total / 9
    return {"out": out.tolist()}


transpose_tiled = transposed


def fix_the_race(
    a: Numbers, table: Table, size: int, rows: int, cols: int, rounds: int
) -> dict[str, Any]:
    rotated: Numbers = []
    added: Numbers = []
    for piece in pieces(a):
        rotated += [*piece[1:], piece[0]]
        for _ in range(rounds):
            piece = [piece[k] + (piece[k - 1] if k else 0) for k in range(len(piece))]
        added += piece
    return {"rotated": rotated, "reversed": [row[::-1] for row in table], "added": added}


def fix_the_barrier(a: Numbers, table: Table, size: int, rows: int, cols: int) -> dict[str, Any]:
    shifted: Numbers = []
    exchanged: Numbers = []
    for piece in pieces(a):
        shifted += [0.0, *piece[:-1]]
        full = piece + [0.0] * (TPB - len(piece))
        exchanged += [*(-number for number in full[32:]), *full[:32]][: len(piece)]
    turned = [[n for chunk in pieces(row) for n in reversed(chunk)] for row in table]
    return {"shifted": shifted, "exchanged": exchanged, "reversed": turned}


transpose_padded = transpose_tiled
