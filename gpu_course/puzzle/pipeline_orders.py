"""What puzzles share whose answer is the order of every rank: it is judged and followed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import (
    BACKWARD,
    FORWARD,
    Schedule,
    looped,
    parse,
)
from gpu_course.measure.pipelines.rules import faults, in_flight
from gpu_course.measure.pipelines.timing import Costs, Run, simulate
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.specification import Case, Values

FORWARD_TIME, BACKWARD_TIME = 1.0, 2.0
"""Of a pass through all stages of a rank; chunks divide it."""


def case(name: str, ranks: int, microbatches: int, chunks: int = 1, visible: bool = False) -> Case:
    """Returns a case of a pipeline."""
    return sized(name, visible=visible, ranks=ranks, microbatches=microbatches, chunks=chunks)


CASES = (
    case("visible example", 4, 6, visible=True),
    case("one rank", 1, 3),
    case("two ranks", 2, 5),
    case("one microbatch", 3, 1),
    case("as many microbatches as ranks", 5, 5),
    case("fewer microbatches than ranks", 6, 3),
    case("many microbatches", 3, 17),
)


def random_case(rng: np.random.Generator) -> Case:
    """Returns a case of a pipeline drawn at random."""
    ranks, microbatches = int(rng.integers(2, 8)), int(rng.integers(1, 20))
    return case("drawn at random", ranks, microbatches)


def inputs(rng: np.random.Generator, case: Case) -> Values:
    """Returns what `NAME(ranks, microbatches)` is called with."""
    return {"ranks": case.sizes["ranks"], "microbatches": case.sizes["microbatches"]}


def inputs_with_chunks(rng: np.random.Generator, case: Case) -> Values:
    """Returns what `NAME(ranks, microbatches, chunks)` is called with."""
    return inputs(rng, case) | {"chunks": case.sizes["chunks"]}


def nothing_to_compare(inputs: Values, case: Case) -> Values:
    """There is more than one right order, so none is compared; `judge` says what is wrong."""
    return {}


def follow(inputs: Values, case: Case, got: Values) -> Values:
    """Returns what an answer's orders take: they are read, held to the rules, and timed.

    Raises:
        Unusable: what came back is no table of orders, an action in it is neither F nor B, or no
            ranks could follow it.
    """
    schedule = able_to_run(got["result"], case)
    _without_halves(schedule)
    run = simulate(schedule, costs(case))
    return {
        "orders": schedule.lines(),
        "time": run.cost,
        "bubble": run.bubble_rate,
        "in_flight": list(in_flight(schedule)),
    }


def able_to_run(
    result: Any, case: Case, placement: Sequence[int] | None = None, ways: int = 1
) -> Schedule:
    """Returns a result as a schedule that can run.

    Args:
        result: what an answer returned.
        case: of which numbers of ranks, microbatches and chunks.
        placement: for each stage its rank; default as many stages on each rank as it has chunks.
        ways: how many pipelines share the ranks.

    Raises:
        Unusable: it is no table of orders, or the rules find a fault in it.
    """
    schedule = _read(result, case, placement, ways)
    if found := faults(schedule):
        raise Unusable(found[0].sentence, found[0].key)
    return schedule


def _without_halves(schedule: Schedule) -> None:
    for rank, order in enumerate(schedule.orders):
        for step, action in enumerate(order):
            if action.kind not in (FORWARD, BACKWARD):
                fact = f"rank {rank}, step {step}: {action} is neither F nor B"
                raise Unusable(fact, "other-kind")


def costs(case: Case) -> Costs:
    """Returns what an action of a case takes."""
    part = case.sizes["chunks"]
    return Costs(FORWARD_TIME / part, BACKWARD_TIME / part, 0.0)


def _read(result: Any, case: Case, placement: Sequence[int] | None, ways: int) -> Schedule:
    ranks, chunks = case.sizes["ranks"], case.sizes["chunks"]
    if not isinstance(result, list | tuple) or len(result) != ranks:
        what = f"{len(result)} orders" if isinstance(result, list | tuple) else f"{result!r:.40}"
        raise Unusable(f"it returned {what}; {ranks} would do, one for each rank", "wrong-form")
    most = 4 * chunks * case.sizes["microbatches"] + 16
    for rank, order in enumerate(result):
        actions = order.replace(",", " ").split() if isinstance(order, str) else order
        if isinstance(actions, list | tuple) and len(actions) > most:
            raise Unusable(f"the order of rank {rank} has {len(actions)} actions", "too-long")
    try:
        where = looped(ranks, chunks) if placement is None else placement
        return parse(result, where, case.sizes["microbatches"], ways=ways)
    except CourseError as refused:
        raise Unusable(refused.fact, "wrong-form") from None


def least_time(case: Case) -> float:
    """Returns how long a pipeline takes that waits only while it fills and drains."""
    ranks, microbatches, chunks = (case.sizes[k] for k in ("ranks", "microbatches", "chunks"))
    return (FORWARD_TIME + BACKWARD_TIME) * (microbatches + (ranks - 1) / chunks)


def too_slow(case: Case, got: Values) -> str | None:
    """Returns the fact that a schedule takes longer than it must, None where it does not."""
    least = least_time(case)
    if got["time"] <= least * (1 + 1e-9):
        return None
    return f"it takes {got['time']:g}, where a forward pass takes 1; {least:g} would do"


def slowest(run: Run) -> int:
    """Returns the rank with the longest time from its first start to its last end."""
    times = [spans[-1].end - spans[0].start for spans in run.spans]
    return times.index(max(times))


def slowest_rank(got: Values, least: float) -> str:
    """Returns the fact that a rank takes longer from its first start to its last end than it must.

    Args:
        got: with the `time` of the `slowest` rank.
        least: what would do.
    """
    took = f"rank {got['slowest']} takes {got['time']:g} from its first start to its last end"
    return f"{took}, where F takes 1; {least:g} would do"


def first_backward(order: str) -> int:
    """Returns at which step of an order the first action is that is no forward pass."""
    words = order.split()
    return next((step for step, word in enumerate(words) if FORWARD not in word), len(words))


def rank_over(got: Values, most: Sequence[int]) -> str | None:
    """Returns the fact that a rank holds more microbatches than allowed, None where none does."""
    for rank, (held, allowed) in enumerate(zip(got["in_flight"], most, strict=True)):
        if held > allowed:
            return f"rank {rank} holds the activations of {held} at a time; {allowed} are enough"
    return None
