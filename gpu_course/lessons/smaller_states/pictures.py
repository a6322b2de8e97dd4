"""Pictures of what each run holds, and of what a rank buys and costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.training.memory_ledger import LOOKS
from gpu_course.units import GB, byte_unit, format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT, _LEFT, _BOTTOM, _TOP, _GAP, _RIGHT = 2.9, 0.75, 0.55, 0.4, 0.95, 0.85


def draw_held(
    runs: Mapping[str, Mapping[str, float]],
    notes: Mapping[str, str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Returns one stacked bar per run: the bytes it holds, by kind.

    Args:
        runs: {run: {kind: bytes}}, kinds as in a ledger.
        notes: {run: a few words behind its bar}.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 0.42 * len(runs) + 1.55, (2.2, 0.5, 1.6, 0.75))
        highest = max(sum(parts.values()) for parts in runs.values())
        unit, name = byte_unit(highest)
        kinds = [kind for kind in LOOKS if any(kind in parts for parts in runs.values())]
        left = [0.0] * len(runs)
        for kind in kinds:
            sizes = [parts.get(kind, 0) / unit for parts in runs.values()]
            places = list(range(len(runs)))
            axes.barh(places, sizes, left=left, height=0.62, label=kind, **LOOKS[kind])
            left = [low + size for low, size in zip(left, sizes, strict=True)]
        for place, (run, total) in enumerate(zip(runs, left, strict=True)):
            axes.annotate(
                (notes or {}).get(run, ""),
                (total, place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize=p.SMALL,
                color=p.INK,
                annotation_clip=False,
            )
        axes.set_yticks(range(len(runs)), list(runs), fontsize=p.SMALL)
        axes.invert_yaxis()
        axes.set_xlim(0, highest / unit * 1.02)
        axes.set_xlabel(name)
        p.headline(axes, "What each run holds: shorter is less memory")
        figure.legend(loc="upper center", ncols=4, frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_held(runs, notes))


def describe_held(
    runs: Mapping[str, Mapping[str, float]], notes: Mapping[str, str] | None = None
) -> str:
    """Returns in words what `draw_held` shows."""
    said = []
    for run, parts in runs.items():
        kinds = ", ".join(f"{kind} {format_bytes(size)}" for kind, size in parts.items())
        note = (notes or {}).get(run, "")
        total = format_bytes(sum(parts.values()))
        said.append(f"{run}: {total}, of it {kinds}{'; ' + note if note else ''}.")
    return "Bytes held. " + " ".join(said)


def draw_rank(
    state_bytes: Mapping[int, float],
    losses: Mapping[int, float],
    chosen: int,
    *,
    plain_bytes: float,
    plain_loss: float,
    goal: float,
) -> Figure:
    """Returns two curves over the rank, with one rank marked on both.

    Args:
        state_bytes: {rank: bytes of the optimizer's states}.
        losses: {rank: loss after training}, of the same ranks.
        chosen: the rank that is marked.
        plain_bytes, plain_loss: without a rank.
        goal: the loss that was to be reached.
    """
    with p.style():
        figure, left = p.blank_figure(p.WIDEST, _HEIGHT)
        width = (p.WIDEST - _LEFT - _GAP - _RIGHT) / 2
        size = (width / p.WIDEST, 1 - (_BOTTOM + _TOP) / _HEIGHT)
        left.set_position((_LEFT / p.WIDEST, _BOTTOM / _HEIGHT, *size))
        right = figure.add_axes(
            ((_LEFT + width + _GAP) / p.WIDEST, _BOTTOM / _HEIGHT, *size)  # type: ignore[arg-type]
        )
        gigabytes = {rank: size / GB for rank, size in state_bytes.items()}
        _curve(left, gigabytes, chosen, plain_bytes / GB, "{:.2f} GB")
        _curve(right, dict(losses), chosen, plain_loss, "{:.3f}")
        right.axhline(goal, color=p.QUIET, lw=0.9, linestyle=p.READ_DASHES)
        _at_the_edge(right, goal, f"goal {goal:.2f}")
        left.set_ylim(bottom=0)
        left.set_title("optimizer states, GB", loc="left", fontsize=p.NORMAL)
        right.set_title("loss of the small model", loc="left", fontsize=p.NORMAL)
    return with_alt(
        figure,
        describe_rank(state_bytes, losses, chosen, plain_bytes=plain_bytes, plain_loss=plain_loss),
    )


def describe_rank(
    state_bytes: Mapping[int, float],
    losses: Mapping[int, float],
    chosen: int,
    *,
    plain_bytes: float,
    plain_loss: float,
) -> str:
    """Returns in words what `draw_rank` shows."""
    share = state_bytes[chosen] / plain_bytes
    return (
        f"Rank {chosen:,}: states {state_bytes[chosen] / GB:.2f} GB, {share:.0%} of Adam's "
        f"{plain_bytes / GB:.2f} GB; loss {losses[chosen]:.3f}, Adam's is {plain_loss:.3f}."
    )


def _curve(axes: Axes, values: Mapping[int, float], chosen: int, plain: float, form: str) -> None:
    ranks = sorted(values)
    places = {rank: place for place, rank in enumerate(ranks)}
    axes.plot(
        list(places.values()), [values[rank] for rank in ranks], color=p.ACTIVE, marker="o", ms=5
    )
    axes.axhline(plain, color=p.INK, lw=1.2)
    _at_the_edge(axes, plain, "Adam")
    axes.axvline(places[chosen], color=p.CONFLICT, lw=1.2, linestyle=p.OUTSIDE_DASHES)
    axes.plot([places[chosen]], [values[chosen]], color=p.CONFLICT, marker="D", ms=9)
    # On the side from which the curve comes from below, and inside the axes at both ends.
    at_left = values[ranks[-1]] > values[ranks[0]] and places[chosen] > 0
    at_left = at_left or places[chosen] == len(ranks) - 1
    axes.annotate(
        form.format(values[chosen]),
        (places[chosen], values[chosen]),
        xytext=(-9 if at_left else 9, 9),
        textcoords="offset points",
        ha="right" if at_left else "left",
        fontweight="bold",
        color=p.INK,
        bbox={"boxstyle": "round,pad=0.1", "facecolor": p.PAPER, "edgecolor": "none"},
    )
    low, high = min(*values.values(), plain), max(*values.values(), plain)
    axes.set_ylim(low - 0.12 * (high - low), high + 0.18 * (high - low))
    axes.set_xlim(-0.35, len(ranks) - 0.65)
    axes.set_xticks(range(len(ranks)), [f"{rank:,}" for rank in ranks])
    axes.set_xlabel("rank")


def _at_the_edge(axes: Axes, level: float, words: str) -> None:
    axes.annotate(
        words,
        (1.0, level),
        xycoords=("axes fraction", "data"),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=p.SMALL,
        color=p.QUIET,
        annotation_clip=False,
    )
