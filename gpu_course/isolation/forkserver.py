"""A warm process that holds Python's libraries and forks a child for each answer (Linux).

It runs no line of an answer and reads no message but the grader's. When the grader is gone, so is
it, and whatever it forked.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import traceback
from pathlib import Path
from typing import Any

from gpu_course.isolation import child, lockdown, steward

_PR_SET_CHILD_SUBREAPER = 36
LOOK_ROUND_S = 5.0
MAX_HANDLES = 253  # SCM_MAX_FD of Linux


def main(handle: int, parent: int, libraries: str) -> None:
    """Serves requests from a socket until the other end is closed.

    Requests are JSON: {"run": folder} with the three descriptors a child's standard streams become,
    answered by {"pid"}; {"ranks": folder, "own_network"} with those of a steward and its ranks,
    answered by {"pid"} of the steward; {"end": true}, answered by {"status"} once nothing of the
    child is left.

    Args:
        handle: the socket's descriptor.
        parent: the grader's process.
        libraries: what to import before forking: "numpy" or "torch".
    """
    wire = socket.socket(fileno=handle)
    # Orphans of a child come to this process, and end with it.
    lockdown._prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        child.preload(libraries)
        gc.collect()
        gc.freeze()
    except BaseException:
        wire.send(json.dumps({"failed": traceback.format_exc(limit=-1)}).encode())
        return
    wire.send(json.dumps({"ready": os.getpid()}).encode())
    wire.settimeout(LOOK_ROUND_S)
    pid, folder = 0, ""
    while True:
        try:
            data, handles, _, _ = socket.recv_fds(wire, 4096, MAX_HANDLES)
        except TimeoutError:
            if os.getppid() != parent:
                break
            continue
        except OSError:
            break
        if not data:
            break
        request = json.loads(data)
        if "end" not in request:
            folder = request.get("run") or request["ranks"]
            pid = _fork(wire, handles, request)
            for each in handles:
                os.close(each)
            wire.send(json.dumps({"pid": pid}).encode())
        else:
            wire.send(json.dumps({"status": end(pid)}).encode())
    end(pid)
    with contextlib.suppress(OSError):
        # The grader is gone and cannot remove the empty folder itself.
        os.rmdir(folder)


def _fork(wire: socket.socket, handles: list[int], request: dict[str, Any]) -> int:
    server = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        lockdown.die_with_parent(server)
        wire.close()
        if "ranks" in request:
            steward.main(handles, request["ranks"], request["own_network"])
        else:
            for number, handle in enumerate(handles):
                os.dup2(handle, number)
            os.closerange(3, 256)
            os.chdir(request["run"])
            child.serve()
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        os._exit(70)


def end(pid: int) -> int:
    """Ends a child and all that came of it, and returns the child's wait status."""
    if not pid:
        return 0
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    status = 0
    with contextlib.suppress(ChildProcessError):
        status = os.waitpid(pid, 0)[1]
    # Where nothing forbade it, a child may have left children in sessions of their own.
    while True:
        for each in _children():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(each, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return status


def _children() -> list[int]:
    own, found = os.getpid(), []
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with contextlib.suppress(OSError, ValueError, IndexError):
                text = Path(f"/proc/{name}/stat").read_text(encoding="ascii", errors="replace")
                if int(text.rpartition(")")[2].split()[1]) == own:
                    found.append(int(name))
    return found
