"""Answers to lesson 02 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

RIGHT: dict[tuple[str, str], Changes] = {
    ("warp_and_lane", "as the GPU counts lanes, and by a shift"): (
        ("t // 32", "t >> 5"),
        ("t % 32", "cuda.laneid"),
    ),
    ("warp_and_lane", "from the number in the grid, less the cells of earlier blocks"): (
        ("t = cuda.threadIdx.x", "t = i - cuda.blockIdx.x * cuda.blockDim.x"),
        ("t % 32", "t - 32 * (t // 32)"),
    ),
    ("occupancy", "blocks are counted one by one"): (
        (
            "    return min(most)\n",
            "    return max(n for n in range(limits['blocks'] + 1) if n <= min(most))\n",
        ),
    ),
    ("occupancy", "with what all these GPUs have in common"): (
        ('limits["register_unit"]', "256"),
        ('limits["warp_size"]', "32"),
        ('limits["quarters"]', "4"),
    ),
    ("warp_max_all", "a clamped load: the last number twice changes no maximum"): (
        ("a[i] if i < size else float32(-math.inf)", "a[min(i, size - 1)]"),
    ),
    ("warp_max_all", "from the first number of the warp"): (
        ("a[i] if i < size else float32(-math.inf)", "a[i if i < size else size - 1]"),
    ),
    ("warp_sum", "a clamped load, and then a choice"): (
        ("total = a[i] if i < size else float32(0)", "total = a[min(i, size - 1)]"),
        ("    for delta", "    if i >= size:\n        total = float32(0)\n    for delta"),
    ),
    ("warp_scan", "a clamped load: no lane fetches from a later one"): (
        ("a[i] if i < size else float32(0)", "a[min(i, size - 1)]"),
    ),
    ("ballot_count", "a clamped load, voted on with a guard"): (
        ("above = i < size and a[i] > limit", "x = a[min(i, size - 1)]"),
        ("ballot_sync(ALL, above)", "ballot_sync(ALL, x > limit and i < size)"),
    ),
    ("even_odd_uniform", "a clamped load by every thread"): (
        ("        x = a[i]\n", ""),
        ("    if i < size:\n", "    x = a[min(i, size - 1)]\n    if i < size:\n"),
    ),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("occupancy", "no reserved bytes without shared memory"): (
        "wrong-result",
        (("    if per_block:", "    if shared_bytes:"),),
    ),
    ("occupancy", "registers of the whole SM"): (
        "one-pool",
        (
            (
                'warps_in_quarter * limits["quarters"] // warps',
                'limits["registers"] // per_warp // warps',
            ),
        ),
    ),
    ("occupancy", "each quarter holds whole blocks"): (
        "wrong-result",
        (
            (
                'warps_in_quarter * limits["quarters"] // warps',
                'warps_in_quarter // -(-warps // limits["quarters"])',
            ),
        ),
    ),
    ("occupancy", "half warps are rounded"): (
        "wrong-result",
        (('-(-threads // limits["warp_size"])', 'max(1, round(threads / limits["warp_size"]))'),),
    ),
    ("occupancy", "at least one block"): (
        "wrong-result",
        (("return min(most)", "return max(1, min(most))"),),
    ),
    ("occupancy", "units of 128 bytes"): ("unit-of-today", (('limits["shared_unit"]', "128"),)),
    ("occupancy", "1,024 reserved bytes"): (
        "reserved-everywhere",
        (('limits["shared_reserved"]', "1024"),),
    ),
}
FOR_ORDINARY_NUMBERS: dict[tuple[str, str], tuple[str, Changes]] = {
    ("warp_sum", "times nothing"): (
        "wrong-result",
        (("a[i] if i < size else float32(0)", "a[min(i, size - 1)] * float32(i < size)"),),
    ),
    ("warp_scan", "adds times nothing"): (
        "wrong-result",
        (
            (
                "if cuda.laneid >= delta:\n            total += before",
                "total += before * float32(cuda.laneid >= delta)",
            ),
        ),
    ),
    ("warp_max_all", "the lowest finite number"): (
        "wrong-result",
        (("-math.inf", "-3.4028234663852886e38"),),
    ),
    ("ballot_count", "NaN is kept"): (
        "wrong-result",
        (("i < size and a[i] > limit", "i < size and not (a[i] <= limit)"),),
    ),
}
IN_FLOAT64: dict[tuple[str, str], Changes] = {
    ("warp_sum", "a choice between a float32 and 0.0"): (("else float32(0)", "else 0.0"),),
    ("warp_scan", "a choice between a float32 and 0"): (("else float32(0)", "else 0"),),
}
OTHERWISE_WRONG: dict[tuple[str, str], tuple[str, Changes, str]] = {
    ("warp_sum", "growing distances, and the last one forgotten"): (
        "half-a-warp",
        (("(16, 8, 4, 2, 1)", "(1, 2, 4, 8)"),),
        "Which distance brings the numbers of the other 16",
    ),
    ("warp_scan", "shrinking distances, and the first one forgotten"): (
        "window-of-16",
        (("(1, 2, 4, 8, 16)", "(8, 4, 2, 1)"),),
        "Which distance do your steps lack",
    ),
    ("warp_max_all", "the first number of all for a lane without a cell"): (
        "began-too-high",
        (("float32(-math.inf)", "a[0]"),),
        "none of its numbers",
    ),
    ("warp_max_all", "three exchanges"): (
        "groups",
        (("(16, 8, 4, 2, 1)", "(4, 2, 1)"),),
        "only the three lowest bits",
    ),
    ("ballot_count", "one cell for the two warps of a block"): (
        "race",
        (("out[i // 32]", "out[cuda.blockIdx.x]"),),
        "All lanes of a warp know its count",
    ),
}
