"""What the stubs of lesson 28 promise of their input, and what holds it."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere


def _parts(given: Values, name: str) -> list[np.ndarray]:
    return list(given[name].parts)


def _loads(given: Values) -> np.ndarray:
    chosen = np.concatenate(_parts(given, "experts"))
    return np.bincount(chosen[chosen >= 0], minlength=sum(given["held"]))


def _no_expert_twice(given: Values) -> bool:
    rows = np.concatenate(_parts(given, "experts")).tolist()
    real = [[each for each in row if each >= 0] for row in rows]
    return all(len(set(row)) == len(row) for row in real)


def _all_finite(given: Values) -> bool:
    names = ("x", "weights", "up", "down", "dy")
    return all(np.isfinite(part).all() for name in names for part in _parts(given, name))


def _tied(scores: np.ndarray) -> bool:
    return any(len(set(row)) < len(row) for row in scores.tolist())


def _has_no_expert(given: Values) -> bool:
    total = given["arguments"]["total"]
    return any(not -1 <= each < total for row in given["arguments"]["experts"] for each in row)


def _whole_nodes(given: Values) -> bool:
    given = given["arguments"]
    return given["total"] % (given["per_rank"] * given["per_node"]) == 0


PROMISES: dict[str, tuple[Promise, ...]] = {
    "top_k_route": (
        Promise("There may be no token", lambda given: not len(given["logits"])),
        Promise("0 or more", lambda given: given["capacity"] == 0),
        Promise("or more, or all", lambda given: given["k"] == given["logits"].shape[1]),
        Promise("between equal ones the lower index first", lambda given: _tied(given["logits"])),
        Promise(
            "A logit of -inf closes an expert",
            lambda given: not given["refuses"] and bool(np.isneginf(given["logits"]).any()),
        ),
        Promise(
            "NaN or +inf is a ValueError",
            lambda given: given["refuses"] and bool(np.isnan(given["logits"]).any()),
        ),
        Promise(
            "fewer than k experts are open",
            lambda given: (
                given["refuses"] and bool((np.isfinite(given["logits"]).sum(1) < given["k"]).any())
            ),
        ),
    ),
    "all_to_all_experts": (
        Promise("A rank may have no token", lambda given: not all(map(len, _parts(given, "x")))),
        Promise("no expert, or neither", lambda given: 0 in given["held"]),
        Promise("an expert may get no token", lambda given: bool((_loads(given) == 0).any())),
        Promise("or all of them", lambda given: int((_loads(given) > 0).sum()) == 1),
        Promise(
            "-1 is a choice that was dropped",
            lambda given: any((part == -1).any() for part in _parts(given, "experts")),
        ),
        Promise("A number in experts below -1", lambda given: given["refuses"]),
        everywhere("A token has no expert twice", _no_expert_twice),
        everywhere("All numbers are finite", _all_finite),
    ),
    "bias_balance": (
        Promise("There may be no token", lambda given: not len(given["logits"][0])),
        Promise(
            "of a logit of -inf",
            lambda given: any(np.isneginf(each).any() for each in given["logits"]),
        ),
        Promise("1 to all of them", lambda given: given["k"] == len(given["bias"])),
        Promise(
            "of equal ones the lower index first",
            lambda given: any(map(_tied, given["logits"])),
        ),
        everywhere(
            "no logit is NaN or +inf",
            lambda given: all(bool((each < np.inf).all()) for each in given["logits"]),
        ),
    ),
    "all_to_all_bytes": (
        Promise("There may be no token", lambda given: not given["arguments"]["experts"]),
        Promise(
            "-1 is a choice that was dropped",
            lambda given: any(-1 in row for row in given["arguments"]["experts"]),
        ),
        Promise("is a ValueError", _has_no_expert),
        Promise(
            "the last of which may be fewer", lambda given: bool(given["arguments"]["width"] % 128)
        ),
        everywhere(
            "whole nodes of them",
            _whole_nodes,
        ),
    ),
    "limit_nodes": (
        Promise("There may be no token", lambda given: not len(given["scores"])),
        Promise("A NaN is a ValueError", lambda given: bool(np.isnan(given["scores"]).any())),
        Promise("Scores may be below 0", lambda given: bool((given["scores"] < 0).any())),
        Promise("1 to all", lambda given: given["limit"] == given["nodes"]),
        Promise("the lower index comes first", lambda given: _tied(given["scores"])),
        everywhere("no score is infinite", lambda given: not np.isinf(given["scores"]).any()),
        everywhere("a multiple of limit", lambda given: given["k"] % given["limit"] == 0),
        everywhere(
            "a node has at least as many",
            lambda given: (
                given["scores"].shape[1] // given["nodes"] >= given["k"] // given["limit"]
            ),
        ),
    ),
}
