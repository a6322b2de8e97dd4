"""A picture of several memory ledgers on one scale, one above the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.training.memory_ledger import LOOKS, Ledger
from gpu_course.units import format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 1.75
_LEFT, _RIGHT, _BOTTOM, _TOP, _GAP = 0.75, 1.75, 0.5, 0.3, 0.35


def draw_ledgers(ledgers: Mapping[str, Ledger]) -> Figure:
    """Returns the bytes of each run over time, stacked by kind, all to the same scale.

    Time is each run's own: from its first step of the allocator to its last.

    Args:
        ledgers: {run: ledger}.
    """
    with p.style():
        rows = len(ledgers)
        height = _TOP + rows * _HEIGHT + (rows - 1) * _GAP + _BOTTOM
        figure, first = p.blank_figure(p.WIDEST, height)
        first.remove()
        highest = max(max(totals(ledger)) for ledger in ledgers.values())
        unit, name = (2**20, "MiB") if highest >= 2**20 else (2**10, "KiB")
        for row, (run, ledger) in enumerate(ledgers.items()):
            bottom = height - _TOP - (row + 1) * _HEIGHT - row * _GAP
            axes = figure.add_axes(
                (
                    _LEFT / p.WIDEST,
                    bottom / height,
                    1 - (_LEFT + _RIGHT) / p.WIDEST,
                    _HEIGHT / height,
                )
            )
            _stack(axes, ledger, unit)
            axes.set_ylim(0, highest / unit * 1.22)
            axes.set_ylabel(name)
            axes.set_xticks([])
            axes.text(
                0.01,
                0.97,
                f"{run}: at most {format_bytes(max(totals(ledger)))}",
                transform=axes.transAxes,
                va="top",
                fontweight="bold",
                color=p.INK,
            )
        axes.set_xlabel("time, in steps of the allocator")
        kinds = [k for k in LOOKS if any(any(each.live[k]) for each in ledgers.values())]
        from matplotlib.patches import Patch

        figure.legend(
            handles=[Patch(label=kind, **LOOKS[kind]) for kind in kinds[::-1]],
            loc="center right",
            frameon=False,
            fontsize=p.SMALL,
        )
    return with_alt(figure, describe_ledgers(ledgers))


def describe_ledgers(ledgers: Mapping[str, Ledger]) -> str:
    """Returns in words what `draw_ledgers` shows."""
    said = []
    for run, ledger in ledgers.items():
        all_bytes = totals(ledger)
        peak = max(range(ledger.moments), key=lambda moment: (all_bytes[moment], -moment))
        parts = [
            f"{kind} {format_bytes(series[peak])}"
            for kind, series in ledger.live.items()
            if series[peak]
        ]
        said.append(f"{run}: at most {format_bytes(all_bytes[peak])}: {', '.join(parts)}.")
    return "Memory over time, on one scale. " + " ".join(said)


def totals(ledger: Ledger) -> list[int]:
    """Returns the bytes at each moment."""
    return [sum(kinds) for kinds in zip(*ledger.live.values(), strict=True)]


def _stack(axes: Axes, ledger: Ledger, unit: int) -> None:
    ground = [0.0] * ledger.moments
    times = range(ledger.moments + 1)
    for kind, look in LOOKS.items():
        top = [low + value / unit for low, value in zip(ground, ledger.live[kind], strict=True)]
        if top != ground:
            axes.fill_between(
                times,
                [*ground, ground[-1]],
                [*top, top[-1]],
                step="post",
                linewidth=0.4,
                **look,
            )
        ground = top
    axes.set_xlim(0, ledger.moments)
