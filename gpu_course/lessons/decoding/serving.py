"""Requests that share a model step by step: who has a slot, and what waiting costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from gpu_course.lessons.decoding.paged import pages_needed
from simt.text import count

Request = Mapping[str, int]
"""The step in which it "arrives", and the tokens of its "prompt" and of its "output"."""
PATIENCE = 4
"""Steps by which a request may begin later than first come, first served would let it."""


def pages_of(request: Request) -> int:
    """Returns the pages that a request may come to need: its last token needs no place."""
    return pages_needed(request["prompt"] + request["output"] - 1)


def first_come(requests: Sequence[Request], slots: int, pages: int) -> list[int]:
    """Returns the step in which each request begins, first come, first served.

    Each begins as early as the order allows: when it has arrived, all before it have begun, and a
    slot and its pages are free.

    >>> tokens = {"prompt": 1, "output": 2}
    >>> first_come([{"arrives": 0, **tokens}, {"arrives": 0, **tokens}], 1, 9)
    [0, 2]
    """
    begins: list[int] = []
    step = 0
    for number, request in enumerate(requests):
        step = max(step, request["arrives"])
        while True:
            running = [k for k in range(number) if begins[k] + requests[k]["output"] > step]
            held = sum(pages_of(requests[k]) for k in running)
            if len(running) < slots and held + pages_of(request) <= pages:
                break
            step += 1
        begins.append(step)
    return begins


def steps_of(requests: Sequence[Request], begins: Sequence[int]) -> int:
    """Returns how many steps it takes until every request has its tokens."""
    ends = [b + request["output"] for b, request in zip(begins, requests, strict=True)]
    return max(ends, default=0)


def broken_rule(
    requests: Sequence[Request], slots: int, pages: int, schedule: Sequence[Sequence[int]]
) -> tuple[str, str] | None:
    """Returns the first rule that a schedule breaks: its key, and a line with step and request.

    Args:
        requests, slots, pages: what was asked for.
        schedule: for each step the requests that get a token; whole numbers of requests.
    """
    for step, batch in enumerate(schedule):
        if len(set(batch)) < len(batch):
            return "twice", f"step {step} has a request twice: {list(batch)}"
        if len(batch) > slots:
            return "slots", f"step {step} has {len(batch)} requests and {count(slots, 'slot')}"
        early = [number for number in batch if requests[number]["arrives"] > step]
        if early:
            arrives = requests[early[0]]["arrives"]
            return "early", f"request {early[0]} is in step {step}, and arrives in step {arrives}"
        held = sum(pages_of(requests[number]) for number in batch)
        if held > pages:
            return (
                "pages",
                f"the requests of step {step} may need {held} pages, and there are {pages}",
            )
    for number, request in enumerate(requests):
        its = [step for step, batch in enumerate(schedule) if number in batch]
        if len(its) != request["output"]:
            fact = f"request {number} is in {count(len(its), 'step')}"
            return "tokens", f"{fact}, and has {count(request['output'], 'token')} to make"
        gaps = [one + 1 for one, other in pairwise(its) if other != one + 1]
        if gaps:
            return "paused", f"request {number} has begun, and is not in step {gaps[0]}"
    return None


def begun(requests: Sequence[Request], schedule: Sequence[Sequence[int]]) -> list[int]:
    """Returns the step in which each request of a schedule without a fault begins."""
    return [
        next(step for step, batch in enumerate(schedule) if number in batch)
        for number in range(len(requests))
    ]


def waits_for_the_batch(requests: Sequence[Request], begins: Sequence[int]) -> bool:
    """True where requests only begin when all others have ended, as in static batching."""
    ends = [b + request["output"] for b, request in zip(begins, requests, strict=True)]
    return not any(
        other < mine < end for mine in begins for other, end in zip(begins, ends, strict=True)
    )


def idle_step(
    requests: Sequence[Request],
    slots: int,
    pages: int,
    schedule: Sequence[Sequence[int]],
    begins: Sequence[int],
) -> int | None:
    """Returns the first step in which the next in order could begin and nobody does, or None."""
    for step, batch in enumerate(schedule):
        waiting = [k for k, begin in enumerate(begins) if begin > step]
        if waiting and len(batch) < slots and requests[waiting[0]]["arrives"] <= step:
            held = sum(pages_of(requests[number]) for number in [*batch, waiting[0]])
            if held <= pages:
                return step
    return None


def drawn_requests(
    rng: np.random.Generator, number: int, *, apart: float, longest: int, prompt: int
) -> list[dict[str, int]]:
    """Returns requests in the order in which they arrive, their lengths far from alike.

    Args:
        rng: what draws them.
        number: how many.
        apart: steps between two arrivals, on average.
        longest: the most tokens of an output.
        prompt: the most tokens of a prompt.
    """
    arrives = np.sort(rng.integers(0, max(1, int(number * apart)) + 1, number))
    arrives[:1] = 0
    # Most are short, and a few are long: that is what a batch waits for.
    outputs = np.ceil(longest * rng.random(number) ** 3).astype(int).clip(1)
    prompts = rng.integers(1, prompt + 1, number)
    return [
        {"arrives": int(a), "prompt": int(p), "output": int(o)}
        for a, p, o in zip(arrives, prompts, outputs, strict=True)
    ]
