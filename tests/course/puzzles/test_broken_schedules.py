"""A schedule that breaks, or is weighed wrongly, comes back with what its picture shows."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from gpu_course.grading.python.cases import prepare, what_is_shown
from gpu_course.grading.verdicts.exports import verdict_html
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.lessons.optimal_checkpointing.harness import schedule_peak
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.chain import uniform
from gpu_course.measure.schedules.operations import account, account_until
from gpu_course.puzzle import index
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.planning import WASTED, followed, most_operations
from gpu_course.puzzle.specification import Case
from tests.course.puzzles.in_process import answer_of, outcome

LESSON = index.lesson("optimal_checkpointing")

LESSON_17 = index.lesson("checkpointing")

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}
EARLY = [("save all", 0), ("save all", 1), ("backward", 0), ("backward", 1)]


def shown(pairs: list[Any]) -> dict[str, Any]:
    inputs = {"function": "plan", "stages": 2, "chain": "", "seed": 0}
    with pytest.raises(Unusable) as found:
        followed(inputs, Case("two stages", {}), {"schedule": pairs})
    assert found.value.shown is not None
    return dict(found.value.shown)


def html_of(evidence: dict[str, Any]) -> str:
    verdict = Verdict(
        "17_checkpointing/sqrt_plan",
        "failed",
        "wrong-result",
        0,
        10,
        tuple(fact("it breaks")),
        evidence=evidence,
    )
    return verdict_html(verdict)


def test_the_picture_of_a_broken_schedule_says_where_it_breaks() -> None:
    evidence = shown(EARLY)
    assert evidence["got"]["schedule"] == EARLY and len(evidence["got"]["rises"]) == 2
    html = html_of(evidence)
    assert "It breaks at operation 2: operation 2 (backward 0) cannot be done" in html


def test_one_that_is_longer_than_any_needs_to_be_is_followed_nowhere() -> None:
    anew = [("forward", 0), ("save all", 1), ("backward", 1), ("save all", 0), ("backward", 0)]
    inputs = {"function": "plan", "stages": 2, "chain": "", "seed": 0}
    most = most_operations(2)
    assert len(anew) == most
    assert followed(inputs, Case("two stages", {}), {"schedule": anew})["schedule"] == anew
    wasteful = [("forward", 0)] * (WASTED + 1) + anew
    with pytest.raises(
        Unusable, match=rf"a schedule of {WASTED + 6} operations; .* takes 5"
    ) as found:
        followed(inputs, Case("two stages", {}), {"schedule": wasteful})
    assert found.value.key == "too-long"


@pytest.mark.parametrize("name", ["sqrt_plan", "log_plan", "revolve", "rotor"])
def test_a_schedule_of_20_000_operations_is_weighed_at_once(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    puzzle: Any = next(
        each for lesson in (LESSON_17, LESSON) for each in lesson.puzzles if each.short_name == name
    )
    tried = prepare(puzzle, puzzle.cases[0], 0)

    def fail(*arguments: Any) -> None:
        raise AssertionError("it was followed on real modules")

    monkeypatch.setattr("gpu_course.measure.schedules.followed.follow", fail)
    monkeypatch.setattr("gpu_course.measure.schedules.operations.account", fail)
    with pytest.raises(Unusable) as found:
        puzzle.follow(tried.inputs, tried.case, {"schedule": [("forward", 0)] * 20_000})
    assert found.value.key == "too-long" and found.value.key in puzzle.diagnoses


def test_one_that_ends_too_early_is_drawn() -> None:
    assert "It breaks at operation 2: the schedule ends too early" in html_of(shown(EARLY[:2]))


@pytest.mark.parametrize(
    "got", [None, {}, {"schedule": 3, "rises": 4}, {"schedule": [("fly", "x")], "rises": [1]}]
)
def test_what_cannot_be_drawn_leaves_the_verdict_as_it_is(got: Any) -> None:
    html = html_of({"got": got})
    assert "it breaks" in html and "<img" not in html


def test_a_whole_schedule_rises_as_its_account_says() -> None:
    for length in (1, 2, 9, 16):
        schedule = plans.periodic(length, min(3, length))
        rises, stop = account_until(uniform(length), schedule)
        assert stop is None and rises == account(uniform(length), schedule).rises


def shown_by(name: str, mistake: str) -> dict[str, Any] | None:
    """Returns what the picture shows of a mistake in the first case that it gets wrong."""
    puzzle = PUZZLES[name]
    answer = answer_of(puzzle, mistake)
    for case in puzzle.cases:
        tried = prepare(puzzle, case, 0)
        got = outcome(puzzle, answer, tried.inputs)
        if puzzle.follow is None and got["result"] == tried.expected["result"]:
            continue
        found = what_is_shown(puzzle, tried, got)
        if puzzle.follow is None or (found and "at" in found):
            return dict(found) if found else None
    return None


def test_a_wrong_peak_is_marked_at_the_first_operation_that_is_weighed_wrongly() -> None:
    """The gradient of the loss is there from the first operation on, and this one forgets it."""
    shown = shown_by("schedule_peak", "forgets_the_gradient")
    assert shown is not None and shown["at"] == 0 and len(shown["claimed"]) == len(shown["rises"])
    assert "and yours is" in html_of({"shown": shown, "got": 26})
    # An input that is never let go of shows only once a backward pass should have freed it.
    shown = shown_by("schedule_peak", "never_lets_go_of_an_input")
    assert shown is not None
    words = [word for word, _ in shown["schedule"]]
    assert shown["at"] > words.index("backward")


def test_a_wrong_cost_of_a_schedule_has_no_picture_of_memory() -> None:
    assert shown_by("schedule_peak", "counts_each_stage_once") is None


def test_an_answer_whose_beginnings_fail_is_marked_where_the_peak_is() -> None:
    puzzle = PUZZLES["schedule_peak"]
    tried = prepare(puzzle, puzzle.cases[0], 0)
    found = what_is_shown(puzzle, tried, {"result": (1, 1), "peaks": [1.0]})
    assert found is not None and found["rises"][found["at"]] == tried.expected["result"][0]
    assert found["claimed"] == []


def test_the_beginnings_of_a_slow_or_talking_answer_cost_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def talks(stages: Any, schedule: Any) -> tuple[int, int]:
        print("here I am")
        if len(schedule) < 3:
            raise IndexError(len(schedule))
        return 5, 6

    answer = ModuleType("answer")
    answer.schedule_peak = talks  # type: ignore[attr-defined]
    found = schedule_peak.run(answer, [{}], [("save all", 0)] * 3)
    assert found == {"result": (5, 6), "peaks": []}
    assert capsys.readouterr().out == "here I am\n"


@pytest.mark.parametrize("mistake", ["keeps_checkpoints_for_free", "forgets_the_gradients"])
def test_a_cost_that_is_too_low_is_shown_as_a_schedule_that_does_not_fit(mistake: str) -> None:
    shown = shown_by("best_cost", mistake)
    assert shown is not None
    assert shown["rises"][shown["at"]] > shown["budget"] >= max(shown["rises"][: shown["at"]])
    assert "A schedule of cost" in html_of({"shown": shown})


def test_a_cost_that_is_too_high_shows_no_better_schedule() -> None:
    assert shown_by("best_cost", "never_saves_ahead") is None


def test_a_schedule_over_its_memory_is_drawn_with_the_memory_and_the_place() -> None:
    shown = shown_by("rotor", "keeps_everything")
    assert shown is not None
    assert shown["rises"][shown["at"]] > shown["budget"] >= max(shown["rises"][: shown["at"]])
    assert "over the budget of" in html_of({"shown": shown})
