"""Puzzle `find_the_spike`: jumps of the loss, and the step from which on a run is slower."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.failures.curves import Planted, drawn
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

NAN, INF = math.nan, math.inf
WINDOW, LEAST = 16, 4.0

RUNS: dict[str, Planted] = {
    "visible example": Planted(
        80, spikes={40: 2.0, 41: 1.8, 42: 1.5}, norms_alone={30: 2}, losses_alone={58: 2},
        not_finite={63: (NAN, NAN)}, slow={52: 9}, hiccups=(25, 45), no_rate=(63,),
    ),
    "a sound run": Planted(120, hiccups=(20, 40, 60, 80, 100), drift=3.0),
    "hiccups side by side": Planted(90, hiccups=(30, 31, 32, 60, 61), slow={75: 0.5}, drift=2.0),
    "not a number": Planted(
        60,
        not_finite={
            0: (NAN, 1.0), 20: (None, NAN), 21: (INF, None), 22: (NAN, INF), 45: (None, INF),
        },
        no_rate=(0, 20, 21, 22, 23),
    ),
    "many spikes in a window": Planted(
        90, spikes=dict.fromkeys((30, 32, 34, 36, 38, 40, 42, 44), 1.6), slow={50: 5},
    ),
    "a spike that outlasts a window": Planted(90, spikes=dict.fromkeys(range(40, 64), 2.0)),
    "many rates are missing": Planted(40, slow={20: 9}, no_rate=tuple(range(1, 40, 4))),
    "slower in two steps": Planted(
        120, slow={40: 6, 80: 9}, hiccups=(38, 41, 79), no_rate=(7, 21),
    ),
    "slower, and well again": Planted(120, slow={40: 9, 90: -9}, no_rate=(39, 40, 55)),
    "a spike before there is a window": Planted(40, spikes={5: 2, 15: 2, 16: 2, 35: 3}),
    "fewer steps than a window": Planted(12, spikes={9: 3}, slow={6: 9}),
    "just two windows": Planted(32, slow={16: 8}),
    "no step": Planted(0),
}  # fmt: skip
"""Runs by their names; a window of 16 steps, and 4 TFLOP/s."""
EXACT = (
    "all alike",
    "just at the limit",
    "falls that are equal",
    "it falls by just so much",
    "the last rate alone is low",
)
"""Cases whose numbers are made, not drawn: values that are tied, and limits that are met."""
NAMES = (*RUNS, *EXACT)

Series = Sequence[float]


def made(name: str) -> Values:
    """Returns the inputs of a case of EXACT."""
    if name == "all alike":
        # No distance at all, so that a hundredth of the median counts: the limit is 2.12.
        losses, norms = [2.0] * 20, [0.5] * 20
        for step, (loss, norm) in {
            8: (2.1191, 0.75),
            12: (2.1206, 0.75),
            15: (2.25, 0.515625),
        }.items():
            losses[step], norms[step] = loss, norm
        return _given(losses, norms, [150.0] * 20, 4, 1.0)
    if name == "just at the limit":
        # Medians 2 and 1, distances 1/8 and 1/16: the limits are 2.75 and 1.375.
        losses = [2.0, 1.875, 2.125, 2.0, 1.875, 2.125] * 4
        norms = [1.0, 0.9375, 1.0625, 1.0, 0.9375, 1.0625] * 4
        losses[12], norms[12] = 2.75, 4.0
        losses[20], norms[20] = 2.8125, 1.4375
        return _given(losses, norms, [150.0 - step / 4 for step in range(24)], 6, 1.5)
    if name == "falls that are equal":
        rates = [150.0] * 6 + [146.0] * 6 + [142.0] * 6
        return _given([3.0] * 18, [1.0] * 18, rates, 3, 2.0)
    if name == "the last rate alone is low":
        return _given([3.0] * 4, [1.0] * 4, [150.0, 150.0, 150.0, 140.0], 2, 1.0)
    rates = [150.0, 151.0, 149.0, 150.0, 148.0, 147.0, 148.0, 149.0]
    return _given([3.0] * 8, [1.0] * 8, rates, 4, 2.0)


def _given(losses: Series, norms: Series, rates: Series, window: int, least: float) -> Values:
    return {
        "losses": list(losses), "norms": list(norms), "rates": list(rates), "window": window,
        "least": least,
    }  # fmt: skip


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["run"]
    if number >= len(RUNS):
        return made(NAMES[number])
    if number >= 0:
        return _given(*drawn(rng, RUNS[NAMES[number]]), WINDOW, LEAST)
    steps, window = int(rng.integers(90, 160)), int(rng.integers(9, 22))
    at = [int(step) for step in rng.choice(steps, 12, replace=False)]
    planted = Planted(
        steps,
        spikes=dict(zip(at[:3], rng.uniform(1.4, 3, 3), strict=True)),
        norms_alone={at[3]: 2.0},
        losses_alone={at[4]: 2.0},
        not_finite={at[5]: (NAN, None)},
        slow={at[6]: float(rng.choice([0.0, 7.0, 10.0]))},
        hiccups=tuple(at[7:10]),
        no_rate=tuple(at[10:]),
        drift=float(rng.uniform(0, 2)),
    )
    return _given(*drawn(rng, planted), window, LEAST)


def high(values: np.ndarray, now: float) -> bool:
    """Whether a value is far above others: more than six of their median distances.

    Args:
        values: the others, one or more.
        now: the value.
    """
    middle = float(np.median(values))
    spread = float(np.median(np.abs(values - middle)))
    return now > middle + 6 * max(spread, middle / 100)


def spikes(losses: Series, norms: Series, window: int) -> list[tuple[int, int]]:
    """Returns (first, last) of each spike, as the puzzle has it."""
    both = np.array([losses, norms], float).reshape(2, -1)
    is_spike = ~np.isfinite(both).all(0)
    for step in np.flatnonzero(~is_spike):
        calm = np.flatnonzero(~is_spike[:step])[-window:]
        if len(calm) == window:
            is_spike[step] = all(high(series[calm], series[step]) for series in both)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], is_spike.astype(int), [0]])))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


def slower(rates: Series, window: int, least: float) -> int | None:
    """Returns the step from which on the rate is lower, or None, as the puzzle has it."""
    there = np.flatnonzero(~np.isnan(np.array(rates, float)))
    known = np.array(rates, float)[there]
    if len(known) < 2 * window:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(known, window)
    of_medians, of_sums = (
        each[:-window] - each[window:] for each in (np.median(windows, 1), windows.sum(1))
    )
    # The last key of a lexsort counts most; the first of equals comes first.
    best = int(np.lexsort((-of_sums, -of_medians))[0])
    return int(there[best + window]) if of_medians[best] >= least else None


def _reference(inputs: Values, case: Case) -> Values:
    losses, norms, rates, window, least = inputs.values()
    found: dict[str, Any] = {"spikes": spikes(losses, norms, window)}
    return {"result": found | {"slower": slower(rates, window, least)}}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    found = got["result"]
    right = isinstance(found, dict) and set(found) == {"spikes", "slower"}
    return None if right else "wrong-form"


FIND_THE_SPIKE = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(Case(name, {"run": k}, k == 0) for k, name in enumerate(NAMES)),
    random_case=lambda rng: Case("a run drawn at random", {"run": -1}),
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=lambda inputs: (
        f"find_the_spike(losses, norms, rates of {len(inputs['losses'])} steps, "
        f"{inputs['window']}, {inputs['least']:g})"
    ),
)
