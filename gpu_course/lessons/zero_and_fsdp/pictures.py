"""Pictures of ZeRO: who holds which byte, and units gathered, used and let go of over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.furniture import cell_text, row_label, square, title
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.training.memory_ledger import LOOKS
from gpu_course.errors import CourseError
from gpu_course.lessons.zero_and_fsdp.stage_bytes import (
    KINDS,
    WHOLE,
    bytes_per_parameter,
)
from gpu_course.measure.state_formulas import MIXED_ADAM
from gpu_course.units import GB, format_bytes
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_RANKS = 8
MAX_UNITS = 8
_EDGE = 0.3

_LOOKS_OF = {"weights": "parameters", "gradients": "gradients", "states": "optimizer states"}
"""Kind -> its look in a ledger."""


def draw_owners(stage: int, ranks: int, parameters: float = 7.5e9) -> Figure:
    """Returns the ranks below each other, and of all bytes those that each of them holds.

    The 16 bytes of each parameter lie side by side, as wide as they are many: weights, gradients,
    states. What a rank holds is filled; the outline is what there is of it in one copy.

    Args:
        stage: 0 to 3.
        ranks: how many, at most 8.
        parameters: of the model, for the bytes at the end of a row.

    Raises:
        CourseError: there is no such stage, or there are more ranks.
    """
    if stage not in range(4) or not 1 <= ranks <= MAX_RANKS:
        raise CourseError(f"stage {stage} on {ranks} ranks", "draw stages 0 to 3 of 1 to 8 ranks")
    left, top, row, tall = 0.95, 1.22, 0.36, 0.26
    wide = p.WIDEST - left - 1.15
    height = top + ranks * row + 0.5
    each = bytes_per_parameter(stage, ranks)
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height)
        second = f"{each:.4g} of {WHOLE} bytes for each parameter on every rank"
        title(axes, _EDGE, _heading(stage, ranks), second, mono=False)
        x = left
        for kind, size, cut in KINDS:
            span = wide * size / WHOLE - 0.08
            axes.text(
                x + span / 2, top - 0.16, kind,
                ha="center", va="center_baseline", fontsize=p.SMALL, color=p.QUIET,
            )  # fmt: skip
            for rank in range(ranks):
                y = top + (rank + 0.5) * row
                square(axes, x + span / 2, y, span, p.UNTOUCHED_CELL, tall)
                part = span / ranks if stage >= cut else span
                begin = x + rank * part if stage >= cut else x
                square(axes, begin + part / 2, y, part, dict(LOOKS[_LOOKS_OF[kind]]), tall)
            x += span + 0.08
        for rank in range(ranks):
            y = top + (rank + 0.5) * row
            row_label(axes, left - 0.1, y, f"rank {rank}")
            axes.text(
                p.WIDEST - _EDGE, y, _gb(each * parameters), ha="right",
                va="center_baseline", fontsize=p.NORMAL, color=p.INK,
            )  # fmt: skip
        words = (
            f"filled: held by this rank. Of a parameter: weight {MIXED_ADAM.weight}, "
            f"gradient {MIXED_ADAM.gradient}, states {MIXED_ADAM.states} bytes. "
            f"Right: of {parameters / 1e9:g} billion"
        )
        axes.text(_EDGE, height - 0.22, words, fontsize=p.SMALL, color=p.QUIET, va="center")
    return with_alt(figure, describe_owners(stage, ranks, parameters))


def describe_owners(stage: int, ranks: int, parameters: float = 7.5e9) -> str:
    """Returns in words what `draw_owners` shows."""
    lines = [f"{_heading(stage, ranks)}."]
    for kind, size, cut in KINDS:
        if stage >= cut and ranks > 1:
            lines.append(f"Of the {kind}, {size} bytes, each rank holds one part of {ranks}.")
        else:
            lines.append(f"Of the {kind}, {size} bytes, each rank holds all.")
    each = bytes_per_parameter(stage, ranks)
    lines.append(f"With {parameters / 1e9:g} billion parameters that is {_gb(each * parameters)}.")
    return "\n".join(lines)


def _heading(stage: int, ranks: int) -> str:
    return f"Stage {stage} on {count(ranks, 'rank')}: who holds which byte"


def _gb(size: float) -> str:
    return f"{_digits(size / GB)} GB"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class UnitUse:
    """A use of a unit in a run.

    Attributes:
        unit: which, from 0.
        direction: "forward" or "backward".
        gathered_at: the use at which its gather was already under way, as a place in the run; None
            where the unit was there from an earlier use.
        held_bytes: alive as the use began.
    """

    unit: int
    direction: str
    gathered_at: int | None
    held_bytes: int


def draw_units(uses: Sequence[UnitUse], whole_bytes: int, name: str) -> Figure:
    """Returns units below each other over the uses of a run, and the bytes alive under it.

    Args:
        uses: in order; of at most 8 units.
        whole_bytes: of the weights of all units together, whole.
        name: whose run it is.

    Raises:
        CourseError: there are more units, or no use.
    """
    units = max((use.unit for use in uses), default=-1) + 1
    if not 1 <= units <= MAX_UNITS:
        raise CourseError(f"a run of {count(units, 'unit')}", f"draw 1 to {MAX_UNITS}")
    left, top, row, below = 1.0, 1.2, 0.36, 1.3
    column = (p.WIDEST - left - _EDGE) / len(uses)
    height = top + units * row + 0.5 + below + 0.62
    with p.style():
        figure, axes = p.sheet(p.WIDEST, height)
        title(axes, _EDGE, f"{name}: gather, use, free", _second(uses), mono=False)
        for place, use in enumerate(uses):
            x = left + (place + 0.5) * column
            cell_text(axes, x, top - 0.16, use.direction[0].upper() + str(use.unit), p.QUIET)
        for unit in range(units):
            y = top + (unit + 0.5) * row
            row_label(axes, left - 0.12, y, f"unit {unit}")
            axes.plot([left, p.WIDEST - _EDGE], [y, y], color=p.IDLE, lw=0.8, zorder=1)
        for place, use in enumerate(uses):
            y = top + (use.unit + 0.5) * row
            begun = place if use.gathered_at is None else use.gathered_at
            if begun < place:
                wide = (place - begun) * column
                square(axes, left + begun * column + wide / 2, y, wide - 0.04, p.READ_CELL, 0.2)
                if wide > 0.45:
                    cell_text(axes, left + begun * column + wide / 2, y, "comes", p.INK)
            x = left + (place + 0.5) * column
            square(axes, x, y, column - 0.04, _USED, 0.26)
            cell_text(axes, x, y, "use", p.PAPER, weight="bold")
        _line(axes, uses, whole_bytes, (left, top + units * row + 0.5, column, below))
    return with_alt(figure, describe_units(uses, whole_bytes, name))


_USED: dict[str, Any] = {"facecolor": p.ACTIVE, "edgecolor": p.INK, "linewidth": 0.6}


def _second(uses: Sequence[UnitUse]) -> str:
    gathers = [(k, use.gathered_at) for k, use in enumerate(uses) if use.gathered_at is not None]
    ahead = sum(begun < place for place, begun in gathers)
    return f"{ahead} of {count(len(gathers), 'gather')} began while another unit was in use"


def _line(
    axes: Axes, uses: Sequence[UnitUse], whole: int, place: tuple[float, float, float, float]
) -> None:
    """Draws the bytes alive at each use, below the units."""
    left, top, column, tall = place
    highest = max([whole, *(use.held_bytes for use in uses)]) * 1.1
    foot = top + tall

    def level(size: float) -> float:
        return foot - tall * size / highest

    right = left + len(uses) * column
    axes.plot([left, right], [foot, foot], color=p.RULE, lw=0.8)
    axes.plot([left, right], [level(whole)] * 2, color=p.CONFLICT, lw=1.4, ls=p.READ_DASHES)
    xs = [left + k * column for k in range(len(uses) + 1)]
    heights = [level(use.held_bytes) for use in uses]
    axes.step(xs, [*heights, heights[-1]], where="post", color=p.ACTIVE, lw=2)
    row_label(axes, left - 0.12, level(whole), format_bytes(whole))
    row_label(axes, left - 0.12, foot, "0")
    axes.text(
        left, foot + 0.22, "blue: bytes alive as each use begins, what the layers gave included",
        fontsize=p.SMALL, color=p.QUIET, va="center_baseline",
    )  # fmt: skip
    axes.text(
        left, foot + 0.42, "dashed: the weights of all units, if they were kept whole",
        fontsize=p.SMALL, color=p.QUIET, va="center_baseline",
    )  # fmt: skip


def describe_units(uses: Sequence[UnitUse], whole_bytes: int, name: str) -> str:
    """Returns in words what `draw_units` shows."""
    lines = [f"{name}: gather, use, free. {_second(uses)}."]
    for place, use in enumerate(uses):
        where = ""
        if use.gathered_at is not None and use.gathered_at < place:
            before = uses[use.gathered_at]
            where = f", on its way since unit {before.unit} was used {before.direction}"
        elif use.gathered_at is None:
            where = ", there since its last use"
        lines.append(
            f"Unit {use.unit} is used {use.direction}{where}; {format_bytes(use.held_bytes)} alive."
        )
    lines.append(f"All units whole would be {format_bytes(whole_bytes)}.")
    return "\n".join(lines)


def draw_stages(
    curves: Mapping[str, Sequence[tuple[float, float]]], gpu_gb: float, name: str
) -> Figure:
    """Returns the GB of a rank over the number of ranks, a line for each stage.

    Args:
        curves: {stage: [(ranks, GB)]}.
        gpu_gb: what a GPU has.
        name: of the model.
    """
    with p.style():
        figure, axes = p.blank_figure(p.WIDEST, 3.6)
        axes.set_position((0.1, 0.15, 0.63, 0.68))
        looks = ((p.CONFLICT, "-"), (p.WRITE, "--"), (p.FINE, "-."), (p.ACTIVE, ":"))
        ends = []
        for (stage, curve), (colour, dashes) in zip(curves.items(), looks, strict=True):
            xs, ys = zip(*curve, strict=True)
            axes.plot(xs, ys, color=colour, ls=dashes, lw=2.2)
            ends.append((ys[-1], stage))
        axes.axhline(gpu_gb, color=p.INK, lw=1.2)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks = [n for n, _ in next(iter(curves.values()))][::2]
        axes.set_xticks(ticks, [f"{n:,.0f}" for n in ticks])
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        key = [
            (f"{stage}: {_digits(curves[stage][-1][1])} GB", *looks[list(curves).index(stage)], 2.2)
            for _, stage in sorted(ends, reverse=True)
        ]
        for number, (words, colour, dashes, thick) in enumerate(
            [*key, (f"a GPU: {gpu_gb:g} GB", p.INK, "-", 1.2)]
        ):
            y = 0.93 - 0.14 * number
            axes.plot(
                [1.03, 1.09], [y, y], color=colour, ls=dashes, lw=thick,
                transform=axes.transAxes, clip_on=False,
            )  # fmt: skip
            axes.text(
                1.11, y, words, transform=axes.transAxes, fontsize=p.SMALL, va="center", color=p.INK
            )
        axes.set_xlabel("ranks")
        axes.set_ylabel("GB on each rank")
        axes.set_title(f"{name}: weights, gradients and states", loc="left", fontsize=p.LARGE)
    lines = [f"{name}: GB on each rank over the number of ranks; a GPU has {gpu_gb:g} GB."]
    for stage, curve in curves.items():
        (n, first), (m, last) = curve[0], curve[-1]
        lines.append(f"{stage}: {_digits(first)} GB on {n:g}, {_digits(last)} GB on {m:g}.")
    return with_alt(figure, "\n".join(lines))
