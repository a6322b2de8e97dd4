"""What a rank of a console runs: cells, one after the other, in one namespace.

Imported in the rank's own process. What a cell prints is kept for its reply, and goes on to the
rank's own output as well, where it is found should the cell never end.
"""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import torch
import torch.distributed as dist

from gpu_course.ranks import wire
from gpu_course.ranks.cells import CELL, beginning

MAX_PRINTED = 100_000
MAX_TEXT = 2000
MAX_FRAMES = 4

_scope: dict[str, Any] = {}


def cell(text: str, number: int) -> dict[str, Any]:
    """Runs a cell, and shows the value of a last line that is an expression.

    Args:
        text: of the cell.
        number: which one it is.

    Returns:
        "printed", and "error": None or {"type", "text", "lines"}, the lines of the cell that the
        error came through, the innermost last.
    """
    if not _scope:
        rank, size = dist.get_rank(), dist.get_world_size()
        _scope.update(__name__="__main__", torch=torch, dist=dist, rank=rank, size=size)
    # A name of its own: what an earlier cell defined is no line of this one.
    name = f"{CELL} {number}"
    wire.follow(name)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    error = None
    sys.stdout.write(beginning(number))
    with _kept() as printed:
        try:
            _run(text, name)
        except BaseException as raised:
            error = _told(raised, name)
    return {"printed": printed.text, "error": error}


def _run(text: str, name: str) -> None:
    body = ast.parse(text, name)
    last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
    exec(compile(body, name, "exec"), _scope)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), name, "eval"), _scope)
        if value is not None:
            print(repr(value))


def _told(error: BaseException, name: str) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == name and frame.lineno]
    if isinstance(error, SyntaxError) and error.filename == name and error.lineno:
        lines.append(error.lineno)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return {
        "type": type(error).__name__,
        "text": text[:MAX_TEXT],
        "lines": lines[-MAX_FRAMES:],
    }


class _Kept(io.TextIOBase):
    """Keeps the beginning of what is written, and writes all of it on."""

    def __init__(self, onward: Any) -> None:
        self.text = ""
        self._onward = onward

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text[: MAX_PRINTED - len(self.text)]
        self._onward.write(text)
        return len(text)

    def flush(self) -> None:
        self._onward.flush()


@contextlib.contextmanager
def _kept() -> Iterator[_Kept]:
    kept = _Kept(sys.stdout)
    with contextlib.redirect_stdout(kept), contextlib.redirect_stderr(kept):
        yield kept
