"""How far a search has come, in one line that goes away when the search is over."""

from __future__ import annotations

import sys
import time
from typing import Any

from IPython import get_ipython

AFTER_S = 1.0
"""What is over sooner says nothing."""


class Tries:
    """Tells how many orders were tried: in a notebook below its cell, else in the terminal.

    It is called with (orders tried, orders to try). Where nobody can watch, as when the
    output goes to a file, it tells nothing.

    Args:
        after_s: how long to be quiet first.
    """

    def __init__(self, after_s: float = AFTER_S) -> None:
        self.after_s = after_s
        self._start = time.monotonic()
        self._handle: Any = None
        self._width = 0

    def __enter__(self) -> Tries:
        return self

    def __call__(self, tried: int, most: int) -> None:
        if time.monotonic() - self._start >= self.after_s:
            self._show(f"{tried} of {most} orders of the threads tried")

    def __exit__(self, *error: object) -> None:
        if self._handle is not None:
            self._handle.update(_plain(""), raw=True)
        elif self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def _show(self, text: str) -> None:
        if self._handle is not None:
            self._handle.update(_plain(text), raw=True)
        elif hasattr(get_ipython(), "kernel"):
            from IPython.display import display

            self._handle = display(_plain(text), raw=True, display_id=True)
        elif sys.stderr.isatty():
            self._width = max(self._width, len(text))
            sys.stderr.write(f"\r{text}")
            sys.stderr.flush()


def _plain(text: str) -> dict[str, str]:
    return {"text/plain": text}
