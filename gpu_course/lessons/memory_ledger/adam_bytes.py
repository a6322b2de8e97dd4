"""Puzzle `adam_bytes`: what a model takes before any data."""

from __future__ import annotations

import math

import numpy as np

from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    single, empty = case.sizes.get("single", 0), case.sizes.get("empty", 0)
    # One to three sides, none alike by accident.
    shapes = [
        tuple(int(side) for side in rng.integers(2, 12, size=int(rng.integers(1, 4))))
        for _ in range(case.sizes["tensors"] - single - empty)
    ]
    shapes += [()] * single + [(0, 3)] * empty
    return {
        "shapes": shapes,
        "weight_bytes": case.sizes["weight_bytes"],
        "master_copy": bool(case.sizes["master_copy"]),
    }


def _reference(inputs: Values, case: Case) -> Values:
    from gpu_course.lessons.memory_ledger.mixed import measure_states

    states = measure_states(inputs["shapes"], inputs["weight_bytes"], inputs["master_copy"])
    return {"result": states}


def _random_case(rng: np.random.Generator) -> Case:
    weight_bytes = int(rng.choice([2, 4]))
    master = int(weight_bytes == 2 and rng.integers(2))
    sizes = {
        "tensors": int(rng.integers(1, 8)),
        "weight_bytes": weight_bytes,
        "master_copy": master,
    }
    return Case("a model drawn at random", sizes)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    shapes, width, master = inputs["shapes"], inputs["weight_bytes"], inputs["master_copy"]
    n = sum(math.prod(shape) for shape in shapes)
    rows = sum(shape[0] for shape in shapes if shape)
    sides = sum(sum(shape) for shape in shapes)
    counters, copy = 4 * len(shapes), 4 if master else 0
    updated = 4 if master else width
    before, jump = (2 * width + copy) * n, 2 * updated * n + counters
    ways = {
        "only-narrow-copies": (
            2 * width * n + (copy * n if width < 4 else 0),
            2 * updated * n + counters,
        ),
        "no-master": (2 * width * n, jump),
        "master-late": (2 * width * n, jump + copy * n),
        # With copies, half of the jump is two narrow moments; without, one moment.
        "narrow-moments": (before, 2 * width * n + counters),
        "one-moment": (before, updated * n + counters),
        "wide-moments": (before, 8 * n + counters),
        "no-gradients": ((width + copy) * n, jump),
        "empty-tensors": (
            before,
            2 * updated * n + 4 * sum(math.prod(shape) > 0 for shape in shapes),
        ),
        "no-counters": (before, 2 * updated * n),
        "one-counter": (before, 2 * updated * n + 4),
        "wide-gradients": ((width + 4 + copy) * n, jump),
        "all-in-jump": (before, before + jump),
        "swapped": (jump, before),
        "rows": ((2 * width + copy) * rows, 2 * updated * rows + counters),
        "single-numbers": (
            (2 * width + copy) * (n - shapes.count(())),
            2 * updated * (n - shapes.count(())) + counters,
        ),
        "sides": ((2 * width + copy) * sides, 2 * updated * sides + counters),
    }
    counted = got.get("result")
    if not isinstance(counted, tuple | list):
        return None
    for key, wrong in ways.items():
        if tuple(counted) == wrong != tuple(expected["result"]):
            return key
    return None


def _case(
    name: str, tensors: int, weight_bytes: int, master_copy: int, visible: bool = False, **more: int
) -> Case:
    sizes = {"tensors": tensors, "weight_bytes": weight_bytes, "master_copy": master_copy, **more}
    return Case(name, sizes, visible)


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "Everything here is so many bytes for each number of a parameter, and the sum over the "
        "tensors does the rest. The moments only come into being with the first update, which is "
        "why a run can fail in its second step and not in its first."
    ),
    alternative=(
        "Per parameter tensor or over all numbers at once: the sum is the same. Only the step "
        "counters go by tensors."
    ),
)

