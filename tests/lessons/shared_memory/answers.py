"""Answers to lesson 04 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

FINITE = "float32(-3.4028234663852886e38)"

RIGHT: dict[tuple[str, str], Changes] = {
    ("count_smaller", "its own number in a variable, the others before and behind"): (
        ("tile[t] = a[i]", "mine = a[i]\n    tile[t] = mine"),
        (
            "    for k in range(TPB):\n        if tile[k] < tile[t]:\n            count += 1\n",
            (
                "    for k in range(t):\n        count += tile[k] < mine\n"
                "    for k in range(t + 1, TPB):\n        count += tile[k] < mine\n"
            ),
        ),
    ),
    ("count_smaller", "all but those that are not smaller, beginning anywhere"): (
        ("count = 0", "count = TPB"),
        ("tile[k] < tile[t]", "tile[(k + t) % TPB] >= tile[t]"),
        ("count += 1", "count -= 1"),
    ),
    ("stencil_halo", "clamped loads, and then a choice"): (
        (
            "tile[k] = a[cell] if 0 <= cell < size else float32(0)",
            (
                "x = a[max(min(cell, size - 1), 0)]\n"
                "        tile[k] = x if 0 <= cell < size else float32(0)"
            ),
        ),
    ),
    ("conv1d", "clamped loads, and then a choice"): (
        (
            "tile[k] = a[start + k] if start + k < size else float32(0)",
            (
                "x = a[min(start + k, size - 1)]\n"
                "        tile[k] = x if start + k < size else float32(0)"
            ),
        ),
    ),
    ("pooling", "a clamped load"): (
        (
            "    if col < cols:\n        tile[col] = a[row, col]\n",
            "    tile[col] = a[row, min(col, cols - 1)]\n",
        ),
    ),
    ("block_reverse", "turned on the way in"): (
        ("tile[t] = a[i]", "tile[length - 1 - t] = a[i]"),
        ("out[i] = tile[length - 1 - t]", "out[i] = tile[t]"),
    ),
    ("block_reverse", "a clamped load times nothing, into places that nobody takes"): (
        (
            "    if i < size:\n        tile[t] = a[i]\n",
            "    tile[t] = a[min(i, size - 1)] * float32(i < size)\n",
        ),
    ),
    ("fix_the_race", "rotated on the way in"): (
        (
            "    if i < size:\n        tile[t] = a[i]",
            "    if i < size:\n        tile[(t - 1) % length] = a[i]",
        ),
        ("tile[(t + 1) % length]", "tile[t]"),
    ),
    ("fix_the_barrier", "shifted on the way in"): (
        (
            "    if i < size:\n        tile[t] = a[i]\n",
            (
                "    if t == 0:\n        tile[0] = float32(0)\n"
                "    if i < size and t < TPB - 1:\n        tile[t + 1] = a[i]\n"
            ),
        ),
        ("out[i] = tile[t - 1] if t > 0 else float32(0)", "out[i] = tile[t]"),
    ),
    ("box_blur_2d", "down the columns first"): (
        (
            "for down in range(3):\n            for right",
            "for right in range(3):\n            for down",
        ),
    ),
    ("transpose_tiled", "turned on the way in"): (
        ("tile[y, x] = a", "tile[x, y] = a"),
        ("= tile[x, y]", "= tile[y, x]"),
    ),
    ("transpose_tiled", "a tile whose rows are one place longer"): (
        (
            "cuda.shared.array((TILE, TILE), float32)",
            "cuda.shared.array((TILE, PADDED), float32)",
        ),
        ("TILE = 32\n", "TILE = 32\nPADDED = TILE + 1\n"),
    ),
    ("transpose_padded", "the exclusive or of row and column for a longer row"): (
        ("(TILE, PADDED)", "(TILE, TILE)"),
        ("tile[y, x] =", "tile[y, x ^ y] ="),
        ("= tile[x, y]", "= tile[x, y ^ x]"),
    ),
}
FOR_ORDINARY_NUMBERS: dict[tuple[str, str], tuple[str, Changes]] = {
    ("stencil_halo", "times nothing"): (
        "wrong-result",
        (
            (
                "a[cell] if 0 <= cell < size else float32(0)",
                "a[max(min(cell, size - 1), 0)] * float32(0 <= cell < size)",
            ),
        ),
    ),
    ("conv1d", "times nothing"): (
        "wrong-result",
        (
            (
                "a[start + k] if start + k < size else float32(0)",
                "a[min(start + k, size - 1)] * float32(start + k < size)",
            ),
        ),
    ),
    ("pooling", "the lowest finite number"): (
        "wrong-result",
        (
            ("largest = tile[col]", "largest = float32(-3.4028234663852886e38)"),
            ("range(1, min", "range(0, min"),
        ),
    ),
    ("block_reverse", "nothing below the finite numbers"): (
        "wrong-result",
        (("out[i] = tile[", f"out[i] = max({FINITE}, tile["), ("- 1 - t]", "- 1 - t])")),
    ),
    ("fix_the_race", "nothing times the left neighbour of thread 0"): (
        "wrong-result",
        (
            (
                "tile[t - 1] if t > 0 else float32(0)",
                "tile[max(t - 1, 0)] * float32(t > 0)",
            ),
        ),
    ),
    ("fix_the_barrier", "nothing times a neighbour"): (
        "wrong-result",
        (
            (
                "out[i] = tile[t - 1] if t > 0 else float32(0)",
                "out[i] = tile[max(t - 1, 0)] * float32(t > 0)",
            ),
        ),
    ),
    ("box_blur_2d", "times nothing"): (
        "wrong-result",
        (
            (
                "a[row, col] if inside else float32(0)",
                "a[min(max(row, 0), rows - 1), min(max(col, 0), cols - 1)] * float32(inside)",
            ),
        ),
    ),
    ("transpose_tiled", "nothing below the finite numbers"): (
        "wrong-result",
        (("= tile[x, y]", f"= max(tile[x, y], {FINITE})"),),
    ),
    ("transpose_padded", "nothing below the finite numbers"): (
        "wrong-result",
        (("= tile[x, y]", f"= max(tile[x, y], {FINITE})"),),
    ),
}
LAZY: dict[tuple[str, str], Changes] = {
    ("block_reverse", "eight threads bring the piece"): (
        (
            "    if i < size:\n        tile[t] = a[i]\n",
            (
                "    for k in range(t, length, 8):\n        if t < 8:\n"
                "            tile[k] = a[start + k]\n"
            ),
        ),
    ),
    ("box_blur_2d", "the cell in the middle from global memory"): (
        (
            "total += tile[y + down, x + right]",
            (
                "middle = down == 1 and right == 1\n                total += "
                "a[top + y, left + x] if middle else tile[y + down, x + right]"
            ),
        ),
    ),
    ("stencil_halo", "the cell itself from global memory"): (
        ("float32(2) * tile[t + 1]", "2 * a[i]"),
    ),
    ("conv1d", "the cell itself from global memory"): (
        (
            "total += weights[k] * tile[t + k]",
            "total += weights[k] * (tile[t + k] if k else a[i])",
        ),
    ),
    ("conv1d", "one cell of the halo too many"): (("TPB + taps - 1", "TPB + taps"),),
    ("conv1d", "a halo for as many weights as there can be"): (
        ("range(t, TPB + taps - 1, TPB)", "range(t, SPAN - 1, TPB)"),
    ),
    ("pooling", "its own number from global memory"): (
        ("largest = tile[col]", "largest = a[row, col]"),
    ),
    ("transpose_tiled", "out is written twice, once down the columns"): (
        (
            "    cuda.syncthreads()\n",
            (
                "    cuda.syncthreads()\n    if top + y < rows and left + x < cols:\n"
                "        out[left + x, top + y] = tile[y, x]\n    cuda.syncthreads()\n"
            ),
        ),
    ),
    ("transpose_padded", "two places longer"): (("PADDED = TILE + 1", "PADDED = TILE + 2"),),
}
IN_FLOAT64: dict[tuple[str, str], Changes] = {
    ("conv1d", "a sum that begins as 0.0"): (("total = float32(0)", "total = 0.0"),),
    ("stencil_halo", "a plain 2"): (("float32(2) * tile[t + 1]", "2 * tile[t + 1]"),),
}
OTHERWISE_WRONG: dict[tuple[str, str], tuple[str, Changes, str]] = {
    ("fix_the_barrier", "no way round at the end of the tile"): (
        "out-of-bounds",
        (("tile[(t + HALF) % TPB]", "tile[t + HALF]"),),
        "a place HALF further on",
    ),
    ("pooling", "from a number of its own"): (
        "began-too-high",
        (
            ("largest = tile[col]", "largest = float32(-1000)"),
            ("range(1, min", "range(0, min"),
        ),
        "No finite number is small enough",
    ),
}
