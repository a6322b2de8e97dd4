"""Kernels of lesson 12 that are right and go past a budget: `puzzles/costly.py` says how."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes
from tests.course.puzzles.costly import adds_nothing

LOADS, STORES = "global_load.excess_sectors", "global_store.excess_sectors"
ATOMICS, FLOAT64 = "atomic_updates + shared_updates", "float64_operations"
# Lanes that are neighbours have columns that are far apart, and all columns have a lane.
SHUFFLED_COLUMNS: Changes = (("col = t + k * TPB", "col = t * 33 % TPB + k * TPB"),)
SHUFFLED_CELLS: Changes = (
    ("i = cuda.grid(1)", "i = cuda.blockIdx.x * TPB + cuda.threadIdx.x * 33 % TPB"),
)
SHUFFLED_LANES: Changes = (("cuda.threadIdx.x)\n", "cuda.threadIdx.x * 33 % TPB)\n"),)
SHUFFLED_STARTS: Changes = (("range(t, cols", "range(t * 33 % TPB, cols"),)
RMS = "            out[row, col] = kept[k] * size * weight[col]"
NORMAL = "            out[row, col] = away * weight[col] + bias[col]"
SLOPE = "                logits[row, col] = slope"
DX = "                dx[row, col] = narrow * (g[k] - straight - h[k] * along)"


def _twice(line: str) -> Changes:
    """A kernel that stores a cell twice."""
    return ((line, f"{line}\n{line}"),)


def _waits(times: int, after: str, indent: str = "    ") -> Changes:
    """A kernel whose warps wait for each other that often where once is enough."""
    barrier = f"{indent}cuda.syncthreads()\n"
    return ((f"{barrier}{after}", f"{barrier * times}{after}"),)


COSTLY: dict[tuple[str, str], Changes] = {
    ("bias_gelu", LOADS): SHUFFLED_LANES,
    ("bias_gelu", STORES): SHUFFLED_LANES,
    ("dropout", "global_load.bytes"): (("kept[k] * scale", "x[j] * scale"),),
    ("dropout", "global_store.bytes"): (
        (
            "                out[j] =",
            "                out[j] = float32(0)\n                out[j] =",
        ),
    ),
    ("dropout", LOADS): SHUFFLED_CELLS,
    ("dropout", STORES): SHUFFLED_CELLS,
    ("dropout", FLOAT64): (("kept[k] * scale", "kept[k] * scale * 1.0"),),
    ("rmsnorm", "global_store.bytes"): _twice(RMS),
    ("rmsnorm", ATOMICS): adds_nothing(RMS, "out, (row, col)"),
    ("rmsnorm", LOADS): SHUFFLED_COLUMNS,
    ("rmsnorm", STORES): SHUFFLED_COLUMNS,
    ("rmsnorm", FLOAT64): (("size = float32(1) /", "size = 1.0 /"),),
    ("residual_layernorm", "global_store.bytes"): _twice(NORMAL),
    ("residual_layernorm", "barriers"): _waits(4, "    count = tile"),
    ("residual_layernorm", ATOMICS): adds_nothing(NORMAL, "out, (row, col)"),
    ("residual_layernorm", LOADS): SHUFFLED_COLUMNS,
    ("residual_layernorm", STORES): SHUFFLED_COLUMNS,
    ("residual_layernorm", FLOAT64): (("rstd = float32(1) /", "rstd = 1.0 /"),),
    ("cross_entropy", "global_store.bytes"): _twice(SLOPE),
    ("cross_entropy", "barriers"): _waits(4, "    most = tile"),
    ("cross_entropy", ATOMICS): adds_nothing(SLOPE, "logits, (row, col)"),
    ("cross_entropy", LOADS): SHUFFLED_STARTS,
    ("cross_entropy", STORES): SHUFFLED_STARTS,
    ("cross_entropy", FLOAT64): (("scale = share / part", "scale = 1.0 * share / part"),),
    ("layernorm_backward", "barriers"): _waits(3, "        straight = (tile", " " * 8),
    ("layernorm_backward", ATOMICS): adds_nothing(DX, "dx, (row, col)"),
    ("layernorm_backward", LOADS): SHUFFLED_COLUMNS,
    ("layernorm_backward", STORES): SHUFFLED_COLUMNS,
    ("layernorm_backward", FLOAT64): (("share = float32(1) /", "share = 1.0 /"),),
    ("adamw", LOADS): SHUFFLED_CELLS,
    ("adamw", STORES): SHUFFLED_CELLS,
}
