"""A pipeline schedule to take in hand: move an action, and hear at once whether it can still run.

    board(one_f_one_b(4, 8))             # in a lesson, the last line of a cell
    board({"1F1B": ..., "ZB-H1": ...}, costs, limit=4.0)

A change is asked of the rules first. What they accept runs, and the picture shows it with its
bubbles and its memory; of what they refuse it shows how far it comes, and the words say why not.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import ipywidgets

from gpu_course.draw.paper import palette
from gpu_course.draw.paper.ink import svg_html
from gpu_course.draw.training.pipeline_board import (
    WIDE,
    Cell,
    board_svg,
    describe_board,
    ways_json,
)
from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import Action, Schedule
from gpu_course.measure.pipelines.rules import Fault, faults
from gpu_course.measure.pipelines.timing import Costs, Run, as_far_as_it_goes
from gpu_course.notebook.note import Note, trouble
from gpu_course.notebook.panel import html_panel

HINT = (
    "Point at an action to see the way of its microbatch. Drag it to move it. With keys: arrows go "
    "from action to action, Shift and an arrow moves one, Delete takes it out, D doubles it."
)
Orders = tuple[tuple[Action, ...], ...]


class Board(ipywidgets.VBox):
    """The board: a menu of schedules where there are several, two buttons, picture and verdict.

    Args:
        schedules: by name; the first is shown.
        costs: what actions take, of each schedule.
        limit: what a rank may hold, in the unit of `costs.activation`; None for no limit.
        unit: of what is held.
    """

    def __init__(
        self,
        schedules: Mapping[str, Schedule],
        costs: Callable[[Schedule], Costs],
        limit: float | None,
        unit: str,
    ) -> None:
        self.schedules, self._costs, self._limit, self._unit = schedules, costs, limit, unit
        self.menu = ipywidgets.Dropdown(
            options=list(schedules), description="order", tooltip="the schedule to begin with"
        )
        self.undo = _button("undo", "takes the last change back")
        self.again = _button("as it was", "takes all changes back")
        self.hand = ipywidgets.Text(layout=ipywidgets.Layout(display="none"))
        self.hand.add_class("gpu-course-board-hand")
        self.panel, self.verdict = html_panel(), html_panel()
        self.menu.observe(self._begin, names="value")
        self.undo.on_click(lambda _: self._heard({"do": "undo"}))
        self.again.on_click(self._begin)
        self.hand.observe(self._told, names="value")
        self._begin()
        self._first = repr(self), svg_html(self._svg(), self._alt(), WIDE / 96)
        row = [*([self.menu] if len(schedules) > 1 else []), self.undo, self.again]
        wrap = ipywidgets.Layout(flex_flow="row wrap")
        controls = ipywidgets.HBox(row, layout=wrap)
        super().__init__([controls, self.panel, self.verdict, self.hand])
        self.add_class("gpu-course-board")

    @property
    def schedule(self) -> Schedule:
        """The schedule as it stands on the board."""
        begun = self.schedules[self.menu.value]
        return Schedule(begun.placement, self._orders, begun.microbatches, begun.name)

    @property
    def run(self) -> Run:
        """How it runs, or how far."""
        return self._run

    @property
    def faults(self) -> list[Fault]:
        """What the rules find; [] where it can run, and stays within the limit."""
        return self._faults

    def lines(self) -> list[str]:
        """Returns the orders as they stand, a line for each rank, as a puzzle takes them."""
        return self.schedule.lines()

    def move(self, action: str, before: str) -> Note:
        """Puts an action before another one of the same rank; returns the verdict.

        Args:
            action, before: as they are written, such as "0B0".

        Raises:
            CourseError: one of them stands on no rank, or they stand on two.
        """
        (rank, step), (other, place) = self._place(action), self._place(before)
        if rank != other:
            raise CourseError(
                f"{action} stands on rank {rank}, and {before} on rank {other}",
                "name two actions of one rank; a drag moves one to another rank",
            )
        to = place - (step < place)
        self._heard({"do": "put", "rank": rank, "step": step, "toRank": rank, "toStep": to})
        return Note(*self._says())

    def _place(self, action: str) -> tuple[int, int]:
        for rank, order in enumerate(self._orders):
            for step, each in enumerate(order):
                if str(each) == action:
                    return rank, step
        raise CourseError(f"no rank does {action}", f"{self._orders[0][0]} is one that is done")

    def __repr__(self) -> str:
        return f"{self._alt()}\n{self._says()[0]}"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        # A stored notebook has no widgets behind it: the first picture stands in for them.
        bundle = dict(super()._repr_mimebundle_(**kwargs) or {})
        bundle["text/plain"], bundle["text/html"] = self._first
        return bundle

    # What a hand does ------------------------------------------------------------------------

    def _begin(self, change: Any = None) -> None:
        self._orders: Orders = self.schedules[self.menu.value].orders
        self._before: list[Orders] = []
        self._picked: tuple[int, int] | None = None
        self._show()

    def _told(self, change: Any) -> None:
        try:
            self._heard(json.loads(self.hand.value))
        except Exception as error:
            # An error inside a callback would vanish into a log nobody reads.
            self.verdict.value = trouble(error)._repr_html_()

    def _heard(self, asked: Mapping[str, Any]) -> None:
        """Does what the board's script asks for: try, put, drop, double or undo."""
        if asked["do"] == "undo":
            if self._before:
                self._orders = self._before.pop()
                self._show()
            return
        orders, picked = changed(self._orders, asked)
        if asked["do"] == "try":
            self._say(orders)
            return
        self._before.append(self._orders)
        self._orders, self._picked = orders, picked
        self._show()

    # What it shows ---------------------------------------------------------------------------

    def _show(self) -> None:
        schedule = self.schedule
        self._run = as_far_as_it_goes(schedule, self._costs(schedule))
        self._faults = self._found(schedule)
        self._shown = self._cells()
        self.undo.disabled = self.again.disabled = not self._before
        self.panel.value = self._html()
        text, kind = self._says()
        self.verdict.value = _spoken(Note(text, kind))

    def _say(self, orders: Orders) -> None:
        """Says what would become of other orders, and leaves the picture."""
        kept = self._orders, self._run, self._faults
        try:
            self._orders = orders
            schedule = self.schedule
            self._run = as_far_as_it_goes(schedule, self._costs(schedule))
            self._faults = self._found(schedule)
            text, kind = self._says()
        finally:
            self._orders, self._run, self._faults = kept
        self.verdict.value = _spoken(Note(text, kind))

    def _found(self, schedule: Schedule) -> list[Fault]:
        return faults(schedule) or self._past_limit()

    def _past_limit(self) -> list[Fault]:
        """Returns for each rank that holds more than the limit, from which action on."""
        found = []
        for rank, levels in enumerate(self._run.memory):
            over = [(at, held) for at, held in levels if held > (self._limit or 0) * (1 + 1e-9)]
            if self._limit is None or not over:
                continue
            at, held = over[0]
            step, span = next(
                (k, s) for k, s in enumerate(self._run.spans[rank]) if s.start >= at - 1e-9
            )
            found.append(
                Fault(
                    "too-many",
                    rank,
                    step,
                    f"rank {rank} holds {held:.3g} {self._unit} from {span.action} at step {step} "
                    f"on, and may hold {self._limit:.3g}",
                )
            )
        return found

    def _says(self) -> tuple[str, str]:
        """Returns the verdict and its kind."""
        if self._faults:
            more = len(self._faults) - 1
            also = f" There {'is' if more == 1 else 'are'} {more} more." if more else ""
            first = self._faults[0].sentence
            refused = "Too much is held" if self._faults[0].key == "too-many" else "It cannot run"
            return f"{refused}: {first}.{also}", "trouble"
        most = max(self._run.peaks, default=0.0)
        text = f"It runs in {self._run.cost:.4g}, with a bubble of {self._run.bubble_rate:.1%}; "
        return f"{text}no rank holds more than {most:.3g} {self._unit}.", "right"

    def _words(self) -> str:
        if self._faults and self._faults[0].key != "too-many":
            return "it cannot run: this is how far it comes"
        most = max(self._run.peaks, default=0.0)
        return f"a bubble of {self._run.bubble_rate:.1%}  ·  at most {most:.3g} {self._unit} held"

    def _cells(self) -> list[Cell]:
        schedule, run = self.schedule, self._run
        guilty = {(fault.rank, fault.step) for fault in self._faults}
        circle = {stands for fault in self._faults for stands, _ in fault.circle}
        chunk = [schedule.placement[:k].count(r) for k, r in enumerate(schedule.placement)]
        cells = []
        for rank, order in enumerate(schedule.orders):
            time = run.spans[rank][-1].end if run.spans[rank] else 0.0
            for step, action in enumerate(order):
                ran = step < len(run.spans[rank])
                if ran:
                    start, end = run.spans[rank][step].start, run.spans[rank][step].end
                else:
                    start, end = time, time + run.costs.time(action)
                    time = end
                cells.append(
                    Cell(
                        rank,
                        step,
                        action.stage,
                        action.kind,
                        chunk[action.stage],
                        action.microbatch,
                        start,
                        end,
                        ran,
                        (rank, step) in guilty or (not ran and action in circle),
                    )
                )
        return cells

    def _svg(self) -> str:
        waits = [(str(a), str(b)) for fault in self._faults for a, b in fault.circle]
        return board_svg(
            self._shown,
            self._name(),
            self._words(),
            ranks=self.schedule.ranks,
            memory=self._run.memory,
            waits=waits,
            limit=self._limit,
        )

    def _name(self) -> str:
        changed = f", {len(self._before)} changes" if len(self._before) > 1 else ", 1 change"
        return (self.schedule.name or "your orders") + (changed if self._before else "")

    def _alt(self) -> str:
        return describe_board(self._shown, self._name(), self._words(), self.schedule.ranks)

    def _html(self) -> str:
        boot = html.escape(f"{_script()}(this.parentElement)", quote=True)
        picked = "" if self._picked is None else f' data-picked="{json.dumps(self._picked)}"'
        return (
            '<div class="board-root" tabindex="0" role="application"'
            ' data-lm-suppress-shortcuts="true"'
            f' aria-label="{html.escape(self._alt(), quote=True)}"'
            f' data-ranks="{self.schedule.ranks}"{picked}'
            f' data-ways="{html.escape(ways_json(self._shown), quote=True)}"'
            f' data-hint="{html.escape(HINT, quote=True)}" style="max-width:{WIDE}px;'
            'touch-action:none;user-select:none;cursor:grab"'
            f' onpointerover="{boot}" onfocus="{boot}">{self._svg()}'
            '<div class="board-told" role="status" aria-live="polite" style="min-height:3.2em;'
            f"color:var(--jp-ui-font-color2,{palette.QUIET});line-height:1.5;cursor:default"
            f'">{html.escape(HINT)}</div></div>'
        )


