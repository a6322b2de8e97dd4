"""%%puzzle NAME: the cell is the answer file. Its text is saved and checked, never executed."""

from __future__ import annotations

import codecs
import hashlib
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from IPython import get_ipython
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import no_var_expand

from gpu_course.errors import CatalogueError, CourseError
from gpu_course.grading import workspace
from gpu_course.grading.check import check
from gpu_course.grading.learner.verdict_cache import check_own
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.notebook.cells.earlier_text import EarlierText, InTheFile
from gpu_course.notebook.note import show, trouble
from gpu_course.puzzle import Puzzle, index
from simt.errors import file_problem
from simt.kernel import source

MAGIC = "puzzle"
_WRITTEN, _WRITERS = "cells", "kernels"
"""Where the state keeps, for each puzzle, the hash of what its cell last wrote, and which process
wrote it."""

_STOPPED = "you stopped this cell; running it again saves its text and checks it"

_latest: dict[str, str] = {"raw": ""}


def register(shell: InteractiveShell) -> None:
    """Makes %%puzzle and %puzzle known to an IPython shell."""
    shell.register_magic_function(puzzle, magic_kind="line_cell", magic_name=MAGIC)
    shell.events.register("pre_run_cell", _before_cell)


def keep_raw_cell(raw: str) -> None:
    """Remembers a cell as it was typed, for `exact_text`."""
    _latest["raw"] = raw


def _before_cell(info: Any) -> None:
    keep_raw_cell(info.raw_cell or "")


def exact_text(cell: str, raw: str) -> str:
    """Returns the text of the cell byte for byte.

    IPython hands a magic the cell with the blanks of empty lines taken out; the raw cell still has
    them. It is used only where it differs in nothing else.

    Args:
        cell: what IPython handed to the magic.
        raw: the cell as it was typed, from its magic line on.

    >>> exact_text("a\\n\\nb\\n", "%%puzzle x\\na\\n  \\nb")
    'a\\n  \\nb\\n'
    """
    body = raw.lstrip().partition("\n")[2]
    body += "" if body.endswith("\n") else "\n"
    return body if _without_blanks(body) == _without_blanks(cell) else cell


def _without_blanks(text: str) -> list[str]:
    return [line if line.strip() else "" for line in text.split("\n")]


@no_var_expand
def puzzle(line: str, cell: str | None = None) -> None:
    """Saves the cell as the answer to a puzzle, checks the file and shows the verdict.

    As `%puzzle NAME`, alone in a cell, it puts the text of the file into that cell.

    Args:
        line: the puzzle's name.
        cell: the text of the answer.
    """
    try:
        if cell is None:
            load(line)
            return
        for each in run_cell(line, exact_text(cell, _latest["raw"])):
            show(each)
    except CourseError as error:
        show(trouble(error))
    except OSError as error:
        show(trouble(file_problem(error)))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_STOPPED) from None


def load(line: str) -> None:
    """Puts what an answer's file holds, or its stub, into the cell that asks for it."""
    task = _parse(line)
    path = workspace.answer_path(task)
    if path.is_file():
        text, data = source.read_text(path, f"{task.name}.py"), path.read_bytes()
    else:
        text = workspace.stub_text(task.name)
        data = text.encode()
    _remember(task, data)
    # A cell has line ends of its own.
    cell = f"%%{MAGIC} {task.short_name}\n{text}".replace("\r\n", "\n").removesuffix("\n")
    get_ipython().set_next_input(cell, replace=True)


def run_cell(line: str, cell: str) -> Iterator[Verdict | EarlierText | InTheFile]:
    """Yields what %%puzzle shows: the Verdict on the file, and what else is kept of the answer.

    The cell as it was shipped writes nothing: the file is checked, and offered where it holds more
    than the stub. Any other text is written. Where the file was changed since this cell last saw
    it, what it held is kept first, and offered.

    Args:
        line, cell: as the magic receives them.

    Raises:
        CourseError: no puzzle of that name, or a line that says something else.
    """
    task = _parse(line)
    path = workspace.answer_path(task)
    stub = _stub(task)
    _check_letters(cell)
    if path.is_dir():
        raise CourseError(
            f"{task.name}.py is a folder where the answer should be",
            "move it away and run the cell again",
        )
    if stub is not None and cell == stub:
        yield check(task)
        if _content(path) not in (None, stub.encode()):
            yield InTheFile(task)
        return
    try:
        kept = _save(task, path, cell, stub)
    except OSError as error:
        # The text is in the cell still: nothing of it is lost.
        own = error.filename is None or Path(error.filename).parent == path.parent
        raise file_problem(error, f"{task.name}.py" if own else "", "written") from error
    yield check_own(task)
    if kept is not None:
        yield EarlierText(task, kept)


