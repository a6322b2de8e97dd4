"""Puzzle `intensity`: FLOP for each byte of a layer."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.roofline.layers import Widths, widths
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values


def _case(
    name: str,
    b: int,
    d: int,
    f: int,
    bits: tuple[int, int, int] = (16, 16, 16),
    own: bool = False,
    visible: bool = False,
) -> Case:
    x, w, y = bits
    return sized(name, visible=visible, b=b, d=d, f=f, x_bits=x, w_bits=w, y_bits=y, own=int(own))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    return {
        "b": s["b"],
        "d": s["d"],
        "f": s["f"],
        "itemsizes": widths(s["x_bits"], s["w_bits"], s["y_bits"]),
        "own_weights": bool(s["own"]),
    }


def _random_case(rng: np.random.Generator) -> Case:
    b, d, f = (int(n) for n in rng.integers(3, 3000, size=3))
    bits = tuple(int(n) for n in rng.choice([4, 8, 16, 32], size=3, replace=False))
    return _case("a layer drawn at random", b, d, f, bits, bool(rng.integers(2)))  # type: ignore[arg-type]


def _moved(b: int, d: int, f: int, itemsizes: Widths, own_weights: bool) -> tuple[float, ...]:
    """Bytes of the batch, the weights and the result, each moved once."""
    x, w, y = itemsizes
    return x * b * d, w * d * f * (b if own_weights else 1), y * b * f


def _reference(inputs: Values, case: Case) -> Values:
    flop = 2 * inputs["b"] * inputs["d"] * inputs["f"]
    return {"result": flop / sum(_moved(**inputs))}


INTENSITY = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", 256, 1024, 4096, visible=True),
        _case("one row", 1, 1024, 4096),
        _case("a short side each", 7, 300, 11),
        _case("weights of a byte", 24, 800, 640, (16, 8, 16)),
        _case("weights of half a byte", 24, 800, 640, (16, 4, 32)),
        _case("a matrix for each row", 24, 800, 640, (8, 8, 8), own=True),
        _case("wide results, a matrix for each row", 5, 90, 31, (16, 8, 32), own=True),
        _case("one number each", 1, 1, 1, (32, 16, 8)),
        _case("seventeen and a half bytes of weights", 3, 5, 7, (32, 4, 8)),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-12, 0.0),
)
