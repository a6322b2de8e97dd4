"""Runs a file on n ranks: processes of their own, one group, every call on the wire on record.

The ranks are forked warm, PyTorch already imported; where a system does not fork safely, each of
them starts Python anew, and that is said. What they print, return and send comes back. A
run that cannot end is ended and told: which rank stands where, and who waits for whom.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import runpy
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer

from gpu_course.errors import CourseError
from gpu_course.isolation import lockdown, servers
from gpu_course.isolation.deadline import Deadline, WatchersClock, waited_s
from gpu_course.isolation.processes import POLL_S, Ended, OutOfMemory, Process, TooManyThreads
from gpu_course.isolation.ranks import MAX_RANKS, Ranks, Traffic, started_ranks
from gpu_course.ranks import programs
from gpu_course.ranks.calls import Call
from gpu_course.ranks.log import Log
from gpu_course.ranks.stuck import (
    Agreement,
    Disagreement,
    Standing,
    standings,
    step_of,
    stuck_report,
)

MAX_SECONDS = 60.0
QUIET_S = 5.0
"""After so long a run is stuck in which some wait, nothing crosses, and no other rank computes or
is ready to."""
ANSWER_S = 1.0
"""How long a rank that is in no call is waited for to say in which line it is."""
SHORTEST_POLL_S = 0.0005
"""The first pause between two looks; each is twice the one before, up to POLL_S."""
PROCESSES = Path("/proc")
ASLEEP_S = 0.2
"""After so long in which all ranks wait, nothing crosses and no thread works, nothing comes."""
LOOKS = 4
"""In which that is seen at least: one look after a long while says nothing, since where whoever
looks had no processor, the ranks had none either."""
FEW_TICKS = 1
"""What threads use up that only look from time to time whether something came."""
BUSY_SHARE = 0.05
"""Of one processor: a rank that uses more than this, or waits for it as long, computes."""


STARTED_ANEW = (
    "this system does not fork ranks safely, so each of them started Python and PyTorch anew: that "
    "takes seconds each time"
)


class RankFailed(CourseError):
    """A rank raised, ended or stood still; the message says which and where.

    Attributes:
        key: "standstill" (all that have not finished wait), "deadline" (one of them may
            still be computing), "differ" (calls do not fit), "ended", "memory", "threads",
            "flood" (a rank told more calls than a run can have), or "" for what it raised.
        rank: which, where it is the fault of one.
        stand: where each rank stood, for a standstill or a deadline.
        dropped: sends and receives that were begun and let go of, and nobody waited for.
        odd: the calls that do not fit.
        calls: what all ranks had called by then.
        printed: what each rank had printed.
    """

    key: str = ""
    rank: int | None = None
    stand: tuple[Standing, ...] = ()
    odd: Disagreement | None = None
    dropped: tuple[Call, ...] = ()
    calls: tuple[Call, ...] = ()
    printed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """What a run came to.

    Attributes:
        results: what the function returned, for each rank.
        printed: what each rank printed.
        calls: what the ranks called, in the order in which it was told; each rank's own in order.
        socket_bytes: {(from, to): bytes that the kernel counted on TCP between two ranks} while the
            function ran, with what the backend adds; None where the kernel does not tell.
        isolation: the level and the layers that held the ranks; "" for a run of one's own.
        told: for each rank its events in order, as `Log.told` has them.
        note: what to say of how the ranks were started, "" where they were forked warm.
    """

    results: tuple[Any, ...]
    printed: tuple[str, ...]
    calls: tuple[Call, ...]
    socket_bytes: Mapping[tuple[int, int], int] | None
    isolation: str = ""
    told: tuple[tuple[tuple[str, int], ...], ...] = ()
    note: str = ""

    def sent_bytes(self, rank: int) -> int:
        """Returns the payload of a rank's own sends."""
        return sum(c.payload_bytes for c in self.calls if c.rank == rank and c.kind == "send")


_HEAD = {"standstill": {}, "deadline": {"head": "the run does not finish"}}


