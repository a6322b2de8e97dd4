"""Where answers live; and that nothing of a learner's is ever lost."""

from __future__ import annotations

import errno
import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.learner.hints import hints_seen, next_hint
from gpu_course.grading.learner.loop import signature
from simt import files
from simt.errors import file_problem
from tests.gpu_course.grading.toy import RIGHT, STUB


def test_answers_are_where_the_variable_says(answers: Path) -> None:
    assert workspace.answers_folder() == answers
    assert workspace.answer_path("plus_ten") == answers / "90_toys" / "plus_ten.py"
    assert workspace.state_folder() == answers.parent / ".gpu_course"


def test_a_variable_that_names_no_folder(answers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(answers / "gone"))
    with pytest.raises(CourseError, match="which is not a folder"):
        workspace.answers_folder()


def test_answers_are_found_upwards_in_a_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GPU_COURSE_ANSWERS", raising=False)
    for folder in ("gpu_course", "puzzles/01_threads", "notebooks/source"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notebooks" / "source")
    with pytest.raises(CourseError, match="not inside a checkout") as caught:
        workspace.answers_folder()
    assert "GPU_COURSE_ANSWERS" in caught.value.hint
    (tmp_path / "pyproject.toml").touch()
    assert workspace.answers_folder() == tmp_path / "puzzles"


def test_reset_keeps_what_was_there(file: Path) -> None:
    for number in range(3):
        file.write_text(f"# version {number}\n")
        assert workspace.reset("plus_ten") == file
        assert file.read_text() == STUB
    kept = [path.read_text() for path in workspace.backups("plus_ten")]
    assert kept == [f"# version {number}\n" for number in range(3)]


def test_reset_of_a_stub_or_of_nothing_keeps_no_copy(file: Path) -> None:
    workspace.reset("plus_ten")
    workspace.reset("plus_ten")
    assert file.read_text() == STUB
    assert workspace.backups("plus_ten") == ()


def test_reset_keeps_bytes_that_are_no_text(file: Path) -> None:
    file.write_bytes(b"\xff\r\n")
    workspace.reset("plus_ten")
    assert [path.read_bytes() for path in workspace.backups("plus_ten")] == [b"\xff\r\n"]


def test_backups_of_one_moment_do_not_collide(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(workspace.datetime):
        @classmethod
        def now(cls, tz: object = None) -> workspace.datetime:
            return workspace.datetime(2030, 1, 1)

    monkeypatch.setattr(workspace, "datetime", Stopped)
    file.write_text("one")
    first = workspace.backup(file)
    file.write_text("two")
    second = workspace.backup(file)
    assert (first.read_text(), second.read_text()) == ("one", "two")
    assert workspace.backups("plus_ten") == (first, second)


TEXTS = {
    "line ends of Windows": b"a = 1\r\nb = 2\r\n",
    "line ends of all kinds": b"a = 1\rb = 2\nc = 3\r\n",
    "no end of the last line": b"a = 1",
    "a mark of order": b"\xef\xbb\xbfa = 1\n",
    "Latin-1": b"# \xe9\n",
    "NUL": b"a\0b\n",
    "nothing": b"",
}


@pytest.mark.parametrize("data", TEXTS.values(), ids=TEXTS)
def test_what_is_restored_is_the_same_byte_for_byte(data: bytes, file: Path) -> None:
    file.write_bytes(data)
    workspace.reset("plus_ten")
    kept, replaced = workspace.restore("plus_ten")
    assert file.read_bytes() == data == kept.read_bytes() and replaced is None


@pytest.mark.parametrize("replace", [workspace.reset, workspace.restore])
def test_what_an_editor_saves_at_the_last_moment_is_kept(
    replace: Callable[[str], object], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("earlier\n")
    workspace.backup(file)
    file.write_text("seen\n")
    exchange = files.exchange

    def late(path: Path, data: bytes) -> tuple[Path, ...]:
        path.write_text("saved meanwhile\n")
        return exchange(path, data)

    monkeypatch.setattr(files, "exchange", late)
    replace("plus_ten")
    assert workspace.backups("plus_ten")[-1].read_text() == "saved meanwhile\n"


def test_where_backups_cannot_be_written_the_copy_lies_beside_the_answer(file: Path) -> None:
    file.write_text("mine\n")
    workspace.state_folder().mkdir()
    (workspace.state_folder() / "backups").write_text("no folder")
    workspace.reset("plus_ten")
    (kept,) = workspace.backups("plus_ten")
    assert kept.parent == file.parent and kept.read_text() == "mine\n"


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_a_pipe_in_an_answer_s_place_is_waited_for_by_nobody(file: Path) -> None:
    os.mkfifo(file)
    assert signature(file)[0] == "no file"
    workspace.reset("plus_ten")
    assert file.read_text() == STUB
    assert workspace.backups("plus_ten") == ()
    with pytest.raises(CourseError, match="no earlier text"):
        workspace.restore("plus_ten")


def test_reset_does_not_touch_a_folder(file: Path) -> None:
    file.mkdir()
    with pytest.raises(CourseError, match="is a folder where the answer should be"):
        workspace.reset("plus_ten")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (STUB, True),
        (STUB.replace("\n", "\r\n"), True),
        ("\n\n# my try\n" + STUB, True),
        (RIGHT, False),
        ("def (", False),
        ("", False),
        ("(" * 100_000, False),
    ],
)
def test_is_stub(answers: Path, text: str, same: bool) -> None:
    assert workspace.is_stub(text, "plus_ten") is same


def test_state_is_empty_at_first_and_remembers(answers: Path) -> None:
    assert workspace.read_state() == {}
    assert not workspace.state_folder().exists()
    workspace.update_state(lesson="01_threads")
    workspace.update_state(lambda state: state.setdefault("seen", []).append("guard"))
    assert workspace.read_state() == {"lesson": "01_threads", "seen": ["guard"]}


DEEP = b'{"a": ' * 100_000
NESTED = b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}"


