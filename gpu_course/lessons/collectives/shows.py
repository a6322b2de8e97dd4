"""What lesson 21 shows: chunks on their way, runs on real ranks, and times over bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.traffic import draw_traffic
from gpu_course.errors import CourseError
from gpu_course.lessons.collectives import schedules, tagged
from gpu_course.lessons.collectives.pictures import (
    Arrow,
    Frame,
    Message,
    draw_chunks,
    draw_timeline,
)
from gpu_course.lessons.collectives.schedules import Schedule
from gpu_course.measure import alpha_beta
from gpu_course.measure.alpha_beta import Link
from gpu_course.notebook.interactive.explore import Explorer, play
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import ranked_puzzle, run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.runner import Run, run_function
from gpu_course.ranks.traffic import sent_between
from gpu_course.units import MIB, format_bytes, format_time_s

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEDULES: Mapping[str, Callable[[int], Schedule]] = {
    "ring": schedules.ring_all_reduce,
    "tree": schedules.tree_all_reduce,
    "double tree": schedules.double_tree_all_reduce,
    "double tree in 4 pieces": lambda ranks: schedules.double_tree_all_reduce(ranks, 4),
    "PAT": schedules.pat_all_reduce,
    "two levels": lambda ranks: schedules.two_level_all_reduce(*_nodes(ranks)),
}
"""The all-reduces by name, for a number of ranks."""


def _nodes(ranks: int) -> tuple[int, int]:
    """Returns (nodes, ranks in each): two nodes where the ranks can be halved."""
    return (2, ranks // 2) if ranks % 2 == 0 else (1, ranks)


def chunks_at(name: str, ranks: int, step: int) -> Figure:
    """Returns a picture of who holds which chunk after a step of a schedule.

    Args:
        name: a key of SCHEDULES.
        ranks: how many, at most 8.
        step: 0 is the beginning; one beyond the end shows the end.

    Raises:
        CourseError: no schedule is called that.
    """
    if name not in SCHEDULES:
        raise CourseError(f"no all-reduce is called {name!r}", f"try {', '.join(SCHEDULES)}")
    per_node = _nodes(ranks)[1] if name == "two levels" else 0
    moments = tagged.moments_of(SCHEDULES[name](ranks))
    return draw_chunks(_frame(name, moments, min(step, len(moments) - 1), per_node))


def _frame(name: str, moments: Sequence[tagged.Moment], step: int, per_node: int = 0) -> Frame:
    moment = moments[step]
    arrows = tuple(
        Arrow(move.source, move.target, chunk, move.adds)
        for move in moment.moves
        for chunk in move.chunks
    )
    return Frame(name, step, len(moments) - 1, moment.held, arrows, per_node)


@telling
def play_chunks(name: str, ranks: int = 4) -> Explorer:
    """Returns a schedule to step through, chunk by chunk.

    Args:
        name: a key of SCHEDULES.
        ranks: how many, at most 8.
    """
    steps = len(SCHEDULES[name](ranks).steps) if name in SCHEDULES else 0

    def shown(step: int) -> Figure:
        return chunks_at(name, ranks, step)

    shown.__name__ = "chunks"
    shown(0)
    return play(shown, steps + 1)


# What the learner's own answer does on real ranks


@dataclass(frozen=True)
class OwnRun:
    """A run of the learner's answer.

    Attributes:
        name: of the puzzle.
        ranks: on how many it ran.
        size_bytes: of the buffer on each rank.
        run: what it came to.
    """

    name: str
    ranks: int
    size_bytes: int
    run: Run

    @property
    def sent_bytes(self) -> tuple[int, ...]:
        """The payload that each rank sent."""
        return tuple(self.run.sent_bytes(rank) for rank in range(self.ranks))

    def __repr__(self) -> str:
        lines = [f"{self.name} on {self.ranks} ranks, {format_bytes(self.size_bytes)} on each"]
        tcp = self.run.socket_bytes
        for rank, sent in enumerate(self.sent_bytes):
            own = sum(1 for c in self.run.calls if (c.rank, c.kind) == (rank, "send"))
            line = f"  rank {rank}: {own:>3} messages {sent:>11,} bytes"
            if tcp is not None:
                more = sum(b for (source, _), b in tcp.items() if source == rank)
                line += f"   on the wire {more:>11,}"
            lines.append(line)
        return "\n".join(lines)


@asks_for_answers
def own_run(name: str, ranks: int = 4, length: int = 4096, *more: Any) -> OwnRun | Any:
    """Returns a run of your answer to a puzzle on real ranks, with every call written down.

    Args:
        name: a puzzle whose answer runs on ranks and takes a buffer.
        ranks: how many.
        length: float64 numbers of the buffer.
        more: what the function takes beside the buffer.
    """
    return _own_run(name, ranks, length, *more)


@telling
def _own_run(name: str, ranks: int, length: int, *more: Any) -> OwnRun:
    from gpu_course.lessons.collectives import runs

    puzzle = ranked_puzzle(name)
    given = {"function": puzzle.functions[0], "length": length, "more": list(more)}
    run = run_own(name, runs.called_once, ranks, **given)
    return OwnRun(puzzle.short_name, ranks, 8 * length, run)


@asks_for_answers
@telling
def own_traffic(own: OwnRun) -> Picture:
    """Returns the communication matrix of a run of yours.

    Args:
        own: as `own_run` gave it.
    """
    if not isinstance(own, OwnRun):
        raise CourseError("there is no run to draw", "solve the puzzle above first")
    return Picture(draw_traffic(sent_between(own.run.calls), own.ranks, f"your {own.name}"))


@dataclass(frozen=True)
class Watched:
    """A run of the learner's answer on numbers that say where they are from.

    Attributes:
        name: of the puzzle.
        moments: who held what, step by step.
        sent: the messages.
        per_node: ranks of a node, 0 where nodes are of no interest.
    """

    name: str
    moments: tuple[tagged.Moment, ...]
    sent: tuple[tagged.Sent, ...]
    per_node: int = 0


def watched(name: str, ranks: int = 4, per_node: int = 0) -> Watched:
    """Returns your answer's run, watched chunk by chunk.

    Args:
        name: a puzzle whose answer is an all-reduce.
        ranks: how many, at most 8.
        per_node: handed to the answer where it takes a second argument.

    Raises:
        CourseError: the answer cannot be run, or its run came to no end.
    """
    from gpu_course.lessons.collectives import runs

    function = ranked_puzzle(name).functions[0]
    length = 2 if function == "double_tree" else ranks
    given = {"function": function, "length": length, "more": [per_node] if per_node else []}
    done = run_own(name, runs.watched, ranks, **given).results
    told, results = [each["told"] for each in done], [each["result"] for each in done]
    sent, _ = tagged.messages(told)
    moments = tagged.moments(told, length, results)
    return Watched(f"your {ranked_puzzle(name).short_name}", moments, tuple(sent), per_node)


@asks_for_answers
@telling
def play_own(name: str, ranks: int = 4, per_node: int = 0) -> Explorer:
    """Returns your own all-reduce to step through: it runs on real ranks, and is drawn as it ran.

    Args:
        name: a puzzle whose answer is an all-reduce.
        ranks: how many, at most 8.
        per_node: ranks of a node, where the answer takes that.
    """
    seen = watched(name, ranks, per_node)

    def shown(step: int) -> Figure:
        return draw_chunks(_frame(seen.name, seen.moments, step, seen.per_node))

    shown.__name__ = "chunks"
    return play(shown, len(seen.moments))


@asks_for_answers
@telling
def own_timeline(name: str, ranks: int = 4, per_node: int = 0) -> Picture:
    """Returns who waits for whom in a run of your own all-reduce, step by step.

    Args:
        name: a puzzle whose answer is an all-reduce.
        ranks: how many, at most 8.
        per_node: ranks of a node, where the answer takes that.
    """
    seen = watched(name, ranks, per_node)
    messages = [Message(m.source, m.target, m.step, 8 * m.numbers) for m in seen.sent]
    return Picture(draw_timeline(messages, ranks, seen.name))


MEMORY_BYTES_PER_S = 2e12
"""What a rank's memory carries while it adds, as a round number of today's GPUs."""


@asks_for_answers
@telling
def own_supersteps(name: str, ranks: int, mib: float, link: Link) -> str:
    """Returns what a run of your own all-reduce costs by BSP, superstep by superstep.

    An addition reads two numbers and writes one, so w is three times the bytes that the busiest
    rank adds, over the rate of its memory.

    Args:
        name: a puzzle whose answer is an all-reduce.
        ranks: how many, at most 8.
        mib: of the buffer.
        link: with l, which is alpha, and g, which is the time of a byte.
    """
    seen = watched(name, ranks)
    chunk = mib * MIB / len(seen.moments[0].held[0])
    lines = [f"{'step':>4}{'w':>12}{'h':>12}{'g h':>12}{'l':>12}{'together':>12}"]
    total = 0.0
    for number, moment in enumerate(seen.moments[1:], 1):
        ports: Counter[tuple[str, int]] = Counter()
        adds: Counter[int] = Counter()
        for move in moment.moves:
            ports["out", move.source] += len(move.chunks)
            ports["in", move.target] += len(move.chunks)
            adds[move.target] += len(move.chunks) if move.adds else 0
        most = chunk * max(ports.values(), default=0)
        work = 3 * chunk * max(adds.values(), default=0) / MEMORY_BYTES_PER_S
        seconds = alpha_beta.superstep_s(work, most, link)
        total += seconds
        parts = (work, most / link.bytes_per_s, link.alpha_s, seconds)
        told = [format_time_s(each) for each in parts]
        lines.append(
            f"{number:>4}{told[0]:>12}{format_bytes(most):>12}"
            + "".join(f"{each:>12}" for each in told[1:])
        )
    formula = alpha_beta.ring_all_reduce_s(ranks, mib * MIB, link)
    lines.append(
        f"together {format_time_s(total)}; a ring's formula, without w, says "
        f"{format_time_s(formula)}"
    )
    return "\n".join(lines)


# What the library sends


LIBRARY = {
    "all_reduce": lambda n, s: 2 * s * (n - 1) / n,
    "reduce_scatter": lambda n, s: s * (n - 1) / n,
    "all_gather": lambda n, s: s * (n - 1) / n,
    "broadcast": lambda n, s: s * (n - 1) / n,
}
"""A collective of the library -> the mean bytes that a rank sends in a ring or along a chain."""


def library_bytes(kind: str, ranks: int = 4, length: int = 1 << 16) -> Mapping[str, float] | None:
    """Returns bytes of a collective of the library, as shares of the buffer; None where unknown.

    Args:
        kind: a key of LIBRARY.
        ranks: how many.
        length: float64 numbers of the buffer.

    Returns:
        "most": what the busiest rank sent over TCP; "mean": of all ranks; "ring": the mean by the
        formula of a ring or a chain.
    """
    from gpu_course.lessons.collectives import runs

    given = {"kind": kind, "length": length}
    tcp = run_function(runs.call_library, ranks, given).socket_bytes
    if tcp is None:
        return None
    size = 8 * length
    each = [sum(b for (source, _), b in tcp.items() if source == r) / size for r in range(ranks)]
    return {
        "most": max(each), "mean": sum(each) / ranks, "ring": LIBRARY[kind](ranks, size) / size
    }  # fmt: skip


def library_text(ranks: int = 4) -> str:
    """Returns a table: what each collective of the library sent over TCP, in buffers.

    Args:
        ranks: how many.
    """
    lines = [f"buffers sent by a rank, of {ranks}", f"{'':<16}{'formula':>9}{'mean':>9}{'most':>9}"]
    for kind in LIBRARY:
        found = library_bytes(kind, ranks)
        if found is None:
            return "this system does not tell what its sockets carried"
        lines.append(f"{kind:<16}{found['ring']:>9.2f}{found['mean']:>9.2f}{found['most']:>9.2f}")
    return "\n".join(lines)
