"""Pictures of what travels: classes of operators, a chain cut into kernels, passes one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.traffic import short_bytes
from gpu_course.lessons.data_movement.fusion import Cut, Tensors
from gpu_course.units import format_bytes
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EDGE = 0.25
"""Inches left free at both sides."""

_CLASS_LOOKS: tuple[dict[str, Any], ...] = (
    {"facecolor": p.STATES, "edgecolor": p.INK, "linewidth": 0.8},
    {"facecolor": p.CONTRAST, "edgecolor": p.INK, "linewidth": 0.8, "hatch": "\\\\\\\\"},
    {"facecolor": p.PAPER, "edgecolor": p.INK, "linewidth": 0.8, "hatch": "...."},
)


def draw_classes(
    names: Sequence[str], rows: Mapping[str, Sequence[float]], ax: Axes | None = None
) -> Figure:
    """Returns how several quantities are shared out among classes of operators.

    Args:
        names: of at most three classes.
        rows: what is shared out -> the per cent of each class.
        ax: axes to draw on instead of a new figure.
    """
    from matplotlib.patches import Rectangle

    row, head, left, wide, column = 0.42, 1.35, 2.5, 2.65, 0.68
    with p.style():
        figure, axes = p.sheet(p.WIDEST, head + row * len(rows) + 0.15, ax)
        second = "a training step of one layer; per cent of each line"
        title(axes, _EDGE, "Who computes, who moves, who takes the time", second, mono=False)
        x = _EDGE
        for name, look in zip(names, _CLASS_LOOKS, strict=False):
            axes.add_artist(Rectangle((x, 0.79), 0.26, 0.16, zorder=3, **look))
            _write(axes, x + 0.34, 0.87, name)
            x += 0.62 + 0.077 * len(name)
        for number, look in enumerate(_CLASS_LOOKS[: len(names)]):
            at = left + wide + 0.22 + (number + 0.5) * column
            axes.add_artist(Rectangle((at - 0.13, head - 0.25), 0.26, 0.14, zorder=3, **look))
        for turn, (what, shares) in enumerate(rows.items()):
            y = head + (turn + 0.5) * row
            _write(axes, left - 0.12, y, what, side="right")
            start = left
            for number, share in enumerate(shares):
                part = wide * share / 100
                axes.add_artist(
                    Rectangle((start, y - 0.13), part, 0.26, zorder=3, **_CLASS_LOOKS[number])
                )
                start += part
                at = left + wide + 0.22 + (number + 0.5) * column
                _write(axes, at, y, _per_cent(share), side="center")
    return with_alt(figure, describe_classes(names, rows))


def _per_cent(share: float) -> str:
    """Two digits that say something: 99.76, 0.18, 64.0."""
    return f"{share:.2f}" if share < 1 or share > 99 else f"{share:.1f}"


def describe_classes(names: Sequence[str], rows: Mapping[str, Sequence[float]]) -> str:
    """Returns in words what `draw_classes` shows."""
    lines = ["A training step of one layer, shared out among classes of operators:"]
    for what, shares in rows.items():
        parts = (f"{name} {_per_cent(x)} %" for name, x in zip(names, shares, strict=True))
        lines.append(f"{what}: {', '.join(parts)}.")
    return "\n".join(lines)


_LINE, _GAP = 0.34, 0.16
_BOX, _BOX_WIDE = 2.62, 1.46
_SUM, _COUNTED = 6.28, 7.05
_KERNEL: dict[str, Any] = {"facecolor": p.SHADE, "edgecolor": p.QUIET, "linewidth": 1.2}
_OPERATION: dict[str, Any] = {"facecolor": p.PAPER, "edgecolor": p.INK, "linewidth": 0.9}


def draw_cuts(cuts: Sequence[Cut], name: str, ax: Axes | None = None) -> Figure:
    """Returns a chain of operations cut into kernels, with the tensors that travel.

    Args:
        cuts: the kernels, in order.
        name: what is shown.
        ax: axes to draw on instead of a new figure.
    """
    from matplotlib.patches import Rectangle

    head = 1.2
    steps = sum(len(cut.steps) for cut in cuts)
    counted = any(cut.counted_bytes is not None for cut in cuts)
    with p.style():
        tall = head + steps * _LINE + len(cuts) * _GAP + 0.1
        figure, axes = p.sheet(p.WIDEST, tall, ax)
        moved = sum(cut.moved_bytes for cut in cuts)
        second = f"{format_bytes(moved)} travel, in {count(len(cuts), 'kernel')}"
        title(axes, _EDGE, name, second, mono=False)
        sums = _COUNTED if not counted else _SUM
        _write(axes, _BOX - 0.2, head - 0.25, "read from memory", side="right", quiet=True)
        _write(axes, _BOX + _BOX_WIDE / 2, head - 0.25, "kernel", side="center", quiet=True)
        _write(axes, _BOX + _BOX_WIDE + 0.2, head - 0.25, "written to memory", quiet=True)
        _write(axes, sums, head - 0.25, "bytes", side="right", quiet=True)
        if counted:
            _write(axes, _COUNTED, head - 0.25, "counted", side="right", quiet=True)
        y = head
        for cut in cuts:
            high = len(cut.steps) * _LINE
            place = (_BOX - 0.08, y)
            wide = _BOX_WIDE + 0.16
            axes.add_artist(Rectangle(place, wide, high + 0.04, zorder=1, **_KERNEL))
            for number, step in enumerate(cut.steps):
                _step(axes, y + (number + 0.5) * _LINE + 0.02, step.name)
                _travels(axes, y + (number + 0.5) * _LINE + 0.02, step.reads, step.writes)
                if number + 1 < len(cut.steps):
                    _link(axes, y + (number + 1) * _LINE + 0.02)
                if step.stays:
                    words = f"{', '.join(step.stays)} stays inside"
                    x = _BOX + _BOX_WIDE + 0.55 + (0.1 + _wide(step.writes) if step.writes else 0)
                    _write(axes, x, y + (number + 0.5) * _LINE + 0.02, words, colour=p.FINE)
            middle = y + high / 2 + 0.02
            if counted:
                _write(axes, sums, middle, f"{cut.moved_bytes:,}", side="right")
                ran = "" if cut.counted_bytes is None else f"{cut.counted_bytes:,}"
                _write(axes, _COUNTED, middle, ran, side="right", weight="bold")
            else:
                _write(axes, sums, middle, format_bytes(cut.moved_bytes), side="right")
            y += high + _GAP
    return with_alt(figure, describe_cuts(cuts, name))


def _step(axes: Axes, y: float, name: str) -> None:
    from matplotlib.patches import Rectangle

    axes.add_artist(Rectangle((_BOX, y - 0.12), _BOX_WIDE, 0.24, zorder=3, **_OPERATION))
    _write(axes, _BOX + _BOX_WIDE / 2, y, name, side="center")


def _link(axes: Axes, y: float) -> None:
    """The line from one operation to the next within a kernel."""
    x = _BOX + _BOX_WIDE / 2
    axes.plot([x, x], [y - 0.05, y + 0.05], color=p.FINE, lw=3, zorder=4, solid_capstyle="butt")


def _travels(axes: Axes, y: float, reads: Tensors, writes: Tensors) -> None:
    if reads:
        _arrow(axes, _BOX - 0.42, _BOX - 0.1, y, p.READ, p.READ_DASHES)
        _write(axes, _BOX - 0.48, y, _tensors(reads), side="right")
    if writes:
        end = _BOX + _BOX_WIDE
        _arrow(axes, end + 0.1, end + 0.42, y, p.WRITE, "solid")
        _write(axes, end + 0.48, y, _tensors(writes))


def _arrow(axes: Axes, x: float, end: float, y: float, colour: str, dashes: Any) -> None:
    axes.plot([x, end - 0.05], [y, y], color=colour, lw=2, linestyle=dashes, zorder=2)
    axes.plot([end - 0.05], [y], color=colour, marker=">", ms=5, zorder=2)


def _tensors(tensors: Tensors) -> str:
    return ", ".join(f"{name} {short_bytes(size)}" for name, size in tensors)


def _wide(tensors: Tensors) -> float:
    """Inches of the words for tensors, a little more than they take."""
    return 0.078 * len(_tensors(tensors))


def describe_cuts(cuts: Sequence[Cut], name: str) -> str:
    """Returns in words what `draw_cuts` shows, a line for each kernel."""
    moved = sum(cut.moved_bytes for cut in cuts)
    lines = [f"{name}. {moved:,} bytes travel, in {count(len(cuts), 'kernel')}."]
    for cut in cuts:
        said = [" + ".join(step.name for step in cut.steps)]
        for verb, sides in (
            ("reads", [step.reads for step in cut.steps]),
            ("writes", [step.writes for step in cut.steps]),
        ):
            names = [tensor for side in sides for tensor, _ in side]
            said.append(f"{verb} {' and '.join(names) or 'nothing'}")
        stay = [tensor for step in cut.steps for tensor in step.stays]
        if stay:
            said.append(f"{' and '.join(stay)} {'stays' if len(stay) == 1 else 'stay'} inside")
        ran = f", {cut.counted_bytes:,} counted" if cut.counted_bytes is not None else ""
        lines.append(f"{said[0]}: {'; '.join(said[1:])}; {cut.moved_bytes:,} bytes{ran}.")
    return "\n".join(lines)


Amount = tuple[str, float, float]
"""Whose pass it is, and the bytes that it reads and writes for each number."""


def draw_passes(groups: Mapping[str, Sequence[Amount]], each: str, name: str) -> Figure:
    """Returns what programs for one result read and write, pass by pass.

    Args:
        groups: a program -> its passes, in order.
        each: what the bytes are for, such as "parameter".
        name: what is shown.
    """
    from matplotlib.patches import Rectangle

    row, gap, head, left = 0.27, 0.42, 0.92, 2.3
    lines = sum(len(passes) for passes in groups.values())
    longest = max(read + written for passes in groups.values() for _, read, written in passes)
    wide = (p.WIDEST - left - 1.35) / longest
    with p.style():
        figure, axes = p.sheet(p.WIDEST, head + lines * row + len(groups) * gap + 0.1)
        title(axes, _EDGE, name, f"bytes read and written for each {each}", mono=False)
        _key(axes, p.WIDEST - 2.0, 0.52)
        y = head
        for program, passes in groups.items():
            whole = sum(read + written for _, read, written in passes)
            words = f"{program}: {whole:.4g} bytes in {count(len(passes), 'pass')}"
            _write(axes, _EDGE, y, words, weight="bold")
            y += gap - 0.18
            for what, read, written in passes:
                _write(axes, left - 0.12, y, what, side="right")
                start = left
                for amount, look in ((read, p.LOADED_CELL), (written, p.STORED_CELL)):
                    axes.add_artist(
                        Rectangle((start, y - 0.09), wide * amount, 0.18, zorder=3, **look)
                    )
                    start += wide * amount
                _write(axes, start + 0.1, y, f"{read:.4g} + {written:.4g}")
                y += row
            y += 0.18
    return with_alt(figure, describe_passes(groups, each, name))


def _key(axes: Axes, x: float, y: float) -> None:
    from matplotlib.patches import Rectangle

    for look, word in ((p.LOADED_CELL, "read"), (p.STORED_CELL, "written")):
        axes.add_artist(Rectangle((x, y - 0.07), 0.24, 0.14, zorder=3, **look))
        _write(axes, x + 0.32, y, word)
        x += 0.85


def describe_passes(groups: Mapping[str, Sequence[Amount]], each: str, name: str) -> str:
    """Returns in words what `draw_passes` shows."""
    lines = [f"{name}. Bytes read and written for each {each}."]
    for program, passes in groups.items():
        whole = sum(read + written for _, read, written in passes)
        parts = (
            f"{what} {read:.4g} read and {written:.4g} written" for what, read, written in passes
        )
        lines.append(f"{program}, {whole:.4g} bytes: {', '.join(parts)}.")
    return "\n".join(lines)


def _write(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    *,
    side: str = "left",
    quiet: bool = False,
    colour: str = p.INK,
    weight: str = "normal",
) -> None:
    axes.text(
        x, y, text, fontsize=p.SMALL, color=p.QUIET if quiet else colour, ha=side,
        va="center_baseline", zorder=6, fontweight=weight,
    )  # fmt: skip
