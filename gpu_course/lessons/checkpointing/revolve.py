"""Puzzle `revolve`: the fewest forward passes with a fixed number of checkpoints."""

from __future__ import annotations

from functools import partial

import numpy as np

from gpu_course.lessons.checkpointing.equal_stages import OUTPUT_BYTES, called, equal_inputs
from gpu_course.puzzle.planning import followed, most_kept, plain_results, run_twice_in_a_row
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from simt.text import count


def _case(length: int, checkpoints: int, visible: bool = False) -> Case:
    name = f"{length} stages, {checkpoints} checkpoint{'' if checkpoints == 1 else 's'}"
    sizes = {"length": length, "checkpoints": checkpoints}
    return Case("visible example" if visible else name, sizes, visible)


def _random_case(rng: np.random.Generator) -> Case:
    length, checkpoints = int(rng.integers(9, 40)), int(rng.integers(3, 7))
    return Case("sizes drawn at random", {"length": length, "checkpoints": checkpoints})


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    from gpu_course.measure.schedules.plans import advances

    length, checkpoints = case.sizes["length"], case.sizes["checkpoints"]
    kept, saved = most_kept(got["schedule"])
    if saved > 1:
        fact = f"{saved} stages have everything saved at one time; there is room for one"
        return Judgement("saves-several", fact, "over-budget")
    if kept > checkpoints:
        fact = f"{count(kept, 'input')} kept at one time, stage 0's included; {checkpoints} may be"
        return Judgement("too-many-checkpoints", fact, "over-budget")
    passes = sum(got["forward_passes"])
    least = advances(length, checkpoints) + length
    if passes > least:
        room = count(checkpoints, "checkpoint")
        fact = f"{count(passes, 'forward pass')}; with {room} the fewest are {least:,}"
        again = run_twice_in_a_row(got["schedule"]) is not None
        return Judgement("twice-in-a-row" if again else "not-the-fewest", fact, "over-budget")
    # What is kept, the stage at work, its gradients: a few outputs beside the checkpoints.
    limit = (checkpoints + 6) * OUTPUT_BYTES
    if got["peak_bytes"] > limit:
        fact = f"{count(got['peak_bytes'], 'byte')} alive at one time; {limit:,} are allowed"
        return Judgement("too-many-checkpoints", fact, "over-budget")
    return None


REVOLVE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.puzzle.harness.schedules",
    call=called,
    torch=True,
    cases=(
        _case(10, 3, visible=True),
        _case(1, 1),
        _case(7, 1),
        _case(5, 8),
        _case(21, 2),
        # Here few places for the first checkpoint are best, and a slip in the count shows.
        _case(19, 5),
        _case(40, 4),
    ),
    random_case=_random_case,
    inputs=partial(equal_inputs, "revolve"),
    reference=plain_results,
    follow=followed,
    judge=_judge,
)
