"""Puzzle `sequence_parallel`: an all-gather and a reduce-scatter in place of an all-reduce."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.tensor_parallel.parallel_mlp import (
    SHARED_DIAGNOSES,
    mlp_case,
    mlp_weights,
    unsplit,
)
from gpu_course.lessons.tensor_parallel.pieces import (
    FLOAT64_BYTES,
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

NAMES = ("x", "gain", "up", "up_bias", "down", "down_bias")

_CASES = (
    mlp_case(2, 4, 3, 6, "visible example", visible=True),
    mlp_case(2, 6, 5, 7),
    mlp_case(1, 3, 4, 5),
    mlp_case(3, 6, 4, 8),
    # So much that what is sent beside the calls would show.
    mlp_case(3, 60, 48, 160),
    mlp_case(4, 4, 6, 3),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, hidden, inner = int(rng.choice([2, 4])), *(int(rng.integers(5, 14)) for _ in range(2))
    return mlp_case(ranks, ranks * int(rng.integers(2, 5)), hidden, inner, "a drawn width")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    ranks, tokens, hidden = ranks_of(case), case.sizes["tokens"], case.sizes["hidden"]
    return {
        "function": "sequence_parallel",
        "names": NAMES,
        "x": PerRank(cut(3 * small(rng, tokens, hidden) + 0.5, ranks)),
        "gain": 1 + small(rng, hidden),
        **mlp_weights(rng, case),
        "dy": PerRank(cut(small(rng, tokens, hidden), ranks)),
    }


def _reference(inputs: Values, case: Case) -> Values:
    ranks = ranks_of(case)
    x, dy = (np.concatenate(inputs[name].parts) for name in ("x", "dy"))
    found = unsplit(inputs, x, dy, inputs["gain"])
    return {
        "y": cut(found["y"], ranks),
        "dx": cut(found["dx"], ranks),
        "dgain": (found["dgain"],) * ranks,
        "dup": cut(found["dup"], ranks),
        "dup_bias": cut(found["dup_bias"], ranks),
        "ddown": cut(found["ddown"], ranks, 1),
        "ddown_bias": (found["ddown_bias"],) * ranks,
    }


def kept_bytes(case: Case, own: int) -> tuple[int, int]:
    """Returns what a rank keeps between the passes: (least, with the gathered tokens).

    The norm's input and two numbers of each of its tokens, its output, and the input and output of
    GELU. Where the gathered tokens are kept, its own are among them; the least gathers them again.

    Args:
        case: the sizes.
        own: neurons of the rank.
    """
    tokens, hidden = case.sizes["tokens"], case.sizes["hidden"]
    mine = tokens // ranks_of(case)
    least = 2 * mine * hidden + 2 * mine + 2 * tokens * own
    return FLOAT64_BYTES * least, FLOAT64_BYTES * (least + (tokens - mine) * hidden)


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    ranks, hidden = ranks_of(case), case.sizes["hidden"]
    numbers = case.sizes["tokens"] * hidden
    half = (ranks - 1) * (numbers // ranks) * FLOAT64_BYTES
    weights = 2 * all_reduce_bytes(hidden, ranks)
    # Whoever does not keep the gathered tokens gathers them again.
    again = 0
    for rank, part in enumerate(inputs["up"].parts):
        least, most = kept_bytes(case, len(part))
        # Once more its own tokens, for a copy on the way.
        mine = FLOAT64_BYTES * numbers // ranks
        if got["kept_bytes"][rank] > most + mine:
            fact = f"rank {rank} keeps {got['kept_bytes'][rank]:,} bytes; {most:,} will do"
            return Finding("kept-bytes", fact, "over-budget")
        if ranks > 1 and got["kept_bytes"][rank] < most - mine // 2 and least < most:
            again = half
    return within_passes(got, ranks, 2 * half, 2 * half + weights + again)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    ranks, bias = ranks_of(case), inputs["down_bias"]
    if "failed" in got:
        return None
    if to_seven_digits(expected, got):
        return "seven-digits"
    if ranks == 1:
        return None
    right, y = np.concatenate(expected["y"]), got["y"]
    if not alike(y, expected["y"]):
        if alike(y, [right] * ranks):
            return "whole-output"
        if alike(y, cut(right + (ranks - 1) * bias, ranks)):
            return "bias-of-every-rank"
        shares = _shares(inputs)
        own = [cut(share["y"], ranks)[rank] + bias for rank, share in enumerate(shares)]
        return "own-share-of-y" if alike(y, own) else None
    wrong = wrong_outputs(expected, got)
    if "dx" in wrong:
        own = [cut(share["dx"], ranks)[rank] for rank, share in enumerate(_shares(inputs))]
        return "own-share-of-dx" if alike(got["dx"], own) else None
    for name in ("dgain", "ddown_bias"):
        if name in wrong and alike([np.sum(got[name], axis=0)], expected[name][:1]):
            return "own-tokens-alone"
    return None


def _shares(inputs: Values) -> list[Values]:
    """Returns y without its bias, and dx, of all tokens as each rank's neurons alone give them."""
    x, dy = (np.concatenate(inputs[name].parts) for name in ("x", "dy"))
    found = []
    for rank in range(len(inputs["up"].parts)):
        part = {name: PerRank((inputs[name].parts[rank],)) for name in ("up", "up_bias", "down")}
        zero = {"down_bias": np.zeros_like(inputs["down_bias"])}
        found.append(unsplit(part | zero, x, dy, inputs["gain"]))
    return found


