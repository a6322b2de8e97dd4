"""Puzzle `parse_log`: what is left of a log in which a run was killed and started again."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gpu_course.lessons.failures.training_log import Attempt, told
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

BEGINS, LOADED = " iteration ", " successfully loaded checkpoint from "

STORIES: dict[str, tuple[int, list[Attempt]]] = {
    "visible example": (
        3,
        [Attempt(None, 7, cut=-1), Attempt(4, 6), Attempt(4, 5, cut=1), Attempt(4, 9)],
    ),
    "nothing happened": (2, [Attempt(None, 9)]),
    "one rank, cut at the end of the log": (1, [Attempt(2500, 2508, cut=-1)]),
    "twelve ranks": (12, [Attempt(40, 52, cut=-1), Attempt(50, 58, cut=3), Attempt(50, 56)]),
    "the log ends earlier than it had come": (
        4,
        [Attempt(100, 121, cut=-1), Attempt(110, 114, cut=0), Attempt(110, 112)],
    ),
    "a checkpoint of long ago": (
        4,
        [Attempt(None, 25), Attempt(20, 31, cut=-1), Attempt(10, 18), Attempt(5, 9, cut=2)],
    ),
    "killed before the first iteration": (
        5,
        [Attempt(None, 12, cut=-1), Attempt(10, 10), Attempt(10, 10, cut=-1), Attempt(10, 13)],
    ),
    "nothing is lost": (3, [Attempt(None, 20, cut=0), Attempt(20, 40, cut=-1), Attempt(40, 50)]),
    "an empty log": (1, []),
}
NAMES = tuple(STORIES)


def read(text: str) -> dict[str, Any]:
    """Returns what is left of a log, as `parse_log` has it.

    Args:
        text: lines of all ranks.
    """
    by_rank: dict[int, list[str]] = {}
    for line in text.splitlines(keepends=True):
        head, prefix, whole = line.rpartition("[default")
        rank, sign, words = whole.partition("]:")
        if prefix and sign and whole.endswith("\n"):
            by_rank.setdefault(int(rank), []).append(words[1:-1])
    run: dict[int, tuple[int, float, float, float]] = {}
    lost, lost_ms, restarts = 0, 0.0, 0
    for words in by_rank[max(by_rank)] if by_rank else []:
        if words.startswith(LOADED):
            restarts += 1
            at = int(words.split()[-1])
            for iteration in [each for each in run if each > at]:
                lost, lost_ms = lost + 1, lost_ms + run.pop(iteration)[2]
        elif words.startswith(BEGINS):
            head, *fields = words.strip(" |").split(" | ")
            said = dict(field.rsplit(": ", 1) for field in fields)
            iteration = int(head.split()[1].partition("/")[0])
            run[iteration] = (
                iteration,
                float(said.get("lm loss", math.nan)),
                float(said["elapsed time per iteration (ms)"]),
                float(said["TFLOPs"]),
            )
    return {"records": list(run.values()), "restarts": restarts, "lost": lost, "lost_ms": lost_ms}


def story_of(rng: np.random.Generator, case: Case) -> tuple[int, list[Attempt]]:
    """Returns the number of ranks of a case, and what happened."""
    if case.sizes["story"] >= 0:
        return STORIES[NAMES[case.sizes["story"]]]
    ranks, every = int(rng.integers(2, 12)), int(rng.integers(3, 9))
    attempts, begin = [], None
    for _ in range(int(rng.integers(2, 7))):
        last = (begin or 0) + int(rng.integers(0, 3 * every))
        cut = int(rng.integers(-1, ranks)) if rng.integers(3) else None
        attempts.append(Attempt(begin, last, cut))
        begin = max(0, last // every * every - every * int(rng.integers(4) == 0))
    return ranks, attempts


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, attempts = story_of(rng, case)
    return {"text": told(rng, attempts, ranks).text}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    right, found = expected["result"], got["result"]
    if not isinstance(found, dict) or set(found) != set(right):
        return "wrong-form"
    return None


PARSE_LOG = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=tuple(Case(name, {"story": k}, k == 0) for k, name in enumerate(NAMES)),
    random_case=lambda rng: Case("a story drawn at random", {"story": -1}),
    inputs=_inputs,
    reference=lambda inputs, case: {"result": read(inputs["text"])},
    diagnose=_diagnose,
    tolerance=(1e-9, 1e-6),
    call=lambda inputs: f"parse_log(a log of {inputs['text'].count(chr(10))} lines)",
)
