"""Puzzle `in_flight_batching`: who has a slot in each step."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.decoding import serving
from gpu_course.puzzle.builders import sized
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values


def _asked(*rows: tuple[int, int, int]) -> list[dict[str, int]]:
    return [{"arrives": a, "prompt": p, "output": o} for a, p, o in rows]


_FIXED: dict[str, dict[str, Any]] = {
    "example": {
        "requests": _asked((0, 5, 2), (0, 7, 9), (0, 3, 3), (1, 9, 2), (4, 4, 2), (4, 2, 1)),
        "slots": 2,
        "pages": 8,
    },
    "none": {"requests": [], "slots": 3, "pages": 4},
    "one": {"requests": _asked((2, 20, 5)), "slots": 1, "pages": 2},
    # 17 tokens are kept of a prompt of 14 with 4 to make; of 3 to make it would be 16.
    "pages": {
        "requests": _asked((0, 14, 4), (0, 14, 3), (0, 30, 9), (0, 10, 7), (1, 1, 2), (2, 40, 3)),
        "slots": 4,
        "pages": 4,
    },
    # Somebody who lets the short ones go first keeps the first one waiting until the end.
    "long": {
        "requests": _asked((0, 4, 4), (0, 4, 30), *((k, 4, 3) for k in range(12))),
        "slots": 1,
        "pages": 9,
    },
    "pause": {
        "requests": _asked((0, 3, 2), (0, 3, 5), (9, 3, 3), (9, 3, 4), (10, 3, 1)),
        "slots": 2,
        "pages": 9,
    },
}
for _given in _FIXED.values():
    _given["requests"].sort(key=lambda each: each["arrives"])


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    s = case.sizes
    for name, given in _FIXED.items():
        if s.get(name):
            return {**given, "requests": [dict(each) for each in given["requests"]]}
    requests = serving.drawn_requests(
        rng, s["count"], apart=s["quarters_apart"] / 4, longest=s["longest"], prompt=s["prompt"]
    )
    largest = max(serving.pages_of(each) for each in requests)
    return {"requests": requests, "slots": s["slots"], "pages": largest + s["spare"]}


def _follow(inputs: Values, case: Case, got: Values) -> Values:
    schedule, count = got["result"], len(inputs["requests"])
    if not isinstance(schedule, list | tuple) or not all(
        isinstance(batch, list | tuple) for batch in schedule
    ):
        raise Unusable("in_flight_batching returned what is no list of steps, each a list")
    for step, batch in enumerate(schedule):
        for number in batch:
            if type(number) is not int or not 0 <= number < count:
                said = f"step {step} holds {number!r:.20}; there are {count} requests"
                raise Unusable(said, "no-request")
    schedule = [list(batch) for batch in schedule]
    if serving.broken_rule(**inputs, schedule=schedule):
        return {"result": schedule}
    steps = len(schedule)
    made = sum(map(len, schedule))
    return {
        "result": schedule,
        "steps": steps,
        "tokens_per_step": round(made / steps, 3) if steps else 0.0,
    }


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    schedule, requests = got["result"], inputs["requests"]
    if broken := serving.broken_rule(**inputs, schedule=schedule):
        return Judgement(*broken)
    if schedule and not schedule[-1]:
        return Judgement("empty-end", f"step {len(schedule) - 1} is the last and has no request")
    begins, fair = serving.begun(requests, schedule), serving.first_come(**inputs)
    least = serving.steps_of(requests, fair)
    made = sum(map(len, schedule))
    too_long = len(schedule) > least
    speed = f"{made / len(schedule):.2f} tokens a step" if schedule else ""
    if too_long and made == len(schedule) - schedule.count([]) and inputs["slots"] > 1:
        fact = f"{speed}, and {made / least:.2f} can be had: there are {inputs['slots']} slots"
        return Judgement("slots-idle", fact, "over-budget")
    if too_long and serving.waits_for_the_batch(requests, begins):
        fact = f"{speed}, and {made / least:.2f} can be had"
        return Judgement("static", fact, "over-budget")
    idle = serving.idle_step(**inputs, schedule=schedule, begins=begins) if too_long else None
    if idle is not None:
        fact = f"{speed}, and {made / least:.2f} can be had: step {idle} has a place to spare"
        return Judgement("slots-idle", fact, "over-budget")
    late = [b - f for b, f in zip(begins, fair, strict=True)]
    if late and max(late) > serving.PATIENCE:
        number = late.index(max(late))
        fact = f"request {number} begins in step {begins[number]}; in order it is {fair[number]}"
        return Judgement("unfair", fact, "over-budget")
    if too_long:
        fact = f"{speed}, and {made / least:.2f} can be had in order of arrival"
        return Judgement("long-last", fact, "over-budget")
    return None


IN_FLIGHT_BATCHING = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        sized("visible example", visible=True, example=1),
        sized("no request", none=1),
        sized("one request, later", one=1),
        sized("pages are short", pages=1),
        sized("a long one among short ones", long=1),
        sized("a time with nothing to do", pause=1),
        sized(
            "all at once",
            count=24,
            quarters_apart=0,
            longest=30,
            prompt=60,
            slots=6,
            spare=90,
        ),
        sized(
            "many slots, few pages",
            count=20,
            quarters_apart=3,
            longest=25,
            prompt=80,
            slots=8,
            spare=5,
        ),
        sized(
            "one slot",
            count=8,
            quarters_apart=4,
            longest=9,
            prompt=9,
            slots=1,
            spare=0,
        ),
    ),
    random_case=lambda rng: sized(
        "requests drawn at random",
        count=int(rng.integers(10, 30)),
        quarters_apart=int(rng.integers(1, 9)),
        longest=int(rng.integers(8, 40)),
        prompt=int(rng.integers(10, 80)),
        slots=int(rng.integers(2, 7)),
        spare=int(rng.integers(2, 12)),
    ),
    inputs=_inputs,
    reference=lambda inputs, case: {},
    follow=_follow,
    judge=_judge,
)
