"""The texts of functions that a script makes by `exec`, which Python itself does not keep."""

from __future__ import annotations

import linecache
import sys
from collections import deque
from types import CodeType, FunctionType
from typing import Any

from simt.text import source_lines

MAX_KEPT = 256
MAX_BYTES = 1 << 20

_texts: deque[str] = deque(maxlen=MAX_KEPT)
_listening = False


def listen() -> None:
    """Keeps every text that is compiled from now on and lies in no file."""
    global _listening
    if not _listening:
        _listening = True
        sys.addaudithook(_heard)


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "compile":
        return
    text, file = arguments[0], arguments[1]
    if not isinstance(text, str | bytes) or not isinstance(file, str) or len(text) > MAX_BYTES:
        return
    if file.startswith("<") and file.endswith(">"):
        written = text if isinstance(text, str) else text.decode("utf-8", "replace")
        if "def " in written:
            _texts.append(written)


def with_source(function: FunctionType) -> FunctionType:
    """Returns a function whose text can be found: itself, or its twin in a file of memory alone.

    Args:
        function: any; one that no text of `exec` fits is returned as it is.
    """
    code = function.__code__
    if not code.co_filename.startswith("<") or linecache.getlines(code.co_filename):
        return function
    for number, text in enumerate(reversed(_texts)):
        file = f"<exec {len(_texts) - number}: {code.co_name}>"
        if any(_same(code, found) for found in _codes(text)):
            lines = [line + "\n" for line in source_lines(text)]
            # Without a time of change, linecache keeps it.
            linecache.cache[file] = (len(text), None, lines, file)
            twin = FunctionType(
                code.replace(co_filename=file),
                function.__globals__,
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
            twin.__module__ = function.__module__
            return twin
    return function


def _codes(text: str) -> list[CodeType]:
    try:
        waiting: list[Any] = [compile(text, "", "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return []
    found = []
    while waiting:
        code = waiting.pop()
        found.append(code)
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return found


def _same(code: CodeType, other: CodeType) -> bool:
    return (code.co_name, code.co_firstlineno, code.co_code, code.co_names) == (
        other.co_name,
        other.co_firstlineno,
        other.co_code,
        other.co_names,
    )
