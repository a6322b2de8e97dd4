"""What is particular to the scans of lesson 05: blocks that tell each other something."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.grading.check import check
from gpu_course.grading.kernel.answers import mistake_answer
from gpu_course.puzzle import index
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import KernelPuzzle
from simt.machine.schedule import Ranked
from simt.simulator import simulate
from tests.course.puzzles import by_turns, rules
from tests.sampling import EVERYTHING, draw_seed

TELLING = ("scan_lookback", "last_block_sum", "compact")
SMALL = {"scan_lookback": 1920 + 70, "last_block_sum": 70, "compact": 70}


def puzzle_of(name: str) -> KernelPuzzle:
    found = index.find(name)
    assert isinstance(found, KernelPuzzle)
    return found


def small_case(name: str) -> Any:
    size = SMALL[name]
    return sized("small", size=size, kept=size // 3)


def files(name: str) -> tuple[Path, Path]:
    path = rules.SOLUTIONS / f"{puzzle_of(name).name}.py"
    return path, path.parent / "mistakes" / path.name


@pytest.mark.parametrize("resident", [0, 1, 2])
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", TELLING)
def test_the_solution_is_right_in_drawn_orders_with_any_room(
    name: str, seed: int, resident: int
) -> None:
    functions = by_turns.kernels(files(name)[0])
    outcome = by_turns.run_case(puzzle_of(name), functions, small_case(name), seed, resident)
    assert outcome == (frozenset(), True)


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        pytest.param(name, mistake, id=f"{name}-{mistake.function}")
        for name in TELLING
        for mistake in puzzle_of(name).mistakes
        if "race" in mistake.diagnosis
    ],
)
def test_the_generators_find_the_race_of_a_mistake(name: str, mistake: Any) -> None:
    right, wrong = files(name)
    functions = by_turns.kernels(right)
    of = mistake.stands_for or puzzle_of(name).functions[0]
    functions[of] = by_turns.kernels(wrong)[mistake.function]
    puzzle, case = puzzle_of(name), small_case(name)
    assert any(
        "race" in by_turns.run_case(puzzle, functions, case, seed, until="race")[0]
        for seed in range(3)
    )


def test_a_tile_by_block_number_ends_with_room_for_all_and_hangs_with_room_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(by_turns, "MAX_TURNS", 20_000)
    right, wrong = files("scan_lookback")
    functions = by_turns.kernels(right)
    functions["scan_lookback"] = by_turns.kernels(wrong)["tile_is_the_block"]
    puzzle, case = puzzle_of("scan_lookback"), small_case("scan_lookback")
    assert by_turns.run_case(puzzle, functions, case, 1) == (frozenset(), True)
    hangs = (by_turns.run_case(puzzle, functions, case, seed, 1)[0] for seed in range(3))
    assert frozenset({"endless-loop"}) in hangs  # the first that does is enough


def test_the_verdict_on_a_tile_by_block_number_says_what_there_was_room_for() -> None:
    puzzle = puzzle_of("scan_lookback")
    (mistake,) = (m for m in puzzle.mistakes if m.function == "tile_is_the_block")
    verdict = check(puzzle, answer=mistake_answer(puzzle, mistake, rules.SOLUTIONS), seed=0)
    assert verdict.reason == "hazard"
    assert verdict.diagnosis == "waits-for-a-block-outside"
    assert "the GPU has room for 1 block at a time" in " ".join(verdict.message.split())
    assert max(map(len, verdict.message.splitlines())) <= 70


def test_the_verdict_on_a_total_that_is_not_told_says_what_all_wait_for() -> None:
    puzzle = puzzle_of("scan_lookback")
    (mistake,) = (m for m in puzzle.mistakes if m.diagnosis == "total-untold")
    # It is right in every case: what is said of it comes after them, so one of them will do.
    puzzle = replace(puzzle, cases=puzzle.cases[:1])
    verdict = check(puzzle, answer=mistake_answer(puzzle, mistake, rules.SOLUTIONS), seed=0)
    said = " ".join(verdict.message.split())
    assert "every block waits, and told[1] does not hold what it should by then" in said
    assert "the first tile was held up before it told anything" in said
    assert max(map(len, verdict.message.splitlines())) <= 70
    assert "again:" not in said, "the case is the same in every check"


def test_the_verdict_on_a_segment_that_nobody_wrote_names_no_thread_as_its_own(
    tmp_path: Path,
) -> None:
    text = files("segmented_sum")[0].read_text(encoding="utf-8")
    path = tmp_path / "segmented_sum.py"
    path.write_text(text.replace("lane == 0 or previous", "previous"), encoding="utf-8")
    said = check("segmented_sum", answer=path, seed=0).message
    assert "nothing wrote out[" in said and "has the index of" not in said


def test_the_verdict_on_counts_that_nobody_cleared_says_so(tmp_path: Path) -> None:
    text = files("compact")[0].read_text(encoding="utf-8")
    first, last = text.index("    kept = cuda.syncthreads_count"), text.index("    # end answer")
    added = "    if keeps:\n        cuda.atomic.add(counts, cuda.blockIdx.x, 1)\n"
    path = tmp_path / "compact.py"
    path.write_text(text[:first] + added + text[last:], encoding="utf-8")
    verdict = check("compact", answer=path, seed=0)
    assert verdict.diagnosis == "out-of-bounds"
    said = " ".join(verdict.message.split())
    assert "note: counts was updated by an atomic before anything was written there" in said


BY_ONE_THREAD = """\
        before = float32(0)
        if lane == 0:
            k = tile - 1
            word = int64(NOTHING)
            while k >= 0 and word & STATE != PREFIX:
                word = cuda.atomic.add(told, k, 0)
                if word & STATE != NOTHING:
                    before += cuda.libdevice.int_as_float(int32(word >> 32))
                    k -= 1
