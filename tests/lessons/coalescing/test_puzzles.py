"""What is particular to the puzzles of lesson 03: what each order of accesses costs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from gpu_course import check, simulate
from gpu_course.lessons.coalescing.pieces import one_sided_excess
from gpu_course.lessons.coalescing.sectors import SECTORS
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import KernelPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import solution_of

LESSON = index.lesson("coalescing")


@cuda.jit
def strided(out, a, stride, offset):
    i = cuda.grid(1)
    out[i] = a[offset + i * stride]


@pytest.mark.parametrize("case", SECTORS.cases, ids=lambda case: case.name)
def test_the_reference_is_what_a_report_counts(case) -> None:
    inputs = SECTORS.inputs(np.random.default_rng(0), case)
    expected = SECTORS.reference(inputs, case)["result"]
    dtype = {1: "i1", 2: "i2", 4: "f4", 8: "f8"}.get(case.sizes["itemsize"])
    cells = 2000
    # Nobody has an array of terabytes to run it on; the solution counts it another way.
    if dtype is not None and case.sizes["offset"] < cells:
        a, out = np.zeros(cells, dtype), np.zeros(32, dtype)
        report = simulate(strided)[1, 32](out, a, case.sizes["stride"], case.sizes["offset"])
        assert report.ok and report.counters.global_load.sectors == expected
    solution: Callable[..., int] = solution_of(SECTORS)["sectors"]
    assert solution(**inputs) == expected


def test_no_case_reads_before_its_array() -> None:
    rng = np.random.default_rng(3)
    for case in [*SECTORS.cases, *(SECTORS.random_case(rng) for _ in range(50))]:
        s = case.sizes
        assert min(s["offset"], s["offset"] + 31 * s["stride"]) >= 0


PUZZLES: dict[str, KernelPuzzle] = {
    puzzle.short_name: puzzle for puzzle in LESSON.puzzles if isinstance(puzzle, KernelPuzzle)
}
NAIVE = {
    "copy_coalesced": ("a_chunk_for_each_thread", "out[i] = a[i]", 112),
    "sum_columns": ("a_different_row_for_each_lane", "total += a[(k + col) % rows, col]", 180),
    "sum_rows": ("a_thread_for_a_row", "total += a[row, col]", 400),
    "soa_from_aos": ("a_thread_for_a_particle", "out[field, i] = a[i, field]", 108),
    "embedding_lookup": ("a_thread_for_a_token", "out[token, col] = table[row, col]", 1392),
    "transpose_naive": ("along_the_diagonals", "out[col, row] = a[row, col]", 3584),
}
"""Puzzle -> the kernel that is right and out of order, its costly line, and the excess sectors."""


def answer_of(name: str, mistake: str, folder: Path) -> Path:
    """Writes a mistake as an answer to its puzzle."""
    text = (SOLUTIONS / "03_coalescing" / "mistakes" / f"{name}.py").read_text(encoding="utf-8")
    head, *functions = text.split("\n\n\n")
    (wrong,) = [each for each in functions if f"def {mistake}(" in each]
    constants = head.partition('"""\n')[2]
    path = folder / f"{name}.py"
    wrong = wrong.replace(f"def {mistake}(", f"def {name}(")
    path.write_text(f"{constants}\n\n\n{wrong}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", NAIVE)
def test_a_kernel_out_of_order_is_right_and_refused_with_the_line_and_its_sectors(
    name: str, tmp_path: Path
) -> None:
    mistake, line, excess = NAIVE[name]
    verdict = check(name, answer=answer_of(name, mistake, tmp_path), seed=0)
    assert (verdict.status, verdict.reason) == ("failed", "over-budget")
    first, *lines = verdict.message.splitlines()
    assert first.startswith(f"right, but {excess:,} excess sectors in loads")
    cost = next(k for k, each in enumerate(lines) if each.startswith("  cost:"))
    assert f"{excess:,} in" in lines[cost]
    assert line in [each.strip() for each in lines[cost + 1 : cost + 4]]


@pytest.mark.parametrize("name", PUZZLES)
def test_the_solution_wastes_nothing_where_rows_begin_at_sectors(name: str) -> None:
    """The visible example is laid out so; only a transposition has to pay."""
    counters = check(name, answer=SOLUTIONS / "03_coalescing" / f"{name}.py", seed=0).counters
    assert counters is not None
    assert counters.global_load.excess_sectors == 0
    paid = 28 * counters.global_store.requests if name == "transpose_naive" else 0
    assert counters.global_store.excess_sectors == paid


def test_either_side_of_a_transposition_may_pay(tmp_path: Path) -> None:
    flipped = tmp_path / "transpose_naive.py"
    solution = (SOLUTIONS / "03_coalescing" / "transpose_naive.py").read_text(encoding="utf-8")
    text = solution.replace("cuda.threadIdx.x", "X").replace("cuda.threadIdx.y", "Y")
    col = "blockIdx.x * TILE + X", "blockIdx.x * TILE + cuda.threadIdx.y + k * THREAD_ROWS"
    assert col[0] in text
    text = text.replace("    col = cuda.blockIdx.x * TILE + X\n", "")
    text = text.replace(
        "top = cuda.blockIdx.y * TILE + Y", "row = cuda.blockIdx.y * TILE + cuda.threadIdx.x"
    )
    text = text.replace("row = top + k * THREAD_ROWS", f"col = cuda.{col[1]}")
    flipped.write_text(text, encoding="utf-8")
    verdict = check("transpose_naive", answer=flipped, seed=0)
    assert verdict.passed, verdict.message
    assert verdict.counters is not None
    assert verdict.counters.global_load.excess_sectors > 0
    assert verdict.counters.global_store.excess_sectors == 0


@pytest.mark.parametrize(("rows", "cols"), [(32, 32), (33, 32), (45, 110), (7, 5)])
def test_what_one_side_costs_is_counted_cell_by_cell(rows: int, cols: int) -> None:
    excess = 0
    for row in range(rows):
        for left in range(0, cols, 32):
            lanes = range(left, min(left + 32, cols))
            least = -(-len(lanes) * 4 // 32)
            excess += len({(row * cols + col) * 4 // 32 for col in lanes}) - least
            excess += len({(col * rows + row) * 4 // 32 for col in lanes}) - least
    assert one_sided_excess(rows, cols) == excess


def test_every_puzzle_meets_whole_blocks_ragged_ones_and_more_than_one() -> None:
    for name, puzzle in PUZZLES.items():
        grids = [np.prod(puzzle.launches(case)[0].grid) for case in puzzle.cases]
        assert max(grids) > 1 and 1 in grids, name
        sides = [case.sizes.get("cols", case.sizes.get("size", 0)) for case in puzzle.cases]
        assert any(side % 32 for side in sides) and any(side % 32 == 0 for side in sides), name


def test_words_come_again_and_none_stands_at_its_own_place() -> None:
    puzzle = PUZZLES["embedding_lookup"]
    for case in puzzle.cases:
        ids = puzzle.inputs(np.random.default_rng(0), case)["ids"]
        assert ids.min() >= 0 and ids.max() < case.sizes["vocab"]
        assert not np.any(ids == np.arange(len(ids)))
    visible = puzzle.inputs(np.random.default_rng(0), puzzle.cases[0])["ids"]
    assert len(np.unique(visible)) < len(visible)
