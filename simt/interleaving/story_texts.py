"""A replay told in a few sentences, for people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simt.interleaving.orders import Names, Order
from simt.interleaving.story import EARLY, LAST, UNSEEN, Culprit, Damage, Moment
from simt.report import WARP, Hazard, Recording, Report


def cell_text(array: str, cell: int, shape: Sequence[int]) -> str:
    """Returns a cell as a kernel writes it.

    >>> cell_text("s", 19, (4, 16))
    's[1, 3]'
    """
    return f"{array}[{', '.join(str(int(i)) for i in np.unravel_index(cell, tuple(shape)))}]"


def value_text(value: Any) -> str:
    """Returns a value in at most six digits.

    >>> value_text(np.float32(0.1)), value_text(np.int64(7))
    ('0.1', '7')
    """
    value = value.item() if hasattr(value, "item") else value
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def tell_found(
    recording: Recording,
    order: Order,
    culprit: Culprit | None,
    damage: Damage,
    tried: int,
    names: Names,
    *,
    known: bool,
) -> str:
    """Returns the story of an order that makes the result wrong.

    Args:
        recording: the run.
        order: the order.
        culprit, damage: what went wrong.
        tried: how many orders were run up to this one.
        names: names of threads.
        known: True where it is known what the outputs should be.
    """
    said = [f"The order: {order.words}."]
    if culprit is not None:
        said += _culprit(recording, culprit, names)
    cell = cell_text(damage.array, damage.cell, damage.shape)
    got, wanted = value_text(damage.got), value_text(damage.wanted)
    result = "The result, which a later launch writes" if damage.later else "The result"
    if known:
        said.append(f"{result}: {cell} is {got}, and it should be {wanted}.")
    else:
        said.append(f"{result}: {cell} is {got}; in another order of the same threads {wanted}.")
    if damage.cells > 1:
        said[-1] = said[-1][:-1] + f" ({damage.cells:,} cells of {damage.array} differ)."
    said.append(f"Orders tried: {tried}.")
    return "\n".join(said)


def tell_hazards(hazards: Sequence[Hazard], culprit: Culprit, names: Names) -> tuple[Hazard, ...]:
    """Returns the hazards of a run, those the story is about told of the story's own cell.

    A hazard is found once for each pair of lines, at whatever cell comes first; a story that names
    one cell beside a hazard that names a different one is hard to follow.
    """
    other = culprit.other
    if other is None:
        return tuple(hazards)
    cell = cell_text(culprit.array, culprit.cell, culprit.shape)
    lines = {culprit.at.line, other.line}
    why = " and ".join(
        f"{_who(moment.thread, names)} {_DOES[moment.kind]} it (line {moment.line})"
        for moment in (culprit.at, other)
    )
    why = _capital(why)
    return tuple(_about(hazard, culprit.array, cell, lines, why) for hazard in hazards)


_DOES = {"read": "reads", "write": "writes", "atomic": "updates"}


def _about(hazard: Hazard, array: str, cell: str, lines: set[int], why: str) -> Hazard:
    known = hazard.details
    if known.get("array") != array:
        return hazard
    message = re.sub(rf"\b{re.escape(array)}\[[^\]]*\]", cell, hazard.message, count=1)
    if hazard.kind == "uninitialised-read":
        return replace(hazard, message=message)
    if hazard.kind != "race" or {hazard.line, known["other_line"]} != lines:
        return hazard
    return replace(hazard, message=message, details={**known, "why": why})


def _who(thread: int, names: Names) -> str:
    """ "thread 33 (warp 1)", and of which block where there are several."""
    block, inside = divmod(thread, names.per_block)
    text = f"thread {inside}"
    if names.per_block > WARP:
        text += f" (warp {inside // WARP})"
    return text if names.blocks == 1 else f"{text} of block {block}"


def _culprit(recording: Recording, culprit: Culprit, names: Names) -> list[str]:
    at, other = culprit.at, culprit.other
    cell = cell_text(culprit.array, culprit.cell, culprit.shape)
    reader = _who(at.thread, names)
    reader = reader[0].upper() + reader[1:]
    found, wanted = value_text(at.value), value_text(culprit.wanted)
    if culprit.kind == LAST:
        text = f"{reader} writes {cell} = {found} in line {at.line}"
        if other is not None:
            text += f", after {_who(other.thread, names)} wrote {wanted} (line {other.line})"
        return [f"{text}. The last one to write wins."]
    values = f"It finds {found}, where {wanted} belongs."
    if culprit.kind == EARLY and other is not None:
        if not _written_before(recording, culprit):
            values = f"It finds what lay in memory ({found}), where {wanted} belongs."
        early = (
            f"{reader} reads {cell} in line {at.line} before {_who(other.thread, names)} has "
            f"written it in line {other.line}."
        )
        return [early, values, *_in_step(recording, at, other)]
    if culprit.kind == UNSEEN and other is not None:
        written = (
            f"{_capital(_who(other.thread, names))} has written it in line {other.line}, but no "
            "fence makes it seen before what follows."
        )
        return [f"{reader} reads {cell} in line {at.line}.", written, values]
    late = f"{reader} reads {cell} in line {at.line}"
    if other is None:
        return [late + ".", values]
    return [
        f"{late} after {_who(other.thread, names)} has written it anew in line {other.line}.",
        values,
        *_in_step(recording, at, other),
    ]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _in_step(recording: Recording, at: Moment, other: Moment) -> list[str]:
    """Why lanes of one warp may come one after the other, where they do."""
    one, two = recording.warps_of(np.array([at.thread, other.thread])).tolist()
    if one != two or recording.steps[at.step].threads.size > 1:
        return []
    return [
        "Lanes of a warp need not run in step: from compute capability 7.0 on, each may run ahead."
    ]


def _written_before(recording: Recording, culprit: Culprit) -> bool:
    block = culprit.at.thread // recording.threads_per_block
    _, known = recording.contents(culprit.array, culprit.at.step - 1, block)
    return bool(known[culprit.cell])


def tell_cut(recording: Recording) -> str:
    """Returns the word that a recording ends before it shows where it goes wrong."""
    return (
        f"Only the first {len(recording.steps):,} of its {recording.steps_taken:,} steps are kept, "
        "and where it goes wrong is not among them: try fewer threads, or fewer rounds of a loop."
    )


def tell_none(report: Report, races: Sequence[Hazard], tried: int, unfinished: int = 0) -> str:
    """Returns the word that no order was found which makes the result wrong.

    Args:
        report: of the launch.
        races: what the detectors found.
        tried: how many orders were run.
        unfinished: in how many of them the launch was given up before its end.
    """
    orders = f"{tried} orders of the threads were tried, and the result is the same in all of them"
    if unfinished:
        orders += (
            f" but {unfinished}.\nIn {unfinished} of them the launch did not come to its end "
            "within what the simulator allows, so there is no result to compare"
        )
    if not races:
        others = _faults(report)
        unfenced = sorted({h.line for h in report.hazards if h.details.get("loose")})
        if unfenced:
            return (
                f"A fence is missing after an atomic, before line {unfenced[0]}, and no order "
                "shows that: a GPU may read an older copy of a cell there, and the simulator keeps "
                "no copies.\n"
                f"For the rest, {orders}."
            )
        besides = f"\nIt has other faults: {others}." if others else ""
        return f"No race was found in {report.kernel}: {orders}.{besides}"
    place = _place(races)
    if all(race.details["same_value"] for race in races):
        return f"There is a race {place} {_HARMLESS}.\n{orders}."
    return (
        f"There is a race {place}, and no order was found in which it changes the result: "
        f"{orders}.\nThat is luck: a GPU promises no order."
    )


_HARMLESS = "that does no harm: several threads write the same value"


def tell_unfinished(report: Report) -> str:
    """Returns the word that a launch was given up in every order in which it was run."""
    return (
        f"The launch of {report.kernel} was given up before its end in every order, so there is "
        f"no result to compare.\nIts faults: {_faults(report)}.\nMend the faults that are no races "
        "first, or replay a smaller launch."
    )


def _faults(report: Report) -> str:
    return ", ".join(sorted({f"{h.kind} in line {h.line}" for h in report.hazards}))


def tell_wrong(report: Report, races: Sequence[Hazard]) -> str:
    """Returns the word that a result is wrong whatever the order, with no race that does harm.

    Args:
        report: of the launch.
        races: what the detectors found.
    """
    said = f"No race was found in {report.kernel}"
    if races:
        said = f"There is a race {_place(races)} {_HARMLESS}"
    return f"{said}.\nThe result is wrong in every order: it is not the order that makes it so."


def _place(races: Sequence[Hazard]) -> str:
    lines = sorted({races[0].line, races[0].details["other_line"]})
    where = " and ".join(map(str, lines))
    return f"between lines {where}" if len(lines) > 1 else f"in line {where}"
