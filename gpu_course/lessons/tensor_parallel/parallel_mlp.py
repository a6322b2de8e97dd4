"""Puzzle `parallel_mlp`: two layers cut so that one all-reduce a pass is enough."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.tensor_parallel.pieces import (
    DIAGNOSES,
    alike,
    all_reduce_bytes,
    cut,
    ranks_of,
    small,
    within_passes,
    wrong_outputs,
)
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.specification import (
    Case,
    Debrief,
    Finding,
    Mistake,
    PerRank,
    PythonPuzzle,
    Values,
)
from simt.text import count

NAMES = ("x", "up", "up_bias", "down", "down_bias")
LARGE = (3, 60, 48, 160)


def mlp_case(
    ranks: int, tokens: int, hidden: int, inner: int, name: str = "", visible: bool = False
) -> Case:
    """Returns a case of an MLP that is `inner` wide between its layers."""
    words = name or f"{count(ranks, 'rank')}, {tokens} tokens, {hidden} to {inner}"
    sizes = {"ranks": ranks, "tokens": tokens, "hidden": hidden, "inner": inner}
    return Case(words, sizes, visible)


CASES = (
    mlp_case(2, 3, 4, 6, "visible example", visible=True),
    mlp_case(2, 4, 3, 7),
    mlp_case(1, 2, 3, 5),
    mlp_case(3, 5, 4, 8),
    # So much that what is sent beside the calls would show.
    mlp_case(*LARGE),
    # Fewer neurons than ranks: one rank has none.
    mlp_case(4, 1, 6, 3),
)


def _random_case(rng: np.random.Generator) -> Case:
    tokens, hidden, inner = (int(rng.integers(5, 14)) for _ in range(3))
    return mlp_case(int(rng.choice([2, 4])), tokens, hidden, inner, "widths drawn at random")


def mlp_weights(rng: np.random.Generator, case: Case) -> Values:
    """Returns the weights of an MLP, a part for each rank."""
    ranks, hidden, inner = ranks_of(case), case.sizes["hidden"], case.sizes["inner"]
    return {
        "up": PerRank(cut(small(rng, inner, hidden), ranks)),
        "up_bias": PerRank(cut(small(rng, inner) + 0.25, ranks)),
        "down": PerRank(cut(small(rng, hidden, inner), ranks, 1)),
        "down_bias": small(rng, hidden) + 0.5,
    }


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    tokens, hidden = case.sizes["tokens"], case.sizes["hidden"]
    return {
        "function": "parallel_mlp",
        "names": NAMES,
        "x": 2 * small(rng, tokens, hidden),
        **mlp_weights(rng, case),
        "dy": small(rng, tokens, hidden),
    }


def unsplit(inputs: Values, x: np.ndarray, dy: np.ndarray, gain: Any = None) -> Values:
    """Returns y and all gradients of the MLP on one rank, with the parts put together.

    Args:
        inputs: the weights, a part for each rank.
        x: the whole input.
        dy: gradient of y.
        gain: of a layer norm in front, None where there is none.
    """
    import torch
    from torch.nn import functional

    whole = {
        "x": x,
        "up": np.concatenate(inputs["up"].parts),
        "up_bias": np.concatenate(inputs["up_bias"].parts),
        "down": np.concatenate(inputs["down"].parts, 1),
        "down_bias": inputs["down_bias"],
    }
    if gain is not None:
        whole["gain"] = gain
    t = {name: torch.tensor(each, requires_grad=True) for name, each in whole.items()}
    inside = t["x"]
    if gain is not None:
        inside = functional.layer_norm(inside, inside.shape[-1:], t["gain"])
    inside = functional.gelu(inside @ t["up"].T + t["up_bias"])
    y = inside @ t["down"].T + t["down_bias"]
    y.backward(torch.from_numpy(np.ascontiguousarray(dy)))
    return {"y": y.detach().numpy()} | {f"d{name}": each.grad for name, each in t.items()}


def _reference(inputs: Values, case: Case) -> Values:
    ranks = ranks_of(case)
    found = unsplit(inputs, inputs["x"], inputs["dy"])
    parts = {
        "dup": cut(found["dup"], ranks),
        "dup_bias": cut(found["dup_bias"], ranks),
        "ddown": cut(found["ddown"], ranks, 1),
    }
    whole = {name: (found[name],) * ranks for name in ("y", "dx", "ddown_bias")}
    return {"y": whole["y"], "dx": whole["dx"], **parts, "ddown_bias": whole["ddown_bias"]}


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    ranks = ranks_of(case)
    most = all_reduce_bytes(inputs["x"].size, ranks)
    return within_passes(got, ranks, most, most)


def own_shares(inputs: Values, x: np.ndarray, dy: np.ndarray) -> list[Values]:
    """Returns y without its bias and dx as each rank's part alone gives them."""
    found = []
    for rank in range(len(inputs["up"].parts)):
        part = {
            name: PerRank((inputs[name].parts[rank],)) for name in ("up", "up_bias", "down")
        } | {"down_bias": np.zeros_like(inputs["down_bias"])}
        found.append(unsplit(part, x, dy))
    return found


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks = ranks_of(case)
    if "failed" in got:
        return None
    if to_seven_digits(expected, got):
        return "seven-digits"
    if ranks == 1:
        return None
    right, bias = expected["y"][0], inputs["down_bias"]
    if not alike(got["y"], expected["y"]):
        shares = own_shares(inputs, inputs["x"], inputs["dy"])
        if alike(got["y"], [right + (ranks - 1) * bias] * ranks):
            return "bias-of-every-rank"
        if alike(got["y"], [share["y"] + bias for share in shares]):
            return "own-share-of-y"
        return None
    wrong = wrong_outputs(expected, got)
    if "dx" in wrong and "dup" not in wrong:
        shares = own_shares(inputs, inputs["x"], inputs["dy"])
        if alike(got["dx"], [share["dx"] for share in shares]):
            return "own-share-of-dx"
        if alike(got["dx"], [each / ranks for each in expected["dx"]]):
            return "averaged"
    if {"dup", "ddown"} <= wrong and alike(got["dup"], [ranks * e for e in expected["dup"]]):
        return "gradient-summed-twice"
    return None


