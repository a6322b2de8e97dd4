"""What is particular to the reductions of lesson 05: naive kernels are right, and cost what."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.grading.kernel.budgets import counter
from gpu_course.lessons.reductions_and_scans.rows import rows_of_numbers
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import KernelPuzzle
from simt.report import Counters
from simt.simulator import simulate
from tests.course.puzzles import rules

NAIVE = [
    ("block_sum", "two_barriers_a_step", "barriers"),
    ("block_sum_sequential", "every_second_thread", "divergent_branches"),
    ("block_sum_sequential", "first_threads_far_cells", "shared_load.conflicts"),
    ("dot", "tree_in_shared_memory", "barriers"),
    ("dot", "sums_in_float64", "float64_operations"),
    ("axis_sum", "a_stretch_for_each_lane", "global_load.excess_sectors"),
    ("axis_sum", "tree_in_shared_memory", "barriers"),
    ("argmax", "tree_in_shared_memory", "barriers"),
    ("softmax_row_max", "trees_in_shared_memory", "barriers"),
    ("softmax_row_max", "in_float64", "float64_operations"),
    ("grid_sum", "a_stretch_for_each_thread", "global_load.excess_sectors"),
    ("grid_sum", "tree_in_shared_memory", "barriers"),
    ("histogram", "a_thread_for_each_bin", "global_load.bytes"),
    ("histogram_private", "counted_in_global_memory", "red.requests"),
]
"""Puzzle, a mistake that is right and costs too much, and the counter that says so."""


def run(name: str, function: str, case) -> tuple[bool, Counters]:
    """Returns whether a kernel is right on a case, and what it cost."""
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    folder = rules.SOLUTIONS / puzzle.lesson
    file = folder / f"{name}.py" if function == name else folder / "mistakes" / f"{name}.py"
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    values = {**puzzle.outputs(inputs, case), **{n: np.copy(v) for n, v in inputs.items()}}
    values |= {n: v for n, v in inputs.items() if not isinstance(v, np.ndarray)}
    total = Counters()
    for launch in puzzle.launches(case):
        report = simulate(f"{file}:{function}")[launch.grid, launch.block](
            *(values[n] for n in launch.args)
        )
        assert report.ok
        total += report.counters
    expected = puzzle.reference(inputs, case)
    rtol, atol = puzzle.tolerance
    right = all(np.allclose(values[n], expected[n], rtol, atol, equal_nan=True) for n in expected)
    return right, total


@pytest.mark.parametrize(("name", "function", "path"), NAIVE)
def test_a_naive_kernel_is_right_and_costs_more_than_the_budget(
    name: str, function: str, path: str
) -> None:
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle)
    (budget,) = [each for each in puzzle.budgets if each.counter == path]
    case = puzzle.cases[0]
    right, cost = run(name, function, case)
    good, reference = run(name, name, case)
    assert right and good
    limit = budget.limit(case, reference) if callable(budget.limit) else budget.limit
    assert counter(reference, path) <= limit < counter(cost, path)


def test_the_tree_to_the_end_in_shared_memory_is_within_the_budget_of_divergence() -> None:
    puzzle = index.find("block_sum_sequential")
    assert isinstance(puzzle, KernelPuzzle)
    for case in puzzle.cases:
        right, cost = run("block_sum_sequential", "block_sum_sequential", case)
        assert right and cost.shared_load.conflicts == cost.shared_store.conflicts == 0, case


def test_rows_are_negative_tied_or_nan_where_a_case_says_so() -> None:
    puzzle = index.find("argmax")
    found = {
        case.name: rows_of_numbers(np.random.default_rng(4), case)["a"] for case in puzzle.cases
    }
    assert (found["33 columns below zero"] < 0).all()
    tied = found["many equal numbers"]
    assert ((tied == tied.max(axis=1, keepdims=True)).sum(axis=1) > 1).all()
    some = np.isnan(found["some NaN, and a row of them"])
    assert some[-1].all() and some[::2, 0].all() and not some[1:-1:2, 0].all()
    assert np.isin(some[:-1].sum(axis=1), (3, 4)).all()


def test_a_private_histogram_asks_global_memory_once_for_each_bin_and_block() -> None:
    puzzle = index.find("histogram_private")
    assert isinstance(puzzle, KernelPuzzle)
    costs = {run("histogram_private", "histogram_private", c)[1].red.requests for c in puzzle.cases}
    assert costs == {puzzle.budgets[0].limit}


COUNTED = """        cuda.threadfence()
        place[0] = cuda.atomic.add(arrived, 0, 1)
        cuda.threadfence()
    cuda.syncthreads()
    if place[0] == blocks - 1:
"""
ALL_FENCE = """    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        place[0] = cuda.atomic.add(arrived, 0, 1)
    cuda.syncthreads()
    if place[0] == blocks - 1:
        cuda.threadfence()
"""
WAITS = """        cuda.threadfence()
        cuda.atomic.add(arrived, 0, 1)
        while cuda.blockIdx.x == {0} and cuda.atomic.add(arrived, 0, 0) < blocks:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    if cuda.blockIdx.x == {0}:
"""
PUT_BACK = "            cuda.atomic.exch(arrived, 0, 0)\n"
LAST_BLOCKS = {
    "all fence, and one counts for them": (COUNTED, ALL_FENCE, None),
    "puts the counter back plainly": (PUT_BACK, "            arrived[0] = 0\n", None),
    "another thread puts it back": (
        PUT_BACK,
        "        if t == 5:\n            arrived[0] = 0\n",
        None,
    ),
    "the first to come puts it back": (
        PUT_BACK,
        "    if t == 0 and place[0] == 0:\n        arrived[0] = 0\n",
        "race on arrived",
    ),
    "the fence of a thread that has learned nothing": (
        COUNTED,
        COUNTED.replace("1)\n        cuda", "1)\n    if t == 1:\n        cuda"),
        "no-fence-after",
    ),
    "block 0 waits": (COUNTED, WAITS.format("0"), "waits-for-a-block-outside"),
    "block 1 waits": (COUNTED, WAITS.format("1"), "waits-for-a-block-outside"),
    "the last block by number waits": (
        COUNTED,
        WAITS.format("blocks - 1"),
        "waits-for-a-block-outside",
    ),
}


@pytest.mark.parametrize("name", LAST_BLOCKS)
def test_a_last_block_is_judged_by_its_fences_and_by_whom_it_waits_for(
    name: str, tmp_path: Path
) -> None:
    part, other, diagnosis = LAST_BLOCKS[name]
    puzzle = index.find("last_block_sum")
    text = (rules.SOLUTIONS / puzzle.lesson / "last_block_sum.py").read_text()
    assert part in text
    path = tmp_path / "last_block_sum.py"
    path.write_text(text.replace(part, other))
    verdict = check(puzzle.name, answer=path, seed=0)
    assert (verdict.passed, verdict.diagnosis) == (diagnosis is None, diagnosis), verdict.message
