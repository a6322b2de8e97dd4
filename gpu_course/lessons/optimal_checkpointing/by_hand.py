"""A chain small enough to be planned with a pencil, and what stands in the table of its parts."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpu_course.lessons.optimal_checkpointing.dynamic_program import Solved, least_to_save
from gpu_course.measure.schedules.chain import Chain, Stage

KEPT = (4, 2, 2)
"""What the stages of `three_stages` keep when they save everything, in slots."""


@dataclass(frozen=True)
class Beginning:
    """One way to begin a part of a chain.

    Attributes:
        words: what is done first.
        sum: its cost, put together from those of smaller parts.
        cost: the same as a number, inf where it does not fit.
    """

    words: str
    sum: str
    cost: float


def three_stages() -> Chain:
    """Returns three stages whose outputs take a slot each and whose forward passes cost 1 each.

    Gradients take nothing, operators need no room beside their tensors, and backward passes cost
    nothing. So the cost of a schedule is the number of its forward passes.

    >>> [stage.saved_bytes + stage.output_bytes for stage in three_stages().stages]
    [4, 2, 2]
    """
    return Chain(tuple(Stage(1, kept - 1, 1, kept, 0, 0, 1, 0) for kept in KEPT))


def table_text(table: Solved, longest: int | None = None) -> str:
    """Returns the least costs of all parts of a chain, one line for each part, short parts first.

    Args:
        table: of the chain.
        longest: how many stages the parts have at most; default all.
    """
    length = len(table.chain)
    lines = [f"{'slots':<16}" + "".join(f"{m:>5}" for m in range(1, table.memory + 1))]
    for long in range(1, (longest or length) + 1):
        for s in range(length - long + 1):
            costs = table.cost[s][long - 1, 1:]
            cells = "".join(f"{_number(cost):>5}" for cost in costs)
            lines.append(f"{_part(s, s + long):<16}{cells}")
    return "\n".join(lines)


def beginnings(table: Solved, s: int, t: int, memory: int) -> list[Beginning]:
    """Returns every way to begin stages s to t - 1: save all of s, or run on to each later stage.

    Args:
        table: of a chain whose gradients take nothing and whose forward passes need no other room
            than their outputs, such as `three_stages`.
        s, t: the part, t not in it.
        memory: in slots.
    """
    stage = table.chain.stages[s]
    own = stage.forward_cost + stage.backward_cost
    words, left = f"save all of {s}", memory - stage.saved_bytes - stage.output_bytes
    if memory < least_to_save(table.chain, s, t):
        found = [Beginning(words, "no room", math.inf)]
    elif t == s + 1:
        found = [Beginning(words, f"{own}", own)]
    else:
        found = [_added(words, own, (_cost(table, s + 1, t, left), _named(s + 1, t, left)))]
    for c in range(s + 1, t):
        run = sum(each.forward_cost for each in table.chain.stages[s:c])
        left = memory - table.chain.input_bytes(c)
        found.append(
            _added(
                f"keep its input, run on to {c}",
                run,
                (_cost(table, c, t, left), _named(c, t, left)),
                (_cost(table, s, c, memory), _named(s, c, memory)),
            )
        )
    return found


def beginnings_text(table: Solved, s: int, t: int, memory: int) -> str:
    """Returns every beginning of a part with its cost, the cheapest ones marked."""
    found = beginnings(table, s, t, memory)
    least = min(each.cost for each in found)
    lines = [f"{_part(s, t)}, {_slots(memory)}"]
    for each in found:
        best = math.isfinite(each.cost) and each.cost == least
        lines += [f"{'*' if best else ' '} {each.words}", f"      {each.sum}"]
    return "\n".join([*lines, "* costs least" if math.isfinite(least) else "Nothing fits."])


def _added(words: str, own: int, *parts: tuple[float, str]) -> Beginning:
    cost = own + sum(part for part, _ in parts)
    terms = [f"{own}", *(f"{_number(part)} ({name})" for part, name in parts)]
    total = f" = {cost:.0f}" if math.isfinite(cost) else ": no room"
    return Beginning(words, " + ".join(terms) + total, cost)


def _cost(table: Solved, s: int, t: int, memory: int) -> float:
    return float(table.cost[s][t - s - 1, memory]) if memory >= 0 else math.inf


def _named(s: int, t: int, memory: int) -> str:
    return f"{_part(s, t)}, {_slots(max(memory, 0))}"


def _part(s: int, t: int) -> str:
    return f"stage {s}" if t == s + 1 else f"stages {s} to {t - 1}"


def _slots(memory: int) -> str:
    return "1 slot" if memory == 1 else f"{memory} slots"


def _number(cost: float) -> str:
    return f"{cost:.0f}" if math.isfinite(cost) else "-"