class World:
    """Ranks that have joined one group, and wait for what they are to run.

    Args:
        ranks: just started.
        file: what tracebacks call the text they run.
        seconds: the most a call to them may take.

    Attributes:
        log: of their events.
        isolation: the level and the layers that hold them, "" for ranks of one's own.
        under_way: those that have not replied to what they were asked last.
    """

    def __init__(self, ranks: Ranks, file: str, seconds: float) -> None:
        self._ranks = ranks
        self.file = file
        self.seconds = seconds
        self.log = Log(ranks.events)
        self.isolation = ""
        self.under_way: list[int] = []
        self._agreement = Agreement()

    @property
    def note(self) -> str:
        """What to say of how the ranks were started, "" where they were forked warm."""
        return "" if self._ranks.warm else STARTED_ANEW

    @property
    def processes(self) -> list[Process]:
        """One for each rank."""
        return self._ranks.processes

    def join(self, setup: Mapping[str, Any]) -> None:
        """Has the ranks form their group, under the layers that `setup` asks for.

        Raises:
            CourseError: they could not, which is no fault of what they are to run.
        """
        size = len(self.processes)
        own, port = self._ranks.own_network, self._ranks.port
        world = {"size": size, "port": port, "file": self.file, "seconds": 10 * self.seconds}
        world["confined"] = setup.get("confined", True)
        told = [{**setup, "world": {**world, "rank": r}} for r in range(size)]
        try:
            replies = self.ask(told, seconds=servers.START_DEADLINE_S)
        except RankFailed as failed:
            raise CourseError(f"the ranks could not join: {failed.fact}") from None
        for rank, reply in enumerate(replies):
            if "failed" in reply:
                raise CourseError(f"rank {rank} could not join: {reply['failed'].strip()}")
        if setup.get("confined", True):
            layers = [*replies[0]["layers"], lockdown.OWN if own else lockdown.SHARED]
            layers += [] if self._ranks.warm else ["started anew"]
            self.isolation = f"{lockdown.level(layers)} ({', '.join(layers)})"

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        stopped: Callable[[Mapping[str, Any]], bool] = lambda reply: "raised" in reply,
        seconds: float = 0,
    ) -> list[dict[str, Any]]:
        """Returns each rank's reply to its message.

        Args:
            messages: one for each rank.
            stopped: whether a reply says that its rank came to an end before its time. What waits
                for such a rank is no standstill: {"waits": True} stands for its reply.
            seconds: the most it may take; 0 for what these ranks may take for anything.

        Raises:
            RankFailed: a rank ended, calls that do not fit each other were made, or none goes on.
        """
        replies: list[dict[str, Any] | None] = [None] * len(messages)
        self.under_way = [*range(len(messages))]
        self.log.begin()
        for process, message in zip(self.processes, messages, strict=True):
            process.post(message)
        pids = [each.pid for each in self.processes]
        watch = _Watch(self.log, pids, seconds or self.seconds, self._crossed)
        pause = SHORTEST_POLL_S
        while True:
            for rank, process in enumerate(self.processes):
                if replies[rank] is None:
                    replies[rank] = self._poll(rank, process)
            waiting = [rank for rank, reply in enumerate(replies) if reply is None]
            self.under_way = waiting
            self._read()
            if not waiting:
                return [reply for reply in replies if reply is not None]
            if pause >= POLL_S:
                raised = any(reply is not None and stopped(reply) for reply in replies)
                if raised and watch.has_no_more_to_do(waiting):
                    # One rank has stopped with an error, and the others wait for it.
                    return [reply or {"waits": True} for reply in replies]
                key, why = ("", "") if raised else watch.stuck(waiting)
                if key:
                    stand = self.stand(waiting)
                    text = stuck_report(stand, self.file, why, self.log.dropped(), **_HEAD[key])
                    raise self.failed(text, key, stand=stand, step=step_of(stand))
            time.sleep(pause)
            pause = min(2 * pause, POLL_S)

    def _read(self) -> None:
        """Takes in what the ranks told, and raises where it shows that the run cannot go on."""
        self.log.read()
        if odd := self._agreement.broken_by(self.log.groups, self.log.calls, self.log.found):
            places = odd.places(self.file)
            raise self.failed(odd.fact, "differ", odd=odd, places=places, step=odd.step)
        if self.log.flooded is not None:
            rank = self.log.flooded
            raise self.failed(f"rank {rank} tells of more calls than it can make", "flood", rank)

    def stand(self, waiting: Sequence[int]) -> tuple[Standing, ...]:
        """Returns where every rank stands; those that are in no call are asked for their line.

        Args:
            waiting: the ranks that have not finished.
        """
        self.log.read()
        busy = [rank for rank in waiting if self.log.waits_for(rank) is None]
        if hasattr(signal, "SIGUSR1"):
            self._ask_where(busy)
        return standings(self.log, waiting, self.file)

    def _ask_where(self, ranks: Sequence[int]) -> None:
        """Has ranks say in which line they are; not each of them gets to it."""
        for rank in ranks:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self.processes[rank].pid, signal.SIGUSR1)
        deadline = Deadline([self.processes[rank].pid for rank in ranks], ANSWER_S)
        while not deadline.is_over():
            self.log.read()
            if all(self.log.line_of(rank, self.file) for rank in ranks):
                return
            time.sleep(SHORTEST_POLL_S)

    def _crossed(self) -> object:
        """Returns what tells whether anything crossed since it was last asked; None for nothing."""
        now = self._ranks.traffic()
        return now.between if now.crossed is None else now.crossed

    def _poll(self, rank: int, process: Process) -> dict[str, Any] | None:
        try:
            return process.poll(0)
        except OutOfMemory:
            text = f"rank {rank} took more memory than it may"
            raise self.failed(text, "memory", rank) from None
        except TooManyThreads as many:
            text = f"rank {rank} runs {many.number} threads"
            raise self.failed(text, "threads", rank) from None
        except Ended:
            self._read()
            text = self._death(rank)
            stand = (Standing(rank, "ends here", self.log.line_of(rank, self.file)),)
            raise self.failed(text, "ended", rank, stand=stand) from None

    def _death(self, rank: int) -> str:
        deadline = time.monotonic() + 1.0
        while rank not in self._ranks.ended() and time.monotonic() < deadline:
            time.sleep(POLL_S)
        status = self._ranks.ended().get(rank)
        if status is None:
            how = "sent what is no reply"
        elif os.WIFSIGNALED(status):
            how = f"was ended by {signal.Signals(os.WTERMSIG(status)).name}"
        else:
            how = f"ended with exit status {os.WEXITSTATUS(status)}"
        self.log.read()
        if line := self.log.line_of(rank, self.file):
            return f"rank {rank} {how}, in {self.file}:{line}"
        place = self.log.last_place(rank, self.file)
        return f"rank {rank} {how}{f', after {place}' if place else ''}"

    def failed(
        self,
        text: str,
        key: str = "",
        rank: int | None = None,
        *,
        stand: tuple[Standing, ...] = (),
        odd: Disagreement | None = None,
        places: Sequence[str] = (),
        step: str = "",
    ) -> RankFailed:
        """Returns the error that ends a run, with what the ranks called and printed by then."""
        error = RankFailed(text, step, places)
        error.key, error.rank, error.stand, error.odd = key, rank, stand, odd
        error.calls, error.dropped = tuple(self.log.calls), tuple(self.log.dropped())
        error.printed = tuple(each.printed() for each in self.processes)
        return error

    def socket_bytes(self) -> dict[tuple[int, int], int] | None:
        """Returns what the kernel counted between ranks so far; None where it does not tell."""
        return self._ranks.traffic().between

    def traffic(self) -> Traffic:
        """Returns what the kernel counted so far, out of the ranks' reach."""
        return self._ranks.traffic()


