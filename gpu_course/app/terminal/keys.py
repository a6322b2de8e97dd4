"""One key at a time from a terminal, one line at a time from anything else."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol, TextIO

END = "\x04"
"""What is read when nothing more can come: Ctrl-D in a terminal."""
_WINDOWS_SLICE_S = 0.02


class Keyboard(Protocol):
    """Where keys come from."""

    def read(self, seconds: float) -> str:
        """Returns one key, or "" when none came in that time."""


@contextlib.contextmanager
def keyboard(stream: TextIO | None = None) -> Iterator[Keyboard]:
    """Yields the keys of a terminal as they are pressed, or the first letter of each line.

    A terminal is put back as it was found, however the block is left.

    Args:
        stream: default standard input.
    """
    stream = sys.stdin if stream is None else stream
    if not stream.isatty():
        yield _Lines(stream)
    elif os.name == "nt":
        yield _WindowsKeys()
    else:
        with _posix_keys(stream.fileno()) as keys:
            yield keys


def first_key(text: str) -> str:
    r"""Returns the key at the beginning of what a terminal sent, "" for an arrow and its like.

    >>> first_key("n"), first_key("\x1b[A"), first_key("\x1b")
    ('n', '', '\x1b')
    """
    return "" if text.startswith("\x1b") and len(text) > 1 else text[:1]


class _PosixKeys:
    def __init__(self, terminal: int) -> None:
        self._terminal = terminal

    def read(self, seconds: float) -> str:
        import select

        ready, _, _ = select.select([self._terminal], [], [], seconds)
        if not ready:
            return ""
        data = os.read(self._terminal, 64)
        # An empty read is a terminal that was closed.
        return first_key(data.decode(errors="replace")) if data else END


@contextlib.contextmanager
def _posix_keys(terminal: int) -> Iterator[Keyboard]:
    import termios
    import tty

    before = termios.tcgetattr(terminal)

    def listen(*_: Any) -> None:
        # Keys come without Enter and are not printed; Ctrl-C still interrupts.
        tty.setcbreak(terminal, termios.TCSANOW)

    with _on_signal("SIGCONT", listen):
        try:
            listen()
            yield _PosixKeys(terminal)
        finally:
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


@contextlib.contextmanager
def _on_signal(name: str, handler: Any) -> Iterator[None]:
    """Has a signal handled, where there is such a signal and this thread may say so."""
    if not hasattr(signal, name) or threading.current_thread() is not threading.main_thread():
        yield
        return
    number = getattr(signal, name)
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@contextlib.contextmanager
def ending_politely() -> Iterator[None]:
    """Has a request to end this process run its `finally` blocks, as Ctrl-C does."""

    def end(number: int, _: Any) -> None:
        sys.exit(128 + number)

    with _on_signal("SIGTERM", end), _on_signal("SIGHUP", end):
        yield


class _WindowsKeys:
    def read(self, seconds: float) -> str:
        import msvcrt

        keys: Any = msvcrt
        deadline = time.monotonic() + seconds
        while not keys.kbhit():
            if time.monotonic() >= deadline:
                return ""
            time.sleep(_WINDOWS_SLICE_S)
        key: str = keys.getwch()
        if key in "\x00\xe0":
            # The first half of an arrow or a function key.
            keys.getwch()
            return ""
        if key == "\x03":
            raise KeyboardInterrupt
        return END if key == "\x1a" else key


class _Lines:
    """Lines from a file, a pipe or a program, read in a thread, so that nothing waits for them."""

    def __init__(self, stream: TextIO) -> None:
        self._keys: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(stream,), daemon=True).start()

    def read(self, seconds: float) -> str:
        try:
            key = self._keys.get(timeout=seconds)
        except queue.Empty:
            return ""
        if key == END:
            self._keys.put(END)
        return key

    def _listen(self, stream: TextIO) -> None:
        with contextlib.suppress(OSError, ValueError), _bytes_of(stream) as lines:
            for line in lines:
                self._keys.put(line.decode(errors="replace").strip()[:1] or "\n")
        self._keys.put(END)


@contextlib.contextmanager
def _bytes_of(stream: TextIO) -> Iterator[BinaryIO]:
    """Yields the lines of a stream as bytes.

    Without a buffer where there is a file underneath: a buffer that a thread waits on would stop
    Python from ending.
    """
    try:
        copy = os.dup(stream.fileno())
    except (OSError, ValueError):
        yield stream.buffer
        return
    with os.fdopen(copy, "rb", buffering=0) as file:
        yield file
