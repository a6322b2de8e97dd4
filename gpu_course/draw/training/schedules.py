"""Pictures of schedules: which stage runs when, what is held meanwhile, and memory against cost."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.units import format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS: dict[str, dict[str, Any]] = {
    "forward": {"facecolor": p.IDLE, "edgecolor": p.RULE},
    "keep input": {"facecolor": p.READ_TINT, "edgecolor": p.ACTIVE, "hatch": ".."},
    "save all": {"facecolor": p.READ, "edgecolor": p.ACTIVE},
    "backward": {"facecolor": p.WRITE, "edgecolor": p.WRITE_EDGE, "hatch": "//"},
}
"""Each kind of operation, told apart by colour and hatch."""
CURVES: tuple[dict[str, Any], ...] = (
    {"color": p.ACTIVE, "marker": "o", "linestyle": "-"},
    {"color": p.CONFLICT, "marker": "s", "linestyle": "none"},
    {"color": p.FINE, "marker": "^", "linestyle": "none"},
    {"color": p.CONTRAST, "marker": "D", "linestyle": "none"},
    {"color": p.INK, "marker": "*", "linestyle": "none"},
)

Pairs = Sequence[tuple[str, int]]


def draw_schedule(
    schedule: Pairs,
    rises: Sequence[int],
    *,
    budget: float | None = None,
    in_bytes: bool = False,
    done: int | None = None,
    broken: str = "",
    at: int | None = None,
    claimed: Sequence[float] = (),
    unit: str = "outputs",
) -> Figure:
    """Returns a schedule, operation by operation, over the memory each operation rises to.

    Args:
        schedule: pairs of a word and a stage, the words as in LOOKS.
        rises: for each operation the most memory in use during it.
        budget: a line for the memory there is; default none.
        in_bytes: True where memory is in bytes; else it is counted in `unit`.
        done: draw this many operations, in the frame of all of them; default all.
        broken: what goes wrong at one operation, which is marked: the one after the last of
            `rises`, which cannot be done. Default: nothing does.
        at: the number of that operation where it can be done and something else is wrong with it.
        claimed: the most memory up to each operation as somebody counted it, drawn as a line.
        unit: of memory that is not in bytes.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch
    from matplotlib.ticker import MaxNLocator

    shown, reached = schedule[:done], list(rises[:done]) or [0]
    place = len(rises) if at is None else at
    title = _wrapped(
        "Which stage runs when"
        if not broken
        else f"It breaks here: {broken}"
        if at is None
        else _sentence(broken)
    )
    high = 4.7 + 0.2 * title.count("\n")
    with p.style():
        figure, above = p.blank_figure(p.WIDEST, high, (0.75, 1.9, 1.35, high - 4.25))
        below = figure.add_axes((0.75 / p.WIDEST, 0.5 / high, 1 - 2.1 / p.WIDEST, 1.0 / high))
        above.set_title(title, loc="left", fontsize=p.NORMAL, fontweight="bold", color=p.INK)
        words = "Memory in use meanwhile"
        words += "; the line is what there is" if budget is not None else ""
        words += "; dashed is the peak as you count it" if claimed else ""
        below.set_title(words, loc="left", fontsize=p.NORMAL, color=p.INK)
        if broken:
            _mark_break(above, below, schedule, place, to_the_end=at is None)
        for word, look in LOOKS.items():
            cells = [_cell(step, stage) for step, (kind, stage) in enumerate(shown) if kind == word]
            # One artist for each kind: a thousand patches take a second to draw.
            above.add_collection(PolyCollection(cells, linewidth=0.6, **look))
        above.set_ylim(-0.7, max(stage for _, stage in schedule) + 0.7)
        above.set_ylabel("stage")
        above.yaxis.set_major_locator(MaxNLocator(integer=True))
        above.set_xticks([])
        size, name = _unit(max(reached)) if in_bytes else (1, unit)
        below.fill_between(
            [step - 0.5 for step in range(len(reached) + 1)],
            [*(rise / size for rise in reached), reached[-1] / size],
            step="post",
            facecolor=p.READ_TINT,
            edgecolor=p.ACTIVE,
        )
        if budget is not None:
            over = max(rises, default=0) > budget
            below.axhline(budget / size, color=p.CONFLICT if over else p.INK, lw=1.6)
        if claimed:
            below.step(
                [step - 0.5 for step in range(len(claimed) + 1)],
                [*(peak / size for peak in claimed), claimed[-1] / size],
                where="post",
                color=p.CONFLICT,
                lw=1.6,
                linestyle=p.READ_DASHES,
            )
        below.set_ylim(0, max(*rises, *claimed, budget or 0, 1) / size * 1.12)
        below.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
        below.set_ylabel(name)
        below.set_xlabel("operation")
        below.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        for axes in (above, below):
            axes.set_xlim(-0.8, len(schedule) - 0.2)
        figure.legend(
            handles=[Patch(label=word, linewidth=0.6, **look) for word, look in LOOKS.items()],
            loc="center right",
            frameon=False,
            fontsize=p.SMALL,
            handlelength=1.4,
        )
    said = describe_schedule(
        schedule,
        rises,
        budget=budget,
        in_bytes=in_bytes,
        done=done,
        broken=broken,
        at=at,
        unit=unit,
    )
    return with_alt(figure, said)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _wrapped(text: str) -> str:
    return "\n".join(textwrap.wrap(text, 68))


