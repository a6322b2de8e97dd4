"""%%puzzle NAME: the cell is the answer file. Its text is saved and checked, never executed."""

from __future__ import annotations

import difflib
import hashlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import no_var_expand

from gpu_course.catalog import Puzzle, index
from gpu_course.errors import CatalogueError, CourseError, file_problem
from gpu_course.grading import workspace
from gpu_course.grading.check import check
from gpu_course.grading.verdict import Verdict
from gpu_course.grading.verdict_cache import check_own
from gpu_course.notebook import editors
from gpu_course.notebook.note import Note, show, trouble
from gpu_course.text import one_line, source_lines

MAGIC = "puzzle"
REPLACE = "--replace"
_WRITTEN = "cells"
"""Where the state keeps, for each puzzle, the hash of what its cell last wrote."""

_STOPPED = "you stopped this cell; running it again saves its text and checks it"

_latest: dict[str, str] = {"raw": ""}


def register(shell: InteractiveShell) -> None:
    """Makes %%puzzle known to an IPython shell."""
    shell.register_magic_function(puzzle, magic_kind="cell", magic_name=MAGIC)
    shell.events.register("pre_run_cell", _keep_raw_cell)


def _keep_raw_cell(info: Any) -> None:
    _latest["raw"] = info.raw_cell or ""


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
def puzzle(line: str, cell: str) -> None:
    """Saves the cell as the answer to a puzzle, checks the file and shows the verdict.

    Args:
        line: the puzzle's name; with --replace a file changed elsewhere is backed up and written.
        cell: the text of the answer.
    """
    try:
        for each in run_cell(line, exact_text(cell, _latest["raw"])):
            show(each)
    except CourseError as error:
        show(trouble(error))
    except OSError as error:
        show(trouble(file_problem(error)))
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_STOPPED) from None


def run_cell(line: str, cell: str) -> Iterator[Verdict | Note]:
    """Yields what %%puzzle shows: the Verdict on the file, or a Note saying why it wrote nothing.

    A second Note follows where an editor still shows what the file held before.

    Args:
        line, cell: as the magic receives them.

    Raises:
        CourseError: no puzzle of that name, or a line that says something else.
    """
    task, replace = _parse(line)
    path = workspace.answer_path(task)
    before = _content(path)
    try:
        kept = _save(task, path, cell, replace)
    except OSError as error:
        # The text is in the cell still: nothing of it is lost.
        own = error.filename is None or Path(error.filename).parent == path.parent
        raise file_problem(error, f"{task.name}.py" if own else "", "written") from error
    yield kept if kept is not None else _checked(task, cell, replace)
    if _content(path) != before and editors.is_open(task):
        yield Note(
            f"The editor that has {path.name} open still shows the text from before.\n"
            "  try:    click into it, then File > Reload Python File from Disk"
        )


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _checked(task: Puzzle, cell: str, replace: bool) -> Verdict:
    # A cell as it was shipped writes nothing, a verdict that could be kept included.
    return check(task) if _is_shipped(cell, _stub(task), replace) else check_own(task)


def _parse(line: str) -> tuple[Puzzle, bool]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    names = [word for word in words if word != REPLACE]
    if len(names) != 1 or names[0].startswith("-"):
        raise CourseError(
            f"%%{MAGIC} takes the name of one puzzle, not {line.strip()!r}",
            f"write `%%{MAGIC} NAME`, or `%%{MAGIC} NAME {REPLACE}`",
        )
    return index.find(names[0]), REPLACE in words


def _save(task: Puzzle, path: Path, text: str, replace: bool) -> Note | None:
    """Brings the file up to date with the cell; a Note when it may not be touched."""
    stub = _stub(task)
    if path.is_dir():
        raise CourseError(
            f"{task.name}.py is a folder where the answer should be",
            "move it away and run the cell again",
        )
    on_disk = path.read_bytes() if path.is_file() else None
    if _is_shipped(text, stub, replace):
        return None
    wanted = text.encode()
    if on_disk != wanted:
        if not _is_ours(task, on_disk, stub):
            if not replace:
                return _refusal(task, on_disk, text)
            workspace.backup(path)
        workspace.write_text(path, text)
    _remember(task, wanted)
    return None


def _is_shipped(text: str, stub: str | None, replace: bool) -> bool:
    """True for a cell that nobody has touched: it leaves the file to whoever edits it elsewhere."""
    return stub is not None and text == stub and not replace


def _is_ours(task: Puzzle, on_disk: bytes | None, stub: str | None) -> bool:
    """True when the file may be replaced: it is missing, the stub, or what this cell wrote."""
    if on_disk is None:
        return True
    # Git on Windows may have given the stub other line ends.
    plain = on_disk.replace(b"\r\n", b"\n")
    if stub is not None and plain == stub.encode():
        return True
    return _last_written(task) in (_digest(on_disk), _digest(plain))


def _stub(task: Puzzle) -> str | None:
    try:
        return workspace.stub_text(task.name)
    except CatalogueError:
        # Without stubs nothing can be told apart from a learner's work, so all of it is kept.
        return None


def _shown(text: str) -> list[str]:
    return [one_line(line) for line in source_lines(text)]


def _refusal(task: Puzzle, on_disk: bytes | None, text: str) -> Note:
    before = (on_disk or b"").decode("utf-8", errors="replace")
    difference = difflib.unified_diff(
        _shown(before),
        _shown(text),
        f"{task.name}.py (the file)",
        "this cell",
        lineterm="",
    )
    return Note(
        "\n".join(
            [
                f"Nothing was written: {task.name}.py holds something this cell did not write.",
                "",
                *difference,
                "",
                "  try:    copy into this cell what you want to keep, then run it as",
                f"          %%{MAGIC} {task.short_name} {REPLACE}",
                "          The file is backed up first.",
            ]
        ),
        "trouble",
    )


def _digest(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


def _last_written(task: Puzzle) -> str | None:
    known = workspace.read_state().get(_WRITTEN)
    return known.get(task.name) if isinstance(known, dict) else None


def _remember(task: Puzzle, data: bytes) -> None:
    def change(state: dict[str, Any]) -> None:
        known = state.get(_WRITTEN)
        state[_WRITTEN] = {
            **(known if isinstance(known, dict) else {}),
            task.name: _digest(data),
        }

    workspace.update_state(change)
