"""Processes beneath the one that tells: the script's own, and those that it starts.

A script may end by `os._exit`, by a signal, by turning into another program, or launch a kernel
while the interpreter shuts down. Its parent outlives all of that.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from simt.foreign import stand_in
from simt.foreign.dispatcher import GPU
from simt.foreign.journal import VARIABLE, Journal
from simt.foreign.launches import Launches

FORKS = sys.platform == "linux"
"""Elsewhere a fork of a process that has threads, or a window, may not live."""

AS_A_CHILD = "SIMT_AS_A_CHILD"
"""Set for a process that is to run the script itself and leave the telling to its parent."""

PR_SET_PDEATHSIG = 1
SIGNALLED = 128
"""What a shell adds to the number of the signal that ended a program."""


def forked(run: Callable[[], int]) -> int:
    """Returns the exit status of a program that runs in a fork of this process.

    In the fork this does not return: it raises SystemExit, so that the interpreter shuts down as it
    does at the end of any script.

    Args:
        run: the program; returns its exit status.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    # One that comes between the fork and the handler would be lost on the child.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *_PASSED_ON))
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        # The parent's death is the child's: nobody would tell what it showed.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(SIGNALLED + signal.SIGKILL)
        raise SystemExit(run())
    return _awaited(child, before)


def spawned(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Returns the exit status of a program that runs in a Python of its own.

    Args:
        arguments: of `python -m simt`.
        environment: with a journal.
    """
    options = sys._xoptions.items()
    flags = [f"-X{name}" + ("" if value is True else f"={value}") for name, value in options]
    flags += ["-P"] * bool(sys.flags.safe_path) + ["-O"] * sys.flags.optimize
    command = [sys.executable, *flags, "-m", "simt", *arguments]
    process = subprocess.Popen(command, env={**environment, AS_A_CHILD: "1"})
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:  # the script has got it too
            continue
        return status if status >= 0 else SIGNALLED - status


def join() -> None:
    """Has the launches of this process go to the simulator, and into the journal it was given."""
    folder = os.environ.get(VARIABLE, "")
    if os.path.isdir(folder) and GPU.launcher is None:
        GPU.launcher = Launches(journal=Journal(Path(folder)), teller=None).launch
        stand_in.install()


_PASSED_ON = (
    (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2) if os.name == "posix" else ()
)


def _awaited(child: int, mask: Iterable[int]) -> int:
    """Waits for a process, to which signals go on; returns its exit status as a shell has it.

    Args:
        child: the process.
        mask: the signals that are blocked once those for the child can go on to it.
    """

    def pass_on(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    # Ctrl-C reaches both by itself, and the script decides what to make of it. What an editor's
    # button for stopping sends reaches this process alone.
    kept = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN if _at_a_keyboard() else pass_on)
    }
    for number in _PASSED_ON:
        kept[number] = signal.signal(number, pass_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    try:
        _, status = os.waitpid(child, 0)
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else SIGNALLED - code


def _at_a_keyboard() -> bool:
    """True in the foreground of a terminal, which sends Ctrl-C to all processes there."""
    try:
        with open("/dev/tty", "rb") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
