"""Whatever lies where an answer should be: a text, or two lines that say what it is instead."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_course.errors import AnswerFileError
from simt.errors import KernelRefused
from simt.kernel.source import MAX_SOURCE_BYTES, is_missing, parse, read_text

needs_links = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes and links are of Unix")


def _itself(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("make", "fact", "step"),
    [
        (Path.mkdir, "a.py is a folder, not a file", "put the answer's text in a file"),
        (lambda path: path.symlink_to("gone.py"), "a.py is a link that leads nowhere", "remove it"),
        (_itself, "a.py is a link that leads nowhere", "remove it"),
        (lambda path: os.mkfifo(path), "a.py is not an ordinary file but a pipe", "remove it"),
        (lambda path: path.symlink_to("/dev/zero"), "a.py is not an ordinary file", "remove it"),
        (lambda path: path.write_bytes(b"x = 1\n# \xe4\n"), "byte 0xE4 in line 2", "as UTF-8"),
        (lambda path: path.write_text("x", "utf-16"), "not UTF-8 text but UTF-16", "PowerShell"),
        (
            lambda path: path.write_bytes(b"#" * (MAX_SOURCE_BYTES + 1)),
            f"a.py has {MAX_SOURCE_BYTES + 1:,} bytes",
            "remove what does not belong",
        ),
        (lambda path: None, "a.py cannot be read: No such file", "that its folder is there"),
    ],
)
@needs_links
def test_what_is_no_answer_is_told_with_what_to_try(
    make: Callable[[Path], object], fact: str, step: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.py"
    make(path)
    with pytest.raises(AnswerFileError) as caught:
        read_text(path, "a.py")
    assert fact in caught.value.fact and step in caught.value.hint


def test_a_file_that_may_not_be_read_is_not_a_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, *rest: object, **more: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    path = tmp_path / "folder" / "a.py"
    assert is_missing(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", refuse)
        patch.setattr(os, "stat", refuse)
        missing = is_missing(path)
        with pytest.raises(AnswerFileError) as caught:
            read_text(path, "a.py")
    assert not missing
    assert caught.value.fact == "a.py cannot be read: Permission denied"
    assert "the right to read" in caught.value.hint


@pytest.mark.parametrize(
    "data", [b"x = 1\r\n", b"\xef\xbb\xbfx = 1\n", "# ä\n".encode()], ids=["CRLF", "BOM", "UTF-8"]
)
def test_what_editors_write_is_read(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    assert read_text(path, "a.py") == data.decode("utf-8-sig")


@pytest.mark.parametrize(
    ("text", "line", "step"),
    [
        ("if 1:\n\tx = 1\n        y = 2\n", 3, "with spaces alone"),
        ("if 1:\n    x = 1\n      y = 2\n", 3, "below the beginning of the one above"),
        ("if 1:\n    x = 1\n  y = 2\n", 3, "where an earlier line of its block begins"),
        ("x = 1\ndef f():\n", 2, "four spaces in"),
        ("x = (1\ny = 2\n", 1, "close the bracket"),
        ("x = 'abc\n", 1, "close the quote"),
        ('"""abc\nx = 1\n', 1, "close the quote"),
        ("x = 1\n\u00a0y = 2\n", 2, "they were pasted"),
        ("x = 2 \u2212 1\n", 1, "only looks like"),
        ("%%puzzle guard\nx = 1\n", 1, "delete this line"),
        ("x = 1\0\n", 1, "plain UTF-8 text"),
        ("x = = 1\n", 1, "mend this line"),
    ],
)
def test_what_python_cannot_read_comes_with_a_step_that_fits(
    text: str, line: int, step: str
) -> None:
    with pytest.raises(KernelRefused) as caught:
        parse(text, "a.py")
    assert caught.value.line == line and step in caught.value.hint
