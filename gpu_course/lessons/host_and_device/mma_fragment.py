"""Puzzle `mma_fragment`: which lane holds which element for a tensor core."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.errors import Unusable
from gpu_course.lessons.host_and_device.fragments import HELD, SHAPES, WARP, product_by
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_ANY, _IDENTITY, _ONE, _ONLY_C = range(4)


def _case(name: str, kind: int, shift: int = 0, visible: bool = False) -> Case:
    return sized(name, visible=visible, kind=kind, shift=shift)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    a, b, c = (
        rng.permutation(np.arange(rows * cols) % 61 - 30 + case.sizes["shift"])
        .reshape(rows, cols)
        .astype(np.float16)
        for rows, cols in SHAPES.values()
    )
    kind = case.sizes["kind"]
    if kind == _IDENTITY:
        a = np.eye(16, dtype=np.float16)
    if kind == _ONE:
        row, k, col = (int(n) for n in rng.integers(0, (16, 16, 8)))
        a, b, c = np.zeros_like(a), np.zeros_like(b), np.zeros_like(c)
        a[row, k], b[k, col] = 3, 5
    if kind == _ONLY_C:
        a = np.zeros_like(a)
    calls = {
        f"{matrix} {lane} {number}": ("mma_fragment", matrix, lane, number)
        for matrix in SHAPES
        for lane in range(WARP)
        for number in range(HELD[matrix])
    }
    return {"calls": calls, "a": a, "b": b, "c": c}


def _random_case(rng: np.random.Generator) -> Case:
    return _case("numbers drawn at random", _ANY, int(rng.integers(1, 1000)) % 97 - 48)


def _reference(inputs: Values, case: Case) -> Values:
    a, b, c = (inputs[name].astype(np.float64) for name in "abc")
    return {"product": a @ b + c}


def _map(matrix: str, got: Values) -> np.ndarray:
    """Returns an answer's map of a matrix, once each element has one place."""
    rows, cols = SHAPES[matrix]
    owner: dict[tuple[int, int], tuple[int, int]] = {}
    places = np.zeros((WARP, HELD[matrix], 2), dtype=np.int64)
    for lane in range(WARP):
        for number in range(HELD[matrix]):
            here = f"{matrix}, lane {lane}, number {number}"
            row, col = _pair(got[f"{matrix} {lane} {number}"], here)
            if not (0 <= row < rows and 0 <= col < cols):
                raise Unusable(f"{here}: ({row}, {col}) is outside {rows} by {cols}", "outside")
            if (row, col) in owner:
                first, other = owner[row, col]
                raise Unusable(
                    f"{here}: ({row}, {col}) is also lane {first}, number {other}", "held-twice"
                )
            owner[row, col] = lane, number
            places[lane, number] = row, col
    return places


def _pair(place: Any, here: str) -> tuple[int, int]:
    pair = isinstance(place, (list, tuple)) and len(place) == 2
    if not pair or not all(isinstance(n, int) and not isinstance(n, bool) for n in place):
        raise Unusable(f"{here}: not a pair of whole numbers", "no-pair")
    return place[0], place[1]


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    maps = {matrix: _map(matrix, got) for matrix in SHAPES}
    a, b, c = (inputs[name].astype(np.float64) for name in "abc")
    return {
        "product": product_by(maps, a, b, c),
        "elements": sum(each[..., 0].size for each in maps.values()),
    }


def _call(inputs: Values) -> str:
    return "mma_fragment(matrix, lane, number) for each of the 512 elements"


MMA_FRAGMENT = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.host_and_device.harness.fragment_calls",
    call=_call,
    cases=(
        _case("visible example", _ANY, visible=True),
        _case("A is the identity", _IDENTITY),
        _case("one number in A, one in B", _ONE),
        _case("A is 0, and C is not", _ONLY_C),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    follow=_follow,
)
