"""Puzzle `parallel_mlp`: two layers cut so that one all-reduce a pass is enough."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.lessons.tensor_parallel.pieces import (
    all_reduce_bytes,
    cut,
    small,
    within_passes,
)
from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
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


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks = ranks_of(case)
    most = all_reduce_bytes(inputs["x"].size, ranks)
    return within_passes(got, ranks, most, most)


PARALLEL_MLP = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.tensor_parallel.harness.layer_passes",
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    tolerance=(1e-9, 1e-12),
)
