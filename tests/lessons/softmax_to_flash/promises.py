"""What the stubs of lesson 13 promise of their input, and what holds it."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _alike(given: Values) -> bool:
    """True where all parts have the same shapes, and total and acc are 0 where m is -inf."""
    shapes = {(m.shape, total.shape, acc.shape[1]) for m, total, acc in given["parts"]}
    blind = all(not (total[np.isneginf(m)].any() or acc[np.isneginf(m)].any())
                for m, total, acc in given["parts"])  # fmt: skip
    return len(shapes) == 1 and blind


def _m(given: Values) -> np.ndarray:
    return np.array([part[0] for part in given["parts"]])


def _a_nan_in_one_query(given: Values) -> bool:
    return bool(np.isnan(_m(given)).any(axis=0).sum() == 1)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "merge": (
        everywhere("at least one", lambda given: len(given["parts"]) >= 1),
        Promise("at least one", lambda given: len(given["parts"]) == 1),
        everywhere("-inf where the query sees none of its keys", _alike),
        Promise("sees no key at all", lambda given: np.isneginf(_m(given)).all(axis=0).any()),
        Promise(
            "its log-sum-exp as m, 1 as total", lambda given: (given["parts"][0][1] == 1).all()
        ),
        Promise("no float64", lambda given: np.nanmax(_m(given)) > 710),
        Promise("distance from another m", lambda given: np.ptp(_m(given), axis=0).max() > 745),
        Promise("A NaN in a part", _a_nan_in_one_query),
        Promise(
            "a merge of merges",
            lambda given: any(isinstance(each, list) for each in given["order"]),
        ),
    ),
    "hbm_traffic": (
        everywhere("at least 1", lambda given: given["n"] >= 1 and given["d"] >= 1),
        Promise("at least 1", lambda given: given["n"] == 1),
        Promise("the last one may have fewer", lambda given: given["n"] == 100),
        Promise("tiled is None", lambda given: given["on_chip"] == 0),
        Promise("a thousand million", lambda given: given["n"] > 1e9),
    ),
}
