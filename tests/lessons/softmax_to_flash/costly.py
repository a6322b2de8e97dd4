"""Kernels of lesson 13 that are right and go past a budget: `puzzles/costly.py` says how."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes
from tests.course.puzzles.costly import adds_nothing

ATOMICS = "atomic_updates + shared_updates"
ONCE_MORE = """\
    for col in range(lane, cols, 32):
        most = max(most, x[row, col])
"""

LAST_LINE = "                out[row, col] = math.exp(own[k] - most) * scale"

COSTLY: dict[tuple[str, str], Changes] = {
    ("softmax", ATOMICS): adds_nothing(LAST_LINE, "out, (row, col)"),
    ("softmax_online", ATOMICS): adds_nothing(LAST_LINE, "out, (row, col)"),
    ("softmax_online", "barriers"): (
        (
            "    if row >= rows:\n        return\n",
            "    cuda.syncthreads()\n    if row >= rows:\n        return\n",
        ),
    ),
    ("softmax_backward", ATOMICS): adds_nothing(
        "            dx[row, col] = own[k] * (slope[k] - total)", "dx, (row, col)"
    ),
    ("attention_naive", ATOMICS): adds_nothing("    out[row, lane] = total", "out, (row, lane)"),
    ("softmax", "global_load.bytes"): (
        ("    total = float32(0)\n", f"{ONCE_MORE}    total = float32(0)\n"),
    ),
}


def _quarters(line: str) -> Changes:
    """Stores every fourth lane at a time, each time in all sectors of the row."""
    indent = " " * (len(line) - len(line.lstrip()))
    loop = f"{indent}for r in range(4):\n{indent}    if lane % 4 == r:\n        {line}"
    return ((line, loop),)


def _columns(rows: str, *arrays: tuple[str, str]) -> Changes:
    """Brings a tile column by column: neighbouring lanes are a whole row apart in memory."""
    changes = [(f"{rows} = uint32(start + top + j)", f"{rows} = uint32(start + lane)")]
    for array, kept in arrays:
        changes += [
            (f"{kept}[j] = {array}[{rows}, lane]", f"{kept}[j] = {array}[{rows}, top + j]"),
            (
                f"{array}_tile[top + j, lane] = {kept}[j]",
                f"{array}_tile[lane, top + j] = {kept}[j]",
            ),
        ]
    return tuple(changes)


OUT = "            out[row, lane] = sums[j] / total if some else float32(0)"
PART_OUT = "        part_out[split, lane] = total / part if some else float32(0)"
DV = "            dv[key, lane] = sums_v[j]"
LOADS, STORES = "global_load.excess_sectors", "global_store.excess_sectors"

for name in ("flash_attention", "flash_attention_causal"):
    COSTLY |= {
        (name, ATOMICS): adds_nothing(OUT, "out, (row, lane)"),
        (name, "global_store.bytes"): ((OUT, f"            out[row, lane] = float32(0)\n{OUT}"),),
        (name, LOADS): _columns("key", ("k", "keys"), ("v", "values")),
        (name, STORES): _quarters(OUT),
        (name, "float64_operations"): (
            ("sums[j] / total if some", "(sums[j] + 0.0) / total if some"),
        ),
        (name, "indexed_bytes"): (("total = part[j]", "total = part[(j + n - n) % EACH]"),),
    }

COSTLY |= {
    ("flash_decode", ATOMICS): adds_nothing(
        "    out[lane] = total / part if some else float32(0)", "out, lane"
    ),
    ("flash_decode", "global_store.bytes"): (
        (PART_OUT, f"        part_out[split, lane] = float32(0)\n{PART_OUT}"),
    ),
    ("flash_decode", LOADS): (
        (
            "key = uint32(start + i + j)\n                here[j] = k[key, lane]",
            "key = uint32(start + lane)\n                here[j] = k[key, i + j]",
        ),
        ("k_tile[warp, i + j, lane] = here[j]", "k_tile[warp, lane, i + j] = here[j]"),
    ),
    ("flash_decode", STORES): _quarters(PART_OUT),
    ("flash_decode", "indexed_bytes"): (("* here[j]", "* here[(j + m - m) % AT_ONCE]"),),
    ("flash_backward", ATOMICS): adds_nothing(DV, "dv, (key, lane)"),
    ("flash_backward", "global_store.bytes"): (
        (DV, f"            dv[key, lane] = float32(0)\n{DV}"),
    ),
    ("flash_backward", LOADS): _columns("key", ("k", "keys"), ("v", "values")),
    ("flash_backward", STORES): _quarters(DV),
    ("flash_backward", "float64_operations"): (
        ("dq[row, lane] = sums[j] * scale", "dq[row, lane] = (sums[j] + 0.0) * scale"),
    ),
    ("flash_backward", "indexed_bytes"): ((DV, f"{DV[:-3]}[(j + n - n) % EACH]"),),
}
