"""What is particular to the puzzles of lesson 04: their budgets, banks and ragged blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_course import check
from gpu_course.draw.paper.picture import alt_text
from gpu_course.grading.kernel.budgets import counter
from gpu_course.grading.verdicts.pictures import verdict_figure
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import Case, KernelPuzzle
from simt.report import Counters
from simt.simulator import simulate
from tests.course.puzzles import rules

LESSON = index.lesson("shared_memory")

PUZZLES: dict[str, KernelPuzzle] = {
    puzzle.short_name: puzzle for puzzle in LESSON.puzzles if isinstance(puzzle, KernelPuzzle)
}
TPB = 64


@pytest.mark.parametrize(
    ("name", "sizes", "blocks"),
    [
        ("pooling", {"rows": 3, "cols": 12}, 3),
        ("pooling", {"rows": 5, "cols": 64}, 0),
        ("stencil_halo", {"size": 1}, 1),
        ("stencil_halo", {"size": 129}, 2),
        ("stencil_halo", {"size": 1003}, 2),
        ("conv1d", {"size": 100, "taps": 4}, 1),
        ("conv1d", {"size": 128, "taps": 1}, 0),
        ("conv1d", {"size": 130, "taps": 9}, 2),
        ("conv1d", {"size": 500, "taps": 16}, 1),
        ("box_blur_2d", {"rows": 1, "cols": 1}, 1),
        ("box_blur_2d", {"rows": 16, "cols": 32}, 4),
        ("box_blur_2d", {"rows": 24, "cols": 48}, 8),
    ],
)
def test_a_block_may_load_a_cell_twice_a_warp_more_where_its_tile_leaves_the_array(
    name: str, sizes: dict[str, int], blocks: int
) -> None:
    puzzle = PUZZLES[name]
    (budget,) = puzzle.budgets
    case = Case(name, sizes)
    assert callable(budget.limit)
    loaded = counter(counters_of(name, case), budget.counter)
    (launch,) = puzzle.launches(case)
    warps = int(np.prod(launch.block)) // 32
    assert budget.limit(case, Counters()) - loaded == 4 * 2 * warps * blocks


def counters_of(name: str, case: Any) -> Counters:
    puzzle = PUZZLES[name]
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    values = {**inputs, **puzzle.outputs(inputs, case)}
    total = Counters()
    for launch in puzzle.launches(case):
        kernel = f"{rules.SOLUTIONS / puzzle.name}.py:{launch.function}"
        total += simulate(kernel)[launch.grid, launch.block](
            *(values[n] for n in launch.args)
        ).counters
    return total


def test_a_column_of_the_square_tile_lies_in_one_bank_and_of_the_padded_one_in_all() -> None:
    whole = PUZZLES["transpose_tiled"].cases[0]
    tiled, padded = (counters_of(name, whole) for name in ("transpose_tiled", "transpose_padded"))
    assert whole.sizes["rows"] % 32 == whole.sizes["cols"] % 32 == 0
    assert tiled.shared_load.conflicts == 31 * tiled.shared_load.requests > 0
    assert tiled.shared_store.conflicts == 0
    assert padded.shared_load.conflicts == padded.shared_store.conflicts == 0
    assert padded.shared_load.requests == tiled.shared_load.requests
    for counters in (tiled, padded):
        assert counters.global_load.excess_sectors == counters.global_store.excess_sectors == 0


def test_no_case_of_the_padded_transposition_has_a_conflict() -> None:
    for case in rules.cases_and_random(PUZZLES["transpose_padded"]):
        counters = counters_of("transpose_padded", case)
        assert counters.shared_load.conflicts == counters.shared_store.conflicts == 0, case


def test_every_puzzle_meets_a_ragged_block_whole_blocks_and_more_than_one() -> None:
    for name in ("block_reverse", "stencil_halo", "conv1d", "fix_the_race", "fix_the_barrier"):
        sizes = [case.sizes["size"] for case in PUZZLES[name].cases]
        assert any(size % TPB for size in sizes) and any(size % TPB == 0 for size in sizes), name
        assert max(sizes) > 3 * TPB and 1 in sizes, name


def test_the_picture_of_a_pass_shows_the_side_of_the_tile_that_has_conflicts(tmp_path) -> None:
    """Turned on the way in, a tile is read without a conflict and written with 31 in a request."""
    text = (rules.SOLUTIONS / "04_shared_memory/transpose_tiled.py").read_text(encoding="utf-8")
    turned = text.replace("tile[y, x] = a", "tile[x, y] = a").replace(
        "tile[x, y]\n", "tile[y, x]\n"
    )
    answer = tmp_path / "transpose_tiled.py"
    for name, way in {"out": text, "in": turned}.items():
        answer.write_text(way, encoding="utf-8")
        verdict = check("transpose_tiled", answer=answer, seed=0)
        assert verdict.passed, verdict.message
        counters = verdict.report.counters
        assert (counters.shared_store.conflicts > counters.shared_load.conflicts) == (name == "in")
        figure = verdict_figure(verdict)
        assert "32 passes, 31 conflicts" in alt_text(figure)
