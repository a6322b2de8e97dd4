"""An answer's text as it lies in a file: read, and where that fails told in a learner's words."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from gpu_course.errors import AnswerFileError, file_problem

MAX_SOURCE_BYTES = 200_000

# What Python says of a text it cannot read -> what to do about it. The first that fits counts.
_STEPS = (
    ("tabs and spaces", "indent with spaces alone, four for each level; one line here has a tab"),
    ("non-printable character", "delete the blanks of this line and type them; they were pasted"),
    ("invalid character", "type this character anew: it only looks like the one that is meant"),
    ("null bytes", "save the file as plain UTF-8 text"),
    ("unexpected indent", "begin this line below the beginning of the one above it"),
    ("unindent does not match", "begin this line where an earlier line of its block begins"),
    ("expected an indented block", "write what belongs to this line below it, four spaces in"),
    ("unterminated", "close the quote that is opened here"),
    ("was never closed", "close the bracket that is opened here"),
)
_ANY_STEP = "mend this line, or a bracket or quote left open above it"


def step_for(message: str, line: str) -> str:
    """Returns what to try where Python cannot read a line.

    Args:
        message: what Python says.
        line: the line.

    >>> step_for("'(' was never closed", "x = (1")
    'close the bracket that is opened here'
    """
    if line.startswith("%"):
        return "delete this line: lines with % belong to a notebook's cell, and not to a file"
    return next((step for part, step in _STEPS if part in message), _ANY_STEP)


def is_missing(path: Path) -> bool:
    """True when there is nothing of that name; False for what is there and cannot be reached."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def read_text(path: Path, shown: str) -> str:
    """Returns the text of an answer file.

    Raises:
        AnswerFileError: it is missing, no file, too large, or not UTF-8.
    """
    try:
        _check_kind(os.stat(path), shown)
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)
            size = max(os.fstat(file.fileno()).st_size, len(data))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP) and path.is_symlink():
            fact = f"{shown} is a link that leads nowhere"
            raise AnswerFileError(fact, "remove it, or put a file where it leads") from None
        problem = file_problem(error, shown, "read")
        raise AnswerFileError(problem.fact, problem.hint) from None
    if size > MAX_SOURCE_BYTES:
        raise AnswerFileError(
            f"{shown} has {size:,} bytes; an answer may have {MAX_SOURCE_BYTES:,}",
            "remove what does not belong to the answer",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _other_encoding(data, error.start, shown) from None


def _check_kind(about: os.stat_result, shown: str) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise AnswerFileError(f"{shown} is a folder, not a file", "put the answer's text in a file")
    if not stat.S_ISREG(about.st_mode):
        # A pipe would be waited for, and some devices never end.
        raise AnswerFileError(
            f"{shown} is not an ordinary file but a pipe or a device",
            "remove it, and put the answer's text in a file of that name",
        )


def _other_encoding(data: bytes, at: int, shown: str) -> AnswerFileError:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return AnswerFileError(
            f"{shown} is not UTF-8 text but UTF-16",
            "save the file as UTF-8; a > in Windows PowerShell writes UTF-16",
        )
    line = data.count(b"\n", 0, at) + 1
    return AnswerFileError(
        f"{shown} is not UTF-8 text: byte 0x{data[at]:02X} in line {line}",
        "save the file as UTF-8, as JupyterLab does, or type the letters of that line anew",
    )
