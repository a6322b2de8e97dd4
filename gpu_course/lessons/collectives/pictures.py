"""Pictures of collectives: chunks step by step, who waits for whom, and times over bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Look, cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.traffic import MAX_RANKS, short_bytes
from gpu_course.errors import CourseError
from gpu_course.units import format_bytes, format_time_s
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Inside = Mapping[int, int] | None
"""How often each rank's numbers are in a cell; None where nobody can tell."""


@dataclass(frozen=True)
class Arrow:
    """A chunk on its way.

    Attributes:
        source, target: ranks.
        chunk: its number.
        adds: True where the target adds it to its own.
    """

    source: int
    target: int
    chunk: int
    adds: bool


@dataclass(frozen=True)
class Frame:
    """Who holds what after a step, and what moved in it.

    Attributes:
        name: of the collective.
        step, steps: which of how many; step 0 is the beginning.
        held: [rank][chunk] -> what is in it.
        arrows: the messages of the step.
        per_node: ranks of a node, 0 where nodes are of no interest.
    """

    name: str
    step: int
    steps: int
    held: tuple[tuple[Inside, ...], ...]
    arrows: tuple[Arrow, ...] = ()
    per_node: int = 0


MAX_CHUNKS = 8
_EDGE, _LEFT, _TOP, _ROW, _CELL, _FOOT = 0.3, 1.1, 1.2, 0.62, 0.34, 0.88
_WHOLE: Look = {"facecolor": p.FINE_FACE, "edgecolor": p.FINE, "linewidth": 1.6}
_PART: Look = {"facecolor": p.READ_TINT, "edgecolor": p.READ, "linewidth": 1.2}


def draw_chunks(frame: Frame, ax: Axes | None = None) -> Figure:
    """Returns the ranks below each other, what each has in its chunks, and what has just moved.

    The numbers in a cell are the ranks whose numbers are in it. A cell that holds all of them once
    is whole; one that holds any of them twice is hatched.

    Args:
        frame: of at most 8 ranks and 8 chunks.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: there are more.
    """
    ranks, chunks = len(frame.held), len(frame.held[0])
    if ranks > MAX_RANKS or chunks > MAX_CHUNKS:
        raise CourseError(
            f"{ranks} ranks with {chunks} chunks",
            f"draw at most {MAX_RANKS} ranks and {MAX_CHUNKS} chunks",
        )
    column = min(1.5, (p.WIDEST - _LEFT - _EDGE) / chunks)
    wide = column - 0.34 if chunks < 7 else column - 0.16
    height = _TOP + ranks * _ROW + _gaps(frame, ranks) + _FOOT
    arrived = {(a.target, a.chunk): a for a in frame.arrows}
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(axes, _EDGE, _heading(frame), _what_moves(frame), mono=False)
        for chunk in range(chunks):
            x = _LEFT + (chunk + 0.5) * column
            cell_text(axes, x - 0.1, _TOP - 0.2, f"chunk {chunk}" if chunks < 7 else f"{chunk}",
                      p.QUIET)  # fmt: skip
        for rank in range(ranks):
            y = _y(frame, rank)
            row_label(axes, _LEFT - 0.14, y, f"rank {rank}")
            for chunk in range(chunks):
                x = _LEFT + (chunk + 0.5) * column - 0.1
                inside = frame.held[rank][chunk]
                look = dict(_look(inside, ranks))
                if (rank, chunk) in arrived:
                    look |= {"edgecolor": p.WRITE, "linewidth": 2.4}
                square(axes, x, y, wide, look, _CELL)
                words = _inside(inside, ranks)
                cell_text(axes, x, y, words, p.INK, plate="hatch" in look and bool(words))
        for arrow in frame.arrows:
            _arrow(axes, frame, arrow, _LEFT + (arrow.chunk + 0.5) * column - 0.1, wide)
        if frame.per_node:
            _nodes(axes, frame, ranks)
        _chunk_legend(axes, height - 0.54)
    return with_alt(figure, describe_chunks(frame))


