"""Puzzle `accumulate`: the gradient of a whole batch with the memory of a part."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Held,
    Mistake,
    PythonPuzzle,
    Values,
)
from simt.text import count

SLACK = 1.1
"""How many times the peak of the largest part an answer may hold."""


def _case(name: str, rows: int, parts: int, width: int, visible: bool = False) -> Case:
    return Case(name, {"rows": rows, "parts": parts, "width": width}, visible)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    return {**case.sizes, "seed": int(rng.integers(1 << 30))}


def _random_case(rng: np.random.Generator) -> Case:
    parts = int(rng.integers(3, 9))
    # A rest of at least one row, and parts of some size, so that the memory shows.
    rows = parts * int(rng.integers(30, 50)) + int(rng.integers(1, parts))
    return _case("a batch drawn at random", rows, parts, int(rng.integers(4, 9)))


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.lessons.memory_ledger.accumulation import full_gradient

    return {"gradient": full_gradient(inputs["rows"], inputs["width"], inputs["seed"]).numpy()}


def _peak_of_the_rest(inputs: Values) -> int:
    """The bytes that a last part takes which has all that is left over."""
    from gpu_course.lessons.memory_ledger.accumulation import peak_bytes_of_rows

    rows, parts = inputs["rows"], inputs["parts"]
    return peak_bytes_of_rows(rows - rows // parts * (parts - 1), inputs["width"], inputs["seed"])


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    from gpu_course.lessons.memory_ledger.accumulation import peak_bytes_of_rows

    rows, parts, width, seed = (inputs[name] for name in ("rows", "parts", "width", "seed"))
    if not got["same_model"]:
        return Finding("model-changed", "the gradient is right, and the parameters have changed")
    largest = -(-rows // parts)
    # Whoever picks rows by their numbers holds the numbers, and copies the rows.
    room = 8 * (largest * (width + 3) + rows)
    limit = SLACK * peak_bytes_of_rows(largest, width, seed) + room
    peak = got["peak_bytes"]
    if peak <= limit:
        return None
    whole = peak_bytes_of_rows(rows, width, seed)
    key = "all-graphs"
    if parts > 1 and peak == whole:
        key = "whole-batch"
    elif rows % parts and abs(peak - _peak_of_the_rest(inputs)) <= room:
        key = "rest-in-one"
    elif peak <= limit + got["gradient"].nbytes:
        key = "second-gradients"
    fact = (
        f"{peak:,} bytes alive at one time; {count(largest, 'row')} may take {limit:,.0f}; "
        f"all {rows:,} at once take {whole:,}"
    )
    return Finding(key, fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    counted: Any = got.get("gradient")
    right = expected["gradient"]
    if not isinstance(counted, np.ndarray) or counted.shape != right.shape:
        return None
    pieces = _gradients_of_parts(inputs)
    rows, parts = inputs["rows"], inputs["parts"]
    size = rows // parts
    last_rows, last = pieces[-1]
    ways = [
        ("means-added", sum(gradient for _, gradient in pieces)),
        ("same-weights", sum(gradient for _, gradient in pieces) / parts),
        # Whatever it was weighted by.
        ("last-part-only", last * last_rows / rows),
        ("last-part-only", last / parts),
        ("last-part-only", last),
        ("rest-dropped", _gradient_of_rows(inputs, size * parts)),
    ]
    for key, wrong in ways:
        close = np.allclose(wrong.numpy(), counted, *_TOLERANCE)
        if close and not np.allclose(wrong.numpy(), right, *_TOLERANCE):
            return key
    return None


def _gradients_of_parts(inputs: Values) -> list[tuple[int, Any]]:
    """(rows, gradient of their mean loss) for each part."""
    from gpu_course.lessons.memory_ledger.accumulation import problem

    model, loss, x, y = problem(inputs["rows"], inputs["width"], inputs["seed"])
    pieces = zip(x.tensor_split(inputs["parts"]), y.tensor_split(inputs["parts"]), strict=True)
    return [(len(part), _gradient(model, loss(model(part), targets))) for part, targets in pieces]


def _gradient_of_rows(inputs: Values, rows: int) -> Any:
    from gpu_course.lessons.memory_ledger.accumulation import problem

    model, loss, x, y = problem(inputs["rows"], inputs["width"], inputs["seed"])
    return _gradient(model, loss(model(x[:rows]), y[:rows]))


def _gradient(model: Any, value: Any) -> Any:
    from gpu_course.lessons.memory_ledger.accumulation import flat_gradient

    model.zero_grad()
    value.backward()
    return flat_gradient(model)


_TOLERANCE = (1e-9, 1e-12)

DEBRIEF = Debrief(
    shows=("peak_bytes",),
    why=(
        "The gradient of a sum is the sum of the gradients, and backward() adds to what is there. "
        "Weighting each part by its rows makes the mean of unequal parts right."
    ),
    alternative=(
        "Scale each loss before its backward pass, or scale the gradients once at the end. The "
        "first touches one number per part, the second every gradient."
    ),
)

ACCUMULATE = PythonPuzzle(
    name="16_memory_ledger/accumulate",
    title="the same gradient, less memory",
    difficulty="medium",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Work out the gradient of a batch part by part: what is left in .grad is that of the whole "
        "batch, and at no time is there more memory in use than for one part."
    ),
    parameters={"accumulate": ("model", "loss", "x", "y", "parts")},
    harness="gpu_course.lessons.memory_ledger.harness.accumulate",
    torch=True,
    cases=(
        _case("visible example", 96, 4, 6, visible=True),
        _case("a rest of two rows", 122, 4, 5),
        _case("one part", 64, 1, 6),
        _case("a row for each part", 7, 7, 3),
        _case("many parts, a rest of nine", 109, 10, 4),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    # A rest is fewer rows than there are parts: what a kernel can tell takes thousands of parts.
    self_check="gradients that are freed and made anew, and a rest that is one part",
    held=(Held(_case("a large batch", 60_000, 30, 8), 58 << 20),),
    diagnose=_diagnose,
    tolerance=_TOLERANCE,
    diagnoses={
        "means-added": (
            "You add up the gradients of means, one for each part, and the gradient is that many "
            "times too large. What is the mean over the batch in terms of the means of its parts?"
        ),
        "same-weights": (
            "Every part weighs the same in your sum, but the parts are not equally large here. How "
            "much of the batch's mean comes from a part of 30 rows, and how much from one of 31?"
        ),
        "last-part-only": (
            "Only the last part is left in the gradients. backward() adds to what is there; what "
            "takes the earlier parts away again? In a training loop zero_grad() comes once for "
            "each update, and here an update is the whole batch."
        ),
        "no-gradient": (
            "Your function ends with the gradients gone. They are what it is for: whoever called "
            "it makes the update and clears them."
        ),
        "rest-dropped": (
            "The last rows are missing. The parts need not divide the batch; every row belongs to "
            "one of them."
        ),
        "rest-in-one": (
            "The gradient is right, and one part has all the rows that are left over. Spread "
            "them: no part needs more than one row beyond the others."
        ),
        "whole-batch": (
            "The gradient is right, and the memory is that of the whole batch at once. Let a part "
            "go all the way, backward pass included, before the next one begins."
        ),
        "all-graphs": (
            "The gradient is right, and the activations of all parts were alive together. A part's "
            "activations can go once its backward pass is over: who still holds on to its loss?"
        ),
        "second-gradients": (
            "The gradient is right, and for a while it was there twice. zero_grad() sets .grad to "
            "None, so that new tensors have to be made; autograd.grad hands over all gradients at "
            "once. What adds to the tensors that are there, one after the other?"
        ),
        "model-changed": (
            "Somebody made an update. The gradient is what was asked for; the step belongs to "
            "whoever called you."
        ),
    },
    hints=(
        (
            "backward() adds to .grad and lets go of the activations. Two backward passes over two "
            "halves leave the sum of two gradients."
        ),
        (
            "The mean over all rows is a weighted sum of the means of the parts; a part's weight "
            "is its share of the rows."
        ),
        (
            "In a loop over the parts: work out the part's loss, scale it by the part's share of "
            "the rows, and call backward on it inside the loop. Keep nothing from one part to the "
            "next. tensor_split cuts a batch whose rows don't divide."
        ),
    ),
    equivalent_mutants={
        (
            "accumulate:constant:for rows, targets in zip(x.tensor_split(parts), "
            "y.tensor_split(parts), strict=False):"
        ): "Both are cut into as many parts, so there is nothing for strict to object to.",
    },
    mistakes=(
        Mistake("adds_up_means", "wrong-result", "means-added"),
        Mistake("every_part_weighs_the_same", "wrong-result", "same-weights"),
        Mistake("clears_between_parts", "wrong-result", "last-part-only"),
        Mistake("one_backward_at_the_end", "over-budget", "all-graphs"),
        Mistake("the_whole_batch", "over-budget", "whole-batch"),
        Mistake("drops_the_rest", "wrong-result", "rest-dropped"),
        Mistake("retains_the_graphs", "over-budget", "all-graphs"),
        Mistake("clears_at_the_end", "wrong-result", "no-gradient"),
        Mistake("clears_before_the_first_part", "over-budget", "second-gradients"),
        Mistake("makes_the_update_too", "wrong-result", "model-changed"),
        Mistake("the_rest_in_the_last_part", "over-budget", "rest-in-one"),
    ),
)
