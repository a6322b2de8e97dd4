"""What each kernel puzzle asks for, as loops in plain Python: a function called like the puzzle.

It gets the puzzle's inputs by their names, arrays as lists, and gives lists by the names of the
outputs.
"""

from __future__ import annotations

import math
from fractions import Fraction
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


def even_odd_uniform(a: Numbers, p: Numbers, q: Numbers, size: int) -> dict[str, Any]:
    out = []
    for i in range(size):
        c = q if i % 2 else p
        out.append(c[0] * a[i] ** 2 + c[1] * a[i] + c[2])
    return {"out": out}


def warps(a: Numbers) -> list[Numbers]:
    return [a[start : start + 32] for start in range(0, len(a), 32)]


def ballot_count(a: Numbers, limit: float, size: int) -> dict[str, Any]:
    return {"out": [sum(number > limit for number in warp) for warp in warps(a)]}


def warp_sum(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [sum(warp) for warp in warps(a)]}


def warp_max_all(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [max(warp) for warp in warps(a) for _ in warp]}


def warp_scan(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [sum(warp[: k + 1]) for warp in warps(a) for k in range(len(warp))]}


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


def matmul_naive(a: Table, b: Table, m: int, n: int, k: int) -> dict[str, Any]:
    out = [[sum(a[row][p] * b[p][col] for p in range(k)) for col in range(n)] for row in range(m)]
    return {"out": out}


matmul_tiled = matmul_register = matmul_double_buffered = matmul_naive


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


def scan_lookback(
    a: Numbers, size: int, ticket: list[int], state: list[int], **told: Numbers
) -> dict[str, Any]:
    # A total stays where it is: the block of that tile is held up.
    return {"out": _running(a), "state": [max(2 * (was != 1), was) for was in state]}


def compact(a: Numbers, low: float, size: int, pieces: int) -> dict[str, Any]:
    return {"out": [number for number in a if number > low]}


def segmented_sum(a: Numbers, out: Numbers, key: list[int], size: int) -> dict[str, Any]:
    found = list(out)
    for i in range(size):
        found[key[i]] += a[i]
    return {"out": found}


def last_block_sum(a: Numbers, b: Numbers, size: int, arrived: list[int]) -> dict[str, Any]:
    return {"first": [sum(a)], "second": [sum(b)], "arrived": arrived}


def deterministic_sum(a: Numbers, size: int, pieces: int, **parts: Numbers) -> dict[str, Any]:
    exact = math.inf if math.inf in a else float(sum(map(Fraction, a)))
    return {"few": [exact], "many": [exact]}


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


transpose_naive = transpose_tiled
