"""`watch` from end to end: the real command, a real terminal or a pipe, real workers."""

from __future__ import annotations

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from gpu_course.app.terminal.watch import watch
from gpu_course.grading import workspace
from gpu_course.puzzle import index

ROOT = Path(__file__).parents[4]
COMMAND = [sys.executable, "-m", "gpu_course", "watch"]
WAIT_S = 300.0
GUARD = "01_threads/guard"
ENDLESS = """from numba import cuda


@cuda.jit
def guard(out, a, size):
    i = cuda.threadIdx.x
    while i >= 0:
        i = i + 0
"""


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's folder, every puzzle a stub."""
    folder = tmp_path / "puzzles"
    for name, text in workspace._stubs().items():
        workspace.write_text(folder / f"{name}.py", text)
    reference = tmp_path / "solutions" / f"{GUARD}.py"
    workspace.write_text(reference, solution(GUARD))
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    return folder


def solution(name: str) -> str:
    return (ROOT / "solutions" / f"{name}.py").read_text(encoding="utf-8")


def test_lines_from_a_pipe(course: Path) -> None:
    workspace.write_text(course / f"{GUARD}.py", solution(GUARD))
    done = subprocess.run(
        [*COMMAND, "guard"], input="hint\nlist\n", capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.returncode == 0 and done.stderr == ""
    assert "hint 1 of 3: " in done.stdout
    assert "\x1b" not in done.stdout
    assert "\u2713 guard" in done.stdout


def test_without_a_name_it_begins_where_the_learner_is(course: Path) -> None:
    first, second = index.puzzles()[:2]
    workspace.write_text(course / f"{first.name}.py", solution(first.name))
    done = subprocess.run(COMMAND, input="", capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0 and done.stderr == ""
    assert f"{second.short_name}  {second.title}" in done.stdout
    assert "still the stub" in done.stdout


def test_in_this_process_and_an_interrupt_is_a_quiet_end(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Earlier tests may have left the fork-server of Python answers warm.
    before = _children()
    console = Console(file=io.StringIO(), width=80)
    stream = io.TextIOWrapper(io.BytesIO(b"x\nn\nq\n"))
    watch("guard", stream=stream, console=console)
    assert isinstance(console.file, io.StringIO)
    assert "Nothing was changed." in console.file.getvalue()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gpu_course.app.terminal.watch.paint", interrupted)
    watch("guard", stream=io.TextIOWrapper(io.BytesIO(b"x\n")), console=console)
    assert _children() <= before


def _children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


class Terminal:
    """The command in a terminal of its own, read by a thread until a text comes."""

    def __init__(self, *arguments: str) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self.hand, self.inner = pty.openpty()
        fcntl.ioctl(self.inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.modes = termios.tcgetattr(self.inner)
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=self.inner,
            stdout=self.inner,
            stderr=self.inner,
            env={**os.environ, "TERM": "xterm-256color"},
            # Whoever runs the tests in the background has Ctrl-C ignored, and so would the child.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self._text = ""
        self._more = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self.hand, 4096):
                with self._more:
                    self._text += data.decode(errors="replace")
                    self._more.notify_all()

    def press(self, keys: str) -> None:
        os.write(self.hand, keys.encode())

    def until(self, words: str) -> str:
        """Waits for words on the screen, and returns the screen; what came before is forgotten."""

        def is_there() -> bool:
            return words in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._text)

        with self._more:
            assert self._more.wait_for(is_there, WAIT_S), f"{words!r} is not in {self._text!r}"
            text, self._text = self._text, ""
        return text

    def is_as_before(self) -> bool:
        import termios

        return bool(termios.tcgetattr(self.inner) == self.modes)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.inner)
        os.close(self.hand)


@pytest.fixture
def open_terminal(course: Path) -> Iterator[Callable[..., Terminal]]:
    if os.name == "nt":
        pytest.skip("Windows has no pseudo-terminals")
    opened: list[Terminal] = []

    def make(*arguments: str) -> Terminal:
        opened.append(Terminal(*arguments))
        return opened[-1]

    yield make
    for each in opened:
        each.end()


def test_a_learner_s_minutes(open_terminal: Callable[..., Terminal], course: Path) -> None:
    file = course / f"{GUARD}.py"
    terminal = open_terminal("guard")
    terminal.until("still the stub")
    terminal.press("h")
    terminal.until("hint 1 of 3")
    file.write_text("def (")
    terminal.until("Python cannot read this file")
    file.unlink()
    terminal.until("there is no puzzles/01_threads/guard.py")
    workspace.write_text(file, solution(GUARD))
    assert "\x1b[" in terminal.until("right in all")
    terminal.press("d")
    terminal.until("the same program")
    terminal.press("x")
    terminal.until("y/n")
    terminal.press("y")
    terminal.until("is the stub again")
    file.write_text(ENDLESS)
    # While that loop runs, a key is answered and a better answer is checked.
    terminal.press("h")
    terminal.until("hint 2 of 3")
    file.write_text(solution(GUARD))
    terminal.until("right in all")
    terminal.press("n")
    terminal.until("map_2d  ")
    terminal.press("q")
    assert terminal.process.wait(WAIT_S) == 0
    assert terminal.is_as_before()


@pytest.mark.parametrize(
    ("how", "status"), [("ctrl-c", 0), (signal.SIGTERM, 128 + signal.SIGTERM)], ids=str
)
def test_the_terminal_is_put_back_and_no_process_is_left(
    open_terminal: Callable[..., Terminal], course: Path, how: str | int, status: int
) -> None:
    workspace.write_text(course / f"{GUARD}.py", ENDLESS)
    terminal = open_terminal("guard")
    terminal.until("checking ...")
    children = psutil.Process(terminal.process.pid).children(recursive=True)
    assert children  # what checks, and soon the process it runs a kernel in
    assert not terminal.is_as_before()
    # No terminal controls that process here, so Ctrl-C is sent as the signal it becomes.
    terminal.process.send_signal(signal.SIGINT if isinstance(how, str) else how)
    assert terminal.process.wait(WAIT_S) == status
    assert terminal.is_as_before()
    assert psutil.wait_procs(children, timeout=WAIT_S)[1] == []


def test_an_unknown_puzzle_changes_no_terminal(open_terminal: Callable[..., Terminal]) -> None:
    terminal = open_terminal("gaurd")
    terminal.until("did you mean 01_threads/guard?")
    assert terminal.process.wait(WAIT_S) == 2
    assert terminal.is_as_before()
