"""Puzzle `parameter_server`: descent in an order that is given, and the age of each gradient."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

PULL, PUSH = "pull", "push"
Event = tuple[str, int]

_VISIBLE: tuple[Event, ...] = (
    (PULL, 0), (PULL, 1), (PULL, 2), (PUSH, 1), (PULL, 1), (PUSH, 0), (PUSH, 2), (PUSH, 1),
)  # fmt: skip


def _case(name: str, workers: int, pushes: int, bound: int, visible: bool = False) -> Case:
    return sized(name, visible=visible, workers=workers, pushes=pushes, bound=bound)


CASES = (
    _case("visible example", 3, 4, 5, visible=True),
    _case("one worker", 1, 6, 0),
    _case("nothing old is taken", 3, 12, 0),
    _case("at most one version old", 4, 20, 1),
    _case("at most two versions old", 4, 20, 2),
    _case("everything is taken", 5, 25, 100),
    _case("no push", 2, 0, 3),
)


def _random_case(rng: np.random.Generator) -> Case:
    workers, pushes = int(rng.integers(2, 6)), int(rng.integers(10, 30))
    return _case("an order drawn at random", workers, pushes, int(rng.integers(1, 3)))


def drawn_events(rng: np.random.Generator, workers: int, pushes: int) -> list[Event]:
    """Returns an order: each worker pulls, then pushes once or twice, and so on.

    Args:
        rng: to draw from.
        workers: how many.
        pushes: how many in all.
    """
    first = rng.permutation(workers).tolist()
    events = [(PULL, worker) for worker in first]
    while sum(what == PUSH for what, _ in events) < pushes:
        worker = int(rng.integers(workers))
        events.append((PUSH, worker))
        if rng.random() < 0.7:
            later = int(rng.integers(workers))
            events.append((PULL, worker if rng.random() < 0.7 else later))
    return events


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    sizes = case.sizes
    root = rng.normal(size=(3, 3))
    events = drawn_events(rng, sizes["workers"], sizes["pushes"])
    # No gradient of a loss, but it tells matrix @ w from w @ matrix.
    turn = np.triu(rng.normal(size=(3, 3)), 1) / 4
    return {
        "weights": rng.normal(size=3) * 2,
        "matrix": root @ root.T / 3 + np.eye(3) / 4 + turn - turn.T,
        "target": rng.normal(size=3),
        "rate": float(rng.uniform(0.05, 0.2)),
        "bound": sizes["bound"],
        "events": list(_VISIBLE) if case.visible else events,
    }


def served(
    weights: np.ndarray,
    matrix: np.ndarray,
    target: np.ndarray,
    rate: float,
    bound: int,
    events: Sequence[Event],
) -> tuple[np.ndarray, int, list[int]]:
    """Returns (weights at the end, their version, staleness of each push)."""
    history, ages = versions(weights, matrix, target, rate, bound, events)
    return history[-1], len(history) - 1, ages


def versions(
    weights: np.ndarray,
    matrix: np.ndarray,
    target: np.ndarray,
    rate: float,
    bound: int,
    events: Sequence[Event],
) -> tuple[list[np.ndarray], list[int]]:
    """Returns every version of the weights, and the staleness of each push.

    Version k + 1 is version k less a step that was taken at an older one.
    """
    history = [weights]
    held: dict[int, int] = {}
    ages = []
    for what, worker in events:
        now = len(history) - 1
        if what == PULL:
            held[worker] = now
            continue
        age = now - held[worker]
        ages.append(age)
        if age <= bound:
            history.append(history[-1] - rate * (matrix @ history[now - age] - target))
    return history, ages


def _reference(inputs: Values, case: Case) -> Values:
    return {"result": served(**inputs)}


PARAMETER_SERVER = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-12),
)
