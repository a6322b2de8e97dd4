"""Puzzle `classify`: what an operation waits for, told by two experiments."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

Run = tuple[float, float, float]
REGIMES = ("overhead", "bandwidth", "compute", "unclear")

_BORDERS: list[Run] = [
    (2.0, 2.25, 2.5),
    (2.0, 3.0, 3.0),
    (2.0, 3.0, 4.0),
    (2.0, 4.0, 3.0),
    (0.5, 0.75, 0.875),
]
"""Times that are exactly half as long again: that is not more than half."""

_HAIRS: list[Run] = [
    (s, s * (1.5 + one * 2.0**-k), s * (1.5 + other * 2.0**-k))
    for s in (2.0, 2.0**-20)
    for k in (7, 11, 18, 30, 45)
    for one, other in ((1, 1), (-1, 1), (1, -1), (-1, -1))
]
"""Times that are a hair more or less than that, of runs of two seconds and of a microsecond. All
are exact in binary, so no way to compare them has anything to round."""

_VISIBLE: list[Run] = [
    (10.0, 10.5, 10.2),
    (40.0, 41.0, 79.0),
    (50.0, 98.0, 99.0),
    (12.0, 11.0, 17.0),
]


def _case(name: str, runs: int, kinds: int, visible: bool = False, border: int = 0) -> Case:
    return sized(name, visible=visible, runs=runs, kinds=kinds, border=border)


def _run(rng: np.random.Generator, regime: str) -> Run:
    seconds = float(10.0 ** rng.uniform(-6, 1))
    flat, grown = (lambda: float(rng.uniform(0.9, 1.4))), (lambda: float(rng.uniform(1.6, 2.2)))
    flop, data = {
        "overhead": (flat(), flat()),
        "bandwidth": (flat(), grown()),
        "compute": (grown(), grown()),
        "unclear": (grown(), flat()),
    }[regime]
    return seconds, seconds * flop, seconds * data


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    if case.visible:
        return {"runs": list(_VISIBLE)}
    if border := case.sizes["border"]:
        return {"runs": list((_BORDERS, _HAIRS)[border - 1])}
    kinds = REGIMES[: case.sizes["kinds"]]
    chosen = [kinds[k % len(kinds)] for k in range(case.sizes["runs"])]
    rng.shuffle(chosen)
    return {"runs": [_run(rng, regime) for regime in chosen]}


def _random_case(rng: np.random.Generator) -> Case:
    return _case("runs drawn at random", int(rng.integers(9, 40)), 4)


def _name(flop_grows: bool, data_grows: bool) -> str:
    return {
        (False, False): "overhead",
        (False, True): "bandwidth",
        (True, True): "compute",
        (True, False): "unclear",
    }[flop_grows, data_grows]


def _grows(before: float, after: float) -> bool:
    return after / before > 1.5


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": [_name(_grows(s, f), _grows(s, d)) for s, f, d in inputs["runs"]]}


def _each(rule: Callable[[float, float, float], str]) -> Callable[[Sequence[Run]], list[str]]:
    return lambda runs: [rule(*run) for run in runs]


def _by_data(s: float, f: float, d: float) -> str:
    if _grows(s, d):
        return "bandwidth"
    return "compute" if _grows(s, f) else "overhead"


def _by_flop(s: float, f: float, d: float) -> str:
    return "compute" if _grows(s, f) else "bandwidth"


def _never_unclear(s: float, f: float, d: float) -> str:
    if _grows(s, f):
        return "compute"
    return "bandwidth" if _grows(s, d) else "overhead"


_OTHERWISE: tuple[tuple[str, Callable[[Sequence[Run]], list[str]]], ...] = (
    ("data-first", _each(_by_data)),
    ("no-overhead", _each(_by_flop)),
    ("never-unclear", _each(_never_unclear)),
    ("any-growth", _each(lambda s, f, d: _name(f > s, d > s))),
    ("difference", _each(lambda s, f, d: _name(f - s > 0.5, d - s > 0.5))),
    ("border", _each(lambda s, f, d: _name(f >= 1.5 * s, d >= 1.5 * s))),
    ("doubled", _each(lambda s, f, d: _name(f >= 2 * s, d >= 2 * s))),
    ("exchanged", _each(lambda s, f, d: _name(_grows(s, d), _grows(s, f)))),
    ("upside-down", _each(lambda s, f, d: _name(not _grows(s, f), not _grows(s, d)))),
)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result = got["result"]
    if not isinstance(result, list | tuple):
        return None
    said = list(result)
    if len(said) != len(inputs["runs"]):
        return "how-many"
    if any(word not in REGIMES for word in said):
        return "words"
    if case.sizes["border"] == 2:
        return "hair"  # here many borders look alike
    for key, way in _OTHERWISE:
        if said == way(inputs["runs"]) != expected["result"]:
            return key
    return None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "What an operation waits for is what makes it slower when there is more of it. Overhead is "
        "what is left when neither more arithmetic nor more data costs time."
    ),
    alternative=(
        "A table from the two answers, yes or no, to the four words needs no order of questions: "
        "each pair has one word."
    ),
)

CLASSIFY = PythonPuzzle(
    name="10_roofline/classify",
    title="what does it wait for?",
    difficulty="easy",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Say of each operation whether overhead, bandwidth or compute decides its time, from how "
        "the time changes when there is more arithmetic, and when there is more data."
    ),
    parameters={"classify": ("runs",)},
    cases=(
        _case("visible example", 4, 4, visible=True),
        _case("one run", 1, 1),
        _case("two kinds", 6, 2),
        _case("three kinds", 9, 3),
        _case("all four words", 16, 4),
        _case("exactly half as long again", len(_BORDERS), 4, border=1),
        _case("a hair more or less than that", len(_HAIRS), 4, border=2),
        _case("no run", 0, 4),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    diagnoses={
        "data-first": (
            "You say bandwidth wherever more data takes longer. Twice the data is twice the "
            "arithmetic as well: what does the other experiment say of those runs?"
        ),
        "no-overhead": (
            "You say bandwidth wherever more arithmetic costs nothing. Some of these runs take no "
            "longer with twice the data either. What do they wait for?"
        ),
        "never-unclear": (
            "Twice the data holds twice the arithmetic. Where that alone makes a run longer and "
            "both together do not, the measurements contradict each other: say so."
        ),
        "any-growth": (
            "You take any growth for growth. No two measurements are alike; the statement says how "
            "much longer it has to be."
        ),
        "difference": (
            "You look at how many seconds more it takes. A run of a microsecond can double without "
            "anybody noticing: compare with the run itself."
        ),
        "border": "Half as long again is not more than half as long again.",
        "hair": (
            "Here times are half as long again but for a hair, and the hair decides. Take them as "
            "they are, without rounding and without a tolerance."
        ),
        "doubled": (
            "You wait for the time to double. Part of the time stays what it was, so it seldom "
            "does; the statement says where the border is."
        ),
        "exchanged": (
            "You exchange the two experiments. A run is (seconds, seconds with twice the FLOP, "
            "seconds with twice the data)."
        ),
        "upside-down": (
            "You take what costs nothing for what decides. What an operation waits for takes "
            "longer when there is more of it."
        ),
        "how-many": "Return a list with one word for each run.",
        "words": 'The words are "overhead", "bandwidth", "compute" and "unclear".',
    },
    hints=(
        "Ask two questions of each run: does more arithmetic make it longer? Does more data?",
        (
            "Four pairs of answers, four words. Which pair says that neither arithmetic nor memory "
            "is what the run waits for?"
        ),
        (
            "More data comes with more arithmetic. So a run that waits for arithmetic grows in "
            "both experiments, and one that waits for memory in one of them."
        ),
    ),
    mistakes=(
        Mistake("asks_for_data_first", "wrong-result", "data-first"),
        Mistake("knows_no_overhead", "wrong-result", "no-overhead"),
        Mistake("trusts_every_measurement", "wrong-result", "never-unclear"),
        Mistake("any_growth_is_growth", "wrong-result", "any-growth"),
        Mistake("half_a_second_more", "wrong-result", "difference"),
        Mistake("half_as_long_again_is_enough", "wrong-result", "border"),
        Mistake("rounds_before_it_compares", "wrong-result", "hair"),
        Mistake("waits_for_it_to_double", "wrong-result", "doubled"),
        Mistake("data_before_flop", "wrong-result", "exchanged"),
        Mistake("what_is_free_decides", "wrong-result", "upside-down"),
        Mistake("one_word_for_all", "wrong-result", "how-many"),
        Mistake("other_words", "wrong-result", "words"),
    ),
    source="He, Making Deep Learning Go Brrrr From First Principles, 2022",
)
