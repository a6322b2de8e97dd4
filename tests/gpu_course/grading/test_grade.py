"""A folder of answers: one verdict per puzzle, whatever happens at its neighbour."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from pathlib import Path

import pytest

from gpu_course.errors import CourseError, UnknownName
from gpu_course.grading import check, grade
from gpu_course.grading.learner.progress import next_puzzle, progress
from gpu_course.puzzle import index
from tests.gpu_course.grading import toy

# The package exports the function under the module's name.
MODULE = import_module("gpu_course.grading.grade")


def test_one_verdict_per_puzzle_in_course_order(answers: Path, file: Path) -> None:
    file.write_text(toy.RIGHT)
    verdicts = grade()
    assert [verdict.name for verdict in verdicts] == [puzzle.name for puzzle in toy.PUZZLES]
    assert [verdict.status for verdict in verdicts] == ["passed", *["not-started"] * 3]


def test_only_some_in_course_order_and_once_each(answers: Path) -> None:
    verdicts = grade(only=["table", "plus_ten", "90_toys/table"])
    assert [verdict.name for verdict in verdicts] == ["90_toys/plus_ten", "90_toys/table"]
    assert [verdict.name for verdict in grade(only="pair")] == ["90_toys/pair"]
    with pytest.raises(UnknownName):
        grade(only=["no_such"])


def test_another_folder(answers: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "90_toys"
    other.mkdir(parents=True)
    (other / "plus_ten.py").write_text(toy.RIGHT)
    assert [v.passed for v in grade(other.parent)] == [True, False, False, False]
    with pytest.raises(CourseError, match="no folder of answers"):
        grade(tmp_path / "gone")


def test_a_folder_of_a_class_is_not_graded_as_one_person(answers: Path, tmp_path: Path) -> None:
    group = tmp_path / "group"
    for name in ("b c", "d"):
        (group / name / "90_toys").mkdir(parents=True)
    with pytest.raises(CourseError, match="2 of its folders have") as raised:
        grade(group)
    assert f"--answers '{group / 'b c'}'" in str(raised.value)
    # Whoever handed in nothing has done nothing.
    (tmp_path / "nobody" / "notes").mkdir(parents=True)
    assert {v.status for v in grade(tmp_path / "nobody")} == {"not-started"}


def test_a_slip_of_the_grader_is_its_own_and_the_next_is_graded(
    answers: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(toy.RIGHT)

    def stumbling(puzzle: object, **options: object) -> object:
        if puzzle is toy.PUZZLES[1]:
            raise KeyError("a slip")
        return check(puzzle, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(MODULE, "check", stumbling)
    verdicts = grade()
    assert [verdict.status for verdict in verdicts[:3]] == ["passed", "error", "not-started"]
    assert verdicts[1].reason == "grader" and "a slip" in verdicts[1].message


def test_several_processes_give_the_same_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Real lessons, since a new process knows nothing of the toys.
    monkeypatch.setenv("GPU_COURSE_SEED", "3")
    answers = tmp_path / "puzzles"
    wrong = index.find("guard")
    path = answers / f"{wrong.name}.py"
    path.parent.mkdir(parents=True)
    path.write_text(toy.RIGHT.replace("plus_ten", "guard").replace("i < size", "i <= size"))
    names = ["add_ten", "guard"]
    serial, parallel = grade(answers, names), grade(answers, names, jobs=2)
    assert [v.reason for v in serial] == [None, "hazard"]
    assert [(v.name, v.status, v.message) for v in serial] == [
        (v.name, v.status, v.message) for v in parallel
    ]
    assert [h.text() for h in parallel[1].hazards] == [h.text() for h in serial[1].hazards]


def test_a_worker_that_dies_is_an_error_of_the_grader(
    answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying:
        def __init__(self, *_: object, **__: object) -> None: ...

        def __enter__(self) -> Dying:
            return self

        def __exit__(self, *_: object) -> None: ...

        def submit(self, *_: object) -> Future[object]:
            future: Future[object] = Future()
            future.set_exception(BrokenProcessPool("a process died"))
            return future

    monkeypatch.setattr(MODULE, "ProcessPoolExecutor", Dying)
    verdicts = grade(jobs=2)
    assert [verdict.status for verdict in verdicts] == ["error"] * 4
    assert not any(verdict.passed for verdict in verdicts)


def test_a_link_that_leads_nowhere_is_no_pass(file: Path) -> None:
    os.symlink(file.parent / "gone.py", file)
    assert grade(only="plus_ten")[0].status == "failed"


def test_progress_is_worked_out_from_the_answers(answers: Path, file: Path) -> None:
    (before,) = progress()
    assert (before.passed, before.points, before.max_points) == (0, 0, 40)
    assert next_puzzle((before,)) == "90_toys/plus_ten"
    file.write_text(toy.RIGHT)
    (after,) = progress()
    assert (after.name, after.title, after.passed, after.points) == ("90_toys", "Toys", 1, 10)
    assert next_puzzle((after,)) == "90_toys/pair"


def test_no_link_in_a_folder_handed_in_is_followed(tmp_path: Path) -> None:
    right = Path(__file__).parents[3] / "solutions" / "01_threads"
    for number, (name, target) in enumerate(
        {
            "link to a solution": right / "guard.py",
            "link to itself": Path("guard.py"),
            "link to nothing": Path("nowhere.py"),
            "link to a device": Path("/dev/zero"),
        }.items()
    ):
        folder = tmp_path / str(number)
        (folder / "01_threads").mkdir(parents=True)
        (folder / "01_threads" / "guard.py").symlink_to(target)
        (verdict,) = grade(answers=folder, only="guard")
        assert (verdict.status, verdict.reason) == ("failed", "refused"), name
        assert verdict.message.startswith("01_threads/guard.py is a link"), name
    whole = tmp_path / "whole"
    whole.mkdir()
    (whole / "01_threads").symlink_to(right)
    (verdict,) = grade(answers=whole, only="guard")
    assert (verdict.status, verdict.points) == ("failed", 0)
    assert verdict.message.startswith("01_threads is a link")


def _make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes in folders")
def test_what_is_no_file_is_the_answers_failure(tmp_path: Path) -> None:
    makers: list[Callable[[Path], object]] = [
        os.mkfifo,
        Path.mkdir,
        _make_huge,
        lambda path: path.write_bytes(b"\xff\xfe\x00"),
    ]
    for number, make in enumerate(makers):
        for name in ("01_threads/guard", "02_warps/occupancy"):
            path = tmp_path / str(number) / f"{name}.py"
            path.parent.mkdir(parents=True)
            make(path)
            (verdict,) = grade(answers=tmp_path / str(number), only=name)
            assert (verdict.status, verdict.reason) == ("failed", "refused"), verdict.message


def test_a_folder_has_so_much_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "SUBMISSION_S", -1)
    solutions = Path(__file__).parents[3] / "solutions"
    verdicts = grade(answers=solutions, only=["guard", "occupancy"])
    assert [(v.status, v.reason) for v in verdicts] == [("passed", None), ("timeout", "deadline")]
    assert verdicts[1].message.startswith("not run: ")


def test_nothing_is_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("multiprocessing", "json", "typing", "typer", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    solutions = Path(__file__).parents[3] / "solutions"
    monkeypatch.chdir(tmp_path)
    verdicts = grade(answers=solutions, only=["guard", "sectors"], jobs=2)
    assert [v.status for v in verdicts] == ["passed", "passed"]
    assert not (tmp_path / "ran").exists()
