"""The puzzles of lesson 04 against loops in plain Python and a block of generators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_course.catalog.lesson_04_shared_memory import LESSON
from gpu_course.catalog.specification import KernelPuzzle, Mistake
from gpu_course.grading.kernel.budgets import counter
from gpu_course.simt.report import Counters
from gpu_course.simulator import simulate
from tests.catalog import by_intervals, rules

PUZZLES: dict[str, KernelPuzzle] = {
    puzzle.short_name: puzzle for puzzle in LESSON.puzzles if isinstance(puzzle, KernelPuzzle)
}
TPB = 64
Numbers = list[float]
Table = list[list[float]]


def pieces(a: Numbers) -> list[Numbers]:
    return [a[start : start + TPB] for start in range(0, len(a), TPB)]


def block_reverse(a: Numbers, size: int) -> dict[str, Any]:
    return {"out": [number for piece in pieces(a) for number in reversed(piece)]}


def pooling(a: Table, cols: int) -> dict[str, Any]:
    return {"out": [[max(row[max(0, col - 3) : col + 1]) for col in range(cols)] for row in a]}


def stencil_halo(a: Numbers, size: int) -> dict[str, Any]:
    ring = [0.0, *a, 0.0]
    return {"out": [ring[i] - 2 * ring[i + 1] + ring[i + 2] for i in range(size)]}


def conv1d(a: Numbers, w: Numbers, size: int, taps: int) -> dict[str, Any]:
    out = []
    for i in range(size):
        out.append(sum(w[k] * a[i + k] for k in range(taps) if i + k < size))
    return {"out": out}


def box_blur_2d(a: Table, rows: int, cols: int) -> dict[str, Any]:
    out = np.zeros((rows, cols), np.float32)
    for row in range(rows):
        for col in range(cols):
            total = 0.0
            for y in (row - 1, row, row + 1):
                for x in (col - 1, col, col + 1):
                    if 0 <= y < rows and 0 <= x < cols:
                        total += a[y][x]
            out[row, col] = total / 9
    return {"out": out.tolist()}


def transposed(a: Table, rows: int, cols: int) -> dict[str, Any]:
    return {"out": [[a[row][col] for row in range(rows)] for col in range(cols)]}


def fix_the_race(
    a: Numbers, table: Table, size: int, rows: int, cols: int, rounds: int
) -> dict[str, Any]:
    rotated: Numbers = []
    added: Numbers = []
    for piece in pieces(a):
        rotated += [*piece[1:], piece[0]]
        for _ in range(rounds):
            piece = [piece[k] + (piece[k - 1] if k else 0) for k in range(len(piece))]
        added += piece
    return {"rotated": rotated, "reversed": [row[::-1] for row in table], "added": added}


def fix_the_barrier(a: Numbers, table: Table, size: int, rows: int, cols: int) -> dict[str, Any]:
    shifted: Numbers = []
    exchanged: Numbers = []
    for piece in pieces(a):
        shifted += [0.0, *piece[:-1]]
        full = piece + [0.0] * (TPB - len(piece))
        exchanged += [*(-number for number in full[32:]), *full[:32]][: len(piece)]
    turned = [[n for chunk in pieces(row) for n in reversed(chunk)] for row in table]
    return {"shifted": shifted, "exchanged": exchanged, "reversed": turned}


BY_LOOP = {
    "block_reverse": block_reverse,
    "fix_the_race": fix_the_race,
    "fix_the_barrier": fix_the_barrier,
    "pooling": pooling,
    "stencil_halo": stencil_halo,
    "conv1d": conv1d,
    "box_blur_2d": box_blur_2d,
    "transpose_tiled": transposed,
    "transpose_padded": transposed,
}


def test_every_puzzle_has_its_loop() -> None:
    assert list(BY_LOOP) == list(PUZZLES) == [p.short_name for p in LESSON.puzzles]


@pytest.mark.parametrize("name", PUZZLES)
def test_the_reference_is_a_loop(name: str) -> None:
    puzzle = PUZZLES[name]
    for case in rules.cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        plain = {n: v.tolist() if hasattr(v, "tolist") else v for n, v in inputs.items()}
        got = puzzle.reference(inputs, case)
        assert {n: v.tolist() for n, v in got.items()} == BY_LOOP[name](**plain), case


@pytest.mark.parametrize("name", PUZZLES)
def test_the_solution_is_right_and_without_hazard_in_a_block_of_generators(name: str) -> None:
    puzzle = PUZZLES[name]
    functions = by_intervals.kernels(rules.SOLUTIONS / f"{puzzle.name}.py")
    for case in rules.cases_and_random(puzzle, draws=1):
        outcome = by_intervals.run_case(puzzle, functions, case)
        assert outcome == by_intervals.Outcome(frozenset(), True), case


@pytest.mark.parametrize(
    "rule",
    [
        rules.assert_parameters_agree,
        rules.assert_cases_tell_much,
        rules.assert_inputs_show_mistakes,
        rules.assert_outputs_fit,
        rules.assert_words_are_in_order,
        rules.assert_the_work_is_shared,
    ],
)
@pytest.mark.parametrize("name", PUZZLES)
def test_the_specification_holds_together(name: str, rule: Any) -> None:
    rule(PUZZLES[name])


@pytest.mark.parametrize(
    ("name", "mistake"),
    [(name, mistake) for name, puzzle in PUZZLES.items() for mistake in puzzle.mistakes],
    ids=lambda value: value if isinstance(value, str) else value.function,
)
def test_a_block_of_generators_finds_in_each_mistake_what_the_catalogue_says(
    name: str, mistake: Mistake
) -> None:
    puzzle = PUZZLES[name]
    outcome = by_intervals.outcome_of(puzzle, mistake)
    if mistake.reason == "hazard":
        assert mistake.diagnosis in outcome.hazards
    else:
        assert outcome.hazards == frozenset()
        assert outcome.right == (mistake.reason == "over-budget")
    if mistake.reason == "wrong-result":
        assert outcome.diagnosis == mistake.diagnosis or mistake.diagnosis == "tail-unwritten"
    if mistake.reason != "over-budget":
        assert mistake.diagnosis in puzzle.diagnoses


@pytest.mark.parametrize("name", PUZZLES)
def test_at_least_four_mistakes_and_a_race_among_them(name: str) -> None:
    mistakes = PUZZLES[name].mistakes
    assert len(mistakes) >= 4
    assert "race" in {mistake.diagnosis for mistake in mistakes}


@pytest.mark.parametrize("name", ["pooling", "stencil_halo", "conv1d", "box_blur_2d"])
def test_the_budget_of_bytes_is_exactly_what_the_solution_loads(name: str) -> None:
    puzzle = PUZZLES[name]
    (budget,) = puzzle.budgets
    for case in rules.cases_and_random(puzzle):
        assert callable(budget.limit)
        loaded = counter(counters_of(name, case), budget.counter)
        assert loaded == budget.limit(case, Counters()), case


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
