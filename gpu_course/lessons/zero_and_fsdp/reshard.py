"""Puzzle `reshard`: what a rank reads of slices that were saved on another number of ranks."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.zero_and_fsdp.pieces import share
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

Reads = list[tuple[int, int, int]]


def reads(length: int, saved: int, ranks: int, rank: int) -> Reads:
    """Returns (file, first, end) of what a rank reads, in the order of the numbers.

    Args:
        length: of what was saved, without filling.
        saved: on how many ranks.
        ranks: on how many it is loaded.
        rank: which of them.

    >>> reads(10, 4, 2, 1)
    [(1, 2, 3), (2, 0, 3), (3, 0, 1)]
    """
    per_file, mine = share(length, saved), share(length, ranks)
    begin, end = min(length, rank * mine), min(length, (rank + 1) * mine)
    found = []
    for file in range(saved):
        first, last = max(begin, file * per_file), min(end, (file + 1) * per_file)
        if first < last:
            found.append((file, first - file * per_file, last - file * per_file))
    return found


def _case(
    length: int, saved: int, ranks: int, rank: int, name: str = "", visible: bool = False
) -> Case:
    words = name or f"{length} numbers, from {saved} ranks to {ranks}, rank {rank}"
    return sized(words, visible=visible, length=length, saved=saved, ranks=ranks, rank=rank)


CASES = (
    _case(10, 4, 2, 1, "visible example", visible=True),
    _case(10, 4, 2, 0),
    _case(1001, 2, 5, 3),
    _case(1001, 5, 3, 2),
    _case(64, 4, 4, 2),
    _case(7, 1, 3, 2),
    _case(7, 3, 1, 0),
    _case(9, 2, 8, 7, "a rank of which nothing is left but filling"),
    _case(9, 4, 2, 1, "the last file has nothing but filling"),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.integers(2, 9))
    sizes = int(rng.integers(50, 900)), int(rng.integers(2, 9)), ranks, int(rng.integers(0, ranks))
    return _case(*sizes, name="sizes drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return dict(case.sizes)


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": reads(**inputs)}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    result, right = [tuple(each) for each in got["result"]], expected["result"]
    kept = [each for each in result if len(each) == 3 and each[1] < each[2]]
    if kept == right and len(result) > len(right):
        return "empty"
    return "order" if sorted(result) == right else None


RESHARD = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
)
