"""Pictures of lesson 08: a timeline, a film of tiles in a cache, and who holds what of a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import row_label, title
from gpu_course.draw.paper.picture import heard, with_alt
from gpu_course.lessons.host_and_device.tile_orders import Frame, Tile
from gpu_course.measure.timeline import COMPUTE, D2H, ENGINES, H2D, HOST, Span, Timeline
from gpu_course.units import format_time_s

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LEFT, _RIGHT = 1.15, 0.25
_WIDE = p.WIDEST - _LEFT - _RIGHT
_TOP, _ROW, _BAR = 0.85, 0.46, 0.30
_CHARACTER = 0.62 * p.SMALL / 72
"""Inches of a character of the smallest text, a wide one."""
_ROWS = {HOST: "host", H2D: "copies in", COMPUTE: "kernels", D2H: "copies back"}
_LOOKS: Mapping[str, dict[str, Any]] = {
    HOST: {"facecolor": p.IDLE, "edgecolor": p.INK, "linewidth": 0.6},
    H2D: {"facecolor": p.READ, "edgecolor": p.INK, "linewidth": 0.6},
    COMPUTE: {"facecolor": p.ACTIVE, "edgecolor": p.INK, "linewidth": 0.6},
    D2H: {"facecolor": p.WRITE, "edgecolor": p.INK, "linewidth": 0.6},
}
_WAITS: dict[str, Any] = {
    "facecolor": p.PAPER, "edgecolor": p.RULE, "linewidth": 0.8, "hatch": p.UNWRITTEN_HATCH,
}  # fmt: skip


def draw_timeline(timeline: Timeline, name: str) -> Figure:
    """Returns a timeline with a row for the host and for each engine.

    Args:
        timeline: as `measure.timeline.run` gives it.
        name: what is shown.
    """
    rows = [each for each in ENGINES if each == HOST or timeline.of(each)]
    height = _TOP + len(rows) * _ROW + 0.95
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height)
        title(axes, 0.1, name, _busy_words(timeline), mono=False)
        scale = _WIDE / timeline.end_s if timeline.end_s else 0.0
        for number, engine in enumerate(rows):
            y = _TOP + (number + 0.5) * _ROW
            row_label(axes, _LEFT - 0.12, y, _ROWS[engine])
            axes.plot([_LEFT, _LEFT + _WIDE], [y + _ROW / 2] * 2, color=p.IDLE, lw=0.6, zorder=1)
            for span in timeline.of(engine):
                _bar(axes, span, y, scale)
        _time_axis(axes, _TOP + len(rows) * _ROW, timeline.end_s, scale)
        _key(axes, height - 0.2)
    return with_alt(figure, describe_timeline(timeline, name))


def _busy_words(timeline: Timeline) -> str:
    busy, end = timeline.busy_s(COMPUTE), timeline.end_s
    share = f"{busy / end:.0%}" if end else "none"
    return f"{format_time_s(end)} in all  ·  kernels run for {share} of it"


def _bar(axes: Axes, span: Span, y: float, scale: float) -> None:
    from matplotlib.patches import Rectangle

    x, wide = _LEFT + span.start_s * scale, span.seconds * scale
    if wide <= 0:
        return
    look = _WAITS if span.waits else _LOOKS[span.engine]
    thin = {"linewidth": 0.25} if wide < 0.06 else {}
    axes.add_artist(
        Rectangle((x, y - _BAR / 2), max(wide, 0.01), _BAR, zorder=3, **{**look, **thin})
    )
    text = "waits" if span.waits else _short(span)
    for words in (text, text.split()[-1]):
        if len(words) * _CHARACTER + 0.06 < wide:
            colour = p.PAPER if span.engine == COMPUTE else p.INK
            plate = {"facecolor": p.PAPER, "edgecolor": "none", "pad": 1.0} if span.waits else None
            axes.text(
                x + wide / 2, y, words, fontsize=p.SMALL, color=colour, ha="center", bbox=plate,
                va="center_baseline", zorder=5,
            )  # fmt: skip
            return


def _short(span: Span) -> str:
    names = {
        "cudaLaunchKernel": "launch", "cudaMemcpyAsync": "copy", "cudaGraphLaunch": "graph",
        "cudaGraphInstantiate": "make the graph", "cudaEventRecord": "record",
        "cudaStreamWaitEvent": "wait",
    }  # fmt: skip
    return names.get(span.name, span.name)


def _time_axis(axes: Axes, y: float, end_s: float, scale: float) -> None:
    if not end_s:
        return
    step = 10.0 ** np.floor(np.log10(end_s))
    step = next(step * part for part in (0.2, 0.5, 1.0, 2.0) if end_s / (step * part) <= 6)
    for number in range(int(end_s / step + 1e-9) + 1):
        x = _LEFT + number * step * scale
        axes.plot([x, x], [_TOP, y + 0.06], color=p.IDLE, lw=0.6, zorder=0)
        words = format_time_s(number * step) if number else "0"
        axes.text(x, y + 0.2, words, fontsize=p.SMALL, color=p.QUIET, ha="center", va="center")


def _key(axes: Axes, y: float) -> None:
    from matplotlib.patches import Rectangle

    x = 0.12
    for look, words in ((_LOOKS[HOST], "a call of the host"), (_WAITS, "the host waits"),
                        (_LOOKS[H2D], "copy in"), (_LOOKS[COMPUTE], "kernel"),
                        (_LOOKS[D2H], "copy back")):  # fmt: skip
        axes.add_artist(Rectangle((x, y - 0.08), 0.28, 0.16, zorder=3, **look))
        axes.text(x + 0.36, y, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")
        x += 0.36 + len(words) * 0.072 + 0.22


def describe_timeline(timeline: Timeline, name: str) -> str:
    """Returns in words what `draw_timeline` shows."""
    lines = [f"{name}; {heard(_busy_words(timeline))}."]
    for engine in ENGINES:
        spans = [span for span in timeline.of(engine) if not span.waits]
        if spans:
            lines.append(
                f"{_ROWS[engine]}: {len(spans)}, busy for {format_time_s(timeline.busy_s(engine))}."
            )
    waits = [span for span in timeline.of(HOST) if span.waits and span.seconds]
    if waits:
        waited = sum(span.seconds for span in waits)
        lines.append(f"The host waits for {format_time_s(waited)}.")
    return "\n".join(lines)


# Tiles in a cache

_SEEN, _NOW = p.SHADE, p.ACTIVE


def draw_film(frames: Sequence[Frame], at: int, sides: tuple[int, int], name: str) -> Figure:
    """Returns one frame of a film: which tile is computed, and which strips are in the cache.

    Args:
        frames: of the whole order.
        at: which one, from 0.
        sides: rows and columns of tiles.
        name: of the order.
    """
    rows, cols = sides
    cell = min(0.34, 3.6 / max(cols, 1), 4.6 / max(rows, 1))
    left, top = 1.5, 1.35
    height = top + rows * cell + 0.55
    frame, done = frames[at], {each.tile for each in frames[:at]}
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height)
        title(axes, 0.1, name, _film_words(frames, at), mono=False)
        held = set(frame.held)
        for row in range(rows):
            _strip(axes, left - 0.62, top + row * cell, 0.5, cell, ("a", row), frame, held)
        for col in range(cols):
            _strip(axes, left + col * cell, top - 0.42, cell, 0.3, ("b", col), frame, held)
        for row in range(rows):
            for col in range(cols):
                _tile(axes, left + col * cell, top + row * cell, cell, (row, col), frame, done)
        axes.text(0.1, top + rows * cell / 2, "strips of\nthe left\nfactor", fontsize=p.SMALL,
                  color=p.QUIET, va="center")  # fmt: skip
        axes.text(left + cols * cell + 0.15, top - 0.27, "strips of the right factor",
                  fontsize=p.SMALL, color=p.QUIET, va="center")  # fmt: skip
        _film_key(axes, left + cols * cell + 0.15, top + 0.25)
    return with_alt(figure, describe_film(frames, at, sides, name))


def _film_words(frames: Sequence[Frame], at: int) -> str:
    seen = [hit for frame in frames[: at + 1] for hit in frame.hits]
    return f"tile {at + 1} of {len(frames)}  ·  {sum(seen)} of {len(seen)} strips were in the cache"


def _strip(
    axes: Axes, x: float, y: float, wide: float, high: float, strip: tuple[str, int],
    frame: Frame, held: set[tuple[str, int]],
) -> None:  # fmt: skip
    from matplotlib.patches import Rectangle

    read = dict(zip((("a", frame.tile[0]), ("b", frame.tile[1])), frame.hits, strict=True))
    look: dict[str, Any] = {"facecolor": p.PAPER, "edgecolor": p.RULE, "linewidth": 0.8}
    if strip in read:
        look = {"facecolor": p.FINE if read[strip] else p.CONFLICT_TINT,
                "edgecolor": p.FINE if read[strip] else p.CONFLICT, "linewidth": 1.4,
                "hatch": "" if read[strip] else p.CONFLICT_HATCH}  # fmt: skip
    elif strip in held:
        look = {"facecolor": p.FINE_FACE, "edgecolor": p.FINE, "linewidth": 1.0}
    axes.add_artist(Rectangle((x + 0.02, y + 0.02), wide - 0.04, high - 0.04, zorder=3, **look))


def _tile(
    axes: Axes, x: float, y: float, cell: float, tile: Tile, frame: Frame, done: set[Tile]
) -> None:
    from matplotlib.patches import Rectangle

    face = _NOW if tile == frame.tile else p.LATER_ACTIVE if tile in done else p.PAPER
    axes.add_artist(
        Rectangle((x, y), cell, cell, facecolor=face, edgecolor=p.RULE, linewidth=0.7, zorder=3)
    )


def _film_key(axes: Axes, x: float, y: float) -> None:
    from matplotlib.patches import Rectangle

    looks: list[tuple[dict[str, Any], str]] = [
        ({"facecolor": _NOW}, "computed now"),
        ({"facecolor": p.LATER_ACTIVE}, "done"),
        ({"facecolor": p.FINE_FACE, "edgecolor": p.FINE}, "in the cache"),
        ({"facecolor": p.FINE, "edgecolor": p.FINE}, "read, a hit"),
        (
            {"facecolor": p.CONFLICT_TINT, "edgecolor": p.CONFLICT, "hatch": p.CONFLICT_HATCH},
            "read, a miss",
        ),
    ]
    for number, (look, words) in enumerate(looks):
        at = y + number * 0.27
        axes.add_artist(
            Rectangle((x, at - 0.08), 0.26, 0.16, zorder=3, **{"edgecolor": p.RULE, **look})
        )
        axes.text(x + 0.34, at, words, fontsize=p.SMALL, color=p.INK, va="center_baseline")


def describe_film(frames: Sequence[Frame], at: int, sides: tuple[int, int], name: str) -> str:
    """Returns in words what `draw_film` shows."""
    frame = frames[at]
    hits = ["a hit" if hit else "a miss" for hit in frame.hits]
    return (
        f"{name}, {sides[0]} by {sides[1]} tiles: {heard(_film_words(frames, at))}.\n"
        f"tile {frame.tile}: strip {frame.tile[0]} of the left factor is {hits[0]}, "
        f"strip {frame.tile[1]} of the right one {hits[1]}."
    )


# Fragments


def draw_fragment(places: np.ndarray, matrix: str, shape: tuple[int, int], lane: int) -> Figure:
    """Returns a matrix with the lane that holds each element, those of one lane marked.

    Args:
        places: int array (32, elements of a lane, 2), rows and columns.
        matrix: its name.
        shape: its rows and columns.
        lane: whose elements are marked.
    """
    from matplotlib.patches import Rectangle

    rows, cols = shape
    wide, high, left, top = 0.36, 0.27, 0.75, 0.95
    with p.style():
        figure, axes = p.sheet(p.WIDEST, top + rows * high + 0.25)
        second = f"each cell has its lane and the number in it; lane {lane} is marked"
        title(axes, 0.1, f"{matrix} of mma.m16n8k16", second, mono=False)
        for at in range(places.shape[0]):
            for number in range(places.shape[1]):
                row, col = (int(n) for n in places[at, number])
                x, y = left + col * wide, top + row * high
                mine = at == lane
                face = p.ACTIVE if mine else p.SHADE if at // 4 % 2 else p.PAPER
                look: dict[str, Any] = {"facecolor": face, "edgecolor": p.RULE, "linewidth": 0.7}
                axes.add_artist(Rectangle((x, y), wide, high, zorder=3, **look))
                axes.text(x + wide / 2, y + high / 2, f"{at}.{number}", fontsize=p.SMALL,
                          color=p.PAPER if mine else p.INK, ha="center", va="center_baseline",
                          zorder=4)  # fmt: skip
        for row in range(0, rows, 2):
            row_label(axes, left - 0.1, top + (row + 0.5) * high, str(row))
        for col in range(cols):
            axes.text(left + (col + 0.5) * wide, top - 0.12, str(col), fontsize=p.SMALL,
                      color=p.QUIET, ha="center", va="center")  # fmt: skip
    return with_alt(figure, describe_fragment(places, matrix, lane))


def describe_fragment(places: np.ndarray, matrix: str, lane: int) -> str:
    """Returns in words what `draw_fragment` shows of one lane."""
    each = ", ".join(f"({row}, {col})" for row, col in places[lane].tolist())
    return f"{matrix} of mma.m16n8k16: lane {lane} holds {each}."
