"""What is particular to the puzzles of lesson 06: exact sums, loads for each product, barriers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_course.grading import check
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.grading.kernel.budgets import counter
from gpu_course.lessons.matmul.ladder import climb, reuse
from gpu_course.lessons.matmul.tiles_and_waves import TILES_AND_WAVES, tiles_and_waves
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import KernelPuzzle
from simt.report import WARP, Counters
from simt.simulator import simulate
from tests.course.puzzles import rules
from tests.course.puzzles.python_rules import solution_of

LESSON = index.lesson("matmul")

PUZZLES: dict[str, KernelPuzzle] = {
    puzzle.short_name: puzzle for puzzle in LESSON.puzzles if isinstance(puzzle, KernelPuzzle)
}
EXACT = [name for name, puzzle in PUZZLES.items() if puzzle.tolerance == (0.0, 0.0)]


def counters_of(name: str, case: Any) -> Counters:
    puzzle = PUZZLES[name]
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    values = {**inputs, **puzzle.outputs(inputs, case)}
    (launch,) = puzzle.launches(case)
    kernel = f"{rules.SOLUTIONS / puzzle.name}.py:{launch.function}"
    report: Any = simulate(kernel)[launch.grid, launch.block](*(values[n] for n in launch.args))
    assert report.ok
    counters: Counters = report.counters
    return counters


@pytest.mark.parametrize("name", EXACT)
def test_float32_holds_every_sum_whatever_the_order(name: str) -> None:
    """Results are compared for equality, so no order of the products may round.

    Products are whole multiples of 1/64 (of 2^2d / 64 with d doublings), and float32 holds 2^24 of
    those. A sum of k products with both signs stays within a few times sqrt(k) of them.
    """
    puzzle = PUZZLES[name]
    for case in rules.cases_and_random(puzzle, draws=30):
        for seed in range(3):
            inputs = puzzle.inputs(np.random.default_rng(seed), case)
            arrays = [v for v in inputs.values() if getattr(v, "dtype", None) == np.float32]
            unit = 2.0 ** (case.sizes.get("doublings", 0) - 3)
            # What is NaN or infinite rounds nothing: all it is added to is that, too.
            left, right = (array[np.isfinite(array)].astype(np.float64) / unit for array in arrays)
            k = case.sizes.get("k", case.sizes.get("cols", 0))
            spread = np.sqrt(np.mean(left**2) * np.mean(right**2) * k)
            assert 5 * spread < 2**24, case


@pytest.mark.parametrize("name", ["matmul_tiled", "batched_matmul"])
def test_the_budget_of_bytes_is_exactly_what_the_solution_loads(name: str) -> None:
    puzzle = PUZZLES[name]
    (budget,) = (each for each in puzzle.budgets if each.counter == "global_load.bytes")
    for case in rules.cases_and_random(puzzle, draws=3):
        assert callable(budget.limit)
        loaded = counter(counters_of(name, case), budget.counter)
        assert loaded == budget.limit(case, Counters()), case


def test_the_budget_of_bytes_has_room_for_the_bias_in_every_warp_of_a_block() -> None:
    puzzle = PUZZLES["matmul_bias_gelu"]
    (budget,) = (each for each in puzzle.budgets if each.counter == "global_load.bytes")
    for case in rules.cases_and_random(puzzle, draws=3):
        m, n = case.sizes["m"], case.sizes["n"]
        # A block of 16 by 16 has 8 warps of two rows each; the solution asks in those with a row.
        idle = -m % 16 // 2
        loaded = counter(counters_of(puzzle.short_name, case), budget.counter)
        assert callable(budget.limit)
        assert budget.limit(case, Counters()) == loaded + 4 * n * idle, case


@pytest.mark.parametrize("name", ["matmul_register", "matmul_vectorized", "matmul_double_buffered"])
def test_a_thread_makes_four_products_of_a_shared_load(name: str) -> None:
    for case in PUZZLES[name].cases:
        counters = counters_of(name, case)
        assert counters.shared_load.requests * WARP * 4 == counters.fma
        assert counters.shared_load.conflicts == counters.shared_store.conflicts == 0
        assert counters.float64_operations == 0


@pytest.mark.parametrize(
    ("name", "loads"), [("matmul_register", 10), ("matmul_vectorized", 4), ("matmul_tiled", 20)]
)
def test_the_fewest_loads_of_16_bytes_are_what_the_layout_allows(name: str, loads: int) -> None:
    """For 64 products of a thread of the upper rungs; for the 16 of a round where it has one sum.

    Side by side are: numbers of b in matmul_vectorized, and of a in all three. In matmul_register
    and matmul_tiled those of a are neighbours along p, two fours and one.
    """
    for case in PUZZLES[name].cases:
        counters = counters_of(name, case)
        products = 16 if name == "matmul_tiled" else 64
        assert counters.wide_loads * WARP * products == counters.fma * loads, case


def test_a_third_pair_of_tiles_is_refused_with_the_lines_that_declare_it() -> None:
    puzzle = PUZZLES["matmul_double_buffered"]
    mistake = next(each for each in puzzle.mistakes if each.function == "three_pairs_of_tiles")
    verdict = check(puzzle, answer=mistake_answer(puzzle, mistake, rules.SOLUTIONS), seed=0)
    # Three pairs of 8 by 68 and 8 by 64 numbers of 4 bytes; two pairs, and a sixteenth more.
    assert "12,672 bytes of shared memory for a block" in verdict.message
    assert "8,976 would do" in verdict.message
    for name in ("a_tile", "b_tile"):
        assert f"{name} = cuda.shared.array((3, " in verdict.message


def test_double_buffering_meets_at_one_barrier_in_a_round() -> None:
    puzzle = PUZZLES["matmul_double_buffered"]
    for case in puzzle.cases:
        m, n, k = (case.sizes[side] for side in "mnk")
        rounds = -(-k // 8) * -(-m // 64) * -(-n // 64)
        assert counters_of("matmul_double_buffered", case).barriers == 2 * rounds, case
        assert counters_of("matmul_register", case).barriers == 4 * rounds, case


def test_no_solution_has_an_operation_in_float64() -> None:
    for name, puzzle in PUZZLES.items():
        assert counters_of(name, puzzle.cases[0]).float64_operations == 0, name


def test_the_rungs_cost_what_their_tiles_say() -> None:
    """Global: 1/i + 1/j for a tile of i by j. Shared: loads of a thread over its products."""
    found = {rung.name: (rung.global_loads, rung.shared_loads) for rung in climb()}
    assert found == {
        "no tiles": (2.0, 0.0),
        "tiles of 32 by 32": (2 / 32, 2.0),
        "strips of 8 results": (2 / 64, 9 / 8),
        "squares of 8 by 8": (2 / 128, 16 / 64),
    }


@pytest.mark.parametrize("side", [1, 2, 4, 8, 16])
def test_a_tile_saves_loads_in_proportion_to_its_side(side: int) -> None:
    found = reuse(side)
    assert found.loads == 2 * 16**3 // side
    for whole, thread in (found.a, found.b):
        assert whole.sum() == 16 * side and thread.sum() == 16 // side
        assert not (thread & ~whole).any()
    assert found.a[0][:side].all() and found.b[0][:, :side].all()


def test_waves_are_counted_as_a_machine_would_run_them() -> None:
    solution = solution_of(TILES_AND_WAVES)["tiles_and_waves"]
    rng = np.random.default_rng(4)
    for case in [*TILES_AND_WAVES.cases, *(TILES_AND_WAVES.random_case(rng) for _ in range(20))]:
        sizes = case.sizes
        corners = [
            (row, col)
            for row in range(0, sizes["m"], sizes["tile_m"])
            for col in range(0, sizes["n"], sizes["tile_n"])
        ]
        waiting, waves = list(corners), 0
        while waiting:
            del waiting[: sizes["sms"]]
            waves += 1
        tiles, counted, share = solution(**sizes)
        assert (tiles, counted) == (len(corners), waves)
        made = waves * sizes["sms"] * sizes["tile_m"] * sizes["tile_n"]
        assert share == pytest.approx(sizes["m"] * sizes["n"] / made)
        assert tiles_and_waves(**sizes) == (tiles, counted, share)
