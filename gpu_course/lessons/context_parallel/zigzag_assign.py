"""Puzzle `zigzag_assign`: an early chunk and a late one for each rank, and back again."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.context_parallel.sequence_layouts import zigzag
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values
from simt.text import count


def _case(
    ranks: int, length: int, width: int = 0, name: str = "", visible: bool = False, whole: int = 0
) -> Case:
    words = name or f"{count(ranks, 'rank')}, {count(length, 'token')}"
    sizes = {"ranks": ranks, "length": length, "width": width, "whole": whole}
    return Case(words, sizes, visible)


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.integers(2, 7))
    length = 2 * ranks * int(rng.integers(2, 6)) + int(rng.integers(1, 2 * ranks))
    return _case(ranks, length, int(rng.integers(0, 4)), "sizes drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, length, width = (case.sizes[name] for name in ("ranks", "length", "width"))
    # No two of them alike, and none where its number would put it.
    shape = (length, width) if width else (length,)
    size = int(np.prod(shape))
    numbers = rng.permutation(4 * size)[:size].reshape(shape)
    whole = numbers if case.sizes["whole"] else numbers / 8.0
    parts = [whole[places] for places in zigzag(length, ranks)]
    return {"parts": parts, "length": length}


def _reference(inputs: Values, case: Case) -> Values:
    ranks, length = case.sizes["ranks"], case.sizes["length"]
    parts = inputs["parts"]
    places = zigzag(length, ranks)
    order = np.argsort(np.concatenate(places), kind="stable")
    return {"places": list(places), "restored": np.concatenate(parts)[order]}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows where tokens are missing, and where all are there, however they were cut."""
    places = got["places"]
    if np.array_equal(np.concatenate(places), np.concatenate(expected["places"])):
        flat = np.ndim(got["restored"]) != np.ndim(expected["restored"])
        return "width-lost" if flat else None
    found, length = np.concatenate([np.asarray(each) for each in places]), inputs["length"]
    if len(np.unique(found)) != len(found):
        return None
    if len(found) < length:
        return "rest-dropped"
    return (
        "cut-otherwise" if len(found) == length and len(places) == len(expected["places"]) else None
    )


def _call(inputs: Values) -> str:
    parts, length = inputs["parts"], inputs["length"]
    return f"zigzag({length}, {len(parts)}) and restore(parts, {length})"


ZIGZAG_ASSIGN = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.context_parallel.harness.zigzag_assign",
    cases=(
        _case(3, 12, name="visible example", visible=True),
        _case(2, 11, width=3),
        _case(4, 21),
        _case(3, 4, width=2),
        _case(4, 3, name="more ranks than tokens"),
        _case(1, 5, name="one rank, its two chunks are all there is"),
        _case(3, 17, name="whole numbers", whole=1),
        _case(8, 100, width=2),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    call=_call,
)