SHARED_DIAGNOSES = {
    **DIAGNOSES,
    "own-share-of-y": (
        "y is what this rank's part gives. Every output is a sum over all parts: which of your two "
        "functions adds them up, and in which pass?"
    ),
    "own-share-of-dx": (
        "The gradient of x is what this rank's part gives. x went into the parts of all ranks: "
        "which of your two functions adds their gradients up, and in which pass?"
    ),
    "gradient-summed-twice": (
        "The gradients of the weights are too large by the number of ranks. In the backward pass "
        "of g, dy is the same on all ranks: is there anything left to add up?"
    ),
    "no-gradient": (
        "Autograd has lost the way back to this tensor. What was done to it outside of autograd, "
        "by detach, data or no_grad? A function with a backward of its own keeps the way."
    ),
    "averaged": (
        "The gradient of x is the mean over the ranks. They did not see different data, as in data "
        "parallelism: each of them has another part of one sum."
    ),
}
"""What all layers of this lesson may be told."""

DEBRIEF = Debrief(
    shows=("booked_bytes",),
    why=(
        "GELU works on each number by itself, so the columns of the first layer can stay apart "
        "until the second has used them. f and g are each other's mirror: where one copies, the "
        "other sums."
    ),
    alternative=(
        "A hook on x that sums its gradient does for f. For g an all_reduce in place may do, since "
        "autograd does not see it, and the gradient of a sum is handed on as it is."
    ),
)

PARALLEL_MLP = PythonPuzzle(
    name="24_tensor_parallel/parallel_mlp",
    title="f and g",
    difficulty="medium",
    minutes=20,
    debrief=DEBRIEF,
    statement=(
        "Each rank has some of the neurons of an MLP. Write f and g, two functions with a forward "
        "and a backward of their own, and the MLP: one sum over the ranks in each pass is all that "
        "it may cost."
    ),
    parameters={"parallel_mlp": NAMES},
    harness="gpu_course.lessons.tensor_parallel.harness.layer_passes",
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    tolerance=(1e-9, 1e-12),
    diagnoses={
        **SHARED_DIAGNOSES,
        "bias-of-every-rank": (
            "The last bias is in y as often as there are ranks. Does it belong in front of g or "
            "behind it?"
        ),
    },
    hints=(
        (
            "You have both layers already, with both passes. Which sum over the ranks stood in a "
            "forward pass, and which in a backward pass?"
        ),
        (
            "f does nothing on the way forward. On the way back it gets the share of this rank's "
            "neurons. g is the mirror image."
        ),
        (
            "x goes through f, then the column layer, GELU and the row layer without its bias; "
            "what comes out goes through g, and then the bias is added."
        ),
    ),
    equivalent_mutants={
        "backward:call-dropped:dx = dy": (
            "The gradient that a product has just made belongs to nobody else: it may be summed in "
            "place."
        ),
        "forward:call-dropped:y = x": (
            "What a product has just made belongs to nobody else, and autograd does not keep it."
        ),
    },
    mistakes=(
        Mistake("without_f", "wrong-result", "own-share-of-dx"),
        Mistake("without_g", "wrong-result", "own-share-of-y"),
        Mistake("bias_before_g", "wrong-result", "bias-of-every-rank"),
        Mistake("sums_in_both_passes_of_g", "wrong-result", "gradient-summed-twice"),
        Mistake("averages_in_f", "wrong-result", "averaged"),
        Mistake("sums_outside_of_autograd", "wrong-result", "no-gradient"),
        Mistake("gathers_the_neurons", "over-budget", "forward-bytes"),
        Mistake("sums_every_gradient_twice", "over-budget", "backward-bytes"),
        Mistake("f_on_rank_0_alone", "hazard", "calls-differ"),
    ),
    source=(
        "Shoeybi et al., Megatron-LM: Training multi-billion parameter language models using model "
        "parallelism, arXiv 1909.08053, section 3"
    ),
)
