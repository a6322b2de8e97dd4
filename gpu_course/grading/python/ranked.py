"""An answer on several ranks, as its check talks with it: the face of a Child, many processes.

What each rank recorded of its calls is laid beside what the kernel counted on the ranks' network.
The count lies out of the answer's reach, so what it tells cannot be made up.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gpu_course.grading.python import messages, replies
from gpu_course.grading.python.answers import PythonAnswer, not_defined
from gpu_course.grading.python.cases import Tried, hidden, part_of
from gpu_course.grading.python.child import MORE_CASES
from gpu_course.grading.python.replies import NoReply, Raised, Reply, Returned
from gpu_course.grading.python.trouble import (
    Trouble,
    ended_its_group,
    makes_its_own_group,
    never_waited_for,
    sent_to_itself,
    trouble_of,
)
from gpu_course.grading.seeds import LISTED_SEED, own_seed
from gpu_course.grading.verdicts.sections import Section
from gpu_course.isolation.capture import MESSAGE
from gpu_course.isolation.processes import Process
from gpu_course.isolation.ranks import Traffic
from gpu_course.puzzle import Case, PythonPuzzle
from gpu_course.ranks.calls import Call
from gpu_course.ranks.runner import RankFailed, World, bytes_since, world
from simt.text import count

SETTLE_S = 0.5
"""How long the kernel is asked again whether what was told has crossed."""

# gloo's number -> the calls that are made of such steps: a reduce-scatter is part of an all-reduce.
_STEPS_OF = {
    1: ("gather",), 2: ("all_gather",), 3: ("reduce",), 4: ("all_reduce", "reduce_scatter"),
    5: ("scatter",), 6: ("broadcast",), 7: ("barrier",), 8: ("all_to_all",),
}  # fmt: skip

# What gloo adds to the payload over TCP was counted on 2 to 8 ranks, and is the same each time: 144
# bytes for a message or a barrier's step, at most 608 for a step of a collective and tensor, and as
# much again for each further piece of a large one. The store, and groups that are made, take the
# rest. Beside TCP, and beside connections that are open, nothing crosses.
MESSAGE_BYTES, STEP_BYTES, OVERHEAD, IDLE_BYTES = 144, 608, 1.002, 32 << 10
BESIDE_BYTES, BESIDE_IN_SIGHT = 8 << 10, 1 << 10
"""Where headers are only reckoned, and where each packet is read: there a solution needs none."""


class RankedChild:
    """One answer on so many ranks as each case asks for.

    Args:
        puzzle, answer: what is checked.
        seed: drew the random case.

    Attributes:
        isolation: the level and the layers that hold the answer; "" while none of it has run.
        self_counted: whether nobody but the answer's own processes counted what was sent.
    """

    def __init__(self, puzzle: PythonPuzzle, answer: PythonAnswer, seed: int) -> None:
        self.isolation = ""
        self.self_counted = False
        self._puzzle = puzzle
        self._answer = answer
        self._seed = seed
        self._closing = ExitStack()
        self._world: World | None = None
        self._processes: list[Sequence[Process]] = []
        self._before = Traffic(None, None)
        self._turn = 0
        self._begun = 0
        self._busy: tuple[int, ...] = ()

    def load(self) -> Mapping[str, Any] | None:
        """Runs the answer's module on the ranks of the first case; returns an error it raised.

        Raises:
            AnswerProblem: a function is not there once the module has run.
            CourseError: ranks cannot be started here, or the harness is at fault.
            Trouble: the ranks did not finish.
        """
        with self._told():
            return self._enter(self._ranks(self._puzzle.cases[0]))

    def run(
        self, tried: Tried, *, held: bool = False, stand_ins: Mapping[str, str] | None = None
    ) -> Reply:
        """Returns the reply to one case: of all ranks together, or of the first that failed.

        Args:
            tried: the case.
            held: is for answers of one process.
            stand_ins: see `Child.run`.

        Raises:
            Trouble: the ranks did not finish together.
        """
        ranks = self._ranks(tried.case)
        with self._told():
            if self._world is None or len(self._world.processes) != ranks:
                raised = self._enter(ranks)
                if raised is not None:
                    return Raised(raised)
            assert self._world is not None
            self._begun = len(self._world.log.calls)
            told = [len(each) for each in self._world.log.told]
            self._turn += 1
            asked = [self._message(tried, rank, stand_ins or {}) for rank in range(ranks)]
            found = self._world.ask(asked, _without_result)
            calls = in_order(self._world.log.calls[self._begun :])
            events = zip(self._world.log.told, told, strict=True)
            return self._reply(tried, found, calls, tuple(tuple(e[at:]) for e, at in events))

    def hold(self, memory_bytes: int) -> bool:
        """Returns False: what several processes hold is not held to a limit."""
        return False

    def said(self) -> tuple[str, list[Section]]:
        """Returns what the ranks printed, each line with its rank, and where one was at the end.

        All of it is there once the ranks are gone.
        """
        printed: list[str] = []
        where: list[Section] = []
        for processes in self._processes:
            for rank, process in enumerate(processes):
                text, place = messages.without_stack(process.printed(), self._answer)
                printed += [f"[{rank}] {line}" for line in text.splitlines()]
                if place and (rank in self._busy or not self._busy):
                    where = where or place
        return "\n".join(printed), where

    def close(self) -> None:
        """Ends the ranks."""
        self._closing.close()

    def _ranks(self, case: Case) -> int:
        assert self._puzzle.ranks is not None
        return self._puzzle.ranks(case)

    def _enter(self, ranks: int) -> Mapping[str, Any] | None:
        """Starts so many ranks in place of those before, and has them read the answer."""
        puzzle = self._puzzle
        self._closing.close()
        self._world, self._begun = None, 0
        setup = {
            "harness": puzzle.harness,
            "memory_bytes": puzzle.memory_bytes,
            "cpu_s": puzzle.seconds * (len(puzzle.cases) + MORE_CASES + 2),
            "hidden": hidden(),
        }
        made = world(ranks, self._answer.file, seconds=puzzle.seconds, setup=setup)
        self._world = joined = self._closing.enter_context(made)
        self._processes.append(joined.processes)
        self.isolation = joined.isolation
        for process in joined.processes:
            process.watch(puzzle.memory_bytes)
        load = {
            "answer": self._answer.text,
            "file": self._answer.file,
            "functions": list(puzzle.functions),
            "seconds": puzzle.seconds,
        }
        said = joined.ask([load] * ranks)
        self._before = joined.traffic()
        self.self_counted |= self._before.between is None or self._before.crossed is None
        for rank, reply in enumerate(said):
            with self._well_formed(rank):
                if set(reply) == {"raised"}:
                    return {**replies.raised(reply["raised"]).error, "rank": rank}
        for rank, reply in enumerate(said):
            missing = reply.get("missing")
            if set(reply) == {"missing"} and missing in puzzle.functions:
                raise not_defined(puzzle, self._answer, str(missing))
            with self._well_formed(rank):
                if set(reply) != {"loaded"} or reply["loaded"] is not True:
                    raise NoReply("neither loaded nor not")
        return None

    def _message(self, tried: Tried, rank: int, stand_ins: Mapping[str, str]) -> dict[str, Any]:
        puzzle = self._puzzle
        return {
            "turn": self._turn,
            "inputs": part_of(tried.inputs, rank),
            "arguments": puzzle.parameters[puzzle.functions[0]],
            "seed": own_seed(self._seed if tried.case not in puzzle.cases else LISTED_SEED),
            "seconds": puzzle.seconds,
            "held": False,
            "stand_ins": dict(stand_ins),
            "tensors": True,
        }

    def _reply(
        self,
        tried: Tried,
        found: Sequence[dict[str, Any]],
        calls: tuple[Call, ...],
        told: tuple[tuple[tuple[str, int], ...], ...],
    ) -> Reply:
        read: list[Returned] = []
        failed: Reply | None = None
        lost = 0
        for rank, said in enumerate(found):
            if said == {"waits": True}:
                continue
            with self._well_formed(rank):
                reply = replies.reply_to(self._turn, said, tried.inputs)
            if isinstance(reply, Raised):
                failed = failed or Raised({**reply.error, "rank": rank})
            elif isinstance(reply, Returned):
                read.append(reply)
            elif failed is None:
                failed, lost = reply, rank
        # No backend carries such a message: it failed, or was told of and never made.
        error = failed.error if isinstance(failed, Raised) else None
        itself = sent_to_itself(calls, error)
        if itself is not None and (failed is None or error is not None):
            raise itself
        if error is not None and (own := makes_its_own_group(error, calls)):
            raise own
        if isinstance(failed, replies.Rejected) and read:
            # Where all ranks are turned down, it is the answer that is; here it is one of them.
            return replace(failed, text=f"rank {lost}: {failed.text}")
        if failed is not None:
            return failed
        tcp_bytes = self._weigh_the_wire(calls)
        outputs = {name for each in read for name in each.got}
        got: dict[str, Any] = {
            name: tuple(each.got.get(name) for each in read) for name in sorted(outputs)
        }
        sent = [[c for c in calls if c.rank == r and c.kind == "send"] for r in range(len(read))]
        got |= {
            "wire": calls,
            "told": told,
            "bytes_sent": tuple(sum(call.payload_bytes for call in own) for own in sent),
            "messages": tuple(map(len, sent)),
            "booked_bytes": _booked(calls, len(read)),
            "tcp_bytes": tcp_bytes,
        }
        changed = {
            f"{name} of rank {rank}": value
            for rank, each in enumerate(read)
            for name, value in each.changed.items()
        }
        return Returned(got, changed)

    def _weigh_the_wire(self, calls: tuple[Call, ...]) -> dict[tuple[int, int], int] | None:
        """Returns what the kernel counted between ranks, None where it does not tell.

        Raises:
            Trouble: a call was not waited for, the group is no more, or the kernel did not count
                what was told.
        """
        assert self._world is not None
        log = self._world.log
        loose = log.never_waited_for() or log.collectives_under_way()
        if loose:
            raise never_waited_for(loose, calls)
        if log.ended:
            raise ended_its_group(log.ended, calls)
        deadline = time.monotonic() + SETTLE_S
        while True:
            now = self._world.traffic()
            between = bytes_since(self._before.between, now.between)
            missing = _missing(calls, between, self._before, now)
            if not missing or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        fact = missing or _beyond(calls, self._before, now)
        if fact:
            raise Trouble("wire-disagrees", "refused", fact, calls=calls)
        self._before = now
        return between

    @contextmanager
    def _told(self) -> Iterator[None]:
        """What ends a run is told as the check of an answer tells it."""
        try:
            yield
        except RankFailed as failed:
            waiting = [each for each in failed.stand if each.text.startswith("is in no call")]
            self._busy = tuple(each.rank for each in waiting)
            calls = in_order(failed.calls[self._begun :])
            raise trouble_of(
                failed.key, failed, failed.stand, failed.odd, calls, failed.dropped
            ) from None

    @contextmanager
    def _well_formed(self, rank: int) -> Iterator[None]:
        """What is no reply is told as nonsense from that rank's process."""
        try:
            yield
        except NoReply:
            fact = f"what the process of rank {rank} sent back is not a result"
            raise Trouble("crash", "crash", fact) from None