class _Watch:
    """Says when a run stands still.

    A sign of life is an event, bytes that cross, or a rank that computes in no call.

    Args:
        log: of the ranks' events.
        pids: of the ranks.
        seconds: the most the run may take.
        crossed: returns what tells whether anything crossed; None where nothing tells it.
        clock: tells the time, in s.
    """

    def __init__(
        self,
        log: Log,
        pids: Sequence[int],
        seconds: float,
        crossed: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._log, self._pids, self._crossed = log, pids, crossed
        self._clock = WatchersClock(clock)
        self._calm = WatchersClock(clock, ASLEEP_S / LOOKS)
        self._told, self._asleep = self._clock(), self._calm()
        self._seconds = seconds
        self._deadline = Deadline(pids, seconds, clock=self._clock)
        self._count: int = -1
        self._still: tuple[object] | None = None
        self._last: dict[str, Thread] = {}
        self._ticks = 0
        self._worked: tuple[float, float] | None = None

    def stuck(self, waiting: Sequence[int]) -> tuple[str, str]:
        """Returns (key of RankFailed, why) of a run that is held to be stuck; "" while not."""
        asleep = self.stands_still(waiting)
        now = self._clock()
        waits = [rank for rank in waiting if self._log.waits_for(rank) is not None]
        all_wait = waits == list(waiting)
        goes_on = self._goes_on(waiting)
        # A message that was let go of never comes, however busy gloo's own threads are.
        lost = self._log.dropped() and not goes_on and now - self._told > ASLEEP_S
        computes = goes_on or self._computes([rank for rank in waiting if rank not in waits])
        quiet = bool(waits) and not computes and now - self._told > QUIET_S
        over = self._deadline.is_over()
        # On a busy machine a thread that only looks whether something came seems to be at work:
        # then it takes longer until it is told, and is the same all the same.
        if all_wait and (asleep or lost or quiet or over):
            return "standstill", "every rank that has not finished waits"
        if quiet:
            return "deadline", f"no rank told or computed anything for {QUIET_S:.0f} s"
        if over:
            return "deadline", f"{self._seconds:g} s are over"
        return "", ""

    def has_no_more_to_do(self, waiting: Sequence[int]) -> bool:
        """Whether these ranks stand still, or have had their time."""
        return self.stands_still(waiting) or self._deadline.is_over()

    def _goes_on(self, waiting: Sequence[int]) -> bool:
        """Whether one of them is in a call that waits for no other: it takes its time, no more."""
        calls = [self._log.waits_for(rank) for rank in waiting]
        return any(call is not None and self._log.is_complete(call) for call in calls)

    def stands_still(self, waiting: Sequence[int]) -> bool:
        """Whether for ASLEEP_S these ranks told nothing, no thread worked and nothing crossed.

        Where all have come to a call that one of them is in, that has to last for QUIET_S.
        """
        now, calm = self._clock(), self._calm()
        threads = _threads([self._pids[rank] for rank in waiting])
        last, self._last = self._last, threads or {}
        if self._log.count != self._count:
            self._count, self._told = self._log.count, now
            self._rest(calm)
        elif threads is None or _ticks(threads) > self._ticks + FEW_TICKS:
            self._rest(calm)
        if calm - self._asleep > ASLEEP_S / 2 and self._still is None:
            self._still = (self._crossed(),)
        if calm - self._asleep <= ASLEEP_S or _at_work(last, self._last):
            return False
        # A thread that just had a processor wakes the next, which has none: not one seems at work.
        if calm - self._asleep <= QUIET_S and self._goes_on(waiting):
            return False
        if (self._crossed(),) != self._still:
            self._told = now
            self._rest(calm)
            return False
        return True

    def _rest(self, calm: float) -> None:
        """From now on looks whether nothing goes on."""
        self._asleep, self._ticks, self._still = calm, _ticks(self._last), None

    def _computes(self, busy: Sequence[int]) -> bool:
        """Whether ranks that are in no call used a processor in the last QUIET_S, or wanted to."""
        now, used = self._clock(), 0.0
        for rank in busy:
            with contextlib.suppress(psutil.Error):
                times = psutil.Process(self._pids[rank]).cpu_times()
                used += times.user + times.system + waited_s(self._pids[rank])
        if self._worked is None or not 0 <= used - self._worked[1] < BUSY_SHARE * QUIET_S:
            self._worked = now, used
        return bool(busy) and now - self._worked[0] < QUIET_S


@dataclass(frozen=True)
class Thread:
    """What the system says of a thread.

    Attributes:
        ticks: of the clock that it used.
        runs: whether it runs, or would if there were a processor for it.
        slept: how often it has gone to sleep by itself; told of those alone that run.
    """

    ticks: int
    runs: bool
    slept: str = ""


def _threads(pids: Sequence[int]) -> dict[str, Thread] | None:
    """Returns the threads of processes; None where nothing tells.

    Source: proc_pid_stat(5), proc_pid_status(5).
    """
    if not PROCESSES.exists():
        return None
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in (PROCESSES / f"{pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    fields = (thread / "stat").read_text().rpartition(")")[2].split()
                    runs = fields[0] == "R"
                    text = (thread / "status").read_text() if runs else ""
                    slept = text.partition("\nvoluntary_ctxt_switches:")[2].partition("\n")[0]
                    ticks = int(fields[11]) + int(fields[12])
                    found[thread.name] = Thread(ticks, runs, slept)
    return found


def _ticks(threads: Mapping[str, Thread]) -> int:
    return sum(each.ticks for each in threads.values())


def _at_work(before: Mapping[str, Thread], now: Mapping[str, Thread]) -> bool:
    """Whether a thread has run, or waited for a processor, from one look to the next.

    One that only looks from time to time whether something came goes to sleep in between.
    """
    ran = {name: each.slept for name, each in before.items() if each.runs}
    return any(each.runs and ran.get(name) == each.slept for name, each in now.items())


@contextmanager
def world(
    ranks: int,
    file: str,
    *,
    seconds: float = MAX_SECONDS,
    setup: Mapping[str, Any] | None = None,
    harness: str = "",
    server: str = "",
) -> Iterator[World]:
    """Yields so many ranks that have joined one group; at the end nothing of them is left.

    Args:
        ranks: how many, from 1 to MAX_RANKS.
        file: what tracebacks call the text they will run.
        seconds: the most one call to them may take.
        setup: what a confined process is told, as in `isolation.child`; None runs unconfined.
        harness: the module that unconfined ranks call the text's functions through, "" for none.
        server: the name of a forkserver of their own, for ranks that stay; "" for the one that
            all share, which can hold one world at a time.

    Raises:
        CourseError: this system cannot start ranks, or the number is out of range.
    """
    if not 1 <= ranks <= MAX_RANKS:
        raise CourseError(f"{ranks} ranks", f"ask for 1 to {MAX_RANKS}")
    told = dict(setup) if setup else {"harness": harness, "confined": False}
    with started_ranks("torch", ranks, own_network=setup is not None, server=server) as started:
        made = World(started, file, seconds)
        made.join(told)
        yield made


def run(
    path: str | os.PathLike[str],
    ranks: int = 2,
    function: str = "main",
    arguments: Mapping[str, Any] | None = None,
    *,
    seconds: float = MAX_SECONDS,
) -> Run:
    """Returns what a file's function came to on so many ranks.

    Each rank runs the file from the top, `torch.distributed` being initialised, and then calls the
    function. The file is executed with the rights of whoever calls this.

    Args:
        path: of a Python file.
        ranks: how many.
        function: called on each rank.
        arguments: by name, the same for all ranks: numbers, texts, arrays, and lists of them.
        seconds: the most it may take.

    Raises:
        RankFailed: a rank raised or ended, or the ranks wait for each other for ever.
        CourseError: the file cannot be read, or this system cannot start ranks.
    """
    file = os.fspath(path)
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{file} cannot be read: {error}") from None
    return _run(Source(file, text, (function,)), ranks, dict(arguments or {}), "", seconds)


@dataclass(frozen=True)
class Source:
    """A Python file to run.

    Attributes:
        file: what tracebacks call it.
        text: of it.
        functions: that it has to define.
    """

    file: str
    text: str
    functions: tuple[str, ...]


def run_with(
    answers: Sequence[Source],
    program: Callable[..., Any],
    ranks: int,
    arguments: Mapping[str, Any] | None = None,
    *,
    seconds: float = MAX_SECONDS,
) -> Run:
    """Returns what a function of the course came to on so many ranks, handed some answers.

    The lines of the run are those of the first answer.

    Args:
        answers: each becomes a module; the function takes them first.
        program: of a module that a rank can import.
        ranks: how many.
        arguments: as in `run`.
        seconds: the most it may take.

    Raises:
        RankFailed, CourseError: as in `run`.
    """
    own, *others = answers
    given = {
        "program": programs.name_of(program),
        "others": [[each.file, each.text] for each in others],
        "arguments": dict(arguments or {}),
    }
    return _run(own, ranks, given, programs.__name__, seconds)


def run_function(
    program: Callable[..., Any], ranks: int, arguments: Mapping[str, Any] | None = None
) -> Run:
    """Returns what a function of the course came to on so many ranks; its file is what they run.

    Args:
        program: of a module that a rank can import.
        ranks: how many.
        arguments: as in `run`.

    Raises:
        RankFailed, CourseError: as in `run`.
    """
    return run(inspect.getfile(program), ranks, program.__name__, arguments)


def _run(
    source: Source, ranks: int, inputs: Mapping[str, Any], harness: str, seconds: float
) -> Run:
    with world(ranks, source.file, seconds=seconds, harness=harness) as joined:
        load = {"answer": source.text, "file": source.file, "functions": [*source.functions]}
        _check(joined, joined.ask([load | {"seconds": seconds}] * ranks))
        turn = {"turn": 1, "inputs": inputs, "arguments": list(inputs), "seed": 0}
        call = turn | {"seconds": seconds, "held": False, "by_name": True}
        before = joined.socket_bytes()
        replies = joined.ask([call] * ranks)
        _check(joined, replies)
        sent = bytes_since(before, joined.socket_bytes())
        results = tuple(reply["got"]["result"] for reply in replies)
    printed = tuple(each.printed() for each in joined.processes)
    told = tuple(map(tuple, joined.log.told))
    calls = tuple(joined.log.calls)
    return Run(results, printed, calls, sent, joined.isolation, told, joined.note)


def bytes_since(
    before: Mapping[tuple[int, int], int] | None, after: Mapping[tuple[int, int], int] | None
) -> dict[tuple[int, int], int] | None:
    """Returns what was sent between two ranks from one count to the next, where both are known.

    A connection that was closed took its count with it: then nobody knows.
    """
    if before is None or after is None or any(after.get(pair, 0) < n for pair, n in before.items()):
        return None
    sent = {pair: count - before.get(pair, 0) for pair, count in after.items()}
    return {pair: count for pair, count in sent.items() if pair[0] != pair[1]}


def _check(joined: World, replies: Sequence[Mapping[str, Any]]) -> None:
    """Raises what the first rank to raise raised."""
    for rank, reply in enumerate(replies):
        if "missing" in reply:
            raise joined.failed(f"{joined.file} does not define {reply['missing']}")
        if "raised" in reply:
            raised = reply["raised"]
            frames = [f"line {line}, in {name}" for name, line in raised["frames"]]
            outside = [raised["outside"]] if raised["outside"] else []
            places = [f"{joined.file}, {each}" for each in frames[-1:]] or outside
            text = f"rank {rank} raised {raised['type']}: {raised['text']}"
            raise joined.failed(text, places=places)
        if "unusable" in reply:
            text = reply["unusable"]["text"]
            raise joined.failed(f"with what rank {rank} gave nothing can be done: {text}")
        if "unsendable" in reply or "large" in reply:
            why = reply.get("unsendable") or reply.get("large")
            raise joined.failed(f"what rank {rank} returned cannot be sent: {why}")


def torchrun_rank(path: str, function: str) -> Any:
    """Runs a file as one rank that torchrun started, and returns what its function returned.

    The environment says who this rank is and where the others are. Calls go over the wire as in
    `run`; nobody reads their events here.
    """
    import torch.distributed as dist

    from gpu_course.ranks import wire

    rank = int(os.environ["RANK"])
    wire.register(wire.Events(os.open(os.devnull, os.O_WRONLY), rank, path))
    dist.init_process_group(wire.BACKEND)
    try:
        names = runpy.run_path(path, run_name="answer")
        if function not in names:
            raise CourseError(f"{path} does not define {function}")
        return names[function]()
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()
        wire.end_threads()


def _raised(error: Exception, path: str) -> str:
    """Returns what an error says, and the line of the file it came through last."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == path]
    place = f"\n  where:  {path}, line {own[-1].lineno}, in {own[-1].name}" if own else ""
    return f"raised {type(error).__name__}: {error}{place}"


def _write_whole_lines() -> None:
    """Has what is printed go out by lines: torchrun's ranks share one stream, word by word."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)


def main(
    path: Annotated[str, typer.Argument(metavar="FILE", help="a Python file")],
    ranks: Annotated[int, typer.Option(help="how many, where torchrun does not say")] = 2,
    function: Annotated[str, typer.Option(help="called on each rank")] = "main",
) -> None:
    """Runs FILE on several ranks; under torchrun, as the rank it is."""
    if "RANK" in os.environ:
        _write_whole_lines()
        try:
            result = torchrun_rank(path, function)
        except Exception as error:
            print(f"rank {os.environ['RANK']} {_raised(error, path)}", file=sys.stderr)
            raise typer.Exit(1) from None
        print(f"rank {os.environ['RANK']}: {result}")
        return
    try:
        done = run(path, ranks, function)
    except RankFailed as error:
        _print_each(error.printed)
        print(error, file=sys.stderr)
        raise typer.Exit(1) from None
    except CourseError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    if done.note:
        print(f"note: {done.note}", file=sys.stderr)
    _print_each(done.printed)
    for rank, result in enumerate(done.results):
        print(f"rank {rank}: {result}")


def _print_each(printed: Sequence[str]) -> None:
    for rank, text in enumerate(printed):
        for line in text.splitlines():
            print(f"[{rank}] {line}")


if __name__ == "__main__":
    typer.run(main)
