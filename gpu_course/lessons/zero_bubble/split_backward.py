"""Puzzle `split_backward`: the gradient to a stage's input now, those of its weights later."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Held, Judgement, PythonPuzzle, Values

SLACK_BYTES = 1024
"""For small tensors: the mean and the deviation of each row."""


def _case(
    name: str, rows: int, microbatches: int, *widths: int, visible: bool = False, at_once: int = 0
) -> Case:
    sizes = {f"width_{number}": width for number, width in enumerate(widths)}
    sizes |= {"rows": rows, "microbatches": microbatches}
    return Case(name, sizes | ({"at_once": 1} if at_once else {}), visible)


def _random_case(rng: np.random.Generator) -> Case:
    widths = rng.integers(3, 20, rng.integers(3, 6))
    rows, microbatches = int(rng.integers(30, 60)), int(rng.integers(1, 4))
    return _case("a stage drawn at random", rows, microbatches, *map(int, widths))


def widths_of(case: Case) -> list[int]:
    """Returns the widths of a case's stage, from its input to its output."""
    return [size for name, size in case.sizes.items() if name.startswith("width_")]


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    more = {name: case.sizes[name] for name in ("at_once",) if name in case.sizes}
    return {
        "widths": widths_of(case),
        "rows": case.sizes["rows"],
        "microbatches": case.sizes["microbatches"],
        "seed": int(rng.integers(1 << 30)),
    } | more


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.lessons.zero_bubble.harness.split_backward import whole
    from gpu_course.lessons.zero_bubble.stages import at_both_ends, layers_of

    sizes = [inputs[name] for name in ("widths", "rows", "microbatches", "seed")]
    return dict(whole(layers_of(inputs["widths"], inputs["seed"]), *at_both_ends(*sizes)))


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    from gpu_course.lessons.zero_bubble.stages import (
        FLOAT64_BYTES,
        HELD_FOR_W,
        held_bytes,
        product_flop,
    )

    if "product_flop" not in got:
        return None
    widths, rows, microbatches = (inputs[name] for name in ("widths", "rows", "microbatches"))
    most = microbatches * product_flop(widths, rows)
    for part, flop in zip("FIW", got["product_flop"], strict=True):
        if flop > most:
            again = "run-again" if flop >= 2 * most else "second-pass"
            key = {"F": "run-again", "I": "weights-too-early", "W": again}[part]
            fact = f"{part} takes {flop:,} FLOP of matrix products; {most:,} will do"
            return Judgement(key, fact, "over-budget")
    # The last layer's output is sent on; whoever keeps it as the end of a graph may do so.
    output = FLOAT64_BYTES * rows * widths[-1]
    room = microbatches * (held_bytes(widths, rows, HELD_FOR_W) + output + SLACK_BYTES)
    if got["held_bytes"][1] > room:
        fact = f"{got['held_bytes'][1]:,} bytes are held between I and W; {room:,} will do"
        return Judgement("held-for-w", fact, "over-budget")
    return None


SPLIT_BACKWARD = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.zero_bubble.harness.split_backward",
    torch=True,
    cases=(
        _case("visible example", 40, 2, 8, 24, 6, visible=True),
        _case("one linear layer", 5, 2, 3, 4),
        _case("one microbatch", 32, 1, 10, 20, 12, 7),
        _case("four linear layers", 48, 3, 9, 16, 5, 24, 4),
        _case("one row", 1, 2, 6, 11, 3),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    tolerance=(1e-9, 1e-11),
    call=lambda inputs: "forward(layers, x), input_gradient(kept, ...), weight_gradients(left)",
    self_check="the FLOP of matrix products in each call",
    held=(Held(_case("a large batch", 8000, 16, 8, 32, 32, 8, at_once=1), 210 << 20),),
)
