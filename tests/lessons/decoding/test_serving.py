"""Who has a slot in each step: the order of arrival, and what is told of other schedules."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gpu_course.lessons.decoding import serving
from gpu_course.lessons.decoding.in_flight_batching import IN_FLIGHT_BATCHING as PUZZLE


def asked(*rows: tuple[int, int, int]) -> list[dict[str, int]]:
    return [{"arrives": a, "prompt": p, "output": o} for a, p, o in rows]


def schedule_of(requests: list[dict[str, int]], begins: tuple[int, ...]) -> list[list[int]]:
    return [
        [n for n, each in enumerate(requests) if begins[n] <= step < begins[n] + each["output"]]
        for step in range(serving.steps_of(requests, begins))
    ]


@pytest.mark.parametrize("seed", range(12))
def test_no_schedule_in_order_of_arrival_lets_anybody_begin_earlier(seed: int) -> None:
    rng = np.random.default_rng(seed)
    requests = serving.drawn_requests(rng, 4, apart=0.7, longest=4, prompt=40)
    slots, pages = int(rng.integers(1, 4)), max(map(serving.pages_of, requests)) + 1
    fair = serving.first_come(requests, slots, pages)
    assert serving.broken_rule(requests, slots, pages, schedule_of(requests, tuple(fair))) is None
    for begins in product(range(max(fair) + 2), repeat=4):
        if list(begins) != sorted(begins):
            continue
        if serving.broken_rule(requests, slots, pages, schedule_of(requests, begins)) is None:
            assert all(mine <= theirs for mine, theirs in zip(fair, begins, strict=True))


def test_each_broken_rule_is_told_with_its_step_and_request() -> None:
    requests = asked((0, 1, 2), (1, 20, 1))
    told = {
        ((0,), (0, 1)): None,
        ((0, 0), (0, 1)): ("twice", "step 0 has a request twice: [0, 0]"),
        ((0, 1), (0,)): ("early", "request 1 is in step 0, and arrives in step 1"),
        ((0,), (1,)): ("tokens", "request 0 is in 1 step, and has 2 tokens to make"),
        ((0,), (1,), (0,)): ("paused", "request 0 has begun, and is not in step 1"),
    }
    for schedule, said in told.items():
        assert serving.broken_rule(requests, 2, 9, schedule) == said
    both = [[0], [0, 1]]
    assert serving.broken_rule(requests, 1, 9, both) == (
        "slots",
        "step 1 has 2 requests and 1 slot",
    )
    assert serving.broken_rule(requests, 2, 2, both) == (
        "pages",
        "the requests of step 1 may need 3 pages, and there are 2",
    )


def test_the_last_token_needs_no_place() -> None:
    (exact, more) = asked((0, 14, 3), (0, 14, 4))
    assert (serving.pages_of(exact), serving.pages_of(more)) == (1, 2)


def test_static_batching_is_known_by_who_begins_beside_whom() -> None:
    requests = asked((0, 1, 3), (0, 1, 1), (0, 1, 1))
    assert serving.waits_for_the_batch(requests, [0, 0, 3])
    assert not serving.waits_for_the_batch(requests, [0, 0, 1])


def test_every_case_but_the_smallest_refuses_static_batching() -> None:
    """Where there is one slot, or one request, a batch waits for nobody."""
    refused = []
    for case in PUZZLE.cases:
        given = PUZZLE.inputs(np.random.default_rng(0), case)
        requests, begins, free_at = given["requests"], [], 0
        batch: list[int] = []
        for request in requests:
            held = sum(serving.pages_of(requests[k]) for k in batch) + serving.pages_of(request)
            fits = batch and len(batch) < given["slots"] and held <= given["pages"]
            if not (fits and request["arrives"] <= begins[batch[0]]):
                free_at = max([free_at, *(begins[k] + requests[k]["output"] for k in batch)])
                batch = []
            batch.append(len(begins))
            begins.append(max(free_at, request["arrives"]) if len(batch) == 1 else begins[batch[0]])
        schedule = schedule_of(requests, tuple(begins))
        assert serving.broken_rule(**given, schedule=schedule) is None
        found = PUZZLE.judge and PUZZLE.judge(given, case, {"result": schedule})
        refused.append((case.name, found.key if found else None))
    told = dict(refused)
    assert told["visible example"] == told["all at once"] == "static"
    assert told["many slots, few pages"] == "static"
    assert told["no request"] is told["one slot"] is None