@contextmanager
def ranked_child(puzzle: PythonPuzzle, answer: PythonAnswer, seed: int) -> Iterator[RankedChild]:
    """Yields an answer that runs on ranks; at the end nothing of them is left."""
    with closing(RankedChild(puzzle, answer, seed)) as child:
        yield child


def _without_result(reply: Mapping[str, Any]) -> bool:
    """Whether a rank came to an end before its time: who waits for it does not stand still."""
    return not {"raised", "unusable", "unsendable", "large"}.isdisjoint(reply)


def in_order(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Returns calls rank by rank: which rank tells first is chance, and no verdict hangs on it."""
    return tuple(sorted(calls, key=lambda call: (call.rank, call.number)))


def most_tcp_bytes(calls: Sequence[Call]) -> int:
    """Returns the most bytes that these calls may have sent over TCP, without headers.

    It is what gloo really sends: as much as is booked, but for two collectives. A reduce-scatter
    adds up everywhere first, and a reduce gathers the pieces of one; tests hold both against the
    kernel's counters.
    """
    most = float(IDLE_BYTES)
    for call in calls:
        n = len(call.group)
        if call.kind in ("send", "barrier"):
            most += MESSAGE_BYTES * (1 if call.kind == "send" else (n - 1).bit_length())
        elif call.kind != "recv":
            # Of several tensors, as a reduce-scatter of a list, gloo makes a collective each.
            most += STEP_BYTES * (n - 1) * max(1, len(call.sizes))
        times = {"reduce_scatter": Fraction(2), "reduce": 1 + Fraction(1, n)}.get(call.kind, 1)
        most += OVERHEAD * float(times * call.booked_bytes)
    return int(most)


def least_tcp_bytes(calls: Sequence[Call]) -> int:
    """Returns what these calls cannot have sent less than, all ranks together.

    Of an all-to-all whose parts are not told a rank may keep nearly everything.
    """
    known = [call for call in calls if call.kind != "all_to_all" or call.gives]
    return int(sum(call.booked_bytes for call in known))


def _booked(calls: Sequence[Call], ranks: int) -> tuple[int, ...]:
    """Returns for each rank what is booked for all its calls, rounded to whole bytes."""
    return tuple(round(sum(c.booked_bytes for c in calls if c.rank == r)) for r in range(ranks))


def _told(calls: Sequence[Call]) -> Counter[tuple[int, int]]:
    """Returns {(from, to): payload that was told to have been sent}."""
    told: Counter[tuple[int, int]] = Counter()
    for call in calls:
        if call.kind == "send" and call.peer is not None:
            told[call.rank, call.peer] += call.payload_bytes
    return told


def _messages(before: Traffic, now: Traffic) -> Counter[tuple[int, int, int, int]] | None:
    """Returns {(from, to, kind, bytes): how many} of what crossed; None where it was not read."""
    if before.frames is None or now.frames is None:
        return None
    return (now.frames - before.frames).messages


def _missing(
    calls: Sequence[Call],
    between: Mapping[tuple[int, int], int] | None,
    before: Traffic,
    now: Traffic,
) -> str:
    """Returns what says that less went than was told, "" where all of it did."""
    messages = _messages(before, now)
    if messages is not None:
        between = Counter()
        for (one, other, kind, size), number in messages.items():
            between[one, other] += size * number if kind == MESSAGE else 0
    for (one, other), payload in _told(calls).items():
        counted = payload if between is None else between.get((one, other), 0)
        if counted < payload:
            return f"rank {one} recorded {payload:,} bytes to rank {other}; {counted:,} were sent"
    if before.crossed is not None and now.crossed is not None:
        sent, least = (now.crossed - before.crossed).tcp_bytes, least_tcp_bytes(calls)
        # Connections that were closed took their count with them: then nobody knows.
        if 0 <= sent < least:
            return f"the recorded calls carry {least:,} bytes; {sent:,} crossed the network"
    return ""


def _beyond(calls: Sequence[Call], before: Traffic, now: Traffic) -> str:
    """Returns what says that more went than was told, or other than that; "" where nothing did."""
    if before.crossed is None or now.crossed is None:
        return ""
    since = now.crossed - before.crossed
    messages = _messages(before, now)
    beside = BESIDE_BYTES if messages is None else BESIDE_IN_SIGHT
    if since.tcp_bytes > most_tcp_bytes(calls) or since.beside > beside:
        payload = int(sum(call.booked_bytes for call in calls))
        return f"{since.bytes:,} bytes crossed the network; the recorded calls carry {payload:,}"
    if messages is None:
        return ""
    assert now.frames is not None and before.frames is not None
    if foreign := now.frames.foreign - before.frames.foreign:
        return f"{foreign:,} bytes crossed the network between ranks that belong to no call"
    return _other_messages(calls, messages)


def _other_messages(
    calls: Sequence[Call], messages: Mapping[tuple[int, int, int, int], int]
) -> str:
    """Returns what says that other messages crossed than were told, "" where those did."""
    sends = [call for call in calls if call.kind == "send"]
    told = Counter((c.rank, c.peer, c.payload_bytes) for c in sends if c.peer is not None)
    kinds = {call.kind for call in calls}
    sent: Counter[tuple[int, int, int]] = Counter()
    for (one, other, kind, size), number in sorted(messages.items()):
        if kind == MESSAGE:
            sent[one, other, size] += number
        elif not kinds & set(_STEPS_OF.get(kind, ())):
            name = _STEPS_OF.get(kind, ("a call nobody knows",))[0]
            return f"unrecorded steps of {name} crossed from rank {one} to rank {other}"
    for one, other, size in sorted((told - sent) + (sent - told)):
        more = sent[one, other, size] - told[one, other, size]
        what = "unrecorded message" if more > 0 else "recorded message"
        which = f"{count(abs(more), what)} of {size:,} bytes"
        way = f"from rank {one} to rank {other}"
        return f"{which} crossed {way}" if more > 0 else f"{which} {way}: not sent"
    return ""
