"""What the stubs of lesson 32 promise of their input, and what holds it."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _finite(given: Values) -> np.ndarray:
    return np.concatenate([[x for x in given[name] if math.isfinite(x)] for name in _CURVES])


_CURVES = ("losses", "norms")


def _majority(given: Values) -> bool:
    """More than half of the ranks have one value in each step."""
    words = [[repr(value) for value in values] for values in given["result"].tolist()]
    return all(2 * Counter(step).most_common(1)[0][1] > len(step) for step in words)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "optimal_interval": (
        Promise("infinite if it never fails", lambda given: math.isinf(given["node_mtbf_s"])),
        everywhere("more than 0", lambda given: given["write_s"] > 0),
        Promise("0 or more", lambda given: given["recover_s"] == 0),
        Promise("otherwise M", lambda given: (
            given["write_s"] >= 2 * given["node_mtbf_s"] / given["nodes"]
        )),
        Promise("a float has only 0 left", lambda given: (
            given["write_s"] > 800 * given["node_mtbf_s"] / given["nodes"]
        )),
    ),
    "goodput": (
        Promise("in no order", lambda given: given["failures"] != sorted(given["failures"])),
        Promise("more than one may break at the same moment",
                lambda given: len(set(given["failures"])) < len(given["failures"])),
        everywhere("all failures come before it",
                   lambda given: all(0 <= t < given["end"] for t in given["failures"])),
        everywhere("how long writing a checkpoint takes; 1 or more",
                   lambda given: given["write"] >= 1 and given["interval"] >= 1),
        Promise("to training again; 0 or more", lambda given: given["recover"] == 0),
        everywhere("All are whole seconds", lambda given: all(
            isinstance(value, int) for name, value in given.items() if name != "failures"
        )),
        Promise("one that falls due while another is being written",
                lambda given: not given["blocking"] and given["write"] > given["interval"]),
    ),
    "parse_log": (
        Promise("it may be empty", lambda given: not given["text"]),
        Promise("follows at once", lambda given: any(
            line.count("[default") > 1 for line in given["text"].split("\n")
        )),
        Promise("not even at the end of the log",
                lambda given: bool(given["text"]) and not given["text"].endswith("\n")),
        Promise("Lines without a rank come from elsewhere", lambda given: any(
            line and not line.startswith("[default") for line in given["text"].split("\n")
        )),
        Promise("A loss can be NAN or INF",
                lambda given: "NAN |" in given["text"] and "INF |" in given["text"]),
        Promise("A record without one had a loss of NaN", lambda given: any(
            "TFLOPs" in line and "lm loss" not in line for line in given["text"].split("\n")
        )),
    ),
    "find_the_spike": (
        Promise("NaN or infinite is a spike",
                lambda given: any(math.isnan(x) for x in given["losses"])
                and any(math.isinf(x) for x in given["norms"])),
        everywhere("above 0 where they are finite", lambda given: bool((_finite(given) > 0).all())),
        everywhere("rates are finite or NaN",
                   lambda given: not any(math.isinf(rate) for rate in given["rates"])),
        Promise("Leave out the steps whose rate is NaN",
                lambda given: any(math.isnan(rate) for rate in given["rates"])),
        Promise("There may be few steps",
                lambda given: 0 < len(given["losses"]) < given["window"]),
        Promise("or none", lambda given: not given["losses"]),
    ),
    "find_the_faulty_rank": (
        Promise("NaN is the same as NaN", lambda given: bool(np.isnan(given["result"]).any())),
        everywhere("more than half of them do have one value", _majority),
        Promise("the sum of `own` is NaN or infinite",
                lambda given: not np.isfinite(given["own"]).all()),
        everywhere("seconds, above 0", lambda given: given["least"] > 0),
        Promise("There may be no step at all", lambda given: not len(given["result"])),
    ),
    "elastic_restart": (
        everywhere("All numbers are finite", lambda given: all(
            bool(np.isfinite(given[name]).all()) for name in ("parameters", "x", "y")
        )),
        Promise("n may not divide the batch", lambda given: bool(given["batch"] % given["before"])),
        Promise("there may be fewer samples than ranks",
                lambda given: given["batch"] < given["before"]),
        Promise("None to begin anew", lambda given: given["killed"] < given["every"]),
        Promise("or more", lambda given: given["before"] > given["after"]),
        Promise("fewer of these", lambda given: given["before"] < given["after"]),
    ),
}  # fmt: skip
