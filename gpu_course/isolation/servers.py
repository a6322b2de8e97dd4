"""The grader's end of the warm forkservers: one for NumPy, one for PyTorch, started when needed."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError

ENTRY = Path(__file__).with_name("entry.py")
START_DEADLINE_S = 180.0
"""The first import of PyTorch from a cold disk takes long; a forkserver that hangs, for ever."""

_KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "SYSTEMDRIVE", "TZ") + (
    # Which instructions sums are taken with decides their last bits; the grader's references are
    # computed under the same settings.
    "ATEN_CPU_CAPABILITY",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "ONEDNN_MAX_CPU_ISA",
)


def environment() -> dict[str, str]:
    """Returns the environment of a child: nothing of the user's but what Python needs to start."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    threads = ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR")
    return {
        **kept,
        **{f"{name}_NUM_THREADS": "1" for name in threads},
        "LANG": "C.UTF-8",
        "HOME": os.path.abspath(os.sep),
        "CUDA_VISIBLE_DEVICES": "",
        # Ranks of one machine meet on loopback, whatever the machine's name resolves to.
        "GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo",
        "MPLBACKEND": "agg",
        # What PyTorch's C++ warns of is not what the answer printed.
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        # Every larger block goes back to the system when it is freed. The C library would keep
        # some, as chance has it, and what an answer holds is measured from outside.
        "MALLOC_MMAP_THRESHOLD_": "65536",
        "MALLOC_TRIM_THRESHOLD_": "65536",
        "MALLOC_ARENA_MAX": "1",
    }


def command(*arguments: str) -> list[str]:
    """Returns the command that starts a child: isolated, and leaving no bytecode behind."""
    return [sys.executable, "-I", "-B", "-X", "utf8", str(ENTRY), *arguments]


class Forkserver:
    """One warm process; it forks one child at a time."""

    def __init__(self, libraries: str) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.wire = ours
        self.lock = threading.Lock()
        with theirs:
            self.process = subprocess.Popen(
                command("forkserver", str(theirs.fileno()), str(os.getpid()), libraries),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=environment(),
                cwd=os.sep,
                start_new_session=True,
            )
        ours.settimeout(START_DEADLINE_S)
        try:
            answer = self._receive()
        except OSError as error:
            self.close()
            raise CourseError(f"the forkserver did not start: {error}") from None
        except BaseException:
            # Interrupted: it is still importing, and would not notice for seconds.
            self.process.kill()
            self.close()
            raise
        if "failed" in answer:
            self.close()
            raise CourseError(
                f"the forkserver cannot import {libraries}: {answer['failed'].strip()}",
                "run `gpu-course doctor`",
            )
        ours.settimeout(30.0)

    @property
    def alive(self) -> bool:
        """True while it can fork."""
        return self.wire.fileno() >= 0 and self.process.poll() is None

    def fork(self, folder: str, handles: list[int]) -> int:
        """Returns the process id of a new child with these descriptors as standard streams."""
        socket.send_fds(self.wire, [json.dumps({"run": folder}).encode()], handles)
        return int(self._receive()["pid"])

    def fork_ranks(self, folder: str, handles: list[int], own_network: bool) -> int:
        """Returns the process id of a steward; it forks a rank for each group of descriptors."""
        request = {"ranks": folder, "own_network": own_network}
        socket.send_fds(self.wire, [json.dumps(request).encode()], handles)
        return int(self._receive()["pid"])

    def end(self) -> int:
        """Ends the child and all that came of it; returns its wait status."""
        self.wire.send(b'{"end": true}')
        return int(self._receive()["status"])

    def close(self) -> None:
        """Ends the forkserver, and with it whatever it forked."""
        self.wire.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _receive(self) -> dict[str, Any]:
        data = self.wire.recv(1 << 16)
        if not data:
            raise ConnectionError("it ended")
        return dict(json.loads(data))


_running: dict[str, Forkserver] = {}
_starting = threading.Lock()


def available() -> bool:
    """True where forking after importing libraries is safe: on Linux."""
    return sys.platform == "linux"


def forkserver(libraries: str, name: str = "") -> Forkserver:
    """Returns the warm forkserver for some libraries, started if it is not running.

    Args:
        libraries: "numpy" or "torch".
        name: of one that is kept apart; "" for the one that all share.
    """
    key = f"{libraries} {name}".strip()
    with _starting:
        found = _running.get(key)
        if found is None or not found.alive:
            if found is not None:
                found.close()
            found = _running[key] = Forkserver(libraries)
        return found


def shutdown() -> None:
    """Ends every forkserver; the next check starts what it needs."""
    with _starting:
        for each in _running.values():
            each.close()
        _running.clear()


def _forget() -> None:
    """In a forked copy of the grader: the forkservers belong to the original."""
    global _starting
    _starting = threading.Lock()
    for each in _running.values():
        with contextlib.suppress(OSError):
            os.close(each.wire.detach())
        # Not ours to wait for; Popen would complain of a process that is still running.
        each.process.returncode = 0
    _running.clear()


def empty_folder() -> str:
    """Returns a new empty folder of the user's alone."""
    return tempfile.mkdtemp(prefix="gpu-course-answer-")


def remove_folder(folder: str) -> None:
    """Removes such a folder with whatever a child left in it."""
    shutil.rmtree(folder, ignore_errors=True)


atexit.register(shutdown)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
