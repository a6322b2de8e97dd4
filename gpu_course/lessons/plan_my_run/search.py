"""Puzzle `search`: the fastest of many layouts, with as few runs as what is known allows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_course.lessons.plan_my_run.sweeps import (
    Sweep,
    drawn_sweep,
    floor_s,
    playbook_sweep,
    tried,
)
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from simt.text import count

REGRET = 0.01
"""By which part the step that is found may be longer than the best."""
_ONE = drawn_sweep("small", 7)

KNOWN: dict[str, Sweep] = {
    "visible example": drawn_sweep("small", 1, 0.0016),
    "much is hidden": drawn_sweep("small", 5, 0.0016, hidden=0.9),
    "8B on 64 GPUs": drawn_sweep("8B", 2, hidden=0.7),
    "70B on 256 GPUs": drawn_sweep("70B", 3),
    "70B on 256 GPUs, the slowest first": drawn_sweep("70B", 6, order="slowest first"),
    "GPT-3 on 1,024 GPUs": drawn_sweep("GPT-3", 4, hidden=0.8),
    "8.86B on 8 nodes, as measured": playbook_sweep("8.86B", 8, 60.0),
    "3.57B on 16 nodes, as measured": playbook_sweep("3.57B", 16, 60.0),
    "one layout": Sweep(_ONE.layouts[:1], _ONE.limit_bytes, _ONE.measured_s[:1]),
    "a memory that is just enough": Sweep(
        _ONE.layouts, min(each["memory_bytes"] for each in _ONE.layouts), _ONE.measured_s
    ),
    "a model that fits nowhere": drawn_sweep("70B", 3, 2.0),
    "no layout": Sweep((), 80e9, ()),
}
NAMES = tuple(KNOWN)


def _random_case(rng: np.random.Generator) -> Case:
    return Case("a sweep drawn at random", {"number": -1, "seed": int(rng.integers(1 << 20))})


def _sweep(case: Case) -> Sweep:
    number = case.sizes["number"]
    if number >= 0:
        return KNOWN[NAMES[number]]
    return drawn_sweep("8B", case.sizes["seed"], 70.0, hidden=0.6)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    sweep = _sweep(case)
    return {"layouts": list(sweep.layouts), "limit_bytes": sweep.limit_bytes}


def most_runs(sweep: Sweep) -> int:
    """Returns how many runs an answer has."""
    return sweep.needed + max(3, sweep.needed // 10) if sweep.fitting else 0


def _reference(inputs: Values, case: Case) -> Values:
    return {"fits": bool(_sweep(case).fitting)}


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    pairs = _read(got["result"], len(inputs["layouts"]))
    sweep = _sweep(case)
    found = tried(sweep, pairs)
    return {
        "fits": bool(sweep.fitting),
        "pairs": pairs,
        "runs": found.runs,
        "died": len(found.died),
        "found": found.found,
        "found_s": found.found_s if found.runs else 0.0,
    }


def _read(result: Any, layouts: int) -> list[tuple[int, float]]:
    """Returns the pairs of an answer, or says why they are none."""
    if not isinstance(result, list | tuple | np.ndarray):
        raise Unusable(f"it returned {result!r:.40}, no list of pairs", "wrong-form")
    pairs = []
    for each in result:
        if not isinstance(each, list | tuple | np.ndarray) or len(each) != 2:
            raise Unusable(f"{each!r:.40} is no pair (number, floor)", "wrong-form")
        number, least = each
        whole = isinstance(number, int | float | np.number) and float(number).is_integer()
        if isinstance(number, bool) or not whole or not 0 <= number < layouts:
            raise Unusable(f"{number!r:.20} is no number of a layout", "wrong-form")
        if not isinstance(least, int | float | np.number) or math.isnan(least):
            raise Unusable(f"{least!r:.40} is no number of seconds", "wrong-form")
        pairs.append((int(number), float(least)))
    if len({number for number, _ in pairs}) < len(pairs):
        raise Unusable("a layout stands in the list twice", "twice")
    return pairs


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    sweep = _sweep(case)
    if not sweep.fitting:
        if got["runs"]:
            fact = f"{count(got['runs'], 'layout')} run, and none of them fits"
            return Judgement("dead-runs", fact, "over-budget")
        return None
    if got["found_s"] > (1 + REGRET) * sweep.best_s or got["found"] < 0:
        return _regret(sweep, got)
    if got["runs"] > most_runs(sweep):
        fact = f"{got['runs']} layouts run; {most_runs(sweep)} are allowed"
        return Judgement(_why_many(sweep, got["pairs"], got["died"]), fact, "over-budget")
    return None


def _regret(sweep: Sweep, got: Values) -> Judgement:
    best = min(sweep.fitting, key=sweep.measured_s.__getitem__)
    if got["found"] < 0:
        fact = "no layout of your list ran to its end, and some would have"
    else:
        more = got["found_s"] / sweep.best_s - 1
        fact = f"the fastest of your runs is {more:.1%} slower than the best layout"
    if best not in dict(got["pairs"]):
        return Judgement("left-out", fact)
    # Nothing slower skips the best one, but for a floor that it went below.
    return Judgement("no-floor", fact)


def _why_many(sweep: Sweep, pairs: list[tuple[int, float]], died: int) -> str:
    """Returns the key of what made the runs so many: what alone would have saved most."""
    fits = set(sweep.fitting)
    repaired = {
        "dead-runs": [pair for pair in pairs if pair[0] in fits],
        "low-floor": [(n, max(least, floor_s(sweep.layouts[n]))) for n, least in pairs],
        "order": sorted(pairs, key=lambda pair: floor_s(sweep.layouts[pair[0]])),
    }
    if not died:
        del repaired["dead-runs"]
    return min(repaired, key=lambda key: tried(sweep, repaired[key]).runs)


def _call(inputs: Values) -> str:
    layouts = inputs["layouts"]
    first = f"{layouts[0]}, ..." if layouts else ""
    return f"search([{first}], {inputs['limit_bytes']:.3g}), {count(len(layouts), 'layout')}"


SEARCH = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(Case(name, {"number": number}, number == 0) for number, name in enumerate(NAMES)),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
    judge=_judge,
    call=_call,
)
