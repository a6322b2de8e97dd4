"""Keys from a terminal and lines from a pipe; the terminal is left as it was found."""

from __future__ import annotations

import contextlib
import io
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest

from gpu_course.app.terminal.keys import END, ending_politely, first_key, keyboard

WAIT_S = 300.0
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")


@pytest.fixture
def terminal() -> Iterator[tuple[int, TextIO]]:
    """(the hand, the stream): what is written to the hand is typed into the stream's terminal."""
    import pty

    hand, inner = pty.openpty()
    with os.fdopen(inner, "r") as stream:
        yield hand, stream
    with contextlib.suppress(OSError):
        os.close(hand)


@posix
def test_a_key_needs_no_enter_and_is_not_echoed(terminal: tuple[int, TextIO]) -> None:
    hand, stream = terminal
    with keyboard(stream) as keys:
        for key in "nq":
            os.write(hand, key.encode())
            assert keys.read(WAIT_S) == key
        assert keys.read(0) == ""
        os.write(hand, b"\x1b[A")
        assert keys.read(WAIT_S) == ""
        os.write(hand, b"\x04")
        assert keys.read(WAIT_S) == END


@posix
@pytest.mark.parametrize("error", [None, ValueError, KeyboardInterrupt, SystemExit])
def test_the_terminal_is_put_back(terminal: tuple[int, TextIO], error: Any) -> None:
    import termios

    _, stream = terminal
    before = termios.tcgetattr(stream)
    with contextlib.suppress(ValueError, KeyboardInterrupt, SystemExit), keyboard(stream):
        assert termios.tcgetattr(stream) != before
        if error is not None:
            raise error
    assert termios.tcgetattr(stream) == before


@posix
def test_ctrl_c_still_interrupts(terminal: tuple[int, TextIO]) -> None:
    import termios

    _, stream = terminal
    with keyboard(stream):
        flags = termios.tcgetattr(stream)[3]
        assert flags & termios.ISIG and not flags & (termios.ICANON | termios.ECHO)


@posix
def test_after_a_stop_the_keys_are_raw_again(terminal: tuple[int, TextIO]) -> None:
    import termios

    _, stream = terminal
    before = termios.tcgetattr(stream)
    handler = signal.getsignal(signal.SIGCONT)
    with keyboard(stream):
        raw = termios.tcgetattr(stream)
        termios.tcsetattr(stream, termios.TCSANOW, before)  # as a shell does after Ctrl-Z
        signal.raise_signal(signal.SIGCONT)
        assert termios.tcgetattr(stream) == raw
    assert termios.tcgetattr(stream) == before
    assert signal.getsignal(signal.SIGCONT) is handler


@posix
def test_a_request_to_end_runs_what_has_to_be_put_back() -> None:
    done = []
    before = signal.getsignal(signal.SIGTERM)

    def work() -> None:
        with ending_politely():
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                done.append("put back")

    with pytest.raises(SystemExit) as caught:
        work()
    assert caught.value.code == 128 + signal.SIGTERM
    assert done == ["put back"]
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("make", ["pipe", "file", "memory"])
def test_elsewhere_a_key_is_the_first_letter_of_a_line(make: str, tmp_path: Path) -> None:
    typed = "hint\n\n  x\ny"
    with stream_of(make, typed, tmp_path) as stream, keyboard(stream) as keys:
        read = [keys.read(WAIT_S) for _ in range(6)]
    assert read == ["h", "\n", "x", "y", END, END]


def stream_of(make: str, typed: str, folder: Path) -> TextIO:
    if make == "memory":
        return io.TextIOWrapper(io.BytesIO(typed.encode()))
    if make == "file":
        (folder / "keys").write_text(typed)
        return (folder / "keys").open()
    out, into = os.pipe()
    os.write(into, typed.encode())
    os.close(into)
    return os.fdopen(out, "r")


def test_a_silent_pipe_gives_nothing() -> None:
    out, into = os.pipe()
    with os.fdopen(out, "r") as stream, keyboard(stream) as keys:
        assert keys.read(0.01) == ""
        os.close(into)
        assert keys.read(WAIT_S) == END


@pytest.mark.parametrize(
    ("sent", "key"),
    [("n", "n"), ("nn", "n"), ("\x1b", "\x1b"), ("\x1b[A", ""), ("\x1bOP", ""), ("", "")],
)
def test_first_key(sent: str, key: str) -> None:
    assert first_key(sent) == key


def test_windows_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    # A stand-in for msvcrt: what Windows' console would give, key by key.
    import sys
    from types import ModuleType

    from gpu_course.app.terminal.keys import _WindowsKeys

    pressed = list("n\xe0Hq\x1a\x03")
    console = ModuleType("msvcrt")
    console.kbhit = lambda: bool(pressed)  # type: ignore[attr-defined]
    console.getwch = lambda: pressed.pop(0)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "msvcrt", console)
    keys = _WindowsKeys()
    assert [keys.read(1) for _ in range(4)] == ["n", "", "q", END]
    with pytest.raises(KeyboardInterrupt):
        keys.read(1)
    assert keys.read(0) == ""
