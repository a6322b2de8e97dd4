"""Sizes past L2: every puzzle's, held small here, is one that its solution is right at."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gpu_course.grading.card import large
from gpu_course.grading.card.large import (
    CLOSE,
    furthest_off,
    large_case,
    least_bytes_of,
    measure,
)
from gpu_course.grading.kernel.trial import attempt, prepare, solutions_folder
from gpu_course.puzzle import Case, KernelPuzzle, index
from gpu_course.puzzle.builders import MAX_DISTINCT, eighths
from simt.kernel import source
from simt.machine.launch import dim3

KERNELS = [puzzle for puzzle in index.puzzles() if isinstance(puzzle, KernelPuzzle)]
BYTES = 20_000


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "QUICK_BYTES", 5_000)


@pytest.mark.parametrize("puzzle", KERNELS, ids=[each.name for each in KERNELS])
def test_a_solution_is_right_at_its_large_size(puzzle: KernelPuzzle) -> None:
    case = large_case(puzzle, BYTES)
    if case is None:
        return
    given = prepare(puzzle, case, seed=0)
    assert least_bytes_of(given) >= BYTES
    module = source.load(solutions_folder() / f"{puzzle.name}.py")
    trial = attempt(given, {name: module.kernel(name) for name in puzzle.functions}, 0)
    assert not [hazard for hazard in trial.hazards if hazard.severity == "error"]
    for name, expected in given.expected.items():
        assert furthest_off(trial.got[name], expected) <= CLOSE, name


@pytest.mark.parametrize("puzzle", KERNELS, ids=[each.name for each in KERNELS])
def test_at_sizes_of_a_gpu_the_launches_grow_with_the_bytes(puzzle: KernelPuzzle) -> None:
    """By the sizes alone: no array of that size is made."""
    small, big = large_case(puzzle, BYTES), large_case(puzzle, 1 << 30)
    assert (small is None) == (big is None)
    if small is None or big is None:
        return
    cells = [math.prod(_counts(case)) for case in (small, big)]
    assert cells[1] > 20 * cells[0]
    for one, other in zip(puzzle.launches(small), puzzle.launches(big), strict=True):
        assert dim3(one.block, "block") == dim3(other.block, "block")


def test_what_one_block_does_has_no_large_size() -> None:
    named = {each.short_name: large_case(each, BYTES) for each in KERNELS}
    assert named["guard"] is None and named["map_2d"] is None
    blocks, stride = named["blocks"], named["grid_stride"]
    assert blocks is not None and blocks.sizes["size"] % large.ROUND == 0
    assert blocks.sizes["block"] == 256 and "doublings" not in blocks.sizes
    assert stride is not None and stride.sizes["grid"] > 100


def test_a_table_grows_with_what_reads_it_and_a_window_does_not() -> None:
    named = {each.short_name: each for each in KERNELS}
    conv = large_case(named["conv1d"], BYTES)
    assert conv is not None and conv.sizes["taps"] == 16
    pooling = large_case(named["pooling"], BYTES)
    assert pooling is not None and pooling.sizes["cols"] <= 64  # a block does a row
    gather = large_case(named["gather"], BYTES)
    assert gather is not None and gather.sizes["length"] == gather.sizes["size"]


def test_the_bytes_are_each_input_once_and_each_output_once() -> None:
    puzzle = next(each for each in KERNELS if each.short_name == "blocks")
    shape = measure(puzzle, Case("x", {"size": 100, "block": 32}))
    assert (shape.bytes, shape.blocks) == (2 * 400, 4)


@pytest.mark.parametrize(
    ("got", "expected", "off"),
    [
        ([1.0, 5.0], [1.0, 5.0], 0.0),
        ([1.5, 5.0], [1.0, 5.0], 0.1),
        ([np.nan, 5.0], [1.0, 5.0], math.inf),
        ([np.nan, 5.0], [np.nan, 5.0], 0.0),
        ([0.0, 0.25], [0.0, 0.0], 0.25),
        ([], [], 0.0),
    ],
)
def test_how_far_a_result_is_off(got: list[float], expected: list[float], off: float) -> None:
    assert furthest_off(np.float32(got), np.float32(expected)) == pytest.approx(off)


def test_whole_numbers_are_right_or_wrong() -> None:
    assert furthest_off(np.array([1, 2]), np.array([1, 2])) == 0
    assert furthest_off(np.array([1, 2]), np.array([1, 3])) == math.inf


def test_arrays_past_a_check_are_made_quickly_and_are_still_mixed() -> None:
    drawn = eighths(np.random.default_rng(0), (MAX_DISTINCT + 1,), Case("x", {"doublings": 100}))
    assert drawn.dtype == np.float32 and drawn.all()
    np.testing.assert_array_equal(drawn * 8, np.round(drawn * 8))
    assert 0.4 < np.mean(drawn < 0) < 0.6 and np.abs(drawn).max() < MAX_DISTINCT / 8


def _counts(case: Case) -> list[int]:
    """The sizes of a case that count something; what its numbers are like is none of them."""
    return [size for size in case.sizes.values() if size > 0]
