"""Kernels of lesson 14 that are right and go past a budget: `puzzles/costly.py` says how."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes
from tests.course.puzzles.costly import adds_nothing

LOADS = """        for j in range(warp, count, warps):
            at = uint32(start + j)
            page = page_table[sequence, at // PAGE]
            key = k_cache[page, at % PAGE, kv_head, lane]
            value = v_cache[page, at % PAGE, kv_head, lane]
            keys[j, lane] = key
            values[j, lane] = value
"""
A_LANE_FOR_EACH_TOKEN = """        for c in range(warp, D, warps):
            if lane < count:
                at = uint32(start + lane)
                page = page_table[sequence, at // PAGE]
                keys[lane, c] = k_cache[page, at % PAGE, kv_head, c]
                values[lane, c] = v_cache[page, at % PAGE, kv_head, c]
"""


def again(line: str) -> Changes:
    """A kernel that carries a line out twice."""
    return ((f"{line}\n", f"{line}\n{line}\n"),)


def reads_again(cell: str) -> Changes:
    """A kernel that asks memory twice for a number."""
    return ((f" = {cell}\n", f" = max({cell}, {cell})\n"),)


def even_lanes_first(line: str) -> Changes:
    """A kernel in which half of a warp stores, and then the other half."""
    indent = " " * (len(line) - len(line.lstrip()))
    halves = [f"{indent}if lane % 2 == {half}:\n    {line}\n" for half in (0, 1)]
    return ((f"{line}\n", "".join(halves)),)


def wide(number: str) -> Changes:
    """A kernel in which a number goes through float64 and comes back."""
    return ((number, f"{number} * 1.5 / 1.5"),)


COSTLY: dict[tuple[str, str], Changes] = {
    ("rope", "global_load.bytes"): reads_again("q[token, head, pair]"),
    ("rope", "global_store.bytes"): again("            q[token, head, pair] = a * c - b * s"),
    ("rope", "float64_operations"): wide("sin[at, pair]"),
    ("kv_append_paged", "global_load.bytes"): reads_again("k[sequence, head, j]"),
    ("kv_append_paged", "global_store.bytes"): again(
        "        k_cache[page, token % PAGE, head, j] = key"
    ),
    ("kv_append_paged", "float64_operations"): wide("key = k[sequence, head, j]"),
    ("decode_attention_gqa", "global_load.excess_sectors"): ((LOADS, A_LANE_FOR_EACH_TOKEN),),
    ("decode_attention_gqa", "global_store.bytes"): again(
        "        out[sequence, head, lane] = total / part"
    ),
    ("decode_attention_gqa", "global_store.excess_sectors"): even_lanes_first(
        "        out[sequence, head, lane] = total / part"
    ),
    ("decode_attention_gqa", "barriers"): (
        (
            "        score = float32(0)\n",
            "        cuda.syncthreads()\n" * 6 + "        score = float32(0)\n",
        ),
    ),
    ("decode_attention_gqa", "atomic_updates + shared_updates"): adds_nothing(
        "        out[sequence, head, lane] = total / part", "out, (sequence, head, lane)"
    ),
    ("decode_attention_gqa", "float64_operations"): wide("score * scale"),
    ("int4_matvec", "global_load.excess_sectors"): (
        (
            "tile[i % 8, i // 8] = x[8 * start + i]",
            "tile[i // 32, i % 32] = x[8 * start + i % 32 * 8 + i // 32]",
        ),
        ("if 8 * start + i < cols", "if 8 * start + i % 32 * 8 + i // 32 < cols"),
    ),
    ("int4_matvec", "global_store.bytes"): again("            out[first + r] = total"),
    ("int4_matvec", "atomic_updates + shared_updates"): adds_nothing(
        "            out[first + r] = total", "out, first + r"
    ),
    ("int4_matvec", "float64_operations"): wide("part * scales[r]"),
    ("top_k", "global_load.excess_sectors"): (
        ("col = uint32(start + t)", "col = uint32(t * ((cols + TPB - 1) // TPB) + start // TPB)"),
    ),
    ("top_k", "global_store.excess_sectors"): (
        *even_lanes_first("            values[row, lane] = cuda.libdevice.int_as_float(bits)"),
        *even_lanes_first("            places[row, lane] = int32(~uint32(best))"),
    ),
    ("top_k", "atomic_updates + shared_updates"): adds_nothing(
        "            places[row, lane] = int32(~uint32(best))", "places, (row, lane)"
    ),
    ("top_k", "float64_operations"): wide("logits[row, col]"),
}
