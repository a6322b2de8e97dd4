"""Puzzles whose answer is a schedule: it is followed here, on a real chain too, and counted."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gpu_course.errors import CourseError
from gpu_course.puzzle.harness import Unusable
from gpu_course.puzzle.specification import Case, Values
from simt.text import count

if TYPE_CHECKING:
    from gpu_course.measure.schedules.chain import Chain
    from gpu_course.measure.schedules.operations import Schedule


def plain_results(inputs: Values, case: Case) -> Values:
    """Returns what the plain run of the same real chain leaves behind."""
    if not inputs["chain"]:
        return {}
    stages = inputs["stages"]
    length = stages if isinstance(stages, int) else len(stages)
    found = _plain(inputs["chain"], length, inputs["seed"])
    return {name: value for name, value in found.items() if value is not None}


@lru_cache(maxsize=64)
def _plain(chain: str, length: int, seed: int) -> Values:
    import torch

    from gpu_course.measure.chains import real_chain
    from gpu_course.measure.peak import measure_peak
    from gpu_course.measure.schedules.execute import plain

    modules, batch = real_chain(chain, length, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        # One thread, as in the child: sums are taken in the same order there.
        loss = measure_peak(lambda: plain(modules, batch)).value
    gradients = [p.grad for m in modules for p in m.parameters() if p.grad is not None]
    buffers = [b.double().flatten() for m in modules for b in m.buffers()]
    return {
        "loss": loss,
        "gradients": torch.cat([gradient.flatten() for gradient in gradients]).numpy(),
        "buffers": torch.cat(buffers).numpy() if buffers else None,
    }


CAUSES = {
    "its input is not in memory": "input-missing",
    "the gradient at hand": "backward-order",
    "has not saved everything": "not-saved",
    "the schedule ends": "unfinished",
}
"""What `account` says of a schedule that cannot be followed, and its diagnosis."""


def most_operations(length: int) -> int:
    """Returns the operations of the longest schedule that runs no stage for nothing.

    It keeps nothing but the batch: before each backward pass all stages up to its own are run. What
    is much longer could keep the grader busy for as long as it likes.

    >>> most_operations(3)
    9
    """
    return length * (length + 1) // 2 + length


WASTED = 64
"""Operations for nothing that a schedule may have and is followed all the same, so it is told."""


def followed(inputs: Values, case: Case, got: Values) -> Values:
    """Returns a schedule and, where the chain is a real one, what following it here took.

    Raises:
        Unusable: it cannot be followed.
    """
    from gpu_course.measure.chains import real_chain
    from gpu_course.measure.schedules.chain import Chain, Stage, uniform
    from gpu_course.measure.schedules.followed import follow
    from gpu_course.measure.schedules.operations import account
    from gpu_course.measure.schedules.written import read, written

    stages = inputs["stages"]
    sizes = (
        uniform(stages)
        if isinstance(stages, int)
        else Chain(tuple(Stage(**stage) for stage in stages))
    )
    pairs, most = got["schedule"], most_operations(len(sizes))
    if len(pairs) > most + WASTED:
        fact = (
            f"a schedule of {count(len(pairs), 'operation')}; keeping nothing but the batch takes "
            f"{most:,}"
        )
        raise Unusable(fact, "too-long")
    try:
        schedule = read(pairs)
    except CourseError as error:
        raise Unusable(f"{inputs['function']}: {error.fact}", "wrong-form") from error
    try:
        rises = account(sizes, schedule).rises
    except CourseError as error:
        cause = next((key for words, key in CAUSES.items() if words in error.fact), "impossible")
        raise Unusable(error.fact, cause, _broken(sizes, schedule)) from error
    found: Values = {"schedule": written(schedule), "rises": list(rises)}
    if inputs["chain"]:
        modules, batch = real_chain(inputs["chain"], len(sizes), inputs["seed"])
        found |= follow(modules, batch, schedule, inputs["seed"])
    return found


def _broken(sizes: Chain, schedule: Schedule) -> dict[str, Any]:
    """What a picture shows of a schedule that cannot be followed to its end."""
    from gpu_course.measure.schedules.operations import account_until
    from gpu_course.measure.schedules.written import written

    rises, stop = account_until(sizes, schedule)
    fact = "the schedule ends too early" if stop is None else stop.fact
    return {"got": {"schedule": written(schedule), "rises": list(rises), "broken": fact}}


def run_twice_in_a_row(schedule: Sequence[Any]) -> int | None:
    """Returns the first stage that is run forward twice with nothing between, or None."""
    for (before, stage), (word, again) in itertools.pairwise(schedule):
        if stage == again and "backward" not in (before, word):
            return int(stage)
    return None


def runs_of(schedule: Sequence[Any], length: int) -> list[int]:
    """Returns how often each stage is run forward."""
    runs = [0] * length
    for word, stage in schedule:
        runs[stage] += word != "backward"
    return runs


def most_kept(schedule: Sequence[Any]) -> tuple[int, int]:
    """Returns (inputs kept, stages that saved everything), each the most at one time.

    The batch is a kept input from the beginning. The input of a stage that saved everything is part
    of what it saved.
    """
    kept, saved, most = {0}, set(), [1, 0]
    for word, stage in schedule:
        if word == "keep input":
            kept.add(stage)
        elif word == "save all":
            saved.add(stage)
        elif word == "backward":
            saved.discard(stage)
            kept -= {stage} - {0}
        most = [max(most[0], len(kept)), max(most[1], len(saved))]
    return most[0], most[1]
