"""Puzzle `lora`: a narrow detour beside a frozen layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.puzzle.digits import IN_FLOAT32, to_seven_digits
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

SMALLEST, LARGEST = 1e-3, 10.0
"""The root of the mean square that the random one of A and B may begin with."""


def _case(name: str, *sizes: int, visible: bool = False) -> Case:
    return Case(name, dict(zip(("rows", "inner", "outer", "rank"), sizes, strict=True)), visible)


def _random_case(rng: np.random.Generator) -> Case:
    inner, outer = (int(side) for side in rng.integers(64, 120, size=2))
    return _case("a layer drawn at random", 3, inner, outer, int(rng.integers(2, 6)))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    rows, inner, outer, rank = (case.sizes[n] for n in ("rows", "inner", "outer", "rank"))
    return {
        "weight": rng.normal(size=(outer, inner)),
        "bias": rng.normal(size=outer),
        "x": rng.normal(size=(rows, inner)),
        "a": rng.normal(size=(rank, inner)),
        "b": rng.normal(size=(outer, rank)),
        "slope": rng.normal(size=(rows, outer)),
        # Neither the rank nor 1, so that a factor that is missing shows.
        "alpha": float(2 * rank + rng.integers(1, 5)),
        **({"tiles": case.sizes["tiles"]} if "tiles" in case.sizes else {}),
    }


def _reference(inputs: Values, case: Case) -> Values:
    tiles = inputs.get("tiles", 1)
    x, a = inputs["x"], inputs["a"]
    b, slope = np.tile(inputs["b"], (tiles, 1)), np.tile(inputs["slope"], (1, tiles))
    factor = inputs["alpha"] / len(a)
    plain = np.tile(x @ inputs["weight"].T + inputs["bias"], (1, tiles))
    return {
        "at_start": plain,
        "trained_numbers": a.size + b.size,
        "output": plain + factor * (x @ a.T) @ b.T,
        "gradient_a": factor * (slope @ b).T @ x,
        "gradient_b": factor * slope.T @ (x @ a.T),
        "gradient_x": tiles * inputs["slope"] @ inputs["weight"] + factor * (slope @ b) @ a,
    }


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    (rows, inner), (outer, rank) = inputs["x"].shape, inputs["b"].shape
    if not got["directions"]:
        fact = "A and B are both 0 at the start, and so their gradients stay 0"
        return Finding("both-zero", fact)
    if got["directions"] < rank:
        fact = f"a detour of rank {rank} begins with {count(got['directions'], 'direction')}"
        return Finding("alike", fact)
    if not SMALLEST <= got["start_size"] <= LARGEST:
        fact = (
            f"the root of the mean square is {got['start_size']:.2g} in the random one of A and B; "
            f"{SMALLEST:g} to {LARGEST:g} is asked for"
        )
        return Finding("start-size", fact)
    # A scaled copy of A, B and x is fine; the weight's own size is what nobody may take.
    limit = 8 * (rows * (4 * outer + 2 * rank + inner) + 2 * rank * (inner + outer))
    if got["peak_bytes"] <= limit:
        return None
    fact = (
        f"a forward pass takes {got['peak_bytes']:,} bytes; {limit:,} are enough, and "
        f"the layer's weight has {8 * inner * outer:,}"
    )
    return Finding("whole-product", fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if to_seven_digits(expected, got):
        return "seven-digits"
    if not np.allclose(got["at_start"], expected["at_start"], *_TOLERANCE):
        if np.allclose(got["at_start"], inputs["x"] @ inputs["weight"].T, *_TOLERANCE):
            return "no-bias"
        return "moves-at-start" if got["at_start"].any() else "detour-alone"
    if got["trained_numbers"] != expected["trained_numbers"]:
        return "not-frozen" if got["trained_numbers"] > expected["trained_numbers"] else None
    others = [name for name in expected if name not in ("at_start", "gradient_x")]
    if all(np.allclose(got[name], expected[name], *_TOLERANCE) for name in others):
        return "gradient-of-x"
    plain, output = expected["at_start"], got["output"]
    detour: Any = expected["output"] - plain
    away = output - plain
    factor = float((away * detour).sum() / (detour * detour).sum())
    return "scale" if np.allclose(away, factor * detour, *_TOLERANCE) else None


_TOLERANCE = (1e-7, 1e-9)

LARGE = Case("a large layer", {"rows": 1, "inner": 1000, "outer": 200, "rank": 2, "tiles": 40})

DEBRIEF = Debrief(
    shows=("trained_numbers", "peak_bytes"),
    why=(
        "A product of two narrow matrices has few numbers, and only these need gradients and "
        "moments. With one of them at zero the detour begins as nothing and can still learn."
    ),
    alternative=(
        "Register A and B on a module of your own, or add them to a copy of the layer: both work. "
        "Scaling the narrow values instead of the wide ones saves a little arithmetic."
    ),
)

LORA = PythonPuzzle(
    name="20_smaller_states/lora",
    title="a narrow detour",
    difficulty="medium",
    minutes=12,
    debrief=DEBRIEF,
    statement=(
        "Put a trained detour of low rank beside a frozen linear layer: nothing changes at the "
        "start, and the product of its two matrices is never worked out."
    ),
    parameters={"lora": ("linear", "rank", "alpha")},
    harness="gpu_course.lessons.smaller_states.harness.lora",
    torch=True,
    cases=(
        _case("visible example", 3, 80, 64, 4, visible=True),
        _case("wider at the end", 2, 48, 144, 3),
        _case("rank 1", 3, 72, 56, 1),
        _case("one row", 1, 60, 60, 5),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    held=(Held(LARGE, 118 << 20),),
    diagnose=_diagnose,
    tolerance=_TOLERANCE,
    diagnoses={
        "seven-digits": IN_FLOAT32,
        "moves-at-start": (
            "Before any training your module gives something else than the layer did. What was "
            "learned before is lost at once, unless the detour begins at 0."
        ),
        "no-bias": "Your module leaves out the layer's bias. Call the layer itself to have it all.",
        "both-zero": (
            "A and B are both 0. The gradient of each has the other one as a factor, so neither "
            "will ever move. One of them has to begin at 0, and only one."
        ),
        "alike": (
            "The rows of A depend on each other at the start, as where all are the same. Rows that "
            "are alike get gradients that are alike: they stay so, and the detour never has its "
            "whole rank."
        ),
        "start-size": (
            "The random one of A and B begins with numbers too small, or too large, to learn from. "
            "The first gradient of the other one is in proportion to them."
        ),
        "not-frozen": (
            "More is trained than A and B. A parameter that asks for a gradient gets one, and two "
            "moments on top: switch that off for the layer."
        ),
        "scale": (
            "The detour has the right direction and the wrong weight. It is alpha over rank: what "
            "is alpha over rank here, and what is your factor?"
        ),
        "gradient-of-x": (
            "A and B get the right gradients, and x does not. The layers in front of this one "
            "learn from the gradient of x, which goes back through both the layer and the detour."
        ),
        "detour-alone": (
            "Your module gives the detour without the layer. It stands beside the layer, not in "
            "its place."
        ),
        "whole-product": (
            "Your values are right, and a matrix as large as the layer's weight was made on the "
            "way. x A B can be worked out from the left or from the right: which is smaller?"
        ),
        "no-names": (
            "The module needs members called A, of shape (rank, in), and B, of shape (out, rank), "
            "both of them torch.nn.Parameter, so that anybody can find and train them."
        ),
    },
    hints=(
        "A torch.nn.Module with the layer, A and B as members; requires_grad_ freezes a layer.",
        (
            "One of the two matrices begins with random numbers and the other with zeros: then the "
            "detour is 0, and the gradient of the one at 0 is not."
        ),
        (
            "In forward, take x times A turned over first, which has only `rank` columns, then "
            "that times B turned over. Multiply by alpha / rank and add what the layer gives."
        ),
    ),
    mistakes=(
        Mistake("works_in_float32", "wrong-result", "seven-digits"),
        Mistake("both_random", "wrong-result", "moves-at-start"),
        Mistake("forgets_the_bias", "wrong-result", "no-bias"),
        Mistake("both_zero", "wrong-result", "both-zero"),
        Mistake("layer_left_trainable", "wrong-result", "not-frozen"),
        Mistake("alpha_alone", "wrong-result", "scale"),
        Mistake("no_factor", "wrong-result", "scale"),
        Mistake("root_of_the_rank", "wrong-result", "scale"),
        Mistake("detour_alone", "wrong-result", "detour-alone"),
        Mistake("cuts_x_off", "wrong-result", "gradient-of-x"),
        Mistake("layer_without_a_graph", "wrong-result", "gradient-of-x"),
        Mistake("works_out_the_product", "over-budget", "whole-product"),
        Mistake("other_names", "wrong-result", "no-names"),
        Mistake("rows_of_ones", "wrong-result", "alike"),
        Mistake("rows_almost_alike", "wrong-result", "alike"),
        Mistake("next_to_nothing", "wrong-result", "start-size"),
    ),
    source="Hu et al. 2021, LoRA, arXiv 2106.09685, section 4.1",
)
