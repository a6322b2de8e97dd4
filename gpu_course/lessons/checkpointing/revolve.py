"""Puzzle `revolve`: the fewest forward passes with a fixed number of checkpoints."""

from __future__ import annotations

from functools import partial

import numpy as np

from gpu_course.lessons.checkpointing.planning import (
    OUTPUT_BYTES,
    PLAN_DIAGNOSES,
    TWICE_IN_A_ROW,
    called,
    equal_inputs,
    followed,
    most_kept,
    plain_results,
    run_twice_in_a_row,
)
from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values
from simt.text import count


def _case(length: int, checkpoints: int, visible: bool = False) -> Case:
    name = f"{length} stages, {checkpoints} checkpoint{'' if checkpoints == 1 else 's'}"
    sizes = {"length": length, "checkpoints": checkpoints}
    return Case("visible example" if visible else name, sizes, visible)


def _random_case(rng: np.random.Generator) -> Case:
    length, checkpoints = int(rng.integers(9, 40)), int(rng.integers(3, 7))
    return Case("sizes drawn at random", {"length": length, "checkpoints": checkpoints})


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    from gpu_course.measure.schedules.plans import advances

    length, checkpoints = case.sizes["length"], case.sizes["checkpoints"]
    kept, saved = most_kept(got["schedule"])
    if saved > 1:
        fact = f"{saved} stages have everything saved at one time; there is room for one"
        return Finding("saves-several", fact, "over-budget")
    if kept > checkpoints:
        fact = f"{count(kept, 'input')} kept at one time, stage 0's included; {checkpoints} may be"
        return Finding("too-many-checkpoints", fact, "over-budget")
    passes = sum(got["forward_passes"])
    least = advances(length, checkpoints) + length
    if passes > least:
        room = count(checkpoints, "checkpoint")
        fact = f"{count(passes, 'forward pass')}; with {room} the fewest are {least:,}"
        again = run_twice_in_a_row(got["schedule"]) is not None
        return Finding("twice-in-a-row" if again else "not-the-fewest", fact, "over-budget")
    # What is kept, the stage at work, its gradients: a few outputs beside the checkpoints.
    limit = (checkpoints + 6) * OUTPUT_BYTES
    if got["peak_bytes"] > limit:
        fact = f"{count(got['peak_bytes'], 'byte')} alive at one time; {limit:,} are allowed"
        return Finding("too-many-checkpoints", fact, "over-budget")
    return None


DEBRIEF = Debrief(
    shows=("peak_bytes", "forward_passes"),
    why=(
        "Wherever the next checkpoint goes, the two parts left and right of it are the same "
        "problem again, smaller. So the best schedule is put together from the best ones of its "
        "parts, and no other needs fewer runs."
    ),
    alternative=(
        "Griewank and Walther give the number of runs and the place of the checkpoint in closed "
        "form, with binomial coefficients: no table, and a result of the same length."
    ),
)

REVOLVE = PythonPuzzle(
    name="17_checkpointing/revolve",
    title="the fewest forward passes",
    difficulty="hard",
    minutes=20,
    debrief=DEBRIEF,
    statement=(
        "A chain of equal stages, and room for a fixed number of checkpoints: write the schedule "
        "with the fewest forward passes there can be."
    ),
    parameters={"revolve": ("length", "checkpoints")},
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
    diagnoses={
        **PLAN_DIAGNOSES,
        "not-the-fewest": (
            "It can be followed and it fits, and there is a schedule with fewer forward passes. "
            "Where the first new checkpoint stands decides: try every place, and add up what "
            "comes before it and after it."
        ),
        "twice-in-a-row": TWICE_IN_A_ROW,
        "too-many-checkpoints": (
            "More inputs are kept at one time than there is room for. The batch, the input of "
            "stage 0, takes one of the places from beginning to end."
        ),
        "saves-several": (
            'A stage that was run with "save all" goes back before the next one is. Save one, go '
            "backward through it, and only then think of the next."
        ),
    },
    hints=(
        (
            "Let f(l, c) be the fewest passes without saving for l stages and c checkpoints. With "
            "one checkpoint every stage is reached from the batch: l (l - 1) / 2. With one stage: "
            "none."
        ),
        (
            "With more: run ahead by some m stages and keep the input there. Behind it l - m "
            "stages are left with c - 1 checkpoints; before it m stages with all c of them again. "
            "Take the best m, and remember it."
        ),
        (
            "functools.cache on a function that returns (passes, m) makes this quick. Then write "
            "the schedule by the same recursion: keep and run ahead, the right part, the left one."
        ),
    ),
    equivalent_mutants={
        f"fewest:constant:return (0, {ahead})": (
            "Nobody asks how far to run ahead in a chain of one stage."
        )
        for ahead in (1, -1)
    },
    mistakes=(
        Mistake("always_the_middle", "over-budget", "not-the-fewest"),
        Mistake("evenly_spaced", "over-budget", "not-the-fewest"),
        Mistake("only_the_batch", "over-budget", "not-the-fewest"),
        Mistake("keeps_an_input_and_then_runs", "over-budget", "twice-in-a-row"),
        Mistake("the_batch_is_free", "over-budget", "too-many-checkpoints"),
        Mistake("keeps_every_input", "over-budget", "too-many-checkpoints"),
        Mistake("saves_the_last_segment", "over-budget", "saves-several"),
        Mistake("off_by_one_segment", "wrong-result", "input-missing"),
        Mistake("left_part_first", "wrong-result", "backward-order"),
    ),
    source="Griewank, Walther, Algorithm 799: revolve, ACM TOMS 26(1), 2000",
)
