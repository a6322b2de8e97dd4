"""Pictures of memory over time, and of what a layer keeps beside what a formula counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.training.memory_ledger import LOOKS, Ledger, totals
from gpu_course.units import byte_unit, format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Line(Protocol):
    """A term: what a formula counts, and what is kept."""

    @property
    def name(self) -> str: ...
    @property
    def paper_bytes(self) -> int: ...
    @property
    def kept_bytes(self) -> int: ...


def draw_saw_tooth(ledger: Ledger, moment: int | None = None, ax: Axes | None = None) -> Figure:
    """Returns the bytes of a training run over time, stacked by kind.

    Args:
        ledger: of `measure.ledger.keep_ledger`, or alike.
        moment: where to put the cursor, with the bytes there; default none.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.85, (0.75, 0.55, 1.6, 0.4))
        unit, name = byte_unit(max(totals(ledger)))
        ground = [0.0] * ledger.moments
        times = range(ledger.moments + 1)
        for kind, look in LOOKS.items():
            series = [value / unit for value in ledger.live.get(kind, ())]
            if not any(series):
                continue
            top = [low + value for low, value in zip(ground, series, strict=True)]
            # A level holds from one step to the next; the last one is drawn one step wide.
            axes.fill_between(
                times,
                [*ground, ground[-1]],
                [*top, top[-1]],
                step="post",
                label=kind,
                linewidth=0.5,
                **look,
            )
            ground = top
        highest = max(ground)
        axes.set_xlim(0, ledger.moments)
        axes.set_ylim(0, highest * 1.27)
        _phases(axes, ledger.phases, highest)
        if moment is not None:
            axes.axvline(moment + 0.5, color=p.INK, lw=1.6)
            at_right = moment > ledger.moments * 0.75
            axes.annotate(
                format_bytes(totals(ledger)[moment]),
                # Over the stacks, under the names of the phases.
                (moment + 0.5, highest * 1.03),
                xytext=(-6 if at_right else 6, 0),
                textcoords="offset points",
                ha="right" if at_right else "left",
                fontweight="bold",
                color=p.INK,
                bbox={"boxstyle": "round,pad=0.15", "facecolor": p.PAPER, "edgecolor": "none"},
            )
        axes.set_ylabel(name)
        p.headline(axes, "Memory in use over time, stacked by kind")
        axes.set_xlabel("steps of the allocator")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(
            handles[::-1],
            labels[::-1],
            loc="center right",
            frameon=False,
            fontsize=p.SMALL,
            handlelength=1.6,
        )
    return with_alt(figure, describe_saw_tooth(ledger, moment))


def describe_saw_tooth(ledger: Ledger, moment: int | None = None) -> str:
    """Returns in words what `draw_saw_tooth` shows."""
    alive = totals(ledger)
    peak = max(range(ledger.moments), key=lambda m: (alive[m], -m))
    said = [f"Memory over {ledger.moments - 1:,} steps of the allocator."]
    for each in ledger.phases:
        said.append(f"{_name(each.name)} ends with {format_bytes(alive[each.last])}.")
    said.append(f"Peak: {format_bytes(alive[peak])}, {_phase(ledger, peak)}.")
    if moment is not None:
        said.append(words_at(ledger, moment))
    return " ".join(said)


def words_at(ledger: Ledger, moment: int) -> str:
    """Returns one sentence on what is there at a moment, kind by kind."""
    parts = [
        f"{kind} {format_bytes(series[moment])}"
        for kind, series in ledger.live.items()
        if series[moment]
    ]
    total = format_bytes(totals(ledger)[moment])
    return f"Moment {moment:,}, {_phase(ledger, moment)}: {total}, of it {', '.join(parts)}."


def draw_terms(lines: Sequence[Line], ax: Axes | None = None) -> Figure:
    """Returns two bars for each term: what the paper counts and what the real layer keeps.

    Args:
        lines: of `gap.explain`, or alike.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        height = 0.36 * len(lines) + 1.25
        figure, axes = p.axes_or_blank(ax, p.WIDEST, height, (2.5, 0.55, 0.8, 0.4))
        unit, name = byte_unit(max(max(line.paper_bytes, line.kept_bytes) for line in lines))
        places = range(len(lines))
        bars = (
            ("paper", [line.paper_bytes for line in lines], -0.2, p.IDLE),
            ("kept", [line.kept_bytes for line in lines], 0.2, p.READ),
        )
        for label, sizes, shift, colour in bars:
            axes.barh(
                [place + shift for place in places],
                [size / unit for size in sizes],
                height=0.36,
                label=label,
                facecolor=colour,
                edgecolor=p.RULE,
            )
        for place, line in enumerate(lines):
            gap = line.kept_bytes - line.paper_bytes
            if gap:
                axes.annotate(
                    f"{gap:+,}",
                    (max(line.kept_bytes, line.paper_bytes) / unit, place),
                    xytext=(5, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=p.SMALL,
                    color=p.INK,
                    fontweight="bold",
                )
        axes.set_yticks(list(places), [line.name for line in lines], fontsize=p.SMALL)
        axes.invert_yaxis()
        p.headline(axes, "What the paper counts, and what the layer keeps")
        axes.set_xlabel(f"{name}; differences in bytes")
        if ax is None:
            figure.legend(loc="lower left", ncols=2, frameon=False, fontsize=p.SMALL)
        else:
            axes.legend(loc="lower right", frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_terms(lines))


def describe_terms(lines: Sequence[Line]) -> str:
    """Returns in words what `draw_terms` shows."""
    counted, kept = (sum(getattr(line, a) for line in lines) for a in ("paper_bytes", "kept_bytes"))
    said = [f"What a layer keeps: {format_bytes(kept)}; the paper counts {format_bytes(counted)}."]
    for line in lines:
        gap = line.kept_bytes - line.paper_bytes
        more = f", {abs(gap):,} bytes {'more' if gap > 0 else 'less'} than counted" if gap else ""
        said.append(f"{line.name}: {line.kept_bytes:,} bytes{more}.")
    return " ".join(said)


def _phase(ledger: Ledger, moment: int) -> str:
    for each in ledger.phases:
        if each.first <= moment <= each.last:
            return f"in {each.name}"
    return "before the first" if moment == 0 else "after the last"


def _name(phase: str) -> str:
    return phase[0].upper() + phase[1:]


def _phases(axes: Axes, phases: Sequence[Any], highest: float) -> None:
    """Writes the phases over the picture, with a line where each begins."""
    widest = max((each.last for each in phases), default=1)
    for each in phases:
        axes.axvline(each.first, color=p.RULE, lw=0.7, linestyle=p.READ_DASHES)
        width = each.last + 1 - each.first
        if width < 0.055 * widest:
            continue  # too narrow for its words; the sentence at the cursor names it
        step, _, what = each.name.rpartition(" ")
        axes.text(
            each.first + width / 2,
            highest * 1.25,
            f"{step}\n{what}",
            ha="center",
            va="top",
            fontsize=p.SMALL,
            color=p.QUIET,
        )