"""


def with_look_back(other: str) -> str:
    """Returns the solution of scan_lookback with another way to find what stands before a tile."""
    text = files("scan_lookback")[0].read_text(encoding="utf-8")
    first, last = (
        text.index("        before = float32(0)\n"),
        text.index("        if lane == 0:\n            bits = cuda.libdevice.float_as_int(before"),
    )
    return text[:first] + other + text[last:]


# A single lane looks at one tile after another, so each check takes its time.
@pytest.mark.parametrize("seed", range(3) if EVERYTHING else [draw_seed() % 3])
def test_a_look_back_by_one_thread_passes_too(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "scan_lookback.py"
    path.write_text(with_look_back(BY_ONE_THREAD), encoding="utf-8")
    verdict = check("scan_lookback", answer=path, seed=seed)
    assert verdict.passed, verdict.message


def test_the_solution_scans_any_number_of_tiles_in_any_room() -> None:
    rng = np.random.default_rng(5)
    kernel = f"{files('scan_lookback')[0]}:scan_lookback"
    for tiles, resident in [(1, 1), (33, 1), (34, 5), (40, 0)]:
        size = tiles * 1920 - int(rng.integers(1900))
        a = rng.integers(-50, 50, size).astype(np.float32)
        out, told = np.full(size, np.nan, np.float32), np.zeros(tiles, np.int64)
        schedule = Ranked(seed=tiles, resident=resident)
        run = simulate(kernel, schedule=schedule)[tiles, 128]
        assert run(out, a, size, np.zeros(1, np.int32), told).ok
        np.testing.assert_array_equal(out, np.cumsum(a))
        assert (told & 3 == 2).all()


def test_prefixes_come_towards_those_who_look_back() -> None:
    """All look at the same time, each at the next 32 tiles on its way back: `scan_lookback.md`."""
    has_prefix, looks = [False] * 1152, 0
    while not all(has_prefix):
        looks += 1
        far, near = 32 * looks, 32 * (looks - 1)
        has_prefix = [
            known or tile < far or any(has_prefix[tile - far : tile - near])
            for tile, known in enumerate(has_prefix)
        ]
    assert looks == 8


@pytest.mark.parametrize("grid", [1, 2, 5, 64])
def test_the_sum_has_the_same_bits_on_any_grid(grid: int) -> None:
    puzzle = puzzle_of("deterministic_sum")
    path = files("deterministic_sum")[0]
    inputs = puzzle.inputs(np.random.default_rng(1), sized("x", size=15 * 512 - 60))
    a, pieces = inputs["a"], inputs["pieces"]

    def total(grid: int, order: int) -> float:
        parts, out = np.zeros(64, np.float32), np.zeros(1, np.float32)
        simulate(f"{path}:sum_pieces", order_seed=order)[grid, 64](parts, a, a.size, pieces)
        simulate(f"{path}:sum_parts")[1, 64](out, parts, pieces)
        return float(out[0])

    assert {total(grid, order) for order in range(5)} == {total(3, 0)}


def test_a_scan_in_one_launch_moves_half_the_words() -> None:
    size = 20 * 1920
    words = {}
    for name in ("scan_grid", "scan_lookback"):
        puzzle = puzzle_of(name)
        case = sized("large", size=size)
        inputs = puzzle.inputs(np.random.default_rng(0), case)
        values = {**puzzle.outputs(inputs, case), **inputs}
        moved = 0
        for launch in puzzle.launches(case):
            kernel = f"{files(name)[0]}:{launch.function}"
            counters = simulate(kernel)[launch.grid, launch.block](
                *(values[n] for n in launch.args)
            ).counters
            moved += counters.global_load.sectors + counters.global_store.sectors
        words[name] = moved * 8 / size
    assert 4 <= words["scan_grid"] < 4.6
    assert 2 <= words["scan_lookback"] < words["scan_grid"] * 0.75