DEBRIEF = Debrief(
    shows=("booked_bytes", "kept_bytes"),
    why=(
        "An all-reduce is a reduce-scatter and an all-gather. Between the two each rank has the "
        "sum of some tokens alone, and norms and dropouts need no more than that."
    ),
    alternative=(
        "Megatron keeps only its own tokens, and gathers them again in the backward pass: fewer "
        "bytes kept, more sent. Such an answer passes here, too."
    ),
)

SEQUENCE_PARALLEL = PythonPuzzle(
    name="24_tensor_parallel/sequence_parallel",
    title="tokens cut between layers",
    difficulty="hard",
    minutes=25,
    debrief=DEBRIEF,
    statement=(
        "Between the layers each rank has only some tokens. Write the two functions that lead into "
        "a layer that is cut and out of it again, and a norm with an MLP: the same bytes on the "
        "wire as with f and g, and less to keep."
    ),
    parameters={"sequence_parallel": NAMES},
    harness="gpu_course.lessons.tensor_parallel.harness.layer_passes",
    ranks=ranks_of,
    torch=True,
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    tolerance=(1e-9, 1e-11),
    self_check="what autograd keeps between the passes",
    diagnoses={
        **SHARED_DIAGNOSES,
        "whole-output": (
            "Every rank returned all tokens. Asked for are the tokens whose x it was given: which "
            "collective leaves each rank with the sum of its own part?"
        ),
        "bias-of-every-rank": (
            "The last bias is in y as often as there are ranks. Does it belong into the shares "
            "that are summed?"
        ),
        "own-tokens-alone": (
            "A gradient is that of this rank's tokens. gain and down_bias are on every rank, and "
            "each rank uses them for other tokens: what does f do to such a copy?"
        ),
        "kept-bytes": (
            "Result and bytes on the wire are right, and too much is kept for the backward pass. "
            "What works on each token by itself: does it come before the tokens are gathered, or "
            "after?"
        ),
        "forward-bytes": (
            "The result is right, and more crossed the wire in the forward pass than has to. An "
            "all-reduce hands the whole sum to every rank: how much of it does a rank go on with?"
        ),
    },
    hints=(
        (
            "An all-reduce of yours had two halves. Which of them is the end of a layer, and which "
            "the beginning of the next?"
        ),
        (
            "What gathers going forward has to scatter sums going backward, since every rank's "
            "neurons give a share of the gradient of every token. And the other way round."
        ),
        (
            "Norm on the own tokens, gather, column layer, GELU, row layer without bias, scatter, "
            "bias. Whatever is on all ranks but sees only some tokens goes through f."
        ),
    ),
    mistakes=(
        Mistake("norms_all_tokens", "over-budget", "kept-bytes"),
        Mistake("reduces_everything", "over-budget", "forward-bytes"),
        Mistake("returns_all_tokens", "wrong-result", "whole-output"),
        Mistake("cuts_going_backward", "wrong-result", "own-share-of-dx"),
        Mistake("cuts_without_a_sum", "wrong-result", "own-share-of-y"),
        Mistake("bias_before_the_sum", "wrong-result", "bias-of-every-rank"),
        Mistake("gain_of_its_own_tokens", "wrong-result", "own-tokens-alone"),
        Mistake("bias_of_its_own_tokens", "wrong-result", "own-tokens-alone"),
        Mistake("gathers_in_both_passes", "over-budget", "backward-bytes"),
    ),
    source=(
        "Korthikanti et al., Reducing activation recomputation in large transformer models, arXiv "
        "2205.05198, section 4.2.2"
    ),
)
