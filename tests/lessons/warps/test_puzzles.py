"""What is particular to lesson 02: who parts, who shuffles, and NVIDIA's own calculator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpu_course.lessons.warps import pieces
from gpu_course.lessons.warps.occupancy import NEWEST, OCCUPANCY, OLDEST, _count
from gpu_course.puzzle import index
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, KernelPuzzle
from simt.report import Counters
from simt.simulator import simulate
from tests.course.puzzles import rules
from tests.course.puzzles.python_rules import solution_of

LESSON = index.lesson("warps")

KERNELS: dict[str, KernelPuzzle] = {
    puzzle.short_name: puzzle for puzzle in LESSON.puzzles if isinstance(puzzle, KernelPuzzle)
}

RECORD = Path(__file__).parents[2] / "gpu_course" / "hardware" / "records" / "occupancy.json"
ROWS = [
    row
    for row in json.loads(RECORD.read_text(encoding="utf-8"))["rows"]
    if OLDEST <= tuple(map(int, row[0].split("."))) <= NEWEST
]


@pytest.mark.parametrize(("version", "registers", "shared", "threads", "blocks"), ROWS)
def test_the_solution_is_nvidias_calculator(
    version: str, registers: int, shared: int, threads: int, blocks: int
) -> None:
    major, minor = map(int, version.split("."))
    sizes = {"major": major, "minor": minor, "registers": registers}
    case = sized("x", **sizes, shared_bytes=shared, threads=threads)
    limits = OCCUPANCY.inputs(np.random.default_rng(0), case)["limits"]
    if registers <= 255 and shared <= limits["shared_bytes"] - limits["shared_reserved"]:
        assert solution_of(OCCUPANCY)["occupancy"](limits, registers, shared, threads) == blocks


def test_the_ways_to_go_wrong_start_from_the_right_one() -> None:
    rng = np.random.default_rng(5)
    for case in [*OCCUPANCY.cases, *(OCCUPANCY.random_case(rng) for _ in range(40))]:
        inputs = OCCUPANCY.inputs(rng, case)
        assert _count(inputs) == OCCUPANCY.reference(inputs, case)["result"]


def test_the_cases_are_limited_by_each_resource_and_reach_zero() -> None:
    from gpu_course.hardware.compute_capability import capability
    from gpu_course.hardware.occupancy import occupancy

    limited, blocks = set(), set()
    for case in OCCUPANCY.cases:
        s = case.sizes
        found = occupancy(
            capability(f"{s['major']}.{s['minor']}"),
            s["registers"], s["shared_bytes"], s["threads"],
        )  # fmt: skip
        blocks.add(found.blocks)
        if len(found.limited_by) == 1:
            limited |= set(found.limited_by)
    assert limited == {"warps", "blocks", "registers", "shared memory"}
    assert 0 in blocks and len(blocks) > 4


def counters_of(name: str, case: Case, path: str = "") -> Counters:
    """Counts what the solution costs, or the kernel of another file."""
    puzzle = KERNELS[name]
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    values = {**inputs, **puzzle.outputs(inputs, case)}
    (launch,) = puzzle.launches(case)
    kernel = path or f"{rules.SOLUTIONS / puzzle.name}.py:{launch.function}"
    return simulate(kernel)[launch.grid, launch.block](*(values[n] for n in launch.args)).counters


@pytest.mark.parametrize("name", ["warp_sum", "warp_max_all", "warp_scan"])
def test_five_shuffles_bring_a_warp_together(name: str) -> None:
    for case in rules.cases_and_random(KERNELS[name]):
        counters = counters_of(name, case)
        assert counters.shuffles == 5 * pieces.launched_warps(case)
        assert counters.shared_store.requests == counters.red.requests == 0
        assert counters.global_load.requests == -(-case.sizes["size"] // 32)


def test_a_count_of_votes_needs_no_shuffle() -> None:
    for case in rules.cases_and_random(KERNELS["ballot_count"]):
        assert counters_of("ballot_count", case).shuffles == 0


def test_only_the_guard_parts_a_warp_of_the_two_polynomials() -> None:
    mistakes = rules.SOLUTIONS / "02_warps" / "mistakes" / "even_odd_uniform.py"
    for case in rules.cases_and_random(KERNELS["even_odd_uniform"]):
        size = case.sizes["size"]
        even, odd = (size % 64 + 1) // 2, size % 64 // 2
        ragged = sum(0 < cells < 32 for cells in (even, odd))
        right = counters_of("even_odd_uniform", case)
        assert right.divergent_branches == ragged
        plain = counters_of("even_odd_uniform", case, f"{mistakes}:asked_the_cell")
        assert plain.float32_operations == right.float32_operations
        if size > 64:
            assert plain.divergent_branches > right.divergent_branches


def test_each_kernel_meets_a_last_warp_that_is_not_full_and_one_that_is() -> None:
    for name, puzzle in KERNELS.items():
        sizes = [case.sizes["size"] for case in puzzle.cases]
        assert any(size % 32 for size in sizes) and any(size % 32 == 0 for size in sizes), name
        assert max(sizes) > 64, name
        if name != "even_odd_uniform":
            assert any(size % 64 == 32 for size in sizes), "a warp without a cell in the last block"
