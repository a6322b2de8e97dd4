"""What the stubs of lesson 26 promise of their input, and what holds it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise

import numpy as np

from gpu_course.lessons.pipelines.cuts import best_cut, stage_costs
from gpu_course.measure.pipelines.actions import FORWARD, parse
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere, one_of


def _at_least(name: str, least: int) -> tuple[Promise, ...]:
    words = "at least one"
    return (
        everywhere(words, lambda given: given[name] >= least),
        Promise(words, one_of(name, least)),
    )


def _breaks_off(given: Values) -> bool:
    return any(order and order[-1].lstrip("0123456789")[0] == FORWARD for order in given["orders"])


def _follows_no_rule(given: Values) -> bool:
    """Whether a rank goes forward, back and forward through its stages in no turn."""
    if any(not order for order in given["orders"]):
        return False
    firsts = [action for action in parse(given["orders"]).orders[0] if action.kind == FORWARD]
    return firsts != sorted(firsts) and firsts != sorted(firsts, key=lambda a: a.microbatch)


def _has_two_best_cuts(given: Values) -> bool:
    costs, ranks = given["costs"], given["ranks"]
    if not 1 <= ranks <= len(costs) <= 14:
        return False
    least = max(stage_costs(costs, best_cut(costs, ranks)))
    found = 0
    for inner in combinations(range(1, len(costs)), ranks - 1):
        cut = [end - start for start, end in pairwise((0, *inner, len(costs)))]
        found += max(stage_costs(costs, cut)) == least
    return found > 1


def _finite(given: Values) -> bool:
    arrays = [given["weight"], *given["inputs"], *given["gradients"], np.array(given["rate"])]
    return all(bool(np.isfinite(array).all()) for array in arrays)


def _layers(found: Callable[[int, int], bool]) -> Callable[[Values], bool]:
    return lambda given: found(len(given["costs"]), given["ranks"])


PROMISES: dict[str, tuple[Promise, ...]] = {
    "gpipe_order": _at_least("microbatches", 1),
    "one_f_one_b": _at_least("microbatches", 1),
    "in_flight": (
        Promise("Orders may follow no rule", _follows_no_rule),
        Promise("may be broken off before all is given back", _breaks_off),
        Promise("and may be empty", lambda given: [] in given["orders"]),
    ),
    "interleaved": (
        everywhere(
            "a multiple of `ranks`", lambda given: given["microbatches"] % given["ranks"] == 0
        ),
        *_at_least("chunks", 1),
    ),
    "breadth_first": (
        everywhere(
            "at least as many as ranks", lambda given: given["microbatches"] >= given["ranks"]
        ),
        *_at_least("chunks", 1),
    ),
    "balance": (
        everywhere("each at least 1", lambda given: min(given["costs"], default=1) >= 1),
        Promise("each at least 1", lambda given: 1 in given["costs"]),
        *_at_least("ranks", 1),
        Promise("Several cuts may reach it", _has_two_best_cuts),
        Promise("more than a hundred layers", _layers(lambda layers, ranks: layers > 100)),
        Promise("more ranks than layers", _layers(lambda layers, ranks: ranks > layers > 0)),
        Promise("There may be no layer at all", lambda given: given["costs"] == []),
    ),
    "stash_bug": (
        everywhere("all numbers are finite", _finite),
        Promise("There may be no microbatch", lambda given: not given["order"]),
    ),
}

ALIKE = {"gpipe_order", "one_f_one_b", "interleaved", "breadth_first"}
"""More than one order is right, so none is compared: `judge` says what is wrong."""
