"""Puzzle `zigzag_assign`: an early chunk and a late one for each rank, and back again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.lessons.context_parallel.sequence_layouts import plain, striped, zigzag
from gpu_course.puzzle.room import told
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


def _same(got: Any, expected: Sequence[np.ndarray]) -> bool:
    if not isinstance(got, list | tuple) or len(got) != len(expected):
        return False
    return all(np.array_equal(g, e) for g, e in zip(got, expected, strict=True))


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, length = case.sizes["ranks"], case.sizes["length"]
    places = got["places"]
    chunks = np.array_split(np.arange(length), 2 * ranks)
    pairs = [(chunks[r], chunks[2 * ranks - 1 - r]) for r in range(ranks)]
    if not _same(places, expected["places"]):
        for key, wrong in (
            ("consecutive", plain(length, ranks)),
            ("striped", striped(length, ranks)),
            ("late-first", [np.concatenate([late, early]) for early, late in pairs]),
            ("late-backward", [np.concatenate([early, late[::-1]]) for early, late in pairs]),
            ("early-alone", [early for early, _ in pairs]),
            (
                "not-mirrored",
                [np.concatenate([chunks[r], chunks[r + ranks]]) for r in range(ranks)],
            ),
        ):
            if _same(places, wrong):
                return key
        if isinstance(places, list | tuple) and all(np.ndim(each) == 1 for each in places):
            found = np.concatenate([np.asarray(each) for each in places]) if places else places
            if len(np.unique(found)) == len(found) < length:
                return "rest-dropped"
            if len(np.unique(found)) == len(found) == length and len(places) == ranks:
                return "cut-otherwise"
        return None
    parts = inputs["parts"]
    restored = np.asarray(got["restored"])
    if np.array_equal(restored, np.concatenate(parts)):
        return "not-restored"
    forward = np.concatenate(expected["places"])
    if np.array_equal(restored, np.concatenate(parts)[forward]):
        return "there-again"
    if restored.ndim != np.ndim(expected["restored"]):
        return "width-lost"
    return "sorted" if np.array_equal(restored, np.sort(np.concatenate(parts), axis=0)) else None


def _call(inputs: Values) -> str:
    parts, length = inputs["parts"], inputs["length"]
    return f"zigzag({length}, {len(parts)}) and restore(parts, {length})"


ZIGZAG_ASSIGN = PythonPuzzle(
    **told(__file__),
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
