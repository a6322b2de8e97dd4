"""Small puzzles that hostile kernels are sent to: global, shared, atomic and warp-wide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_course.puzzle import Budget, Case, KernelPuzzle, Launch, Lesson
from gpu_course.puzzle.specification import Values
from tests.gpu_course.grading import toy

TPB = 64


def _warps(case: Case) -> int:
    return sum(launch.grid * -(-launch.block // 32) for launch in toy.TOY.launches(case))  # type: ignore[operator]


PLUS_TEN = replace(
    toy.TOY,
    budgets=(
        Budget("global_load.requests", lambda case, _: _warps(case), "Each number is needed once."),
        Budget(
            "branches", lambda case, _: 4 * _warps(case), "A thread has one cell to look after."
        ),
    ),
)


def _blocks(case: Case) -> int:
    return case.sizes["blocks"]


def _two_vectors(rng: np.random.Generator, case: Case) -> Values:
    size = TPB * _blocks(case)
    drawn = rng.permutation(np.arange(1, 2 * size + 1)).astype(np.float32)
    return {"a": drawn[:size], "b": drawn[size:]}


def _turned(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, TPB)[:, ::-1].reshape(-1)


TURN = KernelPuzzle(
    name="92_hostile/turn",
    title="turned block by block",
    statement="Turn a and b round within each block of TPB cells, and add them.",
    parameters={"turn": ("out", "a", "b")},
    cases=(
        Case("visible example", {"blocks": 1}, visible=True),
        Case("three blocks", {"blocks": 3}),
    ),
    random_case=lambda rng: Case("at random", {"blocks": int(rng.integers(4, 9))}),
    inputs=_two_vectors,
    launches=lambda case: (Launch("turn", _blocks(case), TPB, ("out", "a", "b")),),
    reference=lambda inputs, case: {"out": _turned(inputs["a"]) + _turned(inputs["b"])},
    hints=("weak", "stronger", "strongest"),
    constants={"TPB": TPB},
)


def _throws(rng: np.random.Generator, case: Case) -> Values:
    size = case.sizes["size"]
    return {
        "bins": np.zeros(6, np.int32),
        "a": rng.integers(0, 6, size).astype(np.int32),
        "size": size,
    }


COUNT = KernelPuzzle(
    name="92_hostile/count",
    title="how often each number was thrown",
    statement="Add one to bins[a[i]] for every i.",
    parameters={"count": ("bins", "a", "size")},
    cases=(
        Case("visible example", {"size": 10, "block": 4}, visible=True),
        Case("many", {"size": 300, "block": 64}),
    ),
    random_case=lambda rng: Case("at random", {"size": int(rng.integers(20, 99)), "block": 32}),
    inputs=_throws,
    launches=lambda case: (
        Launch(
            "count",
            -(-case.sizes["size"] // case.sizes["block"]),
            case.sizes["block"],
            ("bins", "a", "size"),
        ),
    ),
    reference=lambda inputs, case: {"bins": np.bincount(inputs["a"], minlength=6).astype(np.int32)},
    hints=("weak", "stronger", "strongest"),
)


def _one_warp(rng: np.random.Generator, case: Case) -> Values:
    return {"a": rng.permutation(np.arange(1, 33)).astype(np.float32)}


PASS_ON = KernelPuzzle(
    name="92_hostile/pass_on",
    title="from lane to lane",
    statement="Put the number of the lane to the left into out; lane 0 keeps its own.",
    parameters={"pass_on": ("out", "a")},
    cases=(Case("visible example", {}, visible=True),),
    random_case=lambda rng: Case("at random", {}),
    inputs=_one_warp,
    launches=lambda case: (Launch("pass_on", 1, 32, ("out", "a")),),
    reference=lambda inputs, case: {"out": inputs["a"][[0, *range(31)]]},
    hints=("weak", "stronger", "strongest"),
)

PUZZLES = (PLUS_TEN, TURN, COUNT, PASS_ON)
LESSON = Lesson("92_hostile", "Hostile answers", 0, 1, "You can test a grader.", PUZZLES)
