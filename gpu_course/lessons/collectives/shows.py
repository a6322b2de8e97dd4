"""What lesson 21 shows: chunks on their way, runs on real ranks, and times over bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.collectives import (
    Arrow,
    Frame,
    Message,
    draw_chunks,
    draw_timeline,
    draw_times,
    draw_traffic,
)
from gpu_course.errors import CourseError
from gpu_course.lessons.collectives.fat_tree_picture import Level, draw_fat_tree
from gpu_course.lessons.collectives.fat_trees import fat_tree
from gpu_course.measure import alpha_beta
from gpu_course.measure.alpha_beta import Link
from gpu_course.notebook.explore import Explorer, play
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own_ranks import ranked_puzzle, run_own, run_text
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks import collectives, tagged
from gpu_course.ranks.collectives import Schedule
from gpu_course.ranks.runner import Run
from gpu_course.ranks.traffic import sent_between
from gpu_course.units import GB, KIB, MIB, format_bandwidth, format_bytes, format_time_s
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEDULES: Mapping[str, Callable[[int], Schedule]] = {
    "ring": collectives.ring_all_reduce,
    "tree": collectives.tree_all_reduce,
    "double tree": collectives.double_tree_all_reduce,
    "double tree in 4 pieces": lambda ranks: collectives.double_tree_all_reduce(ranks, 4),
    "PAT": collectives.pat_all_reduce,
    "two levels": lambda ranks: collectives.two_level_all_reduce(*_nodes(ranks)),
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
    function = ranked_puzzle(name).functions[0]
    tail = (
        "def course_main(length, more):\n"
        "    import torch as course_torch\n"
        "    given = course_torch.ones(length, dtype=course_torch.float64)\n"
        f"    {function}(given, *more)\n"
    )
    run = run_own(name, ranks, tail, length=length, more=list(more))
    return OwnRun(ranked_puzzle(name).short_name, ranks, 8 * length, run)


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
    function = ranked_puzzle(name).functions[0]
    length = 2 if function == "double_tree" else ranks
    tail = (
        "def course_main(length, more):\n"
        "    from gpu_course.ranks.watching import watch\n\n"
        f"    return watch({function}, length, *more)\n"
    )
    more = [per_node] if per_node else []
    done = run_own(name, ranks, tail, length=length, more=more).results
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
    tail = (
        "from gpu_course.ranks.measuring import call_library\n\n\n"
        "def course_main(kind, length):\n    call_library(kind, length)\n"
    )
    tcp = run_text(tail, "library.py", ranks, kind=kind, length=length).socket_bytes
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


# Times


SIZES = tuple(2.0**k for k in range(8, 34))


def compared_times(ranks: int = 64, alpha_us: float = 20, gb_per_s: float = 10) -> Figure:
    """Returns the times of ring, tree and double tree over the bytes, for one kind of link.

    Args:
        ranks: how many.
        alpha_us: microseconds of a message before its first byte.
        gb_per_s: of a port.
    """
    link = Link(alpha_us * 1e-6, gb_per_s * GB)
    curves = {
        name: [(size, seconds(ranks, size, link)) for size in SIZES]
        for name, seconds in alpha_beta.ALL_REDUCES.items()
    }
    meet = alpha_beta.ring_meets_tree_bytes(ranks, link)
    meets = []
    if SIZES[0] < meet < SIZES[-1]:
        seconds = alpha_beta.ring_all_reduce_s(ranks, meet, link)
        meets.append((meet, seconds, f"ring meets tree: {format_bytes(meet)}"))
    second = f"alpha {format_time_s(link.alpha_s)}, {format_bandwidth(link.bytes_per_s)}"
    return draw_times(curves, f"An all-reduce of {ranks} ranks, by the model", second, meets)


PIECES = tuple(2**k for k in range(15))


def compared_pieces(
    ranks: int = 64, mib: float = 64, alpha_us: float = 20, gb_per_s: float = 10
) -> Figure:
    """Returns the times of one tree and of two over the number of pieces, beside a ring's.

    Args:
        ranks: how many.
        mib: of the buffer.
        alpha_us: microseconds of a message before its first byte.
        gb_per_s: of a port.
    """
    link, size = Link(alpha_us * 1e-6, gb_per_s * GB), mib * MIB
    ring = alpha_beta.ring_all_reduce_s(ranks, size, link)
    curves = {
        "one tree": [(k, alpha_beta.tree_in_pieces_s(ranks, size, link, k)) for k in PIECES],
        "two trees": [
            (k, alpha_beta.double_tree_all_reduce_s(ranks, size, link, k)) for k in PIECES
        ],
        "a ring": [(k, ring) for k in PIECES],
    }
    best = alpha_beta.best_pieces(ranks, size, link)
    seconds = alpha_beta.double_tree_all_reduce_s(ranks, size, link)
    said = f"{count(best, 'piece')} {'is' if best == 1 else 'are'} best, {format_time_s(seconds)}"
    levels = count(alpha_beta.levels(ranks), "level")
    return draw_times(
        curves,
        f"{format_bytes(size)} on {ranks} ranks: {said}",
        f"by the model: {levels}, alpha {format_time_s(link.alpha_s)}, "
        f"{format_bandwidth(link.bytes_per_s)}",
        [(best, seconds, "")],
        across="pieces that a tree's part of the buffer is cut into",
        told=lambda pieces: f"{pieces:,.0f}",
        legend="upper center",
    )


def gathers_text(
    ranks: Sequence[int] = (8, 64, 1024), sizes: Sequence[int] = (64 * KIB, 64 * MIB)
) -> str:
    """Returns a table: an all-gather round a ring and over PAT's trees, over nodes with one GPU.

    Args:
        ranks: how many.
        sizes: bytes of the whole buffer.
    """
    link = Link(15e-6, 50 * GB)
    lines = [f"{'ranks':>5}{'buffer':>10}{'steps':>14}{'ring':>12}{'PAT':>12}"]
    for n in ranks:
        for size in sizes:
            ring = alpha_beta.ring_all_gather_s(n, size, link)
            trees = alpha_beta.pat_all_gather_s(n, size, link)
            steps = f"{n - 1:,} or {alpha_beta.levels(n)}"
            lines.append(
                f"{n:>5}{format_bytes(size):>10}{steps:>14}"
                f"{format_time_s(ring):>12}{format_time_s(trees):>12}"
            )
    return "\n".join(lines)


def compared_levels(
    nodes: int = 16, gb_per_s_inside: float = 450, gb_per_s: float = 50, oversubscribed: int = 1
) -> Figure:
    """Returns the times of one ring, a double tree and two levels, for nodes of 8.

    Args:
        nodes: how many.
        gb_per_s_inside: of a link within a node.
        gb_per_s: of each rank's port to other nodes.
        oversubscribed: how many ports share a cable of that rate between their switches.
    """
    inside, rate = Link(3e-6, gb_per_s_inside * GB), gb_per_s / oversubscribed
    between = Link(15e-6, rate * GB)
    ranks = 8 * nodes
    curves = {
        "one ring, as slow as its slowest link": [
            (size, alpha_beta.ring_all_reduce_s(ranks, size, between)) for size in SIZES
        ],
        "double tree over all ranks": [
            (size, alpha_beta.double_tree_all_reduce_s(ranks, size, between)) for size in SIZES
        ],
        "two levels": [
            (size, alpha_beta.two_level_all_reduce_s(nodes, 8, size, inside, between))
            for size in SIZES
        ],
    }
    second = f"nodes of 8; inside 3 µs, {gb_per_s_inside:g} GB/s; between 15 µs, {rate:.3g} GB/s"
    return draw_times(curves, f"An all-reduce on {nodes} nodes, by the model", second)


SWITCH_W = 1500
"""Watts of a switch with 64 ports of 400 Gbit/s and optics in all of them; SemiAnalysis 2024."""


def network(gpus: int = 24_576, ports: int = 64, oversubscribed: int = 1) -> Figure:
    """Returns the levels of a fat tree, and what its switches and cables come to.

    Args:
        gpus: how many it joins.
        ports: of each switch.
        oversubscribed: cables downwards for one upwards, on the level below the top.
    """
    tree = fat_tree(gpus, ports, oversubscribed)
    above = [*tree.cables[1:], 0]
    levels = [
        Level(switches, ports - up // switches, up // switches, cables)
        for switches, cables, up in zip(tree.switches, tree.cables, above, strict=True)
    ]
    cables, switches = sum(tree.cables), sum(tree.switches)
    kw = switches * SWITCH_W * ports / 64 / 1e3
    share = "all GPUs reach each other at full rate"
    if tree.island < gpus:
        share = f"full rate among {tree.island:,} GPUs; beyond, 1/{oversubscribed} if all send"
    words = [
        share,
        f"{count(switches, 'switch')}, {_power(kw)} with optics in all ports",
        f"{tree.optics:,} transceivers if no cable is copper",
        f"a cable fails every {_minutes(5 * 365 * 24 * 60 / cables)}, if each lasts 5 years",
    ]
    return draw_fat_tree(levels, gpus, f"{gpus:,} GPUs, switches with {ports} ports", words)


def _power(kw: float) -> str:
    return f"{kw:.2g} kW" if kw < 100 else f"{kw / 1000:.2g} MW"


def _minutes(minutes: float) -> str:
    if minutes < 120:
        return f"{minutes:.0f} minutes"
    return f"{minutes / 60:.0f} hours" if minutes < 48 * 60 else f"{minutes / 60 / 24:.0f} days"


def measured_rings(
    ranks: Sequence[int] = (2, 4), sizes: Sequence[int] = (), repeats: int = 5
) -> list[tuple[int, int, float]]:
    """Returns (ranks, bytes, seconds) of rings on this computer, as `fit_alpha_beta` takes them.

    Args:
        ranks: how many, each in a run of its own.
        sizes: bytes of the buffer; default from 1 KiB to 4 MiB.
        repeats: how often each is timed; the median counts.

    Raises:
        CourseError: this system cannot fork ranks.
    """
    chosen = list(sizes) or [KIB, 16 * KIB, 128 * KIB, MIB, 4 * MIB]
    tail = (
        "from gpu_course.ranks.measuring import ring_seconds\n\n\n"
        "def course_main(sizes, repeats):\n    return ring_seconds(sizes, repeats)\n"
    )
    found: list[tuple[int, int, float]] = []
    for n in ranks:
        done = run_text(tail, "measured.py", n, sizes=chosen, repeats=repeats).results
        # The slowest rank ends the collective.
        slowest = [max(times) for times in zip(*done, strict=True)]
        found += [(n, size, seconds) for size, seconds in zip(chosen, slowest, strict=True)]
    return found


def fitted(runs: Sequence[tuple[int, int, float]]) -> Link:
    """Returns the link that fits rings' times best.

    Args:
        runs: (ranks, bytes, seconds) of each.
    """
    # A ring's time over its steps is that of one message of S / n bytes.
    return alpha_beta.fit((size / n, seconds / (2 * (n - 1))) for n, size, seconds in runs)


def fit_text(runs: Sequence[tuple[int, int, float]], link: Link) -> str:
    """Returns a table: measured times beside the model's, and how far off it is.

    Args:
        runs: (ranks, bytes, seconds) of each.
        link: alpha and a rate.
    """
    lines = [
        f"alpha {format_time_s(link.alpha_s)}, {format_bandwidth(link.bytes_per_s)}",
        f"{'ranks':>5}{'buffer':>10}{'measured':>12}{'model':>12}{'off':>8}",
    ]
    for n, size, seconds in runs:
        mine = alpha_beta.ring_all_reduce_s(n, size, link)
        lines.append(
            f"{n:>5}{format_bytes(size):>10}{format_time_s(seconds):>12}"
            f"{format_time_s(mine):>12}{mine / seconds - 1:>+8.0%}"
        )
    return "\n".join(lines)


def drawn_times(runs: Sequence[tuple[int, int, float]], link: Link, ranks: int) -> Picture:
    """Returns measured rings of so many ranks beside the model's ring, tree and double tree.

    Args:
        runs: (ranks, bytes, seconds) of each.
        link: alpha and a rate.
        ranks: whose runs are drawn.
    """
    own = [(float(size), seconds) for n, size, seconds in runs if n == ranks]
    sizes = [2.0**k for k in range(8, 27)]
    curves = {
        name: [(size, seconds(ranks, size, link)) for size in sizes]
        for name, seconds in alpha_beta.ALL_REDUCES.items()
    }
    second = "lines: your alpha and your rate; points: what your ring took"
    heading = f"An all-reduce of {ranks} ranks on this computer"
    return Picture(draw_times(curves, heading, second, (), own))
