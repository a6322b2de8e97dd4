"""One answer's process as the grader sees it: ask, wait so long, and end it without a trace."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from gpu_course.errors import CourseError
from gpu_course.isolation import servers, transport
from gpu_course.isolation.deadline import Deadline
from simt.text import clean

POLL_S = 0.02
HELD_POLL_S = 0.002
"""Between two looks at a process whose memory decides."""
MAX_THREADS = 200
MAX_PRINTED_BYTES = 16 << 10
SLACK_BYTES = 64 << 20
"""Past this over its limit a process is ended from outside; its own limit comes first."""
COUNTER_SLACK_BYTES = 4 << 20
"""The kernel keeps its counts of pages by processor, and may be some behind."""
MAX_FILE_BYTES = 32 << 20
"""So many pages of libraries may come in for the first time while memory is held; the largest case
of the course brings in 2 MiB."""


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
    _least: Memory | None = None
    _held_bytes: int | None = None
    _hold_began: Memory | None = None
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
        deadline = Deadline([self.pid], seconds)
        while True:
            reply = self.poll(POLL_S if self._held_bytes is None else HELD_POLL_S)
            if reply is not None:
                self._check_peak()
                return reply
            if deadline.is_over():
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
        self._least = memory_of(self.pid)
        self._data_bytes = None if self._least is None else self._least.data_bytes

    def hold(self, memory_bytes: int) -> bool:
        """Holds it to so much memory more than it held at `watch`, in two ways.

        The kernel refuses it whatever goes beyond, and counts the most pages it ever had at one
        time, which `ask` looks at. What a process writes into pages and then gives up the right to
        write, the limit counts no longer, and the pages are there all the same. The process can
        neither raise the limit nor forget what it took.

        Returns:
            False where this system has no such limit.
        """
        now = memory_of(self.pid)
        if self._data_bytes is None or self._least is None or now is None:
            return False
        # What it has thrown away of Python's own memory makes no room for the answer's.
        self._data_bytes = min(self._data_bytes, now.data_bytes)
        if not limit_data(self.pid, self._data_bytes + memory_bytes):
            return False
        begin_peak(self.pid)
        self._held_bytes, self._hold_began = memory_bytes, memory_of(self.pid)
        return True

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
                room = MAX_PRINTED_BYTES - len(self._printed)
                self._printed += piece[: max(room, 0)]
                self._dropped += max(len(piece) - room, 0)

    def _check_peak(self) -> None:
        """Stops where it has had more pages at one time since `hold` than it may."""
        now, began, least = memory_of(self.pid), self._hold_began, self._least
        if self._held_bytes is None or now is None or began is None or least is None:
            return
        self._look_at(now)
        if now.peak_bytes <= began.peak_bytes and began.peak_bytes > began.resident_bytes:
            # Where the count cannot be begun anew, an earlier peak says nothing of this case.
            return
        # Pages of libraries are nobody's data; they come in as code is used, and may stay.
        files = min(max(now.file_bytes, began.file_bytes), began.file_bytes + MAX_FILE_BYTES)
        self._refuse_above(now.peak_bytes - files + now.swapped_bytes)

    def _look_at(self, now: Memory) -> None:
        assert self._least is not None
        if now.own_bytes < self._least.own_bytes:
            self._least = now

    def _refuse_above(self, held: int) -> None:
        assert self._held_bytes is not None and self._least is not None
        if held > self._least.own_bytes + self._held_bytes + COUNTER_SLACK_BYTES:
            raise OutOfMemory

    def _check_memory(self) -> None:
        if self._held_bytes is not None and (now := memory_of(self.pid)) is not None:
            self._look_at(now)
            self._refuse_above(now.own_bytes)
            return
        if self.limit_bytes is not None:
            held = held_bytes(self.pid)
            if held is not None and held > self.limit_bytes:
                raise OutOfMemory
            threads = thread_count(self.pid)
            if threads > MAX_THREADS:
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


@dataclass(frozen=True)
class Memory:
    """What the kernel says of a process's memory, each in bytes.

    Source: proc_pid_status(5), proc_pid_clear_refs(5).

    Attributes:
        own_bytes: pages that are nobody else's, in memory or swapped out.
        swapped_bytes: those of them that are swapped out.
        file_bytes: pages of files, such as libraries, that are in memory.
        peak_bytes: the most pages of any kind in memory at one time.
        data_bytes: private memory it may write to, as RLIMIT_DATA counts it.
    """

    own_bytes: int
    swapped_bytes: int
    file_bytes: int
    peak_bytes: int
    data_bytes: int

    @property
    def resident_bytes(self) -> int:
        """All pages in memory."""
        return self.own_bytes - self.swapped_bytes + self.file_bytes


def memory_of(pid: int) -> Memory | None:
    """Returns what the kernel says of a process's memory; None where there is no such kernel."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            rows = dict(line.split(":", 1) for line in file if ":" in line)
        found = {name: int(value.split()[0]) << 10 for name, value in rows.items() if "kB" in value}
        swapped = found.get("VmSwap", 0)
        return Memory(
            found["RssAnon"] + found["RssShmem"] + found.get("HugetlbPages", 0) + swapped,
            swapped,
            found["RssFile"],
            found["VmHWM"],
            found["VmData"],
        )
    except (OSError, KeyError, ValueError, IndexError):
        return None


def begin_peak(pid: int) -> None:
    """Has the kernel count a process's peak anew, from what it holds now; where it can."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/clear_refs", "w") as file:
        file.write("5")


def held_bytes(pid: int) -> int | None:
    """Returns the memory a process holds by itself, shared libraries left out; None if unknown."""
    found = memory_of(pid)
    if found is not None:
        return found.own_bytes
    if os.path.isdir("/proc/self"):
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