def _mark_break(
    above: Axes, below: Axes, schedule: Pairs, number: int, *, to_the_end: bool
) -> None:
    """Frames an operation, and shades it alone or with what comes after it."""
    from matplotlib.patches import Rectangle

    for axes in (above, below):
        end = len(schedule) if to_the_end else number + 0.5
        axes.axvspan(number - 0.5, end, color=p.CONFLICT_TINT, zorder=0)
        axes.axvline(number - 0.5, color=p.CONFLICT, lw=1.4, linestyle=p.READ_DASHES)
    if number < len(schedule):
        stage = schedule[number][1]
        frame = Rectangle((number - 0.5, stage - 0.5), 1, 1, zorder=6)
        frame.set(facecolor="none", edgecolor=p.CONFLICT, linewidth=2.4)
        above.add_artist(frame)


def _cell(step: int, stage: int) -> list[tuple[float, float]]:
    """Returns the corners of what is drawn for one operation."""
    return [
        (step + x, stage + y)
        for x, y in ((-0.43, -0.43), (0.43, -0.43), (0.43, 0.43), (-0.43, 0.43))
    ]


def describe_schedule(
    schedule: Pairs,
    rises: Sequence[int],
    *,
    budget: float | None = None,
    in_bytes: bool = False,
    done: int | None = None,
    broken: str = "",
    at: int | None = None,
    unit: str = "outputs",
) -> str:
    """Returns in words what `draw_schedule` shows."""
    runs = Counter(stage for word, stage in schedule if word != "backward")
    again = sum(runs.values()) - len(runs)
    counted = (
        f"A schedule of {len(schedule)} operations for {len(runs)} stages: "
        f"{sum(runs.values())} forward passes, {again} of them again; "
        f"at most {_amount(max(rises, default=0), in_bytes, unit)} at one time."
    )
    said = [counted]
    if budget is not None:
        where = "over" if max(rises, default=0) > budget else "within"
        said.append(f"That is {where} the budget of {_amount(budget, in_bytes, unit)}.")
    if done is not None:
        word, stage = schedule[done - 1]
        said.append(f"{done:,} done, the last one: {word} {stage}.")
    if broken:
        start = f"It breaks at operation {len(rises)}: " if at is None else ""
        said.append(_sentence(f"{start}{broken}."))
    return " ".join(said)


def draw_pareto(
    curves: Mapping[str, Sequence[tuple[float, float]]], ax: Axes | None = None
) -> Figure:
    """Returns memory against cost: what each plan takes, and how much it runs.

    Args:
        curves: {plan: [(bytes, cost over that of the plain run), ...]}; the first one is drawn as
            a line, the others as points.
        ax: axes to draw on instead of a new figure.
    """
    with p.style():
        if ax is None:
            figure, axes = p.blank_figure(p.WIDEST, 3.8, (0.75, 0.55, 0.2, 0.4))
        else:
            figure, axes = ax.get_figure(root=True), ax  # type: ignore[assignment]
        unit, name = _unit(max(memory for points in curves.values() for memory, _ in points))
        ceiling = _ceiling([cost for points in curves.values() for _, cost in points])
        for (plan, points), look in zip(curves.items(), CURVES, strict=False):
            for memory, cost in points:
                if cost > ceiling:
                    _beyond(axes, memory / unit, 100 * (ceiling - 1), cost, str(look["color"]))
            axes.plot(
                [memory / unit for memory, cost in points if cost <= ceiling],
                [100 * (cost - 1) for _, cost in points if cost <= ceiling],
                label=plan,
                markersize=6,
                drawstyle="steps-post" if look["linestyle"] == "-" else "default",
                **look,
            )
        axes.set_xlim(left=0)
        words = "Less memory against more work: lower left is better"
        axes.set_title(words, loc="left", fontsize=p.NORMAL, fontweight="bold", color=p.INK)
        axes.set_ylim(-2, 100 * (ceiling - 1) * 1.08)
        axes.set_xlabel(f"peak in {name}")
        axes.set_ylabel("more FLOP than the plain run, %")
        axes.legend(loc="upper right", frameon=False, fontsize=p.SMALL)
    return with_alt(figure, describe_pareto(curves))


def _ceiling(costs: Sequence[float]) -> float:
    """The highest cost that is drawn to scale: one far-off point must not flatten all others."""
    ordered = sorted(costs)
    usual = ordered[int(0.85 * (len(ordered) - 1))]
    near = max(cost for cost in ordered if cost - 1 <= 1.6 * max(usual - 1, 0.01))
    return near if ordered[-1] - 1 > 1.6 * (near - 1) else ordered[-1]


def _beyond(axes: Axes, memory: float, top: float, cost: float, colour: str) -> None:
    """An arrow at the upper edge, and the percentage of a point that lies beyond it."""
    axes.text(
        memory, top * 1.03, f"\u2191 {100 * (cost - 1):.0f} %", ha="center", va="center",
        fontsize=p.SMALL, fontweight="bold", color=colour,
    )  # fmt: skip


def describe_pareto(curves: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Returns in words what `draw_pareto` shows."""
    said = ["Peak memory against work."]
    for plan, points in curves.items():
        ends = [min(points), max(points)] if len(points) > 1 else [points[0]]
        words = " to ".join(
            f"{format_bytes(memory)} at {100 * (cost - 1):.0f} % more" for memory, cost in ends
        )
        said.append(f"{plan}: {words}.")
    return " ".join(said)


def _amount(size: float, in_bytes: bool, unit: str) -> str:
    return format_bytes(size) if in_bytes else f"{size:g} {unit}"


def _unit(highest: float) -> tuple[int, str]:
    for size, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if highest >= size:
            return size, name
    return 1, "bytes"
