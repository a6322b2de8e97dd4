"""The loop behind `watch` and `live`: saves come, checks run, and only the newest counts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpu_course.grading.learner import loop as loop_module
from gpu_course.grading.learner.loop import (
    GONE_S,
    GRACE_S,
    KERNEL_DEADLINE_S,
    MISSING,
    POLL_S,
    Finished,
    Loop,
    Started,
    Stopped,
    deadline_s,
    signature,
)
from gpu_course.grading.verdicts.sections import text_of
from gpu_course.grading.worker import Died
from gpu_course.puzzle import index
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.stage import FakeWorker, Stage, outcome

NAME = toy.TOY.name
BEGUN = (Started(NAME),)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_the_file_is_checked_at_once_and_then_not_again(stage: Stage) -> None:
    assert stage.after(0) == BEGUN
    assert stage.after(POLL_S) == ()
    stage.worker.reply = outcome("failed")
    assert stage.after(POLL_S) == (Finished(outcome("failed")),)
    assert [stage.after(POLL_S) for _ in range(50)] == [()] * 50
    assert stage.worker.posted == [NAME]


def passed_once(stage: Stage) -> Stage:
    stage.after(0)
    stage.worker.reply = outcome()
    assert stage.after(POLL_S) == (Finished(outcome()),)
    return stage


def test_a_save_is_checked_once_it_rests(stage: Stage) -> None:
    passed_once(stage)
    for version in (2, 3, 4):  # an editor that writes in pieces
        stage.save(version)
        assert stage.after(POLL_S) == ()
    assert stage.after(POLL_S) == BEGUN
    assert len(stage.worker.posted) == 2


def test_a_verdict_comes_within_three_looks_of_a_save(stage: Stage) -> None:
    passed_once(stage)
    stage.save(2)
    happened = []
    for _ in range(3):
        happened += stage.after(POLL_S)
        stage.worker.reply = outcome("failed")
    assert happened == [Started(NAME), Finished(outcome("failed"))]
    # What is left of half a second is for the check and its picture.
    assert 3 * POLL_S < 0.25


@pytest.mark.parametrize("gap", [0.0, GONE_S / 2])
def test_a_file_that_is_missing_for_a_moment_is_not_told_as_missing(
    stage: Stage, gap: float
) -> None:
    passed_once(stage)
    stage.file = MISSING
    assert stage.after(POLL_S) == stage.after(gap) == ()
    stage.save(2)
    assert stage.after(POLL_S) == ()
    assert stage.after(POLL_S) == BEGUN
    assert len(stage.worker.posted) == 2


def test_a_deleted_file_is_checked_too_and_so_is_its_return(stage: Stage) -> None:
    passed_once(stage)
    stage.file = MISSING
    stage.after(POLL_S)
    assert stage.after(GONE_S) == BEGUN
    stage.worker.reply = outcome("not-started")
    assert stage.after(POLL_S) == (Finished(outcome("not-started")),)
    stage.save(3)
    stage.after(POLL_S)
    assert stage.after(POLL_S) == BEGUN


def test_a_save_ends_a_check_that_goes_on(stage: Stage) -> None:
    stage.after(0)
    stage.after(GRACE_S * 2)
    stage.save(2)
    stage.after(POLL_S)
    assert stage.worker.stops == 0
    assert stage.after(POLL_S) == BEGUN
    assert stage.worker.stops == 1
    stage.worker.reply = outcome()
    assert stage.after(POLL_S) == (Finished(outcome()),)


def test_a_check_that_ends_just_after_a_save_is_not_told(stage: Stage) -> None:
    stage.after(0)
    stage.save(2)
    stage.after(0.01)
    stage.worker.reply = outcome("failed")
    assert stage.after(0.01) == BEGUN
    assert stage.worker.stops == 0, "a warm worker is worth a moment's wait"
    stage.worker.reply = outcome()
    assert stage.after(POLL_S) == (Finished(outcome()),)


def test_a_check_that_does_not_end_is_stopped_with_a_word(stage: Stage) -> None:
    stage.after(0)
    assert stage.after(KERNEL_DEADLINE_S) == ()
    (event,) = stage.after(1)
    assert isinstance(event, Stopped) and event.name == NAME
    assert event.sections[0].lines[0] == "stopped: the check of plus_ten was not done after 330 s"
    assert stage.worker.stops == 1
    assert stage.after(100) == ()
    stage.save(2)
    stage.after(POLL_S)
    assert stage.after(POLL_S) == BEGUN


def test_a_worker_that_dies_is_told_and_the_next_save_is_checked(stage: Stage) -> None:
    stage.after(0)
    stage.worker.reply = Died(-11)
    (event,) = stage.after(POLL_S)
    assert isinstance(event, Stopped)
    text = text_of(event.sections)
    assert "ended by itself, with exit status -11" in text
    assert "gpu-course check plus_ten" in text
    stage.save(2)
    stage.after(POLL_S)
    assert stage.after(POLL_S) == BEGUN


def test_again_checks_what_was_checked(stage: Stage) -> None:
    passed_once(stage)
    stage.loop.again()
    assert stage.after(POLL_S) == BEGUN


def test_close_ends_a_running_check_and_only_that(stage: Stage) -> None:
    stage.after(0)
    stage.loop.close()
    stage.loop.close()
    assert stage.worker.stops == 1
    still = passed_once(Stage())
    still.loop.close()
    assert still.worker.stops == 0


def test_the_learner_s_own_file_is_followed(file: Path) -> None:
    worker = FakeWorker()
    followed = Loop(toy.TOY, worker, clock=lambda: 0.0)
    assert followed.path == file
    assert followed.step() == BEGUN


def test_every_kind_of_save_changes_the_signature(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "answer.py"
    seen = [signature(path)]
    assert seen == [MISSING]
    path.parent.mkdir()
    assert signature(path) == MISSING

    def look() -> None:
        seen.append(signature(path))

    path.write_text("one")
    look()
    os.utime(path, ns=(1, 1))  # touched
    look()
    path.write_text("two")  # the same length, and the same time below
    os.utime(path, ns=(1, 1))
    look()
    other = tmp_path / "other"
    other.write_text("three")
    os.replace(other, path)  # an atomic save
    look()
    path.unlink()
    path.mkdir()
    look()
    assert len(set(seen)) == len(seen)
    assert signature(path) == signature(path)
    assert signature(tmp_path / "other" / "below" / "a file") == MISSING


def test_a_file_where_the_folder_should_be_is_a_missing_answer(tmp_path: Path) -> None:
    (tmp_path / "lesson").write_text("no folder")
    assert signature(tmp_path / "lesson" / "answer.py") in (MISSING, ("unreadable", 20))


def test_only_the_beginning_of_a_huge_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_module, "MAX_BYTES", 4)
    path = tmp_path / "huge.py"
    path.write_text("aaaab")
    os.utime(path, ns=(1, 1))
    before = signature(path)
    path.write_text("aaaac")
    os.utime(path, ns=(1, 1))
    assert signature(path) == before
    path.write_text("baaac")
    os.utime(path, ns=(1, 1))
    assert signature(path) != before


def test_the_grader_s_own_limits_come_before_the_deadline() -> None:
    for puzzle in index.puzzles():
        own = getattr(puzzle, "seconds", 0) * (len(puzzle.cases) + 1)
        assert deadline_s(puzzle) > own