ADAM_BYTES = PythonPuzzle(
    name="16_memory_ledger/adam_bytes",
    title="a model and its optimizer",
    difficulty="easy",
    minutes=10,
    debrief=DEBRIEF,
    statement=(
        "Say how many bytes parameters, gradients and float32 copies take, and how many the first "
        "update of Adam adds."
    ),
    parameters={"adam_bytes": ("shapes", "weight_bytes", "master_copy")},
    torch=True,
    cases=(
        _case("visible example", 2, 4, 0, visible=True),
        _case("bfloat16 with a float32 copy", 3, 2, 1),
        _case("bfloat16 alone", 4, 2, 0),
        _case("one tensor", 1, 4, 0),
        _case("nine tensors", 9, 2, 1),
        _case("two single numbers among them", 5, 4, 0, single=2),
        _case("an empty tensor among them", 4, 4, 0, empty=1),
        _case("float32 with a float32 copy", 3, 4, 1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    diagnoses={
        "no-master": (
            "The float32 copies are missing. A layer computes with the narrow weights, Adam "
            "updates the wide ones, and both are there."
        ),
        "master-late": (
            "You count the float32 copies into the jump. The optimizer makes them when it is made; "
            "only what belongs to the update itself comes with the first update."
        ),
        "one-moment": (
            "The jump is half of what it should be. Adam remembers a mean of the gradients, and "
            "one thing more."
        ),
        "narrow-moments": (
            "Your moments are as wide as the weights. They take the width of what Adam updates, "
            "and with copies that is not the weights."
        ),
        "wide-moments": (
            "Your moments are always float32. Without copies Adam updates the weights themselves, "
            "and its moments take their width."
        ),
        "no-gradients": "Just before an update every parameter has a gradient as large as itself.",
        "no-counters": (
            "A few bytes are missing, as many whatever the shapes are. Adam counts its steps, for "
            "each tensor by itself."
        ),
        "one-counter": (
            "Four bytes for each tensor but the first are missing: every tensor has a step counter "
            "of its own."
        ),
        "wide-gradients": (
            "Your gradients are always float32. Here they have the width of the weights they "
            "belong to."
        ),
        "all-in-jump": (
            "Your jump is all that is there after the update. Only what the update adds was asked "
            "for."
        ),
        "swapped": "Both numbers are right, and in the wrong order: (before, jump).",
        "rows": "You took one side of each shape. How many numbers does a (3, 4) matrix have?",
        "single-numbers": (
            "A parameter of shape () has no sides and is one number: a learned scale, for example. "
            "How many numbers do you count for it?"
        ),
        "empty-tensors": (
            "A tensor of shape (0, 3) has no numbers, and it is updated with the others: Adam "
            "counts its steps, too."
        ),
        "only-narrow-copies": (
            "The copies are missing where the weights are float32 themselves. A copy is made "
            "wherever `master_copy` says so, however wide the weights are."
        ),
        "sides": (
            "You added up the sides of each shape. How many numbers does a (3, 4) matrix have?"
        ),
        "wrong-type": "Return two whole numbers of bytes, (before, jump).",
    },
    hints=(
        "First count the numbers in all tensors. The rest is so many bytes for each of them.",
        (
            "Make a table with a row for weight, gradient, copy, first moment and second moment. "
            "Which width does each have, with a copy and without?"
        ),
        (
            "What is updated has a width: that of the copy if there is one, else that of the "
            "weight. The jump is two of those for each number, and one float32 for each tensor."
        ),
    ),
    mistakes=(
        Mistake("forgets_the_master_copy", "wrong-result", "no-master"),
        Mistake("master_copy_in_the_jump", "wrong-result", "master-late"),
        Mistake("one_moment", "wrong-result", "one-moment"),
        Mistake("moments_as_wide_as_the_weights", "wrong-result", "narrow-moments"),
        Mistake("moments_always_in_float32", "wrong-result", "wide-moments"),
        Mistake("forgets_the_gradients", "wrong-result", "no-gradients"),
        Mistake("forgets_the_step_counters", "wrong-result", "no-counters"),
        Mistake("one_step_counter_for_all", "wrong-result", "one-counter"),
        Mistake("gradients_always_in_float32", "wrong-result", "wide-gradients"),
        Mistake("all_there_is_after_the_update", "wrong-result", "all-in-jump"),
        Mistake("the_other_way_round", "wrong-result", "swapped"),
        Mistake("rows_for_numbers", "wrong-result", "rows"),
        Mistake("sides_added_up", "wrong-result", "sides"),
        Mistake("everything_in_one_number", "wrong-result", "wrong-type"),
        Mistake("nothing_for_a_single_number", "wrong-result", "single-numbers"),
        Mistake("no_counter_for_an_empty_tensor", "wrong-result", "empty-tensors"),
        Mistake("copies_of_narrow_weights_alone", "wrong-result", "only-narrow-copies"),
    ),
    source=(
        "Kingma and Ba 2015, arXiv 1412.6980, algorithm 1; Micikevicius et al. 2018, "
        "arXiv 1710.03740, section 3.1"
    ),
)
