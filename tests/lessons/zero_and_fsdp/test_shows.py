"""What lesson 23 shows: the learner's own run, measured stages, calls in words, resharding."""

from __future__ import annotations

import importlib.util

import pytest

from gpu_course.draw.paper.picture import alt_text
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.zero_and_fsdp import shows as lesson
from gpu_course.lessons.zero_and_fsdp import volumes
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.calls import Call
from tests.gpu_course.draw.readable import assert_readable
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))


def call(kind: str, number: int, size: int, rank: int = 0) -> Call:
    return Call(rank, number, kind, (0, 1), number, (size,), 8 * size)


def test_pictures_follow_their_sliders() -> None:
    assert "each rank holds one part of 3" in alt_text(lesson.owners(1, 3))
    assert "a GPU has 24 GB" in alt_text(lesson.stages(70, 24))
    for billions in (0.5, 7.5, 405):
        assert_readable(lesson.stages(billions, 141))


def test_a_gather_belongs_to_the_next_use_that_needs_one() -> None:
    calls = [call("all_gather", k, 10) for k in range(4)]
    calls.insert(3, call("reduce_scatter", 3, 10))
    uses = [("forward", 0, 2, 5), ("forward", 1, 3, 6), ("forward", 2, 3, 7)]
    uses += [("backward", 2, 3, 8), ("backward", 1, 5, 9)]
    found = lesson.uses_of(uses, calls, ranks=2)
    assert [use.gathered_at for use in found] == [0, 0, 1, None, 4]
    assert [use.held_bytes for use in found] == [5, 6, 7, 8, 9]


def test_one_rank_gathers_nothing() -> None:
    (use,) = lesson.uses_of([("forward", 0, 0, 5)], [], ranks=1)
    assert use.gathered_at is None


def test_calls_are_told_by_kind_in_times_of_the_parameters() -> None:
    calls = [call("all_gather", 0, 50, rank) for rank in (0, 1)]
    calls += [call("all_reduce", 1, 100, rank) for rank in (0, 1)]
    rows = [line.split() for line in volumes.calls_text(100, calls).splitlines()[1:]]
    assert rows == [["all_gather", "1", "1"], ["all_reduce", "1", "2"], ["all", "2", "3"]]
    assert "called nothing" in volumes.calls_text(100, [])


def test_what_leaves_a_node_is_told_apart_from_what_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def among(kind: str, group: tuple[int, ...], number: int, rank: int = 0) -> Call:
        return Call(rank, number, kind, group, number, (100,), 800)

    inside = [among("all_gather", (0, 1), 0), among("reduce_scatter", (0, 1), 1)]
    across = [among("all_reduce", (0, 2), 2)]
    others = [among("all_gather", (2, 3), 0, rank=2)]
    monkeypatch.setattr(volumes, "latest_calls", lambda: (*inside, *across, *others))
    rows = [line.rsplit(maxsplit=2) for line in volumes.axes_text(200, per_node=2).splitlines()]
    assert [row[-1] for row in rows[1:]] == ["0.50", "0.50", "0.25", "0.50"]
    assert [row[0].split()[0] for row in rows[1:-1]] == [
        "all_gather",
        "all_reduce",
        "reduce_scatter",
    ]
    # A slice of half of the 200 numbers, between two: it is sent once.
    assert volumes.to_other_nodes(200, per_node=2) == 0.5
    assert volumes.to_other_nodes(200, per_node=4) == 0.0
    monkeypatch.setattr(volumes, "latest_calls", lambda: ())
    assert volumes.to_other_nodes(200, per_node=2) == 0.0


@NEEDS_RANKS
def test_the_runs_of_the_stages_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    first = lesson.stage_run(1, ranks=2, steps=2)
    monkeypatch.setattr(lesson, "run_function", lambda *a, **k: pytest.fail("it runs again"))
    assert lesson.stage_run(1, ranks=2, steps=2) is first
    assert {call.kind for call in first.calls} == {"reduce_scatter", "all_gather"}
    assert [call.rank for call in first.calls] == [0] * len(first.calls)
    assert len(lesson.stage_run(3, ranks=2, steps=2).calls) == 3 * 6


@NEEDS_RANKS
def test_stages_are_measured_as_the_formula_says() -> None:
    rows = [line.split()[2:] for line in lesson.measured_stages(ranks=2).splitlines()[2:]]
    assert [row[-1] for row in rows] == ["16", "10", "9", "8"]
    assert all(row[-1] == row[-2] for row in rows)
    assert [lesson.sent_in_stage(stage, ranks=2) for stage in (0, 3)] == [2.0, 3.0]


@NEEDS_RANKS
def test_all_stages_are_one_process() -> None:
    lines = lesson.equal_to_one(ranks=2, steps=2).splitlines()
    assert len(lines) == 4 and all("as one process" in line for line in lines)


@NEEDS_RANKS
@pytest.mark.usefixtures("solved")
def test_ones_own_zero3_is_drawn_and_ones_own_reshard_loads() -> None:
    shown = lesson.own_units(ranks=2)
    assert isinstance(shown, Picture)
    assert_readable(shown.figure)
    assert "10 of 11 gathers began while another unit was in use" in repr(shown)
    said = lesson.saved_and_loaded(3, 2)
    assert said.count("yours right, dcp right") == 2


def test_without_an_answer_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    for shown in (lesson.own_units(), lesson.saved_and_loaded()):
        assert isinstance(shown, Note)
        assert "zero3" in repr(shown) or "reshard" in repr(shown)


@NEEDS_RANKS
def test_fairscale_is_laid_beside_ours_or_said_to_be_missing() -> None:
    said = lesson.fairscale_text()
    if importlib.util.find_spec("fairscale") is None:
        assert "pip install fairscale" in said
    else:
        without, _, mended = said.splitlines()[1:]
        assert without.split()[-2:] == ["equal", "equal"] == mended.split()[-2:]
