"""One answer's process as the grader sees it: ask, wait so long, and end it without a trace."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from gpu_course.errors import CourseError
from gpu_course.isolation import servers, transport
from gpu_course.text import clean

POLL_S = 0.02
MOST_THREADS = 200
MOST_PRINTED_BYTES = 16 << 10
SLACK_BYTES = 64 << 20
"""Past this over its limit a process is ended from outside; its own limit comes first."""


class Ended(Exception):
    """The process ended, or sent what is no message, before it gave its reply.

    Args:
        what: "exit", "signal" or "garbled".
        status: the exit status or the number of the signal.
    """

    def __init__(self, what: str, status: int = 0) -> None:
        self.what = what
        self.status = status
        super().__init__(what)


class OutOfTime(Exception):
    """No reply came within the time given."""


class TooManyThreads(Exception):
    """The process runs more threads than it may.

    Args:
        number: how many there were.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"{number} threads")


class OutOfMemory(Exception):
    """The process held more memory than it may."""


@dataclass
class Process:
    """A running child.

    Attributes:
        pid: its process id.
        incoming, outgoing, output: its replies, its requests, and what it prints.
        limit_bytes: the most it may hold from `watch` on, or None.
    """

    pid: int
    incoming: IO[bytes]
    outgoing: IO[bytes]
    output: IO[bytes]
    limit_bytes: int | None = None
    _data_bytes: int | None = None
    _asked: queue.Queue[bool] = field(default_factory=queue.Queue)
    _replies: queue.Queue[Any] = field(default_factory=queue.Queue)
    _printed: bytearray = field(default_factory=bytearray)
    _dropped: int = 0
    _threads: list[threading.Thread] = field(default_factory=list)

    def __post_init__(self) -> None:
        for work in (self._read_replies, self._read_output):
            self._start(work)

    def ask(self, message: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Returns the reply to a message.

        Raises:
            OutOfTime, OutOfMemory, Ended: there was none.
        """
        self.post(message)
        deadline = time.monotonic() + seconds
        while True:
            reply = self.poll(POLL_S)
            if reply is not None:
                return reply
            if time.monotonic() > deadline:
                raise OutOfTime

    def post(self, message: Mapping[str, Any]) -> None:
        """Sends a message whose reply is to be polled for."""
        data = transport.pack(dict(message))
        self._asked.put(True)
        # A process that does not read must not hold up the one that writes.
        self._start(lambda: self._send(data))

    def poll(self, seconds: float) -> dict[str, Any] | None:
        """Returns the reply to what was posted, or None if there is none yet.

        Raises:
            OutOfMemory, TooManyThreads, Ended: there will be none.
        """
        try:
            reply = self._replies.get(timeout=seconds) if seconds else self._replies.get_nowait()
        except queue.Empty:
            self._check_memory()
            return None
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, dict):
            raise Ended("garbled")
        return reply

    def watch(self, memory_bytes: int) -> None:
        """From now on it may hold so much more than it holds now."""
        held = held_bytes(self.pid)
        self.limit_bytes = None if held is None else held + memory_bytes + SLACK_BYTES
        self._data_bytes = data_bytes(self.pid)

    def hold(self, memory_bytes: int) -> bool:
        """Has the kernel refuse it any more memory than so much on top of what it held at `watch`.

        The process can neither count this memory nor raise the limit: the kernel does both.

        Returns:
            False where this system has no such limit.
        """
        if self._data_bytes is None:
            return False
        return limit_data(self.pid, self._data_bytes + memory_bytes)

    def printed(self) -> str:
        """Returns the beginning of what it printed, without control characters."""
        text = self._printed.decode("utf-8", "replace")
        return clean(text) + (" ..." if self._dropped else "")

    def forget_printed(self) -> None:
        """Lets go of what it has printed so far, so that there is room for more."""
        self._printed.clear()
        self._dropped = 0

    def close(self) -> None:
        """Closes the pipes; the process has been ended."""
        self._asked.put(False)
        for thread in self._threads:
            thread.join(1.0)
        for pipe in (self.outgoing, self.incoming, self.output):
            with contextlib.suppress(OSError):
                pipe.close()

    def _start(self, work: Any) -> None:
        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.outgoing.write(data)
            self.outgoing.flush()

    def _read_replies(self) -> None:
        """Reads one message for each question: what nobody asked for stays where it is."""
        while self._asked.get():
            try:
                self._replies.put(transport.read(self.incoming.read))
            except transport.Garbled:
                self._replies.put(Ended("garbled"))
                return
            except (EOFError, OSError, ValueError):
                self._replies.put(Ended("exit"))
                return

    def _read_output(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while piece := self.output.read1(1 << 16):  # type: ignore[attr-defined]
                room = MOST_PRINTED_BYTES - len(self._printed)
                self._printed += piece[: max(room, 0)]
                self._dropped += max(len(piece) - room, 0)

    def _check_memory(self) -> None:
        if self.limit_bytes is not None:
            held = held_bytes(self.pid)
            if held is not None and held > self.limit_bytes:
                raise OutOfMemory
            threads = thread_count(self.pid)
            if threads > MOST_THREADS:
                raise TooManyThreads(threads)


@contextmanager
def started(libraries: str, *, warm: bool = True) -> Iterator[Process]:
    """Yields a fresh process; at the end nothing of it is left.

    An Ended("exit") raised inside comes out with what the process really ended with.

    Args:
        libraries: "numpy" or "torch".
        warm: False to start Python anew even where a forkserver could fork.
    """
    forks = warm and servers.available()
    if forks:
        # It takes seconds to start, and whoever is killed meanwhile could remove no folder.
        servers.forkserver(libraries)
    folder = servers.empty_folder()
    try:
        make = _forked if forks else _spawned
        with make(libraries, folder) as process:
            yield process
    finally:
        servers.remove_folder(folder)


@contextmanager
def _forked(libraries: str, folder: str) -> Iterator[Process]:
    server = servers.forkserver(libraries)
    with server.lock:
        pipes = [os.pipe() for _ in range(3)]
        (their_in, our_out), (our_in, their_out), (our_print, their_print) = pipes
        ours = our_in, our_out, our_print
        try:
            pid = server.fork(folder, [their_in, their_out, their_print])
        except BaseException as error:
            for handle in ours:
                os.close(handle)
            server.close()
            if not isinstance(error, OSError | KeyError):
                raise
            raise CourseError(f"the forkserver is gone: {error}", "check again") from None
        finally:
            for handle in (their_in, their_out, their_print):
                os.close(handle)
        process = piped(pid, *ours)
        fault: Ended | None = None
        try:
            yield process
        except Ended as ended:
            fault = ended
            raise
        finally:
            try:
                status = server.end()
            except (OSError, KeyError):
                status = 0
                server.close()
            except BaseException:
                # Interrupted between question and answer: the next check gets a new forkserver.
                server.close()
                raise
            process.close()
            if fault is not None and fault.what == "exit":
                fault.what = "signal" if os.WIFSIGNALED(status) else "exit"
                fault.status = (
                    os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                )


@contextmanager
def _spawned(libraries: str, folder: str) -> Iterator[Process]:
    with subprocess.Popen(
        servers.command("alone", libraries),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=servers.environment(),
        cwd=folder,
        start_new_session=True,
    ) as child:
        assert child.stdin and child.stdout and child.stderr
        process = Process(child.pid, child.stdout, child.stdin, child.stderr)
        fault: Ended | None = None
        try:
            yield process
        except Ended as ended:
            fault = ended
            raise
        finally:
            if fault is not None and fault.what == "exit":
                # It has closed its end, so it is ending by itself, and its status is worth having.
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(0.5)
            end_family(child)
            process.close()
            if fault is not None and fault.what == "exit":
                fault.what = "signal" if child.returncode < 0 else "exit"
                fault.status = abs(child.returncode)


def piped(pid: int, incoming: int, outgoing: int, output: int) -> Process:
    """Returns a process at the other end of three descriptors."""
    return Process(
        pid,
        os.fdopen(incoming, "rb"),
        os.fdopen(outgoing, "wb"),
        os.fdopen(output, "rb"),
    )


def end_family(child: subprocess.Popen[bytes]) -> None:
    """Ends a child and whatever it started that can still be found."""
    import psutil

    family = []
    with contextlib.suppress(psutil.Error):
        family = psutil.Process(child.pid).children(recursive=True)
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    for each in family:
        with contextlib.suppress(psutil.Error):
            each.kill()
    child.wait()


def held_bytes(pid: int) -> int | None:
    """Returns the memory a process holds by itself, shared libraries left out; None if unknown."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            rows = dict(line.split(":", 1) for line in file if ":" in line)
        return sum(int(rows[name].split()[0]) for name in ("RssAnon", "RssShmem")) * 1024
    except FileNotFoundError:
        pass
    except (OSError, KeyError, ValueError, IndexError):
        return None
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return None


def thread_count(pid: int) -> int:
    """Returns how many threads a process runs; 0 where nothing tells."""
    import psutil

    try:
        return int(psutil.Process(pid).num_threads())
    except psutil.Error:
        return 0


def data_bytes(pid: int) -> int | None:
    """Returns the private memory a process may write to, as RLIMIT_DATA counts it; None if unknown.

    Source: getrlimit(2), proc_pid_status(5): VmData.
    """
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def limit_data(pid: int, limit_bytes: int) -> bool:
    """Sets RLIMIT_DATA of another process; returns whether the kernel keeps that limit."""
    if sys.platform != "linux":
        return False
    import resource

    try:
        resource.prlimit(pid, resource.RLIMIT_DATA, (limit_bytes, limit_bytes))
    except ProcessLookupError:
        # It has ended, which the next question to it will tell.
        return True
    except (OSError, ValueError):
        return False
    return True
