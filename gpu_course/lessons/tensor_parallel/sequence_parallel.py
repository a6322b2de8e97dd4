"""Puzzle `sequence_parallel`: an all-gather and a reduce-scatter in place of an all-reduce."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.tensor_parallel.parallel_mlp import (
    mlp_case,
    mlp_weights,
    unsplit,
)
from gpu_course.lessons.tensor_parallel.pieces import (
    all_reduce_bytes,
    cut,
    small,
    within_passes,
)
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, hidden = ranks_of(case), case.sizes["hidden"]
    numbers = case.sizes["tokens"] * hidden
    half = (ranks - 1) * (numbers // ranks) * FLOAT64_BYTES
    weights = 2 * all_reduce_bytes(hidden, ranks)
    # Whoever does not keep the gathered tokens gathers them again.
    again = 0
    for rank, part in enumerate(inputs["up"].parts):
        least, most = kept_bytes(case, len(part))
        # Once more its own tokens, for a copy on the way, and one of gain and bias side by side.
        mine = FLOAT64_BYTES * numbers // ranks
        room = mine + FLOAT64_BYTES * 2 * hidden
        if got["kept_bytes"][rank] > most + room:
            fact = f"rank {rank} keeps {got['kept_bytes'][rank]:,} bytes; {most:,} will do"
            return Judgement("kept-bytes", fact, "over-budget")
        if ranks > 1 and got["kept_bytes"][rank] < most - mine // 2 and least < most:
            again = half
    return within_passes(got, ranks, 2 * half, 2 * half + weights + again)


SEQUENCE_PARALLEL = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.tensor_parallel.harness.layer_passes",
    ranks=ranks_of,
    torch=True,
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    tolerance=(1e-9, 1e-11),
    self_check="what autograd keeps between the passes",
)