def describe_chunks(frame: Frame) -> str:
    """Returns in words what `draw_chunks` shows."""
    moves = _what_moves(frame)
    lines = [f"{_heading(frame)}. {moves[0].upper() + moves[1:]}."]
    moved: dict[tuple[int, int, bool], list[int]] = {}
    for arrow in frame.arrows:
        moved.setdefault((arrow.source, arrow.target, arrow.adds), []).append(arrow.chunk)
    for (source, target, adds), chunks in moved.items():
        noun = "chunk" if len(chunks) == 1 else "chunks"
        it = "it" if len(chunks) == 1 else "them"
        verb = f"which adds {it}" if adds else f"which keeps {it}"
        lines.append(f"Rank {source} sends {noun} {_listed(chunks)} to rank {target}, {verb}.")
    for rank, row in enumerate(frame.held):
        cells = ", ".join(_inside(inside, len(frame.held), "+") or "nothing" for inside in row)
        lines.append(f"Rank {rank} holds: {cells}.")
    return "\n".join(lines)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _heading(frame: Frame) -> str:
    where = "before the first step" if not frame.step else f"step {frame.step} of {frame.steps}"
    return f"{frame.name}, {where}"


def _what_moves(frame: Frame) -> str:
    if not frame.arrows:
        return "every rank has its own numbers" if not frame.step else "nothing is sent"
    pairs = len({(arrow.source, arrow.target) for arrow in frame.arrows})
    most = max(
        sum(arrow.source == rank for arrow in frame.arrows) for rank in range(len(frame.held))
    )
    return f"{count(pairs, 'message')}; the busiest rank sends {count(most, 'chunk')}"


def _inside(inside: Inside, ranks: int, apart: str | None = None) -> str:
    """Whose numbers are in a cell: their ranks, one as often as it was added."""
    if inside is None:
        return "?"
    if inside and all(inside.get(rank, 0) == 1 for rank in range(ranks)) and ranks > 1:
        return "all"
    if len(inside) > 4 and max(inside.values()) == 1:
        return f"{len(inside)} of {ranks}"
    if apart is None:
        apart = " " if ranks < 5 else ""
    return apart.join(str(rank) for rank in sorted(inside) for _ in range(inside[rank]))


def _look(inside: Inside, ranks: int) -> Look:
    if inside is None or not inside:
        return p.UNWRITTEN_CELL if inside is None else p.UNTOUCHED_CELL
    if max(inside.values()) > 1:
        return p.CONTESTED_CELL
    if len(inside) == ranks:
        return _WHOLE
    return _PART if len(inside) > 1 else p.UNTOUCHED_CELL


