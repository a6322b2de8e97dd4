"""Puzzle `parallel_attention`: attention whose heads are shared out among the ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.lessons.tensor_parallel.pieces import (
    all_reduce_bytes,
    small,
    within_passes,
)
from gpu_course.puzzle.on_ranks import ranks_of
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values
from simt.text import count


def _case(
    ranks: int,
    tokens: int,
    heads: int,
    groups: int,
    size: int,
    name: str = "",
    visible: bool = False,
) -> Case:
    words = name or f"{count(ranks, 'rank')}, {heads} heads in {count(groups, 'group')}"
    sizes = {"ranks": ranks, "tokens": tokens, "heads": heads, "groups": groups, "size": size}
    return Case(words, sizes, visible)


_CASES = (
    _case(2, 3, 4, 4, 2, "visible example", visible=True),
    # Two heads share a key; then three, in groups that the ranks do not divide.
    _case(2, 4, 4, 2, 3),
    _case(2, 3, 9, 3, 2),
    _case(1, 5, 6, 3, 2),
    _case(3, 4, 5, 5, 3),
    # So much that what is sent beside the calls would show.
    _case(3, 30, 12, 6, 8),
    _case(4, 3, 12, 6, 2),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks, groups = int(rng.choice([2, 4])), int(rng.integers(4, 7))
    heads = groups * int(rng.integers(1, 4))
    return _case(ranks, int(rng.integers(3, 7)), heads, groups, 2, "heads drawn at random")


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    heads, groups, size = (case.sizes[name] for name in ("heads", "groups", "size"))
    tokens, hidden = case.sizes["tokens"], heads * size
    return {
        "x": 2 * small(rng, tokens, hidden),
        "qkv": 2 * small(rng, (heads + 2 * groups) * size, hidden),
        "out": small(rng, hidden, heads * size),
        "heads": heads,
        "groups": groups,
        "dy": small(rng, tokens, hidden),
    }


def own_rows(case: Case) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns for each rank (rows of the whole qkv, columns of out), by the places of its heads."""
    heads, groups, size = (case.sizes[name] for name in ("heads", "groups", "size"))
    each, found = heads // groups, []
    for mine in np.array_split(np.arange(groups), ranks_of(case)):
        of_heads = [g * each + k for g in mine for k in range(each)]
        of_keys = [heads + g for g in mine]
        of_values = [heads + groups + g for g in mine]
        rows = [h * size + i for h in (*of_heads, *of_keys, *of_values) for i in range(size)]
        columns = [h * size + i for h in of_heads for i in range(size)]
        found.append((np.array(rows), np.array(columns)))
    return found


def unsplit(inputs: Values, heads: Sequence[int], key_of: Sequence[int]) -> Values:
    """Returns y and gradients of attention over some heads, one by one, on one rank.

    Args:
        inputs: of a case.
        heads: which of them.
        key_of: for each of them the group whose key and value it takes.
    """
    import torch

    names = ("x", "qkv", "out")
    t = {name: torch.tensor(inputs[name], requires_grad=True) for name in names}
    total, groups = inputs["heads"], inputs["groups"]
    size = len(inputs["qkv"]) // (total + 2 * groups)
    tokens = len(inputs["x"])
    allowed = torch.ones(tokens, tokens, dtype=torch.bool).tril()
    y = torch.zeros_like(t["x"])
    for head, group in zip(heads, key_of, strict=True):
        q, k, v = (
            t["x"] @ t["qkv"][at * size : (at + 1) * size].T
            for at in (head, total + group, total + groups + group)
        )
        weights = torch.where(allowed, q @ k.T / size**0.5, -torch.inf).softmax(1)
        y = y + weights @ v @ t["out"][:, head * size : (head + 1) * size].T
    y.backward(torch.from_numpy(inputs["dy"]))
    return {"y": y.detach().numpy()} | {f"d{name}": t[name].grad.numpy() for name in names}  # type: ignore[union-attr]


def _reference(inputs: Values, case: Case) -> Values:
    ranks, each = ranks_of(case), inputs["heads"] // inputs["groups"]
    heads = range(inputs["heads"])
    found = unsplit(inputs, heads, [head // each for head in heads])
    own = own_rows(case)
    return {
        "own_qkv": tuple(inputs["qkv"][rows] for rows, _ in own),
        "own_out": tuple(np.ascontiguousarray(inputs["out"][:, columns]) for _, columns in own),
        "y": (found["y"],) * ranks,
        "dx": (found["dx"],) * ranks,
        "dqkv": tuple(found["dqkv"][rows] for rows, _ in own),
        "dout": tuple(np.ascontiguousarray(found["dout"][:, columns]) for _, columns in own),
    }


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks = ranks_of(case)
    most = all_reduce_bytes(inputs["x"].size, ranks)
    return within_passes(got, ranks, most, most)


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    """Knows rows that are all there, in whatever other distribution."""
    if "failed" in got:
        return None
    one, other = (np.concatenate(list(each["own_qkv"])) for each in (got, expected))
    if one.shape != other.shape or np.array_equal(one, other):
        return None
    alike = np.array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)])
    return "other-heads" if alike else None


PARALLEL_ATTENTION = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.tensor_parallel.harness.attention_passes",
    ranks=ranks_of,
    torch=True,
    cases=_CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    diagnose=_diagnose,
    judge=_judge,
    tolerance=(1e-9, 1e-12),
)
