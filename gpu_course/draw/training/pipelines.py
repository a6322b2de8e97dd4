"""A picture of a pipeline: what each rank does when, where it waits, and what it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import row_label, title
from gpu_course.draw.paper.picture import with_alt

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: Mapping[str, dict[str, Any]] = {
    "F": {"facecolor": p.ACTIVE, "edgecolor": p.PAPER},
    "B": {"facecolor": p.WRITE, "edgecolor": p.WRITE_EDGE, "hatch": "//"},
    "I": {"facecolor": p.WRITE, "edgecolor": p.PAPER},
    "W": {"facecolor": p.FINE, "edgecolor": p.PAPER},
}
"""Each kind of action."""
LATER_LOOKS: Mapping[str, dict[str, Any]] = {
    "F": {"facecolor": p.LATER_ACTIVE, "edgecolor": p.ACTIVE},
    "B": {"facecolor": p.WRITE_TINT, "edgecolor": p.WRITE_EDGE, "hatch": "//"},
    "I": {"facecolor": p.WRITE_TINT, "edgecolor": p.WRITE_EDGE},
    "W": {"facecolor": p.FINE_FACE, "edgecolor": p.FINE},
}
"""The same in a rank's second chunk, its fourth and so on."""
WAITS: dict[str, Any] = {
    "facecolor": p.PAPER, "edgecolor": p.RULE, "hatch": p.UNWRITTEN_HATCH,
}  # fmt: skip
_NAMES = {"F": "forward", "B": "backward", "I": "to input", "W": "to weights"}
_LEFT, _RIGHT, _TOP = 0.75, 0.2, 0.8
_BAR, _LEVEL, _GAP = 0.24, 0.26, 0.1
_DIGIT = 0.075
"""Inches of a digit of the smallest text."""


class Step(NamedTuple):
    """One action as it ran.

    Attributes:
        rank: who did it.
        kind: a letter of LOOKS.
        chunk: which of the rank's stages it belongs to, 0 is the first.
        microbatch: its number.
        start, end: in any unit of time.
    """

    rank: int
    kind: str
    chunk: int
    microbatch: int
    start: float
    end: float


Levels = Sequence[tuple[float, float]]
"""What a rank holds from when on: (time, held)."""


def draw_pipeline(
    steps: Sequence[Step],
    name: str,
    *,
    memory: Sequence[Levels] = (),
    unit: str = "microbatches",
    until: float | None = None,
) -> Figure:
    """Returns a row for each rank with its actions, bubbles hatched, and its memory below it.

    Args:
        steps: of all ranks.
        name: what is shown.
        memory: for each rank what it holds from when on; default none is drawn.
        unit: of memory.
        until: the time at the right edge; default when the last step ends.
    """
    ranks = 1 + max((step.rank for step in steps), default=-1)
    row = _BAR + _GAP + (_LEVEL if memory else 0)
    height = _TOP + ranks * row + 0.62
    end = until or max((step.end for step in steps), default=1.0)
    scale = (p.WIDEST - _LEFT - _RIGHT) / end
    most = max((held for levels in memory for _, held in levels), default=0.0)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height)
        title(axes, 0.1, name, _words(steps, memory, unit), mono=False)
        for rank in range(ranks):
            own = sorted((each for each in steps if each.rank == rank), key=lambda s: s.start)
            y = _TOP + rank * row + _BAR / 2
            row_label(axes, _LEFT - 0.1, y, f"rank {rank}")
            _draw_waits(axes, own, y, scale)
            if memory:
                _draw_levels(axes, memory[rank], y + _BAR / 2 + _LEVEL, scale, most, end)
        _draw_steps(axes, steps, row, scale)
        _draw_key(axes, steps, height - 0.22)
    return with_alt(figure, describe_pipeline(steps, name, memory=memory, unit=unit))


def _words(steps: Sequence[Step], memory: Sequence[Levels], unit: str) -> str:
    cost, busy = _cost(steps), _busiest(steps)
    words = f"a bubble of {max(0.0, 1 - busy / cost):.1%}" if cost else "nothing runs"
    if memory:
        most = max((held for levels in memory for _, held in levels), default=0.0)
        words += f"  ·  at most {most:.3g} {unit} held, the area under each row"
    return words


def _cost(steps: Sequence[Step]) -> float:
    """Returns the longest time from a rank's first start to its last end."""
    ends: dict[int, tuple[float, float]] = {}
    for step in steps:
        first, last = ends.get(step.rank, (step.start, step.end))
        ends[step.rank] = min(first, step.start), max(last, step.end)
    return max((last - first for first, last in ends.values()), default=0.0)


