"""Kernels of lesson 06 that are right and go past a budget: `puzzles/costly.py` says how."""

from __future__ import annotations

from tests.course.puzzles.answers import Changes
from tests.course.puzzles.costly import adds_nothing

REGISTERS = ("                out[row, col] = sums[i, j]", "out, (row, col)")
DOWN_THE_COLUMNS_OF_A: Changes = (
    ("row = top + y + i * EACH\n            inside", "row = top + t\n            inside"),
    ("start + x < k", "start + i < k"),
    ("a[row, start + x]", "a[row, start + i]"),
    ("a_tile[y + i * EACH, x] =", "a_tile[t, i] ="),
)
DOWN_THE_COLUMNS_OF_A_TURNED: Changes = (
    *DOWN_THE_COLUMNS_OF_A[:-1],
    ("a_tile[x, y + i * EACH] =", "a_tile[i, t] ="),
)
DOWN_THE_COLUMNS_OF_BOTH_A: Changes = (
    ("row = top + y + i * EACH\n        inside", "row = top + t\n        inside"),
    ("row < m and x < k", "row < m and i < k"),
    ("a[row, x]", "a[row, i]"),
    ("row = top + y + i * EACH\n            inside", "row = top + t\n            inside"),
    ("ahead + x < k", "ahead + i < k"),
    ("a[row, ahead + x]", "a[row, ahead + i]"),
    ("a_tile[now, x, y + i * EACH] =", "a_tile[now, i, t] ="),
)
A_SQUARE_FOR_EACH_THREAD: Changes = (
    ("a_tile[now, p, y * FOUR + i]", "a_tile[now, p, y * EACH + i]"),
    ("a_tile[now, p, HALF + y * FOUR + i]", "a_tile[now, p, y * EACH + FOUR + i]"),
    ("b_tile[now, p, x * FOUR + i]", "b_tile[now, p, x * EACH + i]"),
    ("b_tile[now, p, HALF + x * FOUR + i]", "b_tile[now, p, x * EACH + FOUR + i]"),
    ("row = top + i // FOUR * HALF + y * FOUR + i % FOUR", "row = top + y * EACH + i"),
    ("col = left + j // FOUR * HALF + x * FOUR + j % FOUR", "col = left + x * EACH + j"),
)
APART: Changes = (
    ("b_tile[now, p, x * FOUR + i]", "b_tile[now, p, x + i * EACH]"),
    ("b_tile[now, p, HALF + x * FOUR + i]", "b_tile[now, p, HALF + x + i * EACH]"),
    ("col = left + j // FOUR * HALF + x * FOUR + j % FOUR", "col = left + x + j * EACH"),
)
B_TURNED_IN_ITS_TILE: Changes = (
    (
        "b_here = start + y < k and col < n",
        "across = cuda.blockIdx.x * TILE + y\n        b_here = start + x < k and across < n",
    ),
    ("b[start + y, col]", "b[start + x, across]"),
    ("b_tile[p, x]", "b_tile[x, p]"),
)

COSTLY: dict[tuple[str, str], Changes] = {
    ("matmul_tiled", "red.requests + atom.requests"): adds_nothing(
        "        out[row, col] = total", "out, (row, col)"
    ),
    ("batched_matmul", "red.requests + atom.requests"): adds_nothing(
        "        out[z, top + y, left + x] = total", "out, (z, top + y, left + x)"
    ),
    ("matmul_register", "red.requests + atom.requests"): adds_nothing(*REGISTERS),
    ("matmul_double_buffered", "red.requests + atom.requests"): adds_nothing(*REGISTERS),
    ("matmul_bias_gelu", "red.requests + atom.requests"): (
        (
            "        out[row, col] = HALF",
            "        cuda.atomic.add(out, (row, col), float32(0))\n        out[row, col] = HALF",
        ),
    ),
    ("matmul_tiled", "shared_load.conflicts"): B_TURNED_IN_ITS_TILE,
    ("matmul_tiled", "shared_load.requests"): (
        ("total += a_tile[y, p] *", "total += max(a_tile[y, p], a_tile[y, p]) *"),
    ),
    ("batched_matmul", "shared_load.requests"): (
        ("total += q_tile[y, i] *", "total += max(q_tile[y, i], q_tile[y, i]) *"),
    ),
    ("matmul_register", "global_load.excess_sectors"): DOWN_THE_COLUMNS_OF_A,
    ("matmul_register", "shared_store.conflicts"): DOWN_THE_COLUMNS_OF_A,
    ("matmul_double_buffered", "global_load.excess_sectors"): DOWN_THE_COLUMNS_OF_BOTH_A,
    ("matmul_double_buffered", "shared_store.conflicts"): (
        ("(2, K_TILE, PADDED)", "(2, K_TILE, TILE)"),
    ),
    ("matmul_double_buffered", "wide_loads"): APART,
    ("matmul_vectorized", "red.requests + atom.requests"): adds_nothing(*REGISTERS),
    ("matmul_vectorized", "global_load.excess_sectors"): DOWN_THE_COLUMNS_OF_A_TURNED,
    ("matmul_double_buffered", "shared_load.conflicts"): A_SQUARE_FOR_EACH_THREAD,
}