def _check_letters(cell: str) -> None:
    try:
        cell.encode()
    except UnicodeEncodeError as error:
        line, code = cell.count("\n", 0, error.start) + 1, ord(cell[error.start])
        raise CourseError(
            f"line {line} of this cell holds half a character, U+{code:04X}, and no file can",
            "delete it and type what it stands for; it was pasted",
        ) from None


def _content(path: Path) -> bytes | None:
    """What a file holds, with line ends as \\n: git on Windows may have given a stub others."""
    try:
        # A pipe would be waited for.
        return path.read_bytes().replace(b"\r\n", b"\n") if path.is_file() else None
    except OSError:
        return None


def _parse(line: str) -> Puzzle:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    if len(words) != 1 or words[0].startswith("-"):
        raise CourseError(
            f"%%{MAGIC} takes the name of one puzzle, not {line.strip()!r}",
            f"write `%%{MAGIC} NAME`",
        )
    return index.find(words[0])


def _save(task: Puzzle, path: Path, text: str, stub: str | None) -> Path | None:
    """Brings the file up to date with the cell; returns the copy of what others had written."""
    wanted, offered = text.encode(), None
    on_disk = path.read_bytes() if path.is_file() else None
    if on_disk != wanted:
        whose: list[str] = []

        def known(data: bytes) -> bool:
            whose.append(_whose(task, data, wanted, stub))
            return whose[-1] == "ours"

        kept = workspace.put(path, wanted, known)
        # What an earlier kernel wrote is kept, and is nothing to speak of.
        offered = None if whose[-1:] == ["earlier"] else kept
    _remember(task, wanted)
    return offered


def _whose(task: Puzzle, data: bytes, wanted: bytes, stub: str | None) -> str:
    """Returns whose text the file held.

    "ours": nothing is lost with it; it is the stub, what the cell holds, or what this cell wrote.
    "earlier": a kernel wrote it that is gone. "other": somebody else did, such as an editor, or the
    same cell in another notebook that is open.
    """
    # Git on Windows may have given the stub other line ends.
    digests = {_digest(data), _digest(data.replace(b"\r\n", b"\n"))}
    given = {_digest(wanted)} | ({_digest(stub.encode())} if stub is not None else set())
    if digests & given:
        return "ours"
    last, writer = _last_written(task)
    if last not in digests:
        return "other"
    if writer == _this_process():
        return "ours"
    return "other" if _is_alive(writer) else "earlier"


def _stub(task: Puzzle) -> str | None:
    try:
        return workspace.stub_text(task.name)
    except CatalogueError:
        # Without stubs nothing can be told apart from a learner's work, so all of it is kept.
        return None


def seen(name: str, text: str) -> None:
    """Notes that the cell of a puzzle holds what the file holds: it was typed in an editor.

    JupyterLab's extension calls it; without it, running the cell later would offer as somebody
    else's a text that stood in the cell.

    Args:
        name: of the puzzle.
        text: of the file.
    """
    _remember(index.find(name), text.encode())


def _digest(data: bytes) -> str:
    """The hash of a text; no cell shows a newline at its end, or a mark of order at its beginning,
    so neither makes another text of it."""
    return hashlib.sha256(data.removeprefix(codecs.BOM_UTF8).rstrip(b"\n")).hexdigest()


def _last_written(task: Puzzle) -> tuple[str | None, str]:
    """Returns the hash of what the cell of a puzzle last wrote, and the process that wrote it."""
    state = workspace.read_state()
    known, writers = (state.get(key) for key in (_WRITTEN, _WRITERS))
    digest = known.get(task.name) if isinstance(known, dict) else None
    writer = writers.get(task.name) if isinstance(writers, dict) else None
    return digest, writer if isinstance(writer, str) else ""


def _this_process() -> str:
    return _named(os.getpid())


def _named(pid: int) -> str:
    """Returns a name for a process that no later one has, "" where it is gone."""
    import psutil

    try:
        return f"{pid} since {psutil.Process(pid).create_time():.2f}"
    except (psutil.Error, ValueError, OverflowError):
        return ""


def _is_alive(name: str) -> bool:
    pid = name.partition(" ")[0]
    return pid.isdecimal() and len(pid) < 12 and _named(int(pid)) == name


def _remember(task: Puzzle, data: bytes) -> None:
    news = {_WRITTEN: _digest(data), _WRITERS: _this_process()}

    def change(state: dict[str, Any]) -> None:
        for key, value in news.items():
            known = state.get(key)
            state[key] = {**(known if isinstance(known, dict) else {}), task.name: value}

    workspace.update_state(change)
