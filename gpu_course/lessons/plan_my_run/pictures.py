"""Pictures of a plan: bytes of each stage, seconds of a step, and the frontier of many layouts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.draw.training.memory_ledger import LOOKS
from gpu_course.units import GIB

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {
    "parameters": ("parameters", "gathered layers"),
    "gradients": ("gradients", "gradient buckets"),
    "optimizer states": ("optimizer states",),
    "activations": ("activations", "stage ends"),
    "temporaries": ("logits", "recomputed layer", "buffers", "allocator", "libraries"),
}
"""Kind in a picture -> the planner's entries."""
TIMES: dict[str, dict[str, Any]] = {
    "compute": {"facecolor": p.ACTIVE, "edgecolor": p.INK},
    "head": {"facecolor": p.LATER_ACTIVE, "edgecolor": p.ACTIVE},
    "sent": {"facecolor": p.WRITE, "edgecolor": p.WRITE_EDGE, "hatch": "//"},
    "host": {"facecolor": p.CONTRAST, "edgecolor": p.INK, "hatch": "xx"},
    "idle": {"facecolor": p.IDLE, "edgecolor": p.RULE},
    "update": {"facecolor": p.STATES, "edgecolor": p.QUIET, "hatch": ".."},
}
PARTS = {
    "compute": "compute",
    "head": "head",
    "tensor": "sent",
    "context": "sent",
    "experts": "sent",
    "sends": "sent",
    "data": "sent",
    "host": "host",
    "uneven": "idle",
    "bubble": "idle",
    "update": "update",
}
"""Part of a step -> how it looks, a key of TIMES."""
NAMED = 0.09
"""The share of a step from which a part is named in its bar."""
SLOWEST = 30
"""Layouts that are slower than so many times the fastest are above the picture of a frontier."""
MANY = 12
"""Stages from which on they stand side by side without a gap."""


def kinds_of(entries: Mapping[str, float]) -> dict[str, float]:
    """Returns the bytes of each kind of a picture.

    Args:
        entries: of a stage, as the planner names them.
    """
    known = {entry: kind for kind, names in KINDS.items() for entry in names}
    found = dict.fromkeys(KINDS, 0.0)
    for name, size in entries.items():
        found[known[name]] += size
    return found


def draw_plan(
    stages: Sequence[Mapping[str, float]],
    limit_bytes: float,
    seconds: Mapping[str, float],
    axes: tuple[Axes, Axes] | None = None,
) -> Figure:
    """Returns a bar of bytes for each stage above one of the seconds of a step.

    Args:
        stages: the planner's entries of each.
        limit_bytes: of a card's memory.
        seconds: of the parts of a step.
        axes: two to draw on, instead of a new figure.
    """
    with p.style():
        if axes is None:
            figure, above = p.blank_figure(p.WIDEST, 4.3, (0.65, 1.95, 1.6, 0.35))
            below = figure.add_axes((0.65 / p.WIDEST, 0.62 / 4.3, 5.0 / p.WIDEST, 0.5 / 4.3))
        else:
            above, below = axes
            found = above.get_figure(root=True)
            assert found is not None, "axes to draw on are in a figure"
            figure = found
        _memory_bars(above, [kinds_of(each) for each in stages], limit_bytes)
        _step_bar(below, seconds)
    return with_alt(figure, describe_plan(stages, limit_bytes, seconds))


def _memory_bars(axes: Axes, stages: Sequence[Mapping[str, float]], limit_bytes: float) -> None:
    ground = [0.0] * len(stages)
    many = len(stages) > MANY
    # A few stages would be broad planks, so that a bar is no wider than a tenth.
    half = 0.5 if many else min(0.4, 0.05 * max(len(stages), 1))
    edges = [stage + side for stage in range(len(stages)) for side in (-half, half)]
    for kind in KINDS:
        heights = [each[kind] / GIB for each in stages]
        top = [low + more for low, more in zip(ground, heights, strict=True)]
        if many:
            low_edge, high_edge = ([y for y in side for _ in (0, 1)] for side in (ground, top))
            axes.fill_between(edges, low_edge, high_edge, label=kind, linewidth=0.6, **LOOKS[kind])
        else:
            axes.bar(
                range(len(stages)), heights, bottom=ground, width=2 * half, label=kind,
                linewidth=0.6, **LOOKS[kind],
            )  # fmt: skip
        ground = top
    limit = limit_bytes / GIB
    full = max(ground) > limit
    axes.axhline(limit, color=p.CONFLICT if full else p.INK, lw=2)
    axes.set_xlim(-0.6, len(stages) - 0.4)
    axes.set_ylim(0, max(limit, *ground) * 1.15)
    worst = ground.index(max(ground))
    held = f"{ground[worst]:,.1f} GiB"
    p.headline(axes, f"Stage {worst} is the fullest: {held}; a GPU has {limit:,.0f} (the line)")
    axes.set_ylabel("GiB of a GPU")
    axes.set_xlabel("stage")
    axes.set_xticks(_few(len(stages)))
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(
        handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 0.72), frameon=False,
        fontsize=p.SMALL, handlelength=1.4,
    )  # fmt: skip


def _few(stages: int) -> list[int]:
    step = next(each for each in (1, 2, 4, 8, 16, 32) if stages <= 16 * each)
    return list(range(0, stages, step))