@pytest.mark.parametrize("damaged", [b'{"hints": {"90', b"[]", b"\xff\xfe", b"", DEEP, NESTED])
def test_a_damaged_state_file_is_set_aside(answers: Path, damaged: bytes) -> None:
    workspace.update_state(a=1)
    file = workspace.state_folder() / "state.json"
    file.write_bytes(damaged)
    assert workspace.read_state() == {}
    workspace.update_state(b=2)
    assert json.loads(file.read_text()) == {"b": 2}
    aside = list(workspace.state_folder().glob("state.unreadable-*.json"))
    assert [path.read_bytes() for path in aside] == [damaged]


def test_a_write_that_fails_leaves_the_old_state(answers: Path) -> None:
    workspace.update_state(a=1)
    with pytest.raises(TypeError):
        workspace.update_state(b=object())
    assert workspace.read_state() == {"a": 1}
    names = {path.name for path in workspace.state_folder().iterdir()}
    assert names == {"state.json", "lock"}


def test_updates_at_the_same_time_are_all_kept(answers: Path) -> None:
    def add(number: int) -> None:
        workspace.update_state(lambda state: state.update({str(number): number}))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(workspace.read_state()) == 20


def test_hints_grow_stronger_and_the_last_one_stays(answers: Path) -> None:
    said = [next_hint("plus_ten") for _ in range(4)]
    assert [(hint.number, hint.text) for hint in said] == [
        (1, "weak"),
        (2, "stronger"),
        (3, "strongest"),
        (3, "strongest"),
    ]
    assert str(said[0]) == "hint 1 of 3: weak"
    assert hints_seen("plus_ten") == 3
    assert next_hint("pair").number == 1


def test_hints_survive_a_state_file_of_another_shape(answers: Path) -> None:
    workspace.update_state(hints=["odd"])
    assert next_hint("plus_ten").number == 1
    workspace.update_state(hints={"90_toys/plus_ten": "many"})
    assert next_hint("plus_ten").number == 1


@pytest.mark.skipif(os.name == "nt", reason="links ask for rights there")
def test_a_link_stays_a_link_and_what_it_leads_to_is_written(file: Path) -> None:
    mine = file.parent / "mine.py"
    mine.write_text("old\n")
    file.unlink(missing_ok=True)
    file.symlink_to(mine)
    workspace.write_text(file, "new\n")
    assert file.is_symlink() and mine.read_text() == "new\n"


class _FullDisk(io.FileIO):
    """A file on a disk that has no room left."""

    def write(self, data: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_leaves_what_was_there_and_no_half_of_anything(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, answers = file, workspace.answers_folder()
    path.write_text("mine\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdopen", lambda handle, mode: _FullDisk(handle, "w"))
        patch.setattr(Path, "open", lambda self, mode: _FullDisk(str(self), mode.replace("b", "")))
        with pytest.raises(OSError, match="No space left") as caught:
            workspace.write_text(path, "other\n")
        assert caught.value.filename == str(path)
        with pytest.raises(OSError, match="No space left") as caught:
            workspace.backup(path)
        assert "backups" in caught.value.filename
    assert path.read_text() == "mine\n"
    assert [p for p in answers.parent.rglob("*") if p.is_file()] == [path]
    problem = file_problem(caught.value)
    assert "cannot be used: No space left on device" in problem.fact
    assert "make room on the disk" in problem.hint
