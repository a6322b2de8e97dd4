"""Puzzle `graph_breakeven`: how often a graph has to run until it pays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

_VISIBLE = {
    "kernels_ns": [2_000, 2_500, 30_000, 1_500, 3_000, 2_000, 1_000, 2_200],
    "launch_ns": 5_000,
    "graph_launch_ns": 8_000,
    "make_ns": 90_000,
}
"""Here every way of the diagnoses below comes to a number of its own."""


def _case(name: str, kind: str, visible: bool = False) -> Case:
    return sized(name, visible=visible, **{kind: 1})


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    (kind,) = case.sizes
    if kind == "shown":
        return dict(_VISIBLE)
    return KINDS[kind](rng)


def _drawn(rng: np.random.Generator, low: int, high: int, count: tuple[int, int]) -> Values:
    size = int(rng.integers(*count))
    return {
        "kernels_ns": [int(n) for n in rng.integers(low, high, size)],
        "launch_ns": int(rng.integers(3_000, 9_000)),
        "graph_launch_ns": int(rng.integers(6_000, 12_000)),
        "make_ns": int(rng.integers(100_000, 3_000_000)),
    }


def _small(rng: np.random.Generator) -> Values:
    return _drawn(rng, 300, 3_000, (30, 90))


def _large(rng: np.random.Generator) -> Values:
    """Kernels that hide all launches but the first: a graph costs more than that one."""
    return _drawn(rng, 20_000, 90_000, (5, 12)) | {"launch_ns": 5_000, "graph_launch_ns": 9_000}


def _one_launch(rng: np.random.Generator) -> Values:
    """Kernels that hide all launches but the first, which costs more than the graph's."""
    return _drawn(rng, 20_000, 90_000, (5, 12)) | {"launch_ns": 8_500, "graph_launch_ns": 6_250}


def _both(rng: np.random.Generator) -> Values:
    given = _drawn(rng, 300, 3_000, (20, 40))
    for at in rng.integers(0, len(given["kernels_ns"]), 6):
        given["kernels_ns"][int(at)] = int(rng.integers(12_000, 40_000))
    return given


def _even(rng: np.random.Generator) -> Values:
    """After so many steps both have taken equally long: one more is needed."""
    given = _small(rng)
    saved = _saved(given["kernels_ns"], given["launch_ns"], given["graph_launch_ns"])
    return given | {"make_ns": saved * int(rng.integers(4, 30))}


def _equal(rng: np.random.Generator) -> Values:
    """A step takes as long either way."""
    given = _small(rng)
    saved = _saved(given["kernels_ns"], given["launch_ns"], given["graph_launch_ns"])
    return given | {"graph_launch_ns": given["graph_launch_ns"] + saved}


def _free(rng: np.random.Generator) -> Values:
    return _small(rng) | {"make_ns": 0}


def _nothing(rng: np.random.Generator) -> Values:
    return _small(rng) | {"kernels_ns": []}


def _long(rng: np.random.Generator) -> Values:
    """A saving of one nanosecond, and a number of steps that no float holds."""
    kernel = int(rng.integers(1_000, 2_000))
    return {
        "kernels_ns": [kernel] * 3, "launch_ns": 4_001, "graph_launch_ns": 12_002 - 2 * kernel,
        "make_ns": 9_007_199_254_740_993,
    }  # fmt: skip


KINDS = {
    "small": _small, "large": _large, "one_launch": _one_launch, "both": _both, "even": _even,
    "equal": _equal, "free": _free, "nothing": _nothing, "long": _long,
}  # fmt: skip


def _random_case(rng: np.random.Generator) -> Case:
    return _case("a step drawn at random", "both")


def _single(kernels_ns: Sequence[int], launch_ns: int) -> int:
    """The longest chain of launches and kernels: some kernel begins just when it is launched."""
    chains = (launch_ns * (k + 1) + sum(kernels_ns[k:]) for k in range(len(kernels_ns)))
    return max(chains, default=0)


def _saved(kernels_ns: Sequence[int], launch_ns: int, graph_launch_ns: int) -> int:
    return _single(kernels_ns, launch_ns) - graph_launch_ns - sum(kernels_ns)


def _reference(inputs: Values, case: Case) -> Values:
    saved = _saved(inputs["kernels_ns"], inputs["launch_ns"], inputs["graph_launch_ns"])
    return {"result": None if saved <= 0 else inputs["make_ns"] // saved + 1}


GRAPH_BREAKEVEN = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example", "shown", visible=True),
        _case("small kernels", "small"),
        _case("a few long ones among them", "both"),
        _case("long kernels", "large"),
        _case("long kernels, slow launches", "one_launch"),
        _case("both ways take equally long after some steps", "even"),
        _case("a step takes equally long either way", "equal"),
        _case("a graph that costs nothing to make", "free"),
        _case("a step without kernels", "nothing"),
        _case("a nanosecond saved in a step", "long"),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
)