def changed(orders: Orders, asked: Mapping[str, Any]) -> tuple[Orders, tuple[int, int] | None]:
    """Returns orders after a change, and where what was changed stands now.

    Args:
        orders: of all ranks.
        asked: "do" says what: "put" or "try" moves the action at "rank" and "step" to place
            "toStep" of rank "toRank", counted without it; "drop" takes it out; "double" writes it
            once more behind itself.

    >>> from gpu_course.measure.pipelines.actions import parse
    >>> orders = parse(["0F0 0F1 0B0 0B1"]).orders
    >>> asked = {"do": "put", "rank": 0, "step": 2, "toRank": 0, "toStep": 1}
    >>> [str(each) for each in changed(orders, asked)[0][0]]
    ['0F0', '0B0', '0F1', '0B1']
    """
    made = [list(order) for order in orders]
    rank, step = int(asked["rank"]), int(asked["step"])
    action = made[rank][step]
    picked: tuple[int, int] | None
    if asked["do"] == "double":
        made[rank].insert(step + 1, action)
        picked = rank, step + 1
    else:
        del made[rank][step]
        picked = (rank, min(step, len(made[rank]) - 1)) if made[rank] else None
        if asked["do"] in ("put", "try"):
            to_rank, to_step = int(asked["toRank"]), int(asked["toStep"])
            made[to_rank].insert(to_step, action)
            picked = to_rank, to_step
    return tuple(map(tuple, made)), picked


def board(
    schedules: Schedule | Mapping[str, Schedule],
    costs: Costs | Callable[[Schedule], Costs] = Costs(),  # noqa: B008 - it is frozen
    limit: float | None = None,
    unit: str = "microbatches",
) -> Board:
    """Returns a board on which a schedule can be changed by hand and by keys.

    Args:
        schedules: one, or several by name to choose from.
        costs: what actions take; a function of the schedule where that differs.
        limit: what a rank may hold, in the unit of `costs.activation`.
        unit: of what is held.
    """
    given = {schedules.name: schedules} if isinstance(schedules, Schedule) else schedules
    return Board(given, costs if callable(costs) else lambda _: costs, limit, unit)


@lru_cache(maxsize=1)
def _script() -> str:
    return Path(__file__).with_suffix(".js").read_text(encoding="utf-8").strip().rstrip(";")


def _spoken(note: Note) -> str:
    """Returns a note as HTML that is read aloud when it changes."""
    return f'<div class="board-verdict" role="status">{note._repr_html_()}</div>'


def _button(text: str, tooltip: str) -> ipywidgets.Button:
    layout = ipywidgets.Layout(width="7em")
    return ipywidgets.Button(description=text, tooltip=tooltip, layout=layout)
