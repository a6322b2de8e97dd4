"""What each key of `watch` does, with toy puzzles and workers that answer at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.app.terminal.keys import END
from gpu_course.app.terminal.session import Session
from gpu_course.errors import CourseError, UnknownName
from gpu_course.grading import workspace
from gpu_course.grading.learner.loop import KERNEL_DEADLINE_S
from gpu_course.grading.worker import Died
from tests.gpu_course.app.terminal.theatre import Theatre
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.stage import outcome
from tests.gpu_course.grading.toy import RIGHT, STUB

NAMES = [puzzle.name for puzzle in toy.PUZZLES]
TEN, PAIR, FIXED, TABLE = NAMES
ALL = dict.fromkeys(NAMES, "passed")


def test_it_begins_with_the_puzzle_named(answers: Path) -> None:
    play = Theatre(name="pair")
    assert play.session.puzzle is toy.PAIR
    play.wait()
    assert play.session.verdict == outcome("not-started", PAIR).verdict
    assert play.workers[0].posted == [PAIR] and len(play.workers) == 1


@pytest.mark.parametrize(
    ("passed", "first"), [([], TEN), ([TEN], PAIR), ([TEN, PAIR], FIXED), ([PAIR], TEN)]
)
def test_it_begins_with_the_first_that_is_not_passed(
    answers: Path, passed: list[str], first: str
) -> None:
    play = Theatre(dict.fromkeys(passed, "passed"))
    assert play.session.puzzle is None and play.session.searching
    play.wait()
    assert play.session.puzzle is not None and play.session.puzzle.name == first
    assert play.session.verdict == outcome("not-started", first).verdict


def test_when_all_is_passed_it_says_so_and_lists_them(answers: Path) -> None:
    play = Theatre(ALL)
    play.wait()
    assert play.session.view == "list" and play.session.puzzle is None
    assert play.session.notice == "Every puzzle is passed."
    assert play.session.statuses == ALL
    play.press("n", "h", "x", "d")
    play.wait()
    assert not play.session.done


def test_a_save_brings_a_new_verdict(answers: Path, file: Path) -> None:
    play = Theatre(name="plus_ten")
    play.wait()
    play.statuses[TEN] = "passed"
    assert not any(play.wait()), "nothing was saved"
    file.write_text(RIGHT)
    assert any(play.wait())
    assert play.session.passed and play.session.statuses[TEN] == "passed"


def test_n_goes_to_the_next_that_is_not_passed_and_round_again(answers: Path) -> None:
    play = Theatre({FIXED: "passed"}, name="pair")
    play.wait()
    seen = []
    for _ in range(3):
        play.press("n")
        play.wait()
        assert play.session.puzzle is not None
        seen.append(play.session.puzzle.name)
    assert seen == [TABLE, TEN, PAIR]
    assert play.session.statuses[FIXED] == "passed"


def test_n_with_nothing_left_stays(answers: Path) -> None:
    play = Theatre({**ALL, PAIR: "failed"}, name="pair")
    play.wait()
    play.press("n")
    play.wait()
    assert play.session.puzzle is toy.PAIR
    play.press("n")
    assert play.session.notice == "Every other puzzle is passed."
    play.wait()
    assert play.session.puzzle is toy.PAIR and play.session.surveyed is None


def test_what_was_said_of_one_puzzle_is_not_said_of_the_next(answers: Path, file: Path) -> None:
    play = Theatre({TEN: "passed"}, name="plus_ten")
    play.wait()
    play.press("h", "n")
    play.wait(2)
    assert play.session.puzzle is toy.PAIR
    assert play.session.hint is None and not play.session.passed


def test_hints_come_one_by_one(answers: Path) -> None:
    play = Theatre(name="plus_ten")
    texts = []
    for _ in range(4):
        play.press("h")
        assert play.session.hint is not None
        texts.append(play.session.hint.text)
    assert texts == ["weak", "stronger", "strongest", "strongest"]


def test_a_pass_takes_the_hint_away_and_h_brings_one_back(answers: Path, file: Path) -> None:
    play = Theatre(name="plus_ten")
    play.press("h")
    play.wait()
    assert play.session.hint is not None
    play.statuses[TEN] = "passed"
    file.write_text(RIGHT)
    play.wait()
    assert play.session.passed and play.session.hint is None
    play.press("h")
    assert play.session.hint is not None


def test_l_shows_the_list_and_finds_out_what_it_does_not_know(answers: Path) -> None:
    play = Theatre({PAIR: "passed"}, name="plus_ten")
    play.wait()
    play.press("l")
    assert play.session.view == "list"
    play.wait()
    assert play.session.statuses == {
        TEN: "not-started",
        PAIR: "passed",
        FIXED: "not-started",
        TABLE: "not-started",
    }
    assert play.workers[-1].posted == [PAIR, FIXED, TABLE]
    assert play.workers[-1].stops == 1, "the helper is sent away"
    play.press("l")
    assert play.session.view == "puzzle"
    play.press("l", " ")
    assert play.session.view == "puzzle"
    assert len(play.workers) == 2


def test_c_checks_all_afresh(answers: Path) -> None:
    play = Theatre(name="plus_ten")
    play.wait()
    play.statuses.update(ALL)
    play.press("c")
    assert play.session.view == "list" and play.session.surveyed == (0, 4)
    play.wait()
    assert play.session.statuses == ALL and play.session.surveyed is None
    assert play.workers[-1].posted == NAMES


def test_c_outlives_a_check_that_hangs_and_a_worker_that_dies(answers: Path) -> None:
    play = Theatre({TEN: "passed", PAIR: None, FIXED: Died(-9), TABLE: "failed"}, name="plus_ten")
    play.wait()
    play.press("c")
    play.wait()
    play.now += KERNEL_DEADLINE_S
    play.wait()
    assert play.session.statuses == {
        TEN: "passed",
        PAIR: "timeout",
        FIXED: "error",
        TABLE: "failed",
    }


def test_a_newer_survey_ends_the_older(answers: Path) -> None:
    play = Theatre(name="plus_ten")
    play.press("c")
    play.wait(1)
    play.press("c")
    assert [worker.stops for worker in play.workers] == [0, 1, 0]


def test_x_asks_and_no_means_no(answers: Path, file: Path) -> None:
    file.write_text(RIGHT)
    play = Theatre(name="plus_ten")
    play.press("x")
    assert "backed up first. y/n" in play.session.question
    play.press("h", "\n")
    assert play.session.question and play.session.hint is None, "only y and n answer"
    play.press("n")
    assert play.session.notice == "Nothing was changed." and not play.session.question
    assert file.read_text() == RIGHT


def test_q_at_a_question_quits_and_changes_nothing(answers: Path, file: Path) -> None:
    file.write_text(RIGHT)
    play = Theatre(name="plus_ten")
    play.press("x", "q")
    assert play.session.done and file.read_text() == RIGHT


def test_x_and_yes_put_the_stub_back_and_keep_the_answer(answers: Path, file: Path) -> None:
    file.write_text(RIGHT)
    play = Theatre(name="plus_ten")
    play.press("h", "X", "Y")
    assert file.read_text() == STUB
    (copy,) = workspace.backups("plus_ten")
    assert copy.read_text() == RIGHT
    place = f".gpu_course/backups/90_toys/{copy.name}"
    assert play.session.notice == f"plus_ten.py is the stub again. Your answer is kept in {place}."
    assert play.session.hint is None


def test_what_cannot_be_done_is_said(answers: Path, file: Path) -> None:
    file.mkdir()
    play = Theatre(name="plus_ten")
    play.press("x", "y")
    assert "is a folder where the answer should be" in str(play.session.notice)
    (answers.parent / ".gpu_course").write_text("a file")
    play.press("h")
    assert play.session.notice.startswith("that did not work: ")
    assert not play.session.done


def test_d_shows_the_solution_only_after_a_pass(answers: Path, file: Path) -> None:
    folder = answers.parent / "solutions" / "90_toys"
    folder.mkdir(parents=True)
    (folder / "plus_ten.py").write_text(RIGHT)
    file.write_text(RIGHT.replace("a[i] + 10", "10 + a[i]"))
    play = Theatre(name="plus_ten")
    play.wait()
    play.press("d")
    assert play.session.notice == "The solution is shown once your answer passes."
    assert play.session.view == "puzzle"
    play.statuses[TEN] = "passed"
    file.write_text(file.read_text() + "\n")
    play.wait()
    play.press("d")
    assert play.session.view == "solution"
    assert "-        out[i] = 10 + a[i]" in play.session.solution.difference.splitlines()
    play.press("d")
    assert play.session.view == "puzzle"


def test_d_without_solutions_says_so(
    answers: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(answers)
    play = Theatre({TEN: "passed"}, name="plus_ten")
    play.wait()
    play.press("d")
    assert "no folder solutions/" in str(play.session.notice)


def test_a_slow_check_is_told_and_a_stopped_one_too(answers: Path) -> None:
    play = Theatre({TEN: None}, name="plus_ten")
    said = play.wait(10)
    assert play.session.checking and said.count(True) == 1
    play.now += KERNEL_DEADLINE_S
    assert any(play.wait(1))
    assert play.session.stopped[0].lines[0].startswith("stopped: the check of plus_ten")
    assert not play.session.checking


def test_keys_answer_while_a_check_goes_on(answers: Path) -> None:
    play = Theatre({TEN: None}, name="plus_ten")
    play.wait()
    play.press("h")
    assert play.session.hint is not None
    play.press("n")
    play.wait()
    assert play.session.puzzle is toy.PAIR
    assert play.workers[0].stops == 1
    play.press("q")
    assert play.session.done


def test_the_end_of_the_input_waits_for_the_verdict(answers: Path) -> None:
    play = Theatre(name="plus_ten")
    play.press(END)
    play.wait()
    assert play.session.done and play.session.verdict is not None


def test_other_keys_do_nothing(answers: Path) -> None:
    play = Theatre(name="plus_ten")
    for key in ("z", "\n", "\x1b", "\u00e9", "1"):
        play.press(key)
    assert play.session.view == "puzzle" and not play.session.done


def test_close_ends_all_workers(answers: Path) -> None:
    play = Theatre(name="plus_ten")
    play.wait(1)
    play.press("c")
    play.session.close()
    assert [worker.stops for worker in play.workers] == [1, 1]


def test_bad_beginnings(answers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName):
        Session("nonsense")
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(answers / "gone"))
    with pytest.raises(CourseError, match="which is not a folder"):
        Session()
