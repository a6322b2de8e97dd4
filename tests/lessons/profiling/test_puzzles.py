"""The puzzles of lesson 09 against counts made another way: nanosecond by nanosecond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gpu_course.lessons.profiling import planted
from gpu_course.lessons.profiling.find_the_bottleneck import FIND_THE_BOTTLENECK
from gpu_course.lessons.profiling.harness.traces import events_of
from gpu_course.lessons.profiling.launch_gap import LAUNCH_GAP
from gpu_course.lessons.profiling.overlap_fraction import OVERLAP_FRACTION
from gpu_course.lessons.profiling.planted import BESIDE, LOOPS, recorded
from gpu_course.lessons.profiling.plants import PLANTS
from gpu_course.lessons.profiling.self_time import SELF_TIME
from gpu_course.lessons.profiling.who_waits import WHO_WAITS, _program, rows_of
from gpu_course.measure import timeline as t
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import Case, PythonPuzzle
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random, solution_of

LESSON = index.lesson("profiling")


def given(puzzle: PythonPuzzle, case: Case, seed: int = 4) -> dict[str, Any]:
    return puzzle.inputs(np.random.default_rng(seed), case)


def every(puzzle: PythonPuzzle, draws: int = 12) -> Iterator[tuple[Case, dict[str, Any]]]:
    for case in cases_and_random(puzzle, draws):
        yield case, given(puzzle, case)


def answers(puzzle: PythonPuzzle) -> dict[str, Any]:
    """The solution and every mistake by name."""
    scope: dict[str, Any] = {}
    file = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    exec(file.read_text(encoding="utf-8"), scope)
    wrong = {mistake.function: scope[mistake.function] for mistake in puzzle.mistakes}
    return {"solution": solution_of(puzzle)[puzzle.short_name]} | wrong


def test_the_lesson_brings_its_five_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "self_time", "find_the_bottleneck", "launch_gap", "overlap_fraction", "who_waits"
    ]  # fmt: skip
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


def self_time_by_moments(events) -> dict[str, int]:
    """Each nanosecond goes to the event that began last, the shortest of those, the last listed."""
    found = Counter({name: 0 for _, name, _, _ in events})
    ends = max((ts + dur for *_, ts, dur in events), default=0)
    for tid in {row[0] for row in events}:
        for now in range(ends):
            over = [
                (ts, -dur, place, name)
                for place, (thread, name, ts, dur) in enumerate(events)
                if thread == tid and ts <= now < ts + dur
            ]
            if over:
                found[max(over)[3]] += 1
    return dict(found)


def test_self_time_is_the_innermost_event_of_each_moment() -> None:
    for case, inputs in every(SELF_TIME, 6):
        if len(inputs["events"]) < 60:
            expected = self_time_by_moments(inputs["events"])
            assert SELF_TIME.reference(inputs, case)["result"] == expected
            assert answers(SELF_TIME)["solution"](**inputs) == expected


def test_overlap_is_a_share_of_moments() -> None:
    for case, inputs in every(OVERLAP_FRACTION):
        moving, both = 0, 0
        for now in range(1400):
            kinds = {kind for kind, s, e in inputs["events"] if s <= now < e}
            moving += bool(kinds - {"compute"})
            both += len(kinds) > 1 and "compute" in kinds
        expected = pytest.approx(both / moving, rel=1e-12) if moving else None
        assert OVERLAP_FRACTION.reference(inputs, case)["result"] == expected
        assert answers(OVERLAP_FRACTION)["solution"](**inputs) == expected


def test_a_gap_is_counted_moment_by_moment() -> None:
    for case, inputs in every(LAUNCH_GAP):
        rows, idle, bound = inputs["kernels"], 0, 0
        if rows:
            for now in range(min(s for _, s, _ in rows), max(e for *_, e in rows)):
                if not any(s <= now < e for _, s, e in rows):
                    idle += 1
                    bound += not any(a <= now < s for a, s, _ in rows)
        assert LAUNCH_GAP.reference(inputs, case)["result"] == (idle, bound)
        assert answers(LAUNCH_GAP)["solution"](**inputs) == (idle, bound)


def test_a_wait_is_for_what_the_simulator_says_it_was_for() -> None:
    """The simulator knows whose end let the host go on; all of the waits add up to the calls."""
    for seed in range(20):
        program = _program(np.random.default_rng(seed), 40, 3, 1)
        spans = t.run(program).spans
        rows = rows_of(program)
        blamed = answers(WHO_WAITS)["solution"](rows)
        waits = [span for span in spans if span.waits]
        assert sum(blamed.values()) == sum(round(span.seconds * 1e9) for span in waits)
        names = {span.number: span.name for span in spans if span.number is not None}
        for span in waits:
            if span.seconds > 1e-9:
                assert blamed.get(names[span.waits_for], 0) > 0
        assert WHO_WAITS.reference({"events": rows}, WHO_WAITS.cases[1])["result"] == blamed


def test_all_that_is_planted_is_found_in_the_record_and_in_what_is_drawn_from_it() -> None:
    solution = answers(FIND_THE_BOTTLENECK)["solution"]
    assert {loop.plant for loop in LOOPS} == set(PLANTS)
    for number, loop in enumerate(LOOPS):
        for seed in range(3):
            events = events_of(**planted.drawn(number, np.random.default_rng(seed)))
            assert solution(events) == loop.plant, (loop, seed)


def test_a_drawn_trace_has_the_calls_of_the_recorded_one_in_the_same_nesting() -> None:
    for number in (0, 8, 21):
        trace = recorded()[number]
        drawn = planted.drawn(number, np.random.default_rng(3))
        names = Counter(trace["names"][row[0]] for row in trace["rows"])
        own = drawn["rows"][drawn["rows"][:, 0] < len(trace["names"])]
        assert Counter(drawn["names"][row[0]] for row in own.tolist()) == names
        assert len(drawn["rows"]) > len(own) and drawn["names"][-len(BESIDE) :] == list(BESIDE)
        assert (drawn["rows"][:, 2] >= 0).all()
        spans = [(ts, ts + dur) for _, ts, dur, _, _ in own.tolist()]
        held = Counter(sum(a <= s and e <= b for a, b in spans) for s, e in spans[:200])
        assert max(held) >= 4  # step, operator, its operators, and itself


def test_no_number_of_events_stands_for_what_is_planted() -> None:
    many = {
        loop.plant: {
            len(planted.drawn(number, np.random.default_rng(seed))["rows"])
            for number, other in enumerate(LOOPS)
            for seed in range(40)
            if other.plant == loop.plant
        }
        for loop in LOOPS
    }
    alike = ("none", "item", "mask", "dtypes", "contiguous", "optimizer")
    assert set.intersection(many["none"], many["item"], many["mask"])
    assert all(len(many[plant]) > 60 for plant in alike)


def test_what_takes_longest_says_nothing() -> None:
    """In most drawn traces a step has another longest operator than in the recorded one."""

    def longest(drawn: dict[str, Any]) -> str:
        rows = [row for row in drawn["rows"].tolist() if drawn["names"][row[0]].startswith("aten")]
        return str(drawn["names"][max(rows, key=lambda row: row[2])[0]])

    for number in (0, 6, 15):
        seen = {longest(planted.drawn(number, np.random.default_rng(seed))) for seed in range(12)}
        assert len(seen) >= 2


@pytest.mark.parametrize("puzzle", [SELF_TIME, OVERLAP_FRACTION, LAUNCH_GAP])
def test_in_the_visible_example_every_diagnosis_has_a_result_of_its_own(
    puzzle: PythonPuzzle,
) -> None:
    inputs = given(puzzle, puzzle.cases[0])
    results = {name: answer(**inputs) for name, answer in answers(puzzle).items()}
    made = [
        (mistake.diagnosis, results[mistake.function])
        for mistake in puzzle.mistakes
        if results[mistake.function] != results["solution"]
    ]
    assert len(made) > 5
    for key, result in made:
        assert {other for other, each in made if each == result} == {key}
