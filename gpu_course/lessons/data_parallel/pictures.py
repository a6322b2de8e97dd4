"""Pictures of data parallelism: buckets filling in a backward pass, and what a pass can hide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import Look, cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.errors import CourseError
from gpu_course.units import format_bytes, format_time_s
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Bucket:
    """What becomes of a bucket in one backward pass of a rank.

    Places count what happens in the pass: the gradient that comes first has place 0.

    Attributes:
        gradients: the place of each of its gradients; None for one that does not come.
        begins: the place of the latest gradient when its message begins; None where it begins
            after the pass.
        waited: the place of the latest gradient when it is waited for; None after the pass.
        size_bytes: of its message.
    """

    gradients: tuple[int | None, ...]
    begins: int | None
    waited: int | None
    size_bytes: int


MAX_BUCKETS, MAX_GRADIENTS = 16, 40
_LEFT, _RIGHT, _TOP, _ROW, _FOOT = 1.55, 1.1, 1.35, 0.36, 0.95
_COMPLETE: Look = {"facecolor": p.FINE, "edgecolor": p.INK, "linewidth": 0.6}
_THERE: Look = {"facecolor": p.READ, "edgecolor": p.INK, "linewidth": 0.6}
_ON_ITS_WAY: Look = {"facecolor": p.WRITE_TINT, "edgecolor": p.WRITE, "linewidth": 1.4}


def draw_buckets(buckets: Sequence[Bucket], name: str, ax: Axes | None = None) -> Figure:
    """Returns a row for each bucket: when its gradients come, and when its message begins.

    Args:
        buckets: in the order in which they are sent.
        name: whose pass it is, for the heading.
        ax: axes to draw on instead of a new figure.

    Raises:
        CourseError: there are more than the page has room for.
    """
    places = [place for each in buckets for place in each.gradients if place is not None]
    last = max(places, default=0)
    if len(buckets) > MAX_BUCKETS or last >= MAX_GRADIENTS:
        raise CourseError(
            f"{count(len(buckets), 'bucket')} with {count(last + 1, 'gradient')}",
            f"draw at most {MAX_BUCKETS} buckets and {MAX_GRADIENTS} gradients",
        )
    step = (p.WIDEST - _LEFT - _RIGHT) / (last + 2)
    height = _TOP + len(buckets) * _ROW + _FOOT
    bottom = _TOP + len(buckets) * _ROW
    end = _LEFT + (last + 1) * step
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(axes, 0.3, f"{name}: buckets in a backward pass", _in_words(buckets), mono=False)
        axes.plot([end, end], [_TOP - 0.32, bottom + 0.08], color=p.INK, lw=1.2)
        axes.text(end - 0.05, _TOP - 0.22, "end of the pass", fontsize=p.SMALL, color=p.INK,
                  ha="right", va="center_baseline")  # fmt: skip
        for row, bucket in enumerate(buckets):
            y = _TOP + (row + 0.5) * _ROW
            row_label(axes, _LEFT - 0.12, y, f"{row}: {format_bytes(bucket.size_bytes)}")
            _bar(axes, bucket, y, step, end)
            there = [place for place in bucket.gradients if place is not None]
            for place in there:
                look = _COMPLETE if place == max(there) else _THERE
                square(axes, _LEFT + (place + 0.5) * step, y, min(step * 0.8, 0.22), look, 0.2)
        _bucket_legend(axes, bottom + 0.42)
        cell_text(
            axes, (_LEFT + end) / 2, bottom + 0.2, "gradients in the order they come", p.QUIET
        )
    return with_alt(figure, describe_buckets(buckets, name))


def _bar(axes: Axes, bucket: Bucket, y: float, step: float, end: float) -> None:
    start = end + 0.03 if bucket.begins is None else _LEFT + (bucket.begins + 1) * step
    stop = p.WIDEST - 0.3 if bucket.waited is None else _LEFT + (bucket.waited + 1) * step
    square(axes, (start + stop) / 2, y, max(stop - start, 0.05), _ON_ITS_WAY, 0.2)


def _bucket_legend(axes: Axes, y: float) -> None:
    x = 0.3
    for look, words in (
        (_THERE, "a gradient"), (_COMPLETE, "the last one of its bucket"),
        (_ON_ITS_WAY, "on its way, until it is waited for"),
    ):  # fmt: skip
        square(axes, x + 0.13, y, 0.24, look, 0.18)
        axes.text(x + 0.33, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.6 + 0.072 * len(words)


def _in_words(buckets: Sequence[Bucket]) -> str:
    early = sum(each.begins is not None for each in buckets)
    waits = sum(each.waited is not None for each in buckets)
    said = f"{early} of {count(len(buckets), 'message')} begin before the pass ends"
    return f"{said}; {waits} are waited for in it" if waits else said


def describe_buckets(buckets: Sequence[Bucket], name: str) -> str:
    """Returns in words what `draw_buckets` shows."""
    lines = [f"{name}: buckets in a backward pass. {_in_words(buckets)}."]
    for number, each in enumerate(buckets):
        there = [place for place in each.gradients if place is not None]
        when = "after the pass" if each.begins is None else f"behind gradient {each.begins}"
        last = f"the last at place {max(there)}" if there else "none of which comes"
        lines.append(
            f"Bucket {number}, {format_bytes(each.size_bytes)}: "
            f"{count(len(each.gradients), 'gradient')}, {last}; begins {when}."
        )
    return "\n".join(lines)


@dataclass(frozen=True)
class Span:
    """A bucket's message.

    Attributes:
        ready_s, begin_s, end_s: when its last gradient is there, and when its message runs.
    """

    ready_s: float
    begin_s: float
    end_s: float


def draw_overlap(
    spans: Sequence[Span], backward_s: float, second: str = "", ax: Axes | None = None
) -> Figure:
    """Returns two lanes over time: the backward pass, and the messages, exposed ones hatched.

    Args:
        spans: of the buckets, in the order in which they are sent.
        backward_s: how long the pass takes.
        second: a quieter line below the heading.
        ax: axes to draw on instead of a new figure.
    """
    end = max([backward_s, *(each.end_s for each in spans)])
    left, right, height = 1.35, 0.35, 3.05
    scale = (p.WIDEST - left - right) / end
    waits = max(0.0, end - backward_s)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height, ax)
        title(axes, 0.3, _overlap_words(waits, backward_s), second, mono=False)
        for y, words in ((1.35, "backward pass"), (1.95, "messages")):
            row_label(axes, left - 0.12, y, words)
        _piece(axes, left, left + backward_s * scale, 1.35, p.LATER_ACTIVE, p.ACTIVE)
        every = _every(len(spans), backward_s * scale)
        for each in spans[::every]:
            x = left + each.ready_s * scale
            axes.plot([x, x], [1.16, 1.54], color=p.ACTIVE, lw=0.8, zorder=6)
        for each in spans:
            begin, stop = left + each.begin_s * scale, left + each.end_s * scale
            inside = min(stop, left + backward_s * scale)
            if inside > begin:
                _piece(axes, begin, inside, 1.95, p.WRITE_TINT, p.WRITE)
            if stop > max(begin, inside):
                _piece(axes, max(begin, inside), stop, 1.95, p.CONFLICT_TINT, p.CONFLICT,
                       p.CONFLICT_HATCH)  # fmt: skip
        _time_axis(axes, left, scale, end)
        _overlap_legend(axes, height - 0.2, every)
    return with_alt(figure, describe_overlap(spans, backward_s, second))


def _piece(
    axes: Axes, begin: float, stop: float, y: float, face: str, edge: str, hatch: str = ""
) -> None:
    # Frames of pieces that are hardly wider than a line would hide what is in them.
    wide = 0.8 if stop - begin > _FRAMED else 0.0
    look: Look = {"facecolor": face, "edgecolor": edge, "linewidth": wide}
    if hatch:
        look["hatch"] = hatch
    square(axes, (begin + stop) / 2, y, max(stop - begin, 0.012), look, 0.42)


_FRAMED = 0.04
_BARS_AN_INCH = 16


def _every(bars: int, inches: float) -> int:
    """Returns that every so many of the bars are drawn, so that they can be told apart."""
    return max(1, math.ceil(bars / (inches * _BARS_AN_INCH)))


def _time_axis(axes: Axes, left: float, scale: float, end: float) -> None:
    axes.plot([left, left + end * scale], [2.32, 2.32], color=p.RULE, lw=1)
    for share in (0.0, 0.5, 1.0):
        x = left + share * end * scale
        axes.plot([x, x], [2.32, 2.38], color=p.RULE, lw=1)
        words = format_time_s(share * end) if share else "0"
        axes.text(x, 2.5, words, fontsize=p.SMALL, color=p.INK, va="center_baseline",
                  ha={0.0: "left", 0.5: "center", 1.0: "right"}[share])  # fmt: skip


def _overlap_legend(axes: Axes, y: float, every: int) -> None:
    x, ready = 0.3, "computing; a bar where a bucket is ready"
    if every > 1:
        ready += f" (1 in {every} shown)"
    for face, edge, hatch, words in (
        (p.LATER_ACTIVE, p.ACTIVE, "", ready),
        (p.WRITE_TINT, p.WRITE, "", "hidden"),
        (p.CONFLICT_TINT, p.CONFLICT, p.CONFLICT_HATCH, "waited for"),
    ):
        look: Look = {"facecolor": face, "edgecolor": edge, "linewidth": 0.8}
        if hatch:
            look["hatch"] = hatch
        square(axes, x + 0.13, y, 0.24, look, 0.18)
        axes.text(x + 0.33, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.65 + 0.072 * len(words)


def _overlap_words(waits: float, backward_s: float) -> str:
    if waits <= 0:
        return "The pass hides every message"
    return f"A step waits {format_time_s(waits)} behind a pass of {format_time_s(backward_s)}"


def describe_overlap(spans: Sequence[Span], backward_s: float, second: str = "") -> str:
    """Returns in words what `draw_overlap` shows."""
    end = max([backward_s, *(each.end_s for each in spans)])
    lines = [f"{_overlap_words(max(0.0, end - backward_s), backward_s)}."]
    lines += [f"{second}."] if second else []
    lines.append(f"{count(len(spans), 'message')}.")
    for number, each in enumerate(spans[:12]):
        lines.append(
            f"Message {number} is ready at {format_time_s(each.ready_s)} and ends at "
            f"{format_time_s(each.end_s)}."
        )
    if len(spans) > 13:
        lines.append(f"And so on for {len(spans) - 13:,} more.")
    if len(spans) > 12:
        last = spans[-1]
        lines.append(
            f"Message {len(spans) - 1}, the last, is ready at {format_time_s(last.ready_s)} and "
            f"ends at {format_time_s(last.end_s)}."
        )
    return "\n".join(lines)
