"""Puzzle `beat_zb_2p`: a search for the order with the smallest bubble."""

from __future__ import annotations

import numpy as np

from gpu_course.measure.pipelines.orders import zb_h1, zb_h2
from gpu_course.measure.pipelines.search import bound
from gpu_course.measure.pipelines.timing import Costs, simulate
from gpu_course.puzzle import pipeline_orders
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

NEARLY_NONE = 0.01
"""A bubble rate that is good enough for any pipeline."""


def _case(
    name: str, ranks: int, microbatches: int, times: tuple[int, int, int], comm: int,
    limit: int = 2, visible: bool = False,
) -> Case:  # fmt: skip
    """Returns a case: times and messages in microseconds, the limit in multiples of ranks."""
    f, i, w = times
    return sized(
        name, visible=visible, ranks=ranks, microbatches=microbatches, chunks=1, f=f, i=i, w=w,
        comm=comm, limit=limit,
    )  # fmt: skip


def _random_case(rng: np.random.Generator) -> Case:
    """Returns a case whose limit a search by two numbers reaches with a quarter to spare.

    Above four fifths of F, W leaves gaps that take a cleverer search.
    """
    ranks = int(rng.integers(3, 7))
    f = int(rng.integers(8000, 20000))
    i, w = int(f * rng.uniform(0.9, 1.1)), int(f * rng.uniform(0.5, 0.8))
    return _case("drawn at random", ranks, 4 * ranks, (f, i, w), int(0.03 * f))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    return {
        "ranks": s["ranks"],
        "microbatches": s["microbatches"],
        "times": (s["f"] / 1000, s["i"] / 1000, s["w"] / 1000),
        "comm": s["comm"] / 1000,
        "memory": (1.0, 0.4),
        "limit": float(s["limit"] * s["ranks"]),
    }


def _costs(inputs: Values) -> Costs:
    forward, input_, weight = inputs["times"]
    activation, kept = inputs["memory"]
    return Costs(forward, input_, weight, inputs["comm"], activation, kept)


def follow(inputs: Values, case: Case, got: Values) -> Values:
    """Returns the bubble rate, memory and time of the orders that an answer gives."""
    schedule = pipeline_orders.able_to_run(got["result"], case)
    run = simulate(schedule, _costs(inputs))
    return {"bubble": run.bubble_rate, "held": max(run.peaks), "time": run.cost}


def enough(inputs: Values) -> float:
    """Returns the bubble rate that passes."""
    ranks, microbatches, costs = inputs["ranks"], inputs["microbatches"], _costs(inputs)
    by_hand = zb_h2 if inputs["limit"] >= 2 * ranks - 1 else zb_h1
    share = 0.5 if by_hand is zb_h2 else 1.02
    schedule = by_hand(ranks, microbatches)
    floor = bound(ranks, microbatches, costs, inputs["limit"])
    return max(share * simulate(schedule, costs).bubble_rate, 1.1 * floor, NEARLY_NONE)


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    if got["held"] > inputs["limit"] + 1e-6:
        fact = f"a rank holds {got['held']:.3g}, and may hold {inputs['limit']:g}"
        return Judgement("holds-too-many", fact, "over-budget")
    limit = enough(inputs)
    if got["bubble"] > limit + 1e-9:
        fact = f"the bubble is {got['bubble']:.2%}, and may be {limit:.2%}"
        return Judgement("slow", fact, "over-budget")
    return None


def _call(inputs: Values) -> str:
    """Returns the call: the sizes of a case are in microseconds and multiples of ranks."""
    given = ", ".join(f"{name}={value}" for name, value in inputs.items())
    return f"beat_zb_2p({given})"


BEAT_ZB_2P = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 4, 12, (18522, 18086, 9337), 601, visible=True),
        _case("eight ranks", 8, 32, (18513, 18086, 9331), 626),
        _case("few microbatches", 8, 24, (18522, 18086, 9337), 601),
        _case("a long W", 6, 24, (10000, 10000, 10000), 300),
        _case("no time for messages", 5, 20, (11347, 11248, 8132), 0),
        _case("one rank", 1, 4, (10000, 10000, 7000), 500),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=pipeline_orders.nothing_to_compare,
    follow=follow,
    judge=_judge,
    call=_call,
    seconds=15.0,
)
