"""Answers to lesson 07 that come close or are rarely given; `puzzles/answers.py` says which."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes

_LOADED = (
    "        for row in range(ROWS):\n            if row < rows:\n                kept[row] = a"
)
_STORED = "        for row in range(ROWS):\n            if row < rows:\n                out"
_KEPT = """            if row < rows:
                kept[row] = a[row, col]
                total += kept[row]"""
_LEFT = """            if row >= rows:
                break
            kept[row] = a[row, col]
            total += kept[row]"""
_ZEROS = """            kept[row] = a[row, col] if row < rows else float32(0)
            total += kept[row]"""
_TIMES_NOTHING = """            x = a[row, col] if row < rows else x
            kept[row] = x
            total += x * float32(row < rows)"""
_FORMULA = """    per_warp = round_up(registers * limits["warp_size"], limits["register_unit"])
    blocks = min([*most, quarter // per_warp * limits["quarters"] // warps])
    if blocks == min(most):
        return blocks, 0
    # As many warps must find room in the fullest quarter.
    in_quarter = -(-(blocks + 1) * warps // limits["quarters"])
    units = quarter // in_quarter // limits["register_unit"]
    return blocks, units * limits["register_unit"] // limits["warp_size"]
"""
_BY_TRYING = """    def blocks(each):
        unit = limits["register_unit"]
        per_warp = -(-each * limits["warp_size"] // unit) * unit
        fit = quarter // per_warp * limits["quarters"] // warps
        return min([*most, fit])

    now = blocks(registers)
    for fewer in range(registers, 0, -1):
        if blocks(fewer) > now:
            return now, fewer
    return now, 0
"""

RIGHT: dict[tuple[str, str], Changes] = {
    ("no_float64", "divided each time"): (
        ("        share = float32(1) / float32(rows)\n", ""),
        ("total * share", "total / float32(rows)"),
        ("squares * share", "squares / float32(rows)"),
    ),
    ("no_float64", "the reciprocal root of the library"): (
        ("float32(1) / math.sqrt(", "cuda.libdevice.rsqrtf("),
    ),
    ("no_float64", "a fused sum of squares"): (
        ("squares += off * off", "squares = cuda.fma(off, off, squares)"),
    ),
    ("keep_it_in_registers", "left by break"): ((_KEPT, _LEFT),),
    ("keep_it_in_registers", "a while loop to the last place"): (
        (_LOADED, _LOADED.replace("for row in range(ROWS)", "row = 0\n        while row < ROWS")),
        (
            "total += kept[row]\n        mean",
            "total += kept[row]\n            row += 1\n        mean",
        ),
    ),
    ("keep_it_in_registers", "zeros where no row is"): ((_KEPT, _ZEROS),),
    ("keep_it_in_registers", "stored from the last row up"): (
        (_STORED, _STORED.replace("range(ROWS)", "range(ROWS - 1, -1, -1)")),
    ),
    ("two_product", "by the library's names"): (
        ("product = a[i] * b[i]", "product = cuda.libdevice.fmul_rn(a[i], b[i])"),
        ("cuda.fma(", "cuda.libdevice.fmaf_rn("),
    ),
    ("two_product", "factors exchanged, both signs turned"): (
        ("cuda.fma(a[i], b[i], -product)", "cuda.fma(-b[i], -a[i], -product)"),
    ),
    ("occupancy_used", "by trying"): ((_FORMULA, _BY_TRYING),),
}
CLOSE: dict[tuple[str, str], tuple[str, Changes]] = {
    ("occupancy_used", "room for one warp more"): (
        "wrong-result",
        (("(blocks + 1) * warps", "(blocks * warps + 1)"),),
    ),
    ("occupancy_used", "the fullest quarter rounded down"): (
        "wrong-result",
        (("-(-(blocks + 1) * warps //", "((blocks + 1) * warps //"),),
    ),
}
LAZY: dict[tuple[str, str], Changes] = {
    ("keep_it_in_registers", "places dealt out by the thread"): (
        ("kept[row] = a", "kept[(row + col) % ROWS] = a"),
        ("total += kept[row]", "total += kept[(row + col) % ROWS]"),
        ("kept[row] - mean", "kept[(row + col) % ROWS] - mean"),
    ),
    ("keep_it_in_registers", "the smaller of both"): (
        (_STORED, _STORED.replace("range(ROWS)", "range(min(rows, ROWS))")),
    ),
    ("no_float64", "a float64 that is fused"): (
        ("squares += off * off", "squares = float32(cuda.fma(off, off, squares * 1.0))"),
    ),
    ("no_float64", "a comparison in float64"): (
        ("squares += off * off", "squares += off * off if off * 1.0 > mean - rows else off * off"),
    ),
}
FOR_ORDINARY_NUMBERS: dict[tuple[str, str], tuple[str, Changes]] = {
    ("no_float64", "nothing far below the mean"): (
        "wrong-result",
        (("= (a[row, col] - mean) * scale", "= max((a[row, col] - mean) * scale, float32(-99))"),),
    ),
    ("keep_it_in_registers", "places without a row times nothing"): (
        "wrong-result",
        ((_KEPT, _TIMES_NOTHING), ("total = float32(0)", "total = x = float32(0)")),
    ),
}
