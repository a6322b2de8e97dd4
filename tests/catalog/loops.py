"""What each kernel puzzle asks for, as loops in plain Python: a function called like the puzzle.

It gets the puzzle's inputs by their names, arrays as lists, and gives lists by the names of the
outputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

TPB = 64
Numbers = list[float]
Table = list[list[float]]


def add_ten(a):
    return {"out": [number + 10 for number in a]}


def zip_add(a, b):
    return {"out": [a[i] + b[i] for i in range(len(a))]}


def guard(a, size):
    return {"out": [a[i] + 10 for i in range(size)]}


def map_2d(a, rows, cols):
    return {"out": [[1 - a[row][col] for col in range(cols)] for row in range(rows)]}


def broadcast(a, b, rows, cols):
    return {"out": [[a[row][0] + b[0][col] for col in range(cols)] for row in range(rows)]}


def blocks(a, size):
    return {"out": [a[i] ** 2 for i in range(size)]}


def blocks_2d(a, bias, rows, cols):
    return {"out": [[a[row][col] + bias[col] for col in range(cols)] for row in range(rows)]}


def grid_stride(a, b, size):
    return {"out": [a[i] - b[i] for i in range(size)]}


def gather(table, index, tape, shift, size):
    moved = list(tape)
    for _ in range(abs(shift)):
        moved = [moved[-1], *moved[:-1]] if shift > 0 else [*moved[1:], moved[0]]
    back = list(tape)
    back.reverse()
    return {"gathered": [table[number] for number in index], "reversed": back, "shifted": moved}


def clip(a, low, high, size):
    out = []
    for number in a:
        if number < low:
            out.append(low)
        elif number > high:
            out.append(high)
        else:
            out.append(number)
    return {"out": out}


def pieces(a: Numbers) -> list[Numbers]:
    return [a[start : start + TPB] for start in range(0, len(a), TPB)]


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


def transpose_tiled(a: Table, rows: int, cols: int) -> dict[str, Any]:
    return {"out": [[a[row][col] for row in range(rows)] for col in range(cols)]}


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
