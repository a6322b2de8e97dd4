"""Puzzle `dimensions`: the units of a formula, or None where it adds what cannot be added."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.referee.units_of import PRINTED, SAME, UNITS, Formula, Units
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

NOT_SOUND: dict[str, Formula] = {
    "an order of two quantities": ("<=", "write", "power"),
    "two sides of an equation": ("=", "energy", ("*", "power", "gpus")),
    "the larger of a byte and a second": ("max", "message", "latency"),
    "a number is no time": ("-", "t", 1),
    "a byte and a second": ("+", "message", "latency"),
    "powers that differ": ("=", ("^", "t", 2), "t"),
    "unsound, and times a number": ("*", 0.5, ("-", "energy", "power")),
    "a sum in which one term is no time": (
        "=", "t", ("+", "latency", ("+", ("/", "message", "peak_bw"), "message")),
    ),
    "unsound below a division": ("/", ("max", "message", "latency"), ("-", "message", "latency")),
    "unsound on the left": ("*", ("+", "message", "latency"), "gpus"),
    "unsound under a root": ("^", ("+", "flop", "message"), 0.5),
}  # fmt: skip
SOUND: dict[str, Formula] = {
    "a number": 3,
    "a name": "peak_bw",
    "units that cancel": ("/", ("*", "peak_bw", "t"), "message"),
    "the same units in another order": ("+", ("*", "power", "t"), ("*", "t", ("/", "energy", "t"))),
    "a root of a square": ("+", "t", ("^", ("*", "latency", "write"), 0.5)),
    "to the power of zero": ("^", "message", 0),
    "to a power below zero": ("*", "message", ("^", "peak_bw", -1)),
    "a third root": ("=", ("^", ("^", "t", 3), 1 / 3), "latency"),
    "a root that no square is under": ("*", ("^", "energy", 0.5), ("^", "t", 1.5)),
    "a name without a unit": ("-", ("*", "gpus", "mfu"), 1),
    "a larger one of two": ("max", "t_comm", "t_compute"),
}
CASES: dict[str, Formula] = {
    # No answer takes it for unsound, so that a wrong unit is seen as one.
    "visible example": ("/", "message", "peak_bw"),
    **SOUND,
    **NOT_SOUND,
    **{each.name: each.formula for each in PRINTED},
}
NAMES = tuple(CASES)
ABOUT = 1e-9
"""Exponents that are closer are the same: a third of three is one."""


def units_of(formula: Formula, units: dict[str, Units]) -> dict[str, float] | None:
    """Returns the exponents of a formula's unit, None where it is unsound; no exponent is zero."""
    if isinstance(formula, str):
        return {base: power for base, power in units[formula].items() if power}
    if not isinstance(formula, tuple):
        return {}
    operation, left, right = formula
    first = units_of(left, units)
    if operation == "^":
        return None if first is None else _kept({base: p * right for base, p in first.items()})
    second = units_of(right, units)
    if first is None or second is None:
        return None
    if operation in SAME:
        return first if _same(first, second) else None
    sign = 1 if operation == "*" else -1
    bases = [*first, *(base for base in second if base not in first)]
    return _kept({base: first.get(base, 0) + sign * second.get(base, 0) for base in bases})


def _kept(powers: dict[str, float]) -> dict[str, float]:
    return {base: power for base, power in powers.items() if abs(power) > ABOUT}


def _same(first: Units, second: Units) -> bool:
    return all(abs(first.get(b, 0) - second.get(b, 0)) <= ABOUT for b in {*first, *second})


def _drawn(rng: np.random.Generator, depth: int) -> Formula:
    """Returns a formula whose units are left to chance, most often sound."""
    if depth == 0 or rng.random() < 0.15:
        return str(rng.choice(list(UNITS))) if rng.random() < 0.9 else int(rng.integers(1, 9))
    operation = str(
        rng.choice(["*", "/", "^", "+", "-", "max"], p=[0.3, 0.25, 0.1, 0.15, 0.1, 0.1])
    )
    left = _drawn(rng, depth - 1)
    if operation == "^":
        return (operation, left, float(rng.choice([-2, -1, 0.5, 2, 3])))
    if operation in SAME and rng.random() < 0.9:
        # The same unit by another way: times a number, or with a name that cancels.
        name = str(rng.choice(list(UNITS)))
        return (operation, left, ("/", ("*", name, left), name))
    return (operation, left, _drawn(rng, depth - 1))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["number"]
    formula = CASES[NAMES[number]] if number >= 0 else _drawn(rng, 4)
    named = sorted(_names(formula))
    # Names that the formula does not use stand among the units too.
    named += [name for name in UNITS if name not in named][:2]
    return {
        "formula": formula,
        "units": {str(name): dict(UNITS[name]) for name in rng.permutation(named)},
    }


def _names(formula: Formula) -> set[str]:
    if isinstance(formula, str):
        return {formula}
    if not isinstance(formula, tuple):
        return set()
    _, left, right = formula
    return _names(left) | _names(right)


def _reference(inputs: Values, case: Case) -> Values:
    found = units_of(inputs["formula"], inputs["units"])
    return {"result": found and {base: float(power) for base, power in found.items()}}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    said: Any = got["result"]
    right = expected["result"]
    if right is None:
        return "unsound-passed"
    if said is None:
        return "sound-refused"
    if (
        isinstance(said, dict)
        and set(right) < set(said)
        and not any(said[base] for base in set(said) - set(right))
    ):
        return "zeros"
    return "other-unit" if isinstance(said, dict) else "form"


def text(formula: Formula) -> str:
    """Returns a formula in one line, as one would type it."""
    if not isinstance(formula, tuple):
        return f"{formula:g}" if isinstance(formula, float) else str(formula)
    operation, left, right = formula
    if operation == "max":
        return f"max({text(left)}, {text(right)})"
    return f"({text(left)} {operation} {text(right)})"


DIMENSIONS = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(Case(name, {"number": n}, n == 0) for n, name in enumerate(NAMES)),
    random_case=lambda rng: Case("a formula drawn at random", {"number": -1}),
    inputs=_inputs,
    reference=_reference,
    tolerance=(0.0, ABOUT),
    diagnose=_diagnose,
    call=lambda inputs: f"dimensions({text(inputs['formula'])}, units)",
)
