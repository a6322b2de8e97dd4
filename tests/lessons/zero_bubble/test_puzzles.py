"""What is particular to the puzzles of lesson 27."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from gpu_course.errors import Unusable
from gpu_course.grading.check import check
from gpu_course.isolation import servers
from gpu_course.lessons.zero_bubble import beat_zb_2p, rollback
from gpu_course.lessons.zero_bubble.beat_zb_2p import BEAT_ZB_2P
from gpu_course.lessons.zero_bubble.dualpipe import DUALPIPE
from gpu_course.lessons.zero_bubble.harness import rollback as rollback_harness
from gpu_course.lessons.zero_bubble.rollback import ROLLBACK, four_squares
from gpu_course.lessons.zero_bubble.split_backward import SPLIT_BACKWARD
from gpu_course.lessons.zero_bubble.zb_h1 import ZB_H1
from gpu_course.lessons.zero_bubble.zb_h2 import ZB_H2
from gpu_course.measure.pipelines import orders
from gpu_course.puzzle import index
from gpu_course.puzzle.pipeline_orders import case
from gpu_course.puzzle.specification import PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS

LESSON = index.lesson("zero_bubble")
NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def test_the_lesson_is_found_by_its_number_and_its_topic() -> None:
    assert index.lesson("27") is LESSON


def test_it_brings_its_six_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "split_backward", "zb_h1", "zb_h2", "beat_zb_2p", "rollback", "dualpipe",
    ]  # fmt: skip


def test_the_solution_fills_pipelines_drawn_at_random_with_a_quarter_to_spare() -> None:
    name = BEAT_ZB_2P.name
    search = runpy.run_path(str(SOLUTIONS / f"{name}.py"))["beat_zb_2p"]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        case = BEAT_ZB_2P.random_case(rng)
        given = BEAT_ZB_2P.inputs(rng, case)
        run = beat_zb_2p.follow(given, case, {"result": search(**given)})
        assert run["bubble"] <= 0.75 * beat_zb_2p.enough(given), (seed, case)


@pytest.mark.parametrize(("puzzle", "memory", "time"), [(ZB_H1, 2, 10), (ZB_H2, 3, 9)])
def test_of_every_order_there_is_exactly_the_good_ones_pass(
    puzzle: PythonPuzzle, memory: int, time: int
) -> None:
    """Two ranks, three microbatches: what a clock that ticks says of each of 1,764 tables."""
    here = case("every order", 2, 3)
    given = puzzle.inputs(np.random.default_rng(0), here)
    passed = found = 0
    for table in product(_every_order(0), _every_order(1)):
        ticks = _ticks(table)
        good = ticks is not None and ticks <= time and max(map(_held, table)) <= memory
        found += good
        passed += (verdict := _passes(puzzle, given, here, table))
        assert verdict is good, table
    assert passed == found >= 1


def _passes(puzzle: PythonPuzzle, given: dict, here: object, table: tuple) -> bool:
    assert puzzle.follow is not None and puzzle.judge is not None
    try:
        got = puzzle.follow(given, here, {"result": [list(order) for order in table]})
    except Unusable:
        return False
    return puzzle.judge(given, here, got) is None


def _every_order(rank: int, done: tuple[int, int, int] = (0, 0, 0)) -> Iterator[tuple[str, ...]]:
    """Yields each order of three microbatches in which F, I and W take them one by one."""
    f, i, w = done
    if w == 3:
        yield ()
    steps = (("F", f, f < 3, (f + 1, i, w)), ("I", i, i < f, (f, i + 1, w)),
             ("W", w, w < i, (f, i, w + 1)))  # fmt: skip
    for kind, number, allowed, then in steps:
        if allowed:
            for rest in _every_order(rank, then):
                yield (f"{rank}{kind}{number}", *rest)


def _ticks(table: tuple[tuple[str, ...], ...]) -> int | None:
    """Returns for how many ticks the slower of two ranks is at it; None where both stand still."""
    left = [list(order) for order in table]
    done: set[str] = set()
    first, last, now = [-1, -1], [0, 0], 0
    while any(left):
        able = [bool(order) and _needs(order[0]) <= done for order in left]
        if not any(able):
            return None
        for rank in (0, 1):
            if able[rank]:
                first[rank] = now if first[rank] < 0 else first[rank]
                last[rank] = now + 1
        done |= {order.pop(0) for rank, order in enumerate(left) if able[rank]}
        now += 1
    return max(end - start for start, end in zip(first, last, strict=True))


def _needs(action: str) -> set[str]:
    rank, kind, number = action
    if kind == "F":
        return {f"0F{number}"} if rank == "1" else set()
    if kind == "W":
        return {f"{rank}I{number}"}
    return {f"{rank}F{number}"} | ({f"1I{number}"} if rank == "0" else set())


def _held(order: tuple[str, ...]) -> int:
    now = most = 0
    for action in order:
        now += {"F": 1, "I": 0, "W": -1}[action[1]]
        most = max(most, now)
    return most


@pytest.mark.parametrize("here", DUALPIPE.cases, ids=lambda case: case.name)
def test_the_order_that_is_drawn_passes_as_an_answer(here: object) -> None:
    given = DUALPIPE.inputs(np.random.default_rng(0), here)
    schedule = orders.dualpipe(given["ranks"], given["microbatches"])
    table = tuple(tuple(line.split()) for line in schedule.lines())
    assert _passes(DUALPIPE, given, here, table)
    without = tuple(tuple(line.replace("&", " ").split()) for line in schedule.lines())
    assert not _passes(DUALPIPE, given, here, without)


def test_marks_of_the_harness_are_those_that_the_judge_knows() -> None:
    assert (rollback.STEP, rollback.BEGINS) == (rollback_harness.STEP, rollback_harness.BEGINS)


@pytest.mark.parametrize("number", [0, 1, 7, 23, 4095, 61_440, 999_999])
def test_four_squares(number: int) -> None:
    assert int(np.sum(four_squares(number) ** 2)) == number


@pytest.mark.parametrize("here", ROLLBACK.cases, ids=lambda case: case.name)
def test_sums_of_squares_are_exact_in_any_order(here: object) -> None:
    """So scale and step have one right value to the last bit, however they are worked out."""
    given = ROLLBACK.inputs(np.random.default_rng(1), here)
    kinds = rollback._calls(here)
    for call, kind in enumerate(kinds):
        with np.errstate(over="ignore"):
            total = sum(float(np.sum(each[call] ** 2)) for each in given["gradients"].parts)
        if kind in (rollback.FINE, rollback.LARGE, rollback.LARGE_AT_ONCE):
            assert np.log2(total) % 2 == 0
            assert (total**0.5 > given["limit"]) is (kind != rollback.FINE)
        else:
            assert not np.isfinite(total)


def test_every_kind_of_gradient_is_among_the_cases() -> None:
    met = {kind for each in ROLLBACK.cases for kind in rollback._calls(each)}
    assert met == set(range(7))


HOSTILE = {
    "waits for a message that nobody sends": (
        "dist.recv(total, r + 1)",
        "dist.recv(total, r + 1)\n        dist.recv(total, r + 1)",
        {"standstill", "calls-differ", "not-waited"},
    ),
    "one rank ends": (
        "guess = scale_by(total)",
        "guess = scale_by(total)\n    if r == 1:\n        import os\n        os._exit(0)",
        {"crash", "standstill", "exception"},
    ),
    "one rank raises": (
        "guess = scale_by(total)",
        "guess = scale_by(total)\n    if r == 1:\n        raise KeyError(r)",
        {"exception"},
    ),
    "puts another optimizer in its place": (
        "    # answer\n",
        "    optimizer.step = lambda: None\n    # answer\n",
        {"waits-for-all", "not-taken-back", "wrong", "partly-wrong", "partial-alone"},
    ),
}


@NEEDS_RANKS
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_answer_ends_in_time_and_the_next_one_passes(name: str, tmp_path: Path) -> None:
    old, new, keys = HOSTILE[name]
    text = (SOLUTIONS / f"{ROLLBACK.name}.py").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "rollback.py"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    verdict = check(ROLLBACK, answer=str(path), seed=0)
    assert verdict.status in ("failed", "timeout")
    assert verdict.diagnosis in keys, verdict.message
    path.write_text(text, encoding="utf-8")
    assert check(ROLLBACK, answer=str(path), seed=0).passed


@pytest.mark.parametrize("result", [None, 3, "x", (1, 2, 3)])
@pytest.mark.parametrize("function", SPLIT_BACKWARD.functions)
def test_what_is_no_gradient_is_named(function: str, result: object, tmp_path: Path) -> None:
    text = (SOLUTIONS / f"{SPLIT_BACKWARD.name}.py").read_text(encoding="utf-8")
    path = tmp_path / "split_backward.py"
    path.write_text(f"{text}\n\ndef {function}(*_):\n    return {result!r}\n", encoding="utf-8")
    verdict = check(SPLIT_BACKWARD, answer=str(path), seed=0)
    assert (verdict.status, verdict.diagnosis) in {
        ("failed", "wrong-form"),
        ("failed", "wrong-signature"),
        ("failed", "parameters"),
    }, verdict.message


def test_every_diagnosis_of_its_own_belongs_to_a_mistake_or_to_an_answer_of_the_tests() -> None:
    from tests.lessons.zero_bubble.answers import CLOSE

    told = {"seven-digits", "too-many-bytes", "changed-in-place", "too-long", "unknown"}
    # Of a B in the same order as its I, and what a table of nothing looks like.
    told |= {"both-backwards", "wrong-form", "wrong-rank", "doubled", "too-early", "missing"}
    told |= {"deadlock", "holds-too-many"}
    for puzzle in LESSON.puzzles:
        own = {mistake.diagnosis for mistake in puzzle.mistakes}
        own |= {key for (name, _), (key, _) in CLOSE.items() if name == puzzle.short_name}
        assert set(puzzle.diagnoses) - own <= told, puzzle.name