def _step_bar(axes: Axes, seconds: Mapping[str, float]) -> None:
    total, left = sum(seconds.values()), 0.0
    for name in (each for each in PARTS if each in seconds):
        size = seconds[name]
        axes.barh([0], [size], left=left, height=0.8, linewidth=0.6, **TIMES[PARTS[name]])
        if size >= NAMED * total:
            axes.annotate(
                f"{name}\n{size / total:.0%}",
                (left + size / 2, 0),
                ha="center",
                va="center",
                fontsize=p.SMALL,
                color=p.INK,
                bbox={"boxstyle": "round,pad=0.15", "facecolor": p.PAPER, "edgecolor": "none"},
            )
        left += size
    axes.set_xlim(0, total)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    small = [name for name in PARTS if 0.005 * total <= seconds.get(name, 0) < NAMED * total]
    small.sort(key=seconds.__getitem__, reverse=True)
    rest = ", ".join(f"{name} {seconds[name] / total:.1%}" for name in small)
    axes.set_title(f"A step takes {total:.3g} s", fontsize=p.NORMAL, loc="left")
    axes.set_xlabel("seconds" + (f"; narrow parts: {rest}" if rest else ""), fontsize=p.SMALL)


def describe_plan(
    stages: Sequence[Mapping[str, float]], limit_bytes: float, seconds: Mapping[str, float]
) -> str:
    """Returns in words what `draw_plan` shows."""
    sums = [sum(each.values()) / GIB for each in stages]
    worst, total = sums.index(max(sums)), sum(seconds.values())
    limit = limit_bytes / GIB
    fits = "fits into" if sums[worst] <= limit else "does not fit into"
    held = ", ".join(
        f"{kind} {size / GIB:,.1f}" for kind, size in kinds_of(stages[worst]).items() if size
    )
    parts = ", ".join(f"{name} {seconds[name] / total:.0%}" for name in PARTS if name in seconds)
    return (
        f"Stage {worst} of {len(stages)} is the fullest: {sums[worst]:,.1f} GiB, which"
        f" {fits} {limit:,.0f} GiB. There are {held} GiB. A step takes {total:.3g} s: {parts}."
    )


def draw_frontier(
    memory_bytes: Sequence[float],
    step_s: Sequence[float],
    limit_bytes: float,
    edge: Sequence[int],
    count: tuple[int, int] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Returns each layout as a dot: bytes of its fullest GPU, and seconds of its step.

    Args:
        memory_bytes, step_s: of each layout.
        limit_bytes: of a card's memory.
        edge: the numbers of the layouts on the frontier.
        count: how many layouts there are, and how many fit, where not all of them are drawn.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        figure, axes = p.axes_or_blank(ax, p.WIDEST, 3.2, (0.75, 0.6, 0.35, 0.4))
        fits = [size <= limit_bytes for size in memory_bytes]
        for state, marker in ((True, "o"), (False, "x")):
            chosen = [n for n, each in enumerate(fits) if each is state]
            colour = p.ACTIVE if state else p.CONFLICT
            axes.scatter(
                [memory_bytes[n] / GIB for n in chosen],
                [step_s[n] for n in chosen],
                s=14, color=colour, alpha=0.55, linewidths=0.9,
                label="fits" if state else "does not fit", marker=marker,
            )  # fmt: skip
        line = sorted(edge, key=lambda n: memory_bytes[n])
        axes.plot(
            [memory_bytes[n] / GIB for n in line],
            [step_s[n] for n in line],
            color=p.INK, lw=1.6, marker="s", ms=4, drawstyle="steps-post", label="the frontier",
        )  # fmt: skip
        axes.axvline(limit_bytes / GIB, color=p.INK, lw=1.2, ls=(0, (4, 2)))
        axes.set_xscale("log")
        axes.set_yscale("log")
        fastest = min(step_s)
        axes.set_ylim(0.85 * fastest, min(1.2 * max(step_s), SLOWEST * fastest))
        _plain_ticks(axes)
        axes.set_xlabel("GiB of the fullest GPU")
        axes.set_ylabel("seconds of a step")
        p.headline(axes, "Each dot is a layout: nothing is below and left of the frontier")
        axes.legend(framealpha=1, edgecolor=p.PAPER, fontsize=p.SMALL, loc="upper right")
    said = describe_frontier(memory_bytes, step_s, limit_bytes, edge, count)
    return with_alt(figure, said)


def _plain_ticks(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _seconds(seconds: float) -> str:
    return f"{seconds:,.0f} s" if seconds >= 100 else f"{seconds:.3g} s"


def describe_frontier(
    memory_bytes: Sequence[float],
    step_s: Sequence[float],
    limit_bytes: float,
    edge: Sequence[int],
    count: tuple[int, int] | None = None,
) -> str:
    """Returns in words what `draw_frontier` shows."""
    many, fits = count or (len(memory_bytes), sum(size <= limit_bytes for size in memory_bytes))
    said = [f"{many:,} layouts, of which {fits:,} fit into {limit_bytes / GIB:,.0f} GiB."]
    if edge:
        line = sorted(edge, key=lambda n: memory_bytes[n])
        ends = (line[0], line[-1])
        told = (f"{memory_bytes[n] / GIB:,.1f} GiB and {_seconds(step_s[n])}" for n in ends)
        said.append(f"The frontier goes from {' to '.join(told)}.")
    return " ".join(said)