def _gaps(frame: Frame, rank: int) -> float:
    """Inches between nodes above a rank."""
    return 0.22 * ((rank - 1) // frame.per_node) if frame.per_node and rank else 0.0


def _y(frame: Frame, rank: int) -> float:
    return _TOP + (rank + 0.5) * _ROW - 0.1 + _gaps(frame, rank + 1)


def _arrow(axes: Axes, frame: Frame, arrow: Arrow, x: float, wide: float) -> None:
    from matplotlib.patches import FancyArrowPatch

    y0, y1 = _y(frame, arrow.source), _y(frame, arrow.target)
    near = abs(arrow.source - arrow.target) == 1
    if near:
        # Two ranks that exchange a chunk each get a lane of their own.
        x += 0.09 if y1 > y0 else -0.09
        half = _CELL / 2 * (1 if y1 > y0 else -1)
        ends, curve = ((x, y0 + half), (x, y1 - half)), "arc3,rad=0"
    else:
        edge = x + wide / 2
        # No farther than the gap to the next column.
        bend = (0.3 if wide > 0.6 else 0.2) / max(abs(y1 - y0), 0.6)
        ends, curve = (
            ((edge, y0), (edge, y1)),
            f"arc3,rad={-bend if y1 > y0 else bend:.3f}",
        )
    colour = p.WRITE_EDGE if arrow.adds else p.ACTIVE
    axes.add_artist(
        FancyArrowPatch(
            *ends, connectionstyle=curve, arrowstyle="-|>", mutation_scale=11, lw=1.8,
            color=colour, shrinkA=0, shrinkB=0, zorder=8,
            linestyle="solid" if arrow.adds else p.READ_DASHES,
        )
    )  # fmt: skip


def _nodes(axes: Axes, frame: Frame, ranks: int) -> None:
    for node in range(ranks // frame.per_node):
        first, last = node * frame.per_node, (node + 1) * frame.per_node - 1
        top, bottom = _y(frame, first) - 0.27, _y(frame, last) + 0.27
        axes.plot([_EDGE - 0.08] * 2, [top, bottom], color=p.QUIET, lw=3, solid_capstyle="butt")


def _chunk_legend(axes: Axes, y: float) -> None:
    x = _EDGE
    for look, words in (
        (p.UNTOUCHED_CELL, "one's own"), (_PART, "a part of the sum"), (_WHOLE, "the whole sum"),
        (p.CONTESTED_CELL, "added twice"),
    ):  # fmt: skip
        square(axes, x + 0.13, y, 0.24, look, 0.18)
        axes.text(x + 0.33, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.5 + 0.07 * len(words)
    x, y = _EDGE, y + 0.28
    square(
        axes, x + 0.13, y, 0.24, {**p.UNTOUCHED_CELL, "edgecolor": p.WRITE, "linewidth": 2.4}, 0.18
    )
    axes.text(x + 0.33, y, "just arrived", fontsize=p.SMALL, color=p.INK, va="center_baseline")
    x += 1.4
    for colour, dashes, words in (
        (p.WRITE_EDGE, "solid", "the receiver adds it to its own"),
        (p.ACTIVE, p.READ_DASHES, "it takes the place of its own"),
    ):  # fmt: skip
        axes.plot([x, x + 0.3], [y, y], color=colour, linestyle=dashes, lw=1.8)
        axes.text(x + 0.38, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.5 + 0.07 * len(words)


@dataclass(frozen=True)
class Message:
    """A message as a timeline needs it.

    Attributes:
        source, target: ranks.
        step: the first step is 1: it waits for no other message.
        bytes: of its payload.
        line: of the learner's file, 0 where none is known.
    """

    source: int
    target: int
    step: int
    bytes: int
    line: int = 0


def draw_timeline(messages: Sequence[Message], ranks: int, name: str) -> Figure:
    """Returns the ranks below each other, and step by step whom each sends to and hears from.

    Steps, not seconds: a message stands one step after the last one that its sender had waited for.

    Args:
        messages: of a run; at most 16 steps.
        ranks: how many there are, at most 8.
        name: what was run.
    """
    steps = max((message.step for message in messages), default=0)
    if steps > 16 or ranks > MAX_RANKS:
        raise CourseError(f"{steps} steps of {ranks} ranks", "draw at most 16 steps of 8 ranks")
    left, top, row = 1.1, 1.2, 0.56
    column = min(1.0, (p.WIDEST - left - _EDGE) / max(steps, 1))
    height = top + ranks * row + 0.72
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height)
        words = f"{count(steps, 'step')} that wait for each other; no clock is in this picture"
        title(axes, _EDGE, f"{name}: who waits for whom", words, mono=False)
        for step in range(1, steps + 1):
            cell_text(axes, left + (step - 0.5) * column, top - 0.18, str(step), p.QUIET)
        for rank in range(ranks):
            y = top + (rank + 0.5) * row
            row_label(axes, left - 0.14, y, f"rank {rank}")
            axes.plot(
                [left, left + max(steps, 1) * column], [y + row / 2] * 2, color=p.RULE, lw=0.6
            )
            for step in range(1, steps + 1):
                x = left + (step - 0.5) * column
                for sends, look, up in ((True, p.STORED_CELL, -1), (False, p.LOADED_CELL, 1)):
                    ends = [
                        (m.target if sends else m.source)
                        for m in messages
                        if m.step == step and (m.source if sends else m.target) == rank
                    ]
                    if ends:
                        square(axes, x, y + up * 0.125, column * 0.92, look, 0.22)
                        arrow = "\u2192" if sends else "\u2190"
                        cell_text(axes, x, y + up * 0.125, arrow + ",".join(map(str, ends)), p.INK)
        row_label(axes, left - 0.14, height - 0.58, "busiest")
        for step in range(1, steps + 1):
            most = _busiest([m for m in messages if m.step == step], ranks)
            cell_text(axes, left + (step - 0.5) * column, height - 0.58, short_bytes(most), p.INK)
        for x, look, words in (
            (_EDGE, p.STORED_CELL, "sends to"),
            (_EDGE + 1.3, p.LOADED_CELL, "receives from"),
        ):
            square(axes, x + 0.13, height - 0.24, 0.24, look, 0.18)
            axes.text(x + 0.33, height - 0.24, words, fontsize=p.SMALL, va="center_baseline")
        axes.text(
            _EDGE + 3.0, height - 0.24, "busiest: most bytes that one rank sends",
            fontsize=p.SMALL, va="center_baseline",
        )  # fmt: skip
    return with_alt(figure, describe_timeline(messages, ranks, name))


def _busiest(messages: Sequence[Message], ranks: int) -> int:
    return max(sum(m.bytes for m in messages if m.source == rank) for rank in range(ranks))


def describe_timeline(messages: Sequence[Message], ranks: int, name: str) -> str:
    """Returns in words what `draw_timeline` shows."""
    steps = max((message.step for message in messages), default=0)
    lines = [f"{name}: {count(steps, 'step')} that wait for each other."]
    for step in range(1, steps + 1):
        now = [m for m in messages if m.step == step]
        said = ", ".join(f"{m.source} to {m.target}" for m in now)
        lines.append(f"Step {step}: {said}; at most {short_bytes(_busiest(now, ranks))} bytes.")
    return "\n".join(lines)


_LINES: tuple[dict[str, Any], ...] = (
    {"color": p.ACTIVE, "linestyle": "solid"},
    {"color": p.CONFLICT, "linestyle": (0, (5, 2))},
    {"color": p.FINE, "linestyle": (0, (1, 1.2))},
    {"color": p.CONTRAST, "linestyle": (0, (6, 2, 1, 2))},
)


def draw_times(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    heading: str,
    second: str = "",
    meets: Sequence[tuple[float, float, str]] = (),
    measured: Sequence[tuple[float, float]] = (),
    across: str = "bytes of the buffer",
    told: Callable[[float], str] = format_bytes,
    legend: Literal["upper left", "upper center"] = "upper left",
) -> Figure:
    """Returns times over bytes, or over another number, both on logarithmic scales.

    Args:
        curves: {name: (bytes, seconds) points}.
        heading: what to see.
        second: a quieter line below it.
        meets: (bytes, seconds, words) for points to be marked, such as where two curves cross;
            "" where the heading says it.
        measured: (bytes, seconds) that a machine took.
        across: what the points have in place of bytes.
        told: how such a number is written.
        legend: where the names of the curves stand.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    left, bottom, right, top = 0.95, 0.62, 0.25, 0.8
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 4.1, (left, bottom, right, top))
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        for number, (name, points) in enumerate(curves.items()):
            x, y = zip(*points, strict=True)
            axes.plot(x, y, lw=2, label=name, **_LINES[number % len(_LINES)])
        if measured:
            x, y = zip(*measured, strict=True)
            axes.plot(x, y, "o", color=p.INK, ms=6, label="measured", zorder=6)
        for size, seconds, words in meets:
            axes.plot([size], [seconds], "D", color=p.INK, ms=7, zorder=7)
            if not words:
                continue
            axes.annotate(
                words, (size, seconds), xytext=(12, -18), textcoords="offset points",
                fontsize=p.SMALL, color=p.INK, zorder=8,
                bbox={"boxstyle": "round,pad=0.15", "facecolor": p.PAPER, "edgecolor": "none"},
            )  # fmt: skip
        low, high = axes.get_xlim()
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(LogLocator(base=2, numticks=9))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: told(x)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: format_time_s(y)))
        axes.yaxis.set_minor_locator(NullLocator())
        soon, late = axes.get_ylim()
        if late < 100 * soon:
            # Powers of ten alone would leave the axis with one number, or none.
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.grid(color=p.IDLE, lw=0.6)
        axes.set_xlabel(across)
        axes.legend(loc=legend, frameon=False, fontsize=p.SMALL, handlelength=3)
        tall = figure.get_figheight()
        figure.text(
            left / p.WIDEST, 1 - 0.27 / tall, heading, fontsize=p.LARGE, fontweight="bold",
            color=p.INK, va="center",
        )  # fmt: skip
        figure.text(
            left / p.WIDEST, 1 - 0.54 / tall, second, fontsize=p.NORMAL, color=p.QUIET, va="center"
        )
    return with_alt(figure, describe_times(curves, heading, meets, measured, told))


def describe_times(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    heading: str,
    meets: Sequence[tuple[float, float, str]] = (),
    measured: Sequence[tuple[float, float]] = (),
    told: Callable[[float], str] = format_bytes,
) -> str:
    """Returns in words what `draw_times` shows."""
    lines = [f"{heading}."]
    for name, points in curves.items():
        (small, soon), (large, late) = points[0], points[-1]
        lines.append(
            f"{name}: {format_time_s(soon)} for {told(small)}, {format_time_s(late)} for "
            f"{told(large)}."
        )
    lines += [
        f"Marked at {told(size)}: {format_time_s(seconds)}"
        f"{', ' + words.partition(':')[0] if words else ''}."
        for size, seconds, words in meets
    ]
    lines += [f"Measured: {format_time_s(t)} for {told(s)}." for s, t in measured]
    return "\n".join(lines)
