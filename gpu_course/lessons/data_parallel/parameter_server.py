"""Puzzle `parameter_server`: descent in an order that is given, and the age of each gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.room import told
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


def _otherwise(given: Values) -> dict[str, Any]:
    """Returns {diagnosis: the result that this slip leads to}."""
    found: dict[str, Any] = {}
    events, bound = given["events"], given["bound"]
    loose = {**given, "bound": len(events)}
    found["takes-everything"] = served(**loose)
    found["too-strict"] = served(**{**given, "bound": bound - 1})
    found["climbs"] = served(**{**given, "rate": -given["rate"]})
    weights, version, ages = served(**given)
    found["only-taken"] = (weights, version, [age for age in ages if age <= bound])
    again = [each for event in events for each in ((event, (PULL, event[1]))
             if event[0] == PUSH else (event,))]  # fmt: skip
    found["pulled-again"] = served(**{**given, "events": again})
    found["counts-dropped"] = _counted(given, every=True)
    found["counts-pushes"] = _counted(given, every=False)
    pushes = sum(what == PUSH for what, _ in events)
    fresh = [each for _ in range(pushes) for each in ((PULL, 0), (PUSH, 0))]
    found["synchronous"] = served(**{**loose, "events": fresh})
    found["fresh"] = (served(**{**loose, "events": fresh[: 2 * version]})[0], version, ages)
    return found


def _counted(given: Values, every: bool) -> Any:
    """Returns the result where age is counted in pushes, dropped ones too.

    Args:
        given: the inputs.
        every: True where the version grows with each push as well.
    """
    weights, steps, pushes = given["weights"], 0, 0
    held: dict[int, tuple[np.ndarray, int]] = {}
    ages = []
    for what, worker in given["events"]:
        if what == PULL:
            held[worker] = weights, pushes
            continue
        own, since = held[worker]
        ages.append(pushes - since)
        if pushes - since <= given["bound"]:
            weights = weights - given["rate"] * (given["matrix"] @ own - given["target"])
            steps += 1
        pushes += 1
    return weights, pushes if every else steps, ages


def _alike(one: Any, other: Any) -> bool:
    return (
        len(one) == 3
        and np.allclose(one[0], other[0], rtol=1e-9, atol=1e-12)
        and one[1] == other[1]
        and list(one[2]) == list(other[2])
    )


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    for key, wrong in _otherwise(inputs).items():
        if _alike(got["result"], wrong) and not _alike(wrong, expected["result"]):
            return key
    return None


PARAMETER_SERVER = PythonPuzzle(
    **told(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-12),
    diagnose=_diagnose,
)