def _busiest(steps: Sequence[Step]) -> float:
    busy: dict[int, float] = {}
    for step in steps:
        busy[step.rank] = busy.get(step.rank, 0.0) + step.end - step.start
    return max(busy.values(), default=0.0)


def _draw_waits(axes: Axes, own: Sequence[Step], y: float, scale: float) -> None:
    from matplotlib.collections import PolyCollection

    cells = [
        _cell(before.end, after.start, y, scale)
        for before, after in pairwise(own)
        if (after.start - before.end) * scale > 0.01
    ]
    axes.add_collection(PolyCollection(cells, linewidth=0.5, zorder=2, **WAITS), autolim=False)


def _cell(start: float, end: float, y: float, scale: float) -> list[tuple[float, float]]:
    left, right = _LEFT + start * scale, _LEFT + end * scale
    top, bottom = y - _BAR / 2, y + _BAR / 2
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _draw_steps(axes: Axes, steps: Sequence[Step], row: float, scale: float) -> None:
    from matplotlib.collections import PolyCollection

    for looks, odd in ((LOOKS, False), (LATER_LOOKS, True)):
        for kind, look in looks.items():
            drawn = [s for s in steps if s.kind == kind and bool(s.chunk % 2) == odd]
            cells = [_cell(s.start, s.end, _TOP + s.rank * row + _BAR / 2, scale) for s in drawn]
            # One artist for each look: a thousand patches take a second to draw.
            axes.add_collection(
                PolyCollection(cells, linewidth=0.4, zorder=3, **look), autolim=False
            )
            for s in drawn:
                text, wide = str(s.microbatch), (s.end - s.start) * scale
                if len(text) * _DIGIT + 0.03 > wide:
                    continue
                plain = kind == "F" and not odd
                axes.text(
                    _LEFT + (s.start + s.end) / 2 * scale,
                    _TOP + s.rank * row + _BAR / 2,
                    text,
                    fontsize=p.SMALL,
                    color=p.PAPER if plain else p.INK,
                    ha="center",
                    va="center_baseline",
                    zorder=5,
                )


def _draw_levels(
    axes: Axes, levels: Levels, floor: float, scale: float, most: float, end: float
) -> None:
    times = [min(time, end) for time, _ in levels] + [end]
    held = [level for _, level in levels] + [levels[-1][1]]
    high = (_LEVEL - 0.03) / most if most else 0.0
    axes.fill_between(
        [_LEFT + time * scale for time in times],
        [floor] * len(times),
        [floor - level * high for level in held],
        step="post",
        facecolor=p.READ_TINT,
        edgecolor=p.READ,
        linewidth=0.6,
        zorder=1,
    )


def _draw_key(axes: Axes, steps: Sequence[Step], y: float) -> None:
    from matplotlib.patches import Rectangle

    kinds = [kind for kind in LOOKS if any(step.kind == kind for step in steps)]
    entries = [(LOOKS[kind], _NAMES[kind]) for kind in kinds]
    if any(step.chunk % 2 for step in steps):
        entries.append((LATER_LOOKS["F"], "pale: a second stage"))
    entries.append((WAITS, "a bubble"))
    x = 0.12
    for look, words in entries:
        axes.add_artist(Rectangle((x, y - 0.08), 0.22, 0.16, linewidth=0.5, zorder=3, **look))
        axes.text(x + 0.28, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.28 + len(words) * 0.072 + 0.14


def describe_pipeline(
    steps: Sequence[Step],
    name: str,
    *,
    memory: Sequence[Levels] = (),
    unit: str = "microbatches",
) -> str:
    """Returns in words what `draw_pipeline` shows, rank by rank.

    Args:
        steps, name, memory, unit: as there.
    """
    one = unit.removesuffix("s")
    lines = [f"{name}: {_words(steps, memory, unit).split('  ·  ')[0]}."]
    for rank in sorted({step.rank for step in steps}):
        own = sorted((each for each in steps if each.rank == rank), key=lambda s: s.start)
        waits = sum(b.start - a.end for a, b in pairwise(own))
        said = f"rank {rank}: {len(own)} actions from {own[0].start:.3g} to {own[-1].end:.3g}"
        said += f", waits for {waits:.3g}"
        if memory:
            most = max(held for _, held in memory[rank])
            said += f", holds at most {most:.3g} {one if most == 1 else unit}"
        lines.append(f"{said}.")
    return "\n".join(lines)
