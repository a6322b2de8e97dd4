"""Puzzle `explain_the_gap`: a real layer against 34 + 5as/h."""

from __future__ import annotations

import numpy as np

from gpu_course.puzzle.specification import Case, Debrief, Mistake, PythonPuzzle, Values

REASONS = ("dropout masks", "layer norm statistics", "causal mask", "wide softmax")


def _case(name: str, *sizes: int, visible: bool = False) -> Case:
    names = ("sequence", "batch", "hidden", "heads", "element_bytes", "softmax_bytes")
    return Case(name, dict(zip(names, sizes, strict=True)), visible)


def _random_case(rng: np.random.Generator) -> Case:
    heads = int(rng.integers(1, 5))
    element = int(rng.choice([2, 4]))
    softmax = int(rng.choice([element, 4]))
    return _case(
        "a layer drawn at random",
        int(rng.integers(2, 20)),
        int(rng.integers(1, 4)),
        heads * int(rng.integers(2, 6)),
        heads,
        element,
        softmax,
    )


def _reference(inputs: Values, case: Case) -> Values:
    """Runs the layer and adds up its ledger: nothing here knows a formula."""
    import torch

    from gpu_course.lessons.memory_ledger import gap
    from gpu_course.measure.activation_formulas import LayerShape
    from gpu_course.measure.model import Layer

    sizes = case.sizes
    shape = LayerShape(sizes["sequence"], sizes["batch"], sizes["hidden"], sizes["heads"])
    dtype = torch.float32 if sizes["element_bytes"] == 4 else torch.bfloat16
    wide = sizes["softmax_bytes"] > sizes["element_bytes"]
    layer = Layer(shape.hidden, shape.heads, softmax_float32=wide).to(dtype)
    by_name = {line.name: line.difference for line in gap.explain(layer, shape)}
    found = {
        "dropout masks": sum(v for name, v in by_name.items() if name.endswith("dropout mask")),
        "layer norm statistics": by_name[gap.STATISTICS],
        "causal mask": by_name[gap.CAUSAL_MASK],
        "wide softmax": by_name["softmax output"],
    }
    assert sum(found.values()) == sum(by_name.values()), "a reason for the gap has no name"
    return {"result": found}


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    counted = got.get("result")
    if not isinstance(counted, dict) or set(counted) != set(REASONS):
        return "names"
    s, b, h = inputs["sequence"], inputs["batch"], inputs["hidden"]
    width, scores = inputs["element_bytes"], inputs["heads"] * s * s * b
    ways = (
        ("whole-masks", "dropout masks", width * (scores + 2 * s * b * h)),
        ("too-few-masks", "dropout masks", (width - 1) * scores),
        ("too-few-masks", "dropout masks", (width - 1) * (scores + s * b * h)),
        ("narrow-masks", "dropout masks", scores + 2 * s * b * h),
        ("one-norm", "layer norm statistics", 2 * s * b * width),
        ("statistics-per-number", "layer norm statistics", 4 * s * b * h * width),
        ("wide-statistics", "layer norm statistics", 4 * s * b * 4),
        ("mask-per-head", "causal mask", scores),
        ("mask-per-head", "causal mask", inputs["heads"] * s * s),
        ("mask-per-head", "causal mask", b * s * s),
        ("wide-mask", "causal mask", width * s * s),
        ("half-a-mask", "causal mask", s * (s + 1) // 2),
        ("half-a-mask", "causal mask", s * (s - 1) // 2),
        ("whole-softmax", "wide softmax", inputs["softmax_bytes"] * scores),
    )
    for key, reason, wrong in ways:
        if counted[reason] == wrong != expected["result"][reason]:
            return key
    return None


DEBRIEF = Debrief(
    shows=("result",),
    why=(
        "The paper counts bytes for one implementation and one precision. PyTorch's own choices "
        "for masks, statistics and the softmax account for all the rest, byte by byte."
    ),
    alternative=(
        "You can derive each term from what the backward pass needs, or measure layers that "
        "differ in one thing and subtract. Both lead to the same four terms."
    ),
)

EXPLAIN_THE_GAP = PythonPuzzle(
    name="16_memory_ledger/explain_the_gap",
    title="the bytes beyond the formula",
    difficulty="hard",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "A real layer keeps more than sbh (34 + 5as/h) bytes. Name the rest, to the last byte: "
        "dropout masks, layer norm statistics, the causal mask, a softmax in float32."
    ),
    parameters={
        "explain_the_gap": (
            "sequence",
            "batch",
            "hidden",
            "heads",
            "element_bytes",
            "softmax_bytes",
        )
    },
    torch=True,
    cases=(
        # No two of batch, heads and width are equal: what was counted by the wrong one shows.
        _case("visible example", 8, 3, 20, 5, 2, 2, visible=True),
        _case("float32", 7, 3, 10, 2, 4, 4),
        _case("bfloat16 with a softmax in float32", 9, 2, 16, 4, 2, 4),
        _case("one head, one sequence", 12, 1, 8, 1, 2, 2),
        _case("long sequence", 40, 2, 12, 4, 2, 4),
        _case("one token, one number", 1, 1, 1, 1, 4, 4),
    ),
    random_case=_random_case,
    inputs=lambda rng, case: dict(case.sizes),
    reference=_reference,
    diagnose=_diagnose,
    diagnoses={
        "names": (
            "Return a dictionary with exactly the four names of the puzzle; a reason that adds "
            "nothing has 0 bytes."
        ),
        "whole-masks": (
            "Your dropout masks are the whole masks. The formula has a byte of each number in it; "
            "the gap is what comes on top."
        ),
        "too-few-masks": (
            "A dropout mask is missing, or two. How many dropouts does the layer have, and what "
            "shape is each applied to?"
        ),
        "narrow-masks": (
            "Your masks have a width of two bytes, whatever the layer's numbers have. On a CPU a "
            "mask is as wide as the numbers it is multiplied with."
        ),
        "one-norm": (
            "That is half of the statistics. How many layer norms are there, and how many numbers "
            "does each keep for a token?"
        ),
        "statistics-per-number": (
            "A layer norm works out its mean over the width of a token, so a token has one mean "
            "and one deviation, not one for each of its numbers."
        ),
        "wide-statistics": (
            "You took the statistics for float32. On a CPU, where parameters and numbers are both "
            "bfloat16, they are kept in bfloat16. (A GPU keeps them in float32.)"
        ),
        "mask-per-head": (
            "Which place may look at which is the same for all heads and all sequences, and one "
            "table serves them all."
        ),
        "wide-mask": "The causal mask answers yes or no. How wide is a bool?",
        "half-a-mask": (
            "Half of the table says no, and it takes its bytes all the same: the mask is a whole "
            "table of bools."
        ),
        "whole-softmax": (
            "You count twice the bytes that are new. The formula has the softmax's output in the "
            "width of the layer, so only what it is wider counts; and what the dropout gets from "
            "it is narrow again."
        ),
    },
    hints=(
        (
            "Take one reason at a time, and the paper's term for it: the gap is what PyTorch keeps "
            "less what the term says. gpu_course.lessons.memory_ledger.gap prints both for any "
            "layer."
        ),
        (
            "On a CPU dropout multiplies by a mask that has the width of the numbers. A layer norm "
            "keeps two numbers for each token. A table of bools takes a byte per cell."
        ),
        (
            "There is one mask of the shape of the scores and two of the shape of the batch, and a "
            "byte of each number of them is in the formula already. The same goes for the softmax: "
            "only what it is wider counts."
        ),
    ),
    equivalent_mutants={
        (
            "explain_the_gap:operator:gap['layer norm statistics'] = (2 + 2) * tokens * "
            "element_bytes"
        ): "Two norms with two numbers each: two and two is two times two.",
    },
    mistakes=(
        Mistake("whole_masks", "wrong-result", "whole-masks"),
        Mistake("mask_of_the_scores_alone", "wrong-result", "too-few-masks"),
        Mistake("masks_of_two_bytes", "wrong-result", "narrow-masks"),
        Mistake("one_layer_norm", "wrong-result", "one-norm"),
        Mistake("statistics_per_number", "wrong-result", "statistics-per-number"),
        Mistake("statistics_in_float32", "wrong-result", "wide-statistics"),
        Mistake("a_causal_mask_per_head", "wrong-result", "mask-per-head"),
        Mistake("causal_mask_as_wide_as_the_numbers", "wrong-result", "wide-mask"),
        Mistake("a_triangle_for_the_causal_mask", "wrong-result", "half-a-mask"),
        Mistake("whole_softmax", "wrong-result", "whole-softmax"),
        Mistake("leaves_zeros_out", "wrong-result", "names"),
    ),
    source="Korthikanti et al. 2022, arXiv 2205.05198, section 4.1",
)
