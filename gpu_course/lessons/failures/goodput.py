"""Puzzle `goodput`: a run with given failures, second by second accounted for."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, PythonPuzzle, Values

SAVED, REPAIRED, RECOVERED, FAILS, DUE, ENDS = range(6)
"""What can happen; at one moment in this order."""

NAMES = (
    "failures", "end", "interval", "write", "blocking", "recover", "spares", "repair"
)  # fmt: skip
Given = tuple[list[int], int, int, int, bool, int, int, int]

GIVEN: dict[str, Given] = {
    "visible example": ([365, 130, 385, 610], 1100, 60, 10, True, 30, 1, 300),
    "the same, not blocking": ([365, 130, 385, 610], 1100, 60, 10, False, 30, 1, 300),
    "nothing fails": ([], 1000, 90, 7, True, 30, 1, 300),
    "nothing fails, nothing blocks": ([], 1000, 90, 7, False, 30, 1, 300),
    "a failure just as a write is over": ([140, 210, 461], 700, 60, 10, True, 20, 8, 50),
    "a failure just as a write is over, not blocking": (
        [140, 229, 500], 700, 60, 20, False, 20, 8, 50
    ),
    "a write takes longer than an interval": (
        [100, 333, 610, 799], 1000, 20, 50, False, 15, 9, 10
    ),
    "a write takes just two intervals": ([139, 410, 700], 900, 20, 40, False, 19, 9, 10),
    "two machines break at one moment": ([300, 90, 300], 800, 50, 5, True, 25, 1, 120),
    "failures while it waits and while it recovers": (
        [100, 150, 260, 275, 290], 1500, 40, 8, True, 60, 1, 200
    ),
    "no spare at all": ([75, 400, 401], 1000, 30, 5, False, 10, 0, 77),
    "a spare is back just when it is needed": ([100, 200, 300], 700, 45, 5, True, 0, 1, 100),
    "it fails at once": ([0, 0, 20], 300, 25, 5, True, 10, 1, 30),
    "no checkpoint is ever finished": (list(range(40, 2000, 45)), 2000, 30, 15, True, 5, 99, 60),
    "it never trains again": ([200, 210], 500, 50, 10, False, 30, 1, 900),
    "the end comes in a write": ([100], 455, 50, 10, True, 15, 2, 60),
}  # fmt: skip
CASES = (
    *(Case(name, {"given": k}, k == 0) for k, name in enumerate(GIVEN)),
    Case("many failures, blocking", {"given": -1, "block": 1}),
    Case("many failures, not blocking", {"given": -1, "block": 0}),
    Case("as many again, not blocking", {"given": -1, "block": 0}),
    Case("419 failures in 54 days", {"given": -2}),
)


def happened(
    failures: Sequence[int],
    end: int,
    interval: int,
    write: int,
    blocking: bool,
    recover: int,
    spares: int,
    repair: int,
) -> dict[str, int]:
    """Returns the seconds of a run that were useful, spent writing, lost, and down.

    From event to event of a queue: between two of them nothing changes.

    Args: as the puzzle has them.
    """  # fmt: skip
    queue: list[tuple[int, int, int]] = [(moment, FAILS, 0) for moment in failures]
    queue += [(end, ENDS, 0), (interval, DUE, 0)]
    heapq.heapify(queue)
    spent = {"useful": 0, "writing": 0, "lost": 0, "down": 0}
    now, trained, saved, state, ready = 0, 0, 0, 0, spares
    doing, written, life = "training", False, 0
    while True:
        moment, what, of = heapq.heappop(queue)
        if doing == "training":
            trained += moment - now
        else:
            spent[doing] += moment - now
        now = moment
        if what == ENDS:
            return spent | {"useful": trained}
        if what == FAILS:
            spent["lost"] += trained - saved
            trained, doing, written, ready, life = saved, "down", False, ready - 1, life + 1
            heapq.heappush(queue, (now + repair, REPAIRED, 0))
        elif what == REPAIRED:
            ready += 1
            if ready != 0 or doing != "down":
                continue
        elif of != life:  # of a run that has failed since
            continue
        elif what == DUE:
            if not written:
                state, written = trained, True
                doing = "writing" if blocking else doing
                heapq.heappush(queue, (now + write, SAVED, life))
            if doing == "training":
                heapq.heappush(queue, (now + interval, DUE, life))
        else:
            if what == SAVED:
                saved, written = state, False
            if what == RECOVERED or blocking:
                doing = "training"
                heapq.heappush(queue, (now + interval, DUE, life))
        if what in (FAILS, REPAIRED) and ready >= 0:
            heapq.heappush(queue, (now + recover, RECOVERED, life))


def _drawn(rng: np.random.Generator, case: Case) -> Given:
    if case.sizes["given"] == -2:
        end = 54 * 86_400
        failures = np.sort(rng.integers(0, end, 419))
        return rng.permutation(failures).tolist(), end, 1740, 37, True, 660, 6, 86_400
    # Multiples of five: many moments fall together.
    end = 5 * int(rng.integers(400, 900))
    failures = 5 * rng.integers(0, end // 5, int(rng.integers(12, 30)))
    interval, write = 5 * int(rng.integers(4, 16)), 5 * int(rng.integers(1, 6))
    blocking = bool(case.sizes["block"])
    if not blocking and rng.integers(2):
        write *= 4
    recover, spares, repair = 5 * int(rng.integers(0, 9)), int(rng.integers(0, 4)), 5 * 40
    return failures.tolist(), end, interval, write, blocking, recover, spares, repair


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    number = case.sizes["given"]
    given = list(GIVEN.values())[number] if number >= 0 else _drawn(rng, case)
    failures, *others = given
    return dict(zip(NAMES, (list(failures), *others), strict=True))


def _random_case(rng: np.random.Generator) -> Case:
    return Case("a run drawn at random", {"given": -1, "block": int(rng.integers(2))})


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    right, found = expected["result"], got["result"]
    if not isinstance(found, dict) or set(found) != set(right):
        return "wrong-form"
    numbers = list(found.values())
    if not all(isinstance(each, int | float | np.number) for each in numbers):
        return "wrong-form"
    return None if sum(numbers) == inputs["end"] else "does-not-add-up"


def _call(inputs: Values) -> str:
    failures = inputs["failures"]
    shown = failures if len(failures) < 6 else f"[{len(failures)} failures]"
    others = (f"{name}={inputs[name]}" for name in NAMES[1:])
    return f"goodput({shown}, {', '.join(others)})"


GOODPUT = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=lambda inputs, case: {"result": happened(**inputs)},
    diagnose=_diagnose,
    call=_call,
)
