"""A picture of a schedule: which stage runs when, and what is held meanwhile."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette as p
from gpu_course.draw.paper.picture import with_alt
from gpu_course.units import byte_unit, format_bytes

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
        size, name = byte_unit(max(reached)) if in_bytes else (1, unit)
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


def _amount(size: float, in_bytes: bool, unit: str) -> str:
    return format_bytes(size) if in_bytes else f"{size:g} {unit}"
