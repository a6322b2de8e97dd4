"""Pictures of lesson 09: events over time, memory event by event, an allocator's segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.units import byte_unit, format_bytes, format_time_s
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Bar:
    """An event in a timeline.

    Attributes:
        lane: which thread or stream, by its name.
        depth: how many events are around it.
        name: what is written on it.
        kind: a key of KINDS.
        start_ns, end_ns: when.
    """

    lane: str
    depth: int
    name: str
    kind: str
    start_ns: int
    end_ns: int


KINDS: Mapping[str, dict[str, Any]] = {
    "operator": {"facecolor": p.READ_TINT, "edgecolor": p.ACTIVE},
    "mark": {"facecolor": p.SHADE, "edgecolor": p.RULE},
    "call": {"facecolor": p.WRITE_TINT, "edgecolor": p.WRITE_EDGE},
    "kernel": {"facecolor": p.FINE_FACE, "edgecolor": p.FINE},
    "copy": {"facecolor": p.READ, "edgecolor": p.INK, "hatch": ".."},
    "wait": {"facecolor": p.CONFLICT_TINT, "edgecolor": p.CONFLICT, "hatch": p.CONFLICT_HATCH},
}
"""How each kind of event looks; the names stand in the legend."""
MAX_DEPTH = 6
"""Events with more around them are not drawn: their parents hide nothing of the idea."""
_ROW, _LANE_GAP, _LEFT, _RIGHT, _TOP, _BOTTOM = 0.24, 0.12, 1.0, 0.2, 0.75, 0.56
_CHARACTER = 0.083
"""Inches of a character of the smallest text."""


def draw_timeline(
    bars: Sequence[Bar], words: str, begin_ns: int | None = None, end_ns: int | None = None
) -> Figure:
    """Returns events as bars: a lane for each thread or stream, children below their parents.

    Args:
        bars: in any order.
        words: what there is to see, for the title.
        begin_ns, end_ns: what is shown; default all.
    """
    from matplotlib.patches import Rectangle

    first = min(bar.start_ns for bar in bars) if begin_ns is None else begin_ns
    last = max(bar.end_ns for bar in bars) if end_ns is None else end_ns
    last = max(last, first + 1)
    shown = [b for b in bars if b.end_ns >= first and b.start_ns <= last and b.depth < MAX_DEPTH]
    tops, tall = _lanes(shown)
    with p.style():
        figure, axes = p.blank_figure(
            p.WIDEST, _TOP + tall + _BOTTOM, (_LEFT, _BOTTOM, _RIGHT, _TOP)
        )
        axes.set_xlim(0, (last - first) / 1e3)
        axes.set_ylim(tall, 0)
        inch = (p.WIDEST - _LEFT - _RIGHT) / (last - first)
        for bar in sorted(shown, key=lambda each: each.depth):
            start, end = max(bar.start_ns, first), min(bar.end_ns, last)
            y = tops[bar.lane] + bar.depth * _ROW
            axes.add_artist(
                Rectangle(
                    ((start - first) / 1e3, y), (end - start) / 1e3, _ROW * 0.88, lw=0.6,
                    **KINDS[bar.kind],
                )
            )  # fmt: skip
            room = int((end - start) * inch / _CHARACTER) - 1
            if room >= 3:
                text = _short(bar.name, room)
                axes.text(
                    ((start + end) / 2 - first) / 1e3, y + _ROW * 0.46, text, fontsize=p.SMALL,
                    color=p.INK, ha="center", va="center_baseline", clip_on=True,
                    bbox={"boxstyle": "round,pad=0.06", "facecolor": "white", "lw": 0}
                    if "hatch" in KINDS[bar.kind] else None,
                )  # fmt: skip
        for lane, top in tops.items():
            axes.text(
                -0.08 / (p.WIDEST - _LEFT - _RIGHT), (top + _ROW / 2), lane, fontsize=p.SMALL,
                color=p.QUIET, ha="right", va="center", transform=axes.get_yaxis_transform(),
            )  # fmt: skip
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("microseconds")
        _legend(axes, [kind for kind in KINDS if any(bar.kind == kind for bar in shown)])
        figure.text(
            _LEFT / p.WIDEST, 1 - 0.24 / (_TOP + tall + _BOTTOM), words, fontsize=p.NORMAL,
            fontweight="bold", color=p.INK, va="center",
        )  # fmt: skip
    return with_alt(figure, describe_timeline(bars, words))


def describe_timeline(bars: Sequence[Bar], words: str) -> str:
    """Returns in words what `draw_timeline` shows, without times: those differ from run to run."""
    lanes: dict[str, list[Bar]] = {}
    for bar in bars:
        lanes.setdefault(bar.lane, []).append(bar)
    parts = []
    for lane, own in sorted(lanes.items()):
        outer = sorted((bar for bar in own if bar.depth == 0), key=lambda bar: bar.start_ns)
        names = ", ".join(bar.name for bar in outer[:4])
        if len(outer) > 4:
            names += f" and {count(len(outer) - 4, 'other')}"
        parts.append(f"{lane}: {count(len(own), 'event')}, outermost {names}")
    return f"{words}. " + ". ".join(parts) + "."


def _short(name: str, room: int) -> str:
    """Returns a name in so many characters, without its namespace where that helps."""
    if len(name) > room:
        name = name.rpartition("::")[2]
    return name if len(name) <= room else name[: room - 1] + "…"


def _lanes(bars: Sequence[Bar]) -> tuple[dict[str, float], float]:
    """The top of each lane in inches, and the height of all."""
    tops: dict[str, float] = {}
    y = 0.0
    for lane in sorted({bar.lane for bar in bars}):
        tops[lane] = y
        y += (1 + max(bar.depth for bar in bars if bar.lane == lane)) * _ROW + _LANE_GAP
    return tops, max(y, _ROW)


def _legend(axes: Axes, kinds: Sequence[str]) -> None:
    from matplotlib.patches import Patch

    axes.legend(
        handles=[Patch(label=kind, **KINDS[kind]) for kind in kinds], loc="lower left",
        bbox_to_anchor=(0, 1.0), ncols=len(kinds), frameon=False, fontsize=p.SMALL,
        handlelength=1.4, borderpad=0.4, borderaxespad=0, columnspacing=1.2,
    )  # fmt: skip


def draw_memory(live_bytes: Sequence[int], marks: Sequence[tuple[int, str]], words: str) -> Figure:
    """Returns the bytes that are alive after each event of an allocator.

    Args:
        live_bytes: after each event.
        marks: (number of the event it begins before, name) of each part of the run, in order.
        words: what there is to see, for the title.
    """
    unit, name = byte_unit(max([*live_bytes, 1]))
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.1, (0.8, 0.6, 0.25, 0.6))
        moments = range(len(live_bytes))
        heights = [size / unit for size in live_bytes]
        axes.fill_between(moments, heights, step="post", color=p.READ_TINT, lw=0)
        axes.step(moments, heights, where="post", color=p.ACTIVE, lw=1.6)
        top = max(heights, default=1.0) * 1.28
        axes.set_ylim(0, top)
        axes.set_xlim(0, max(len(live_bytes) - 1, 1))
        for place, (at, mark) in enumerate(marks):
            axes.plot([at, at], [0, top], color=p.RULE, lw=1, linestyle=p.READ_DASHES)
            axes.text(
                at, top * (0.97 if place % 2 == 0 else 0.89), f" {mark}", fontsize=p.SMALL,
                color=p.QUIET, va="top",
            )  # fmt: skip
        if live_bytes:
            at = max(moments, key=lambda k: live_bytes[k])
            axes.plot([at], [heights[at]], marker="v", color=p.CONFLICT, ms=8)
        axes.set_xlabel("blocks taken and given back, in order")
        axes.set_ylabel(name)
        p.headline(axes, words)
    return with_alt(figure, describe_memory(live_bytes, marks, words))


def describe_memory(live_bytes: Sequence[int], marks: Sequence[tuple[int, str]], words: str) -> str:
    """Returns in words what `draw_memory` shows."""
    ends = [at for at, _ in marks[1:]] + [len(live_bytes)]
    parts = []
    for (at, mark), end in zip(marks, ends, strict=True):
        within = live_bytes[at:end]
        if within:
            most, last = format_bytes(max(within)), format_bytes(within[-1])
            parts.append(f"{mark}: at most {most}, {last} at the end")
    return f"{words}: {count(len(live_bytes), 'event')}. " + ". ".join(parts) + "."


@dataclass(frozen=True)
class Piece:
    """A block of a segment.

    Attributes:
        bytes: its size.
        live: whether a tensor is in it.
    """

    bytes: int
    live: bool


def draw_segments(segments: Sequence[Sequence[Piece]], words: str) -> Figure:
    """Returns an allocator's segments as rows of blocks, each row as wide as its own bytes.

    Args:
        segments: the blocks of each, in order of their addresses.
        words: what there is to see, for the title.
    """
    from matplotlib.patches import Patch, Rectangle

    row = 0.5
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 1.2 + row * len(segments), (0.95, 0.45, 0.25, 0.72))
        axes.set_xlim(0, 1)
        axes.set_ylim(len(segments), 0)
        live: dict[str, Any] = {"facecolor": p.READ, "edgecolor": p.INK}
        free: dict[str, Any] = dict(p.UNWRITTEN_CELL)
        for y, blocks in enumerate(segments):
            total, x = sum(each.bytes for each in blocks), 0.0
            for each in blocks:
                wide = each.bytes / total
                look = live if each.live else free
                axes.add_artist(Rectangle((x, y + 0.12), wide, 0.7, **look))
                text = format_bytes(each.bytes)
                if wide * (p.WIDEST - 1.2) > _CHARACTER * (len(text) + 1):
                    axes.text(
                        x + wide / 2, y + 0.48, text, fontsize=p.SMALL, ha="center",
                        va="center_baseline", color=p.INK,
                        bbox={"boxstyle": "round,pad=0.08", "facecolor": "white", "lw": 0}
                        if not each.live else None,
                    )  # fmt: skip
                x += wide
            axes.text(
                -0.012, y + 0.48, format_bytes(total), fontsize=p.SMALL, color=p.QUIET, ha="right",
                va="center_baseline",
            )  # fmt: skip
        axes.set_axis_off()
        axes.legend(
            handles=[Patch(label="a tensor is in it", **live), Patch(label="free", **free)],
            loc="upper left", bbox_to_anchor=(0, -0.02), ncols=2, frameon=False, fontsize=p.SMALL,
        )  # fmt: skip
        p.headline(axes, words)
    return with_alt(figure, describe_segments(segments, words))


def describe_segments(segments: Sequence[Sequence[Piece]], words: str) -> str:
    """Returns in words what `draw_segments` shows."""
    parts = []
    for blocks in segments:
        live = sum(each.bytes for each in blocks if each.live)
        parts.append(
            f"{format_bytes(sum(each.bytes for each in blocks))} in {count(len(blocks), 'block')}, "
            f"{format_bytes(live)} of it live"
        )
    return f"{words}. " + "; ".join(parts) + "."


@dataclass(frozen=True)
class Rate:
    """A product of a sweep.

    Attributes:
        side: of the square matrices.
        flop_per_s: what it reached.
    """

    side: int
    flop_per_s: float


def draw_sweep(rates: Sequence[Rate], words: str) -> Figure:
    """Returns FLOP/s over the side of square matrices.

    Args:
        rates: by side.
        words: what there is to see, for the title.
    """
    from matplotlib.ticker import FuncFormatter, NullLocator

    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 2.9, (1.1, 0.6, 0.3, 0.45))
        sides = [rate.side for rate in rates]
        axes.plot(sides, [r.flop_per_s / 1e9 for r in rates], color=p.ACTIVE, marker="o", lw=1.8)
        best = max(rates, key=lambda rate: rate.flop_per_s)
        axes.axhline(best.flop_per_s / 1e9, color=p.FINE, lw=1.4, linestyle=p.READ_DASHES)
        axes.set_xscale("log", base=2)
        axes.set_ylim(0, best.flop_per_s / 1e9 * 1.15)
        axes.set_xticks(sides)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("side of the matrices")
        axes.set_ylabel("GFLOP/s")
        p.headline(axes, words)
    parts = (f"side {r.side:,}: {r.flop_per_s / 1e9:.3g} GFLOP/s" for r in rates)
    return with_alt(figure, f"{words}. " + "; ".join(parts) + ".")


def time_text(ns: int) -> str:
    """Returns nanoseconds as people read them."""
    return format_time_s(ns * 1e-9)
