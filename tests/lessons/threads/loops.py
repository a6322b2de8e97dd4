"""What each kernel puzzle of lesson 01 asks for, as loops in plain Python."""

from __future__ import annotations


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
