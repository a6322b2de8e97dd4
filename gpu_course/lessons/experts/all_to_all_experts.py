"""Puzzle `all_to_all_experts`: rows to the ranks of their experts and back, in both passes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_course.puzzle.harness.refusing import REFUSED
from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, passes, ranks_of, standstill
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
    PerRank,
    PythonPuzzle,
    Values,
)
from gpu_course.ranks.calls import Call
from gpu_course.ranks.traffic import booked_bytes
from simt.text import count

GRADIENTS = ("dx", "dweights", "dup", "ddown")
DRAWN, ONE_FOR_ALL, DROPPED, NONE_LEFT, PAST_THE_LAST, BELOW = range(6)
NO_RESULT = (PAST_THE_LAST, BELOW)


def _case(
    tokens: Sequence[int],
    held: Sequence[int],
    name: str = "",
    kind: int = DRAWN,
    k: int = 2,
    width: int = 5,
    hidden: int = 3,
    visible: bool = False,
) -> Case:
    """Returns a case of so many tokens and experts on each rank."""
    spread = ", ".join(map(str, tokens))
    words = name or f"{count(len(tokens), 'rank')} with {spread} tokens"
    by_rank = {f"tokens {rank}": each for rank, each in enumerate(tokens)}
    by_rank |= {f"held {rank}": each for rank, each in enumerate(held)}
    sizes = {"ranks": len(tokens), "kind": kind, "k": k, "width": width, "hidden": hidden}
    return Case(words, sizes | by_rank, visible)


def tokens_of(case: Case) -> list[int]:
    """Returns how many tokens each rank has."""
    return [case.sizes[f"tokens {rank}"] for rank in range(ranks_of(case))]


def held_of(case: Case) -> list[int]:
    """Returns how many experts each rank has."""
    return [case.sizes[f"held {rank}"] for rank in range(ranks_of(case))]


CASES = (
    _case((3, 2), (2, 2), "visible example", visible=True, width=4),
    _case((5, 2), (1, 3), k=1),
    _case((4, 0, 3), (2, 0, 2), "a rank with neither token nor expert"),
    _case((2, 3, 1, 2), (1, 2, 1, 1), "all tokens for one expert", ONE_FOR_ALL, k=1),
    _case((4, 5), (2, 2), "choices that were dropped", DROPPED),
    _case((2, 3), (2, 1), "every choice was dropped", NONE_LEFT),
    _case((3, 2, 4), (2, 1, 1), "an expert past the last: a ValueError", PAST_THE_LAST),
    _case((3, 4, 2), (0, 2, 2), "expert -2: a ValueError", BELOW),
    # So much that what is sent beside the calls would show.
    _case((60, 24, 50), (3, 2, 3), "many tokens", width=48, hidden=24),
    _case((4,), (3,)),
)


def _random_case(rng: np.random.Generator) -> Case:
    ranks = int(rng.choice([2, 3]))
    tokens = [int(each) for each in rng.integers(3, 9, ranks)]
    held = [int(each) for each in rng.integers(1, 4, ranks)]
    return _case(tokens, held, "sizes drawn at random", width=int(rng.integers(4, 8)))


def _choices(rng: np.random.Generator, case: Case) -> np.ndarray:
    """Returns int64 (tokens, k): experts that differ in a row, some of them liked by most."""
    number, total, k = sum(tokens_of(case)), sum(held_of(case)), case.sizes["k"]
    liking = rng.permutation(np.linspace(0, 2, total))
    chosen = np.argsort(-(rng.normal(size=(number, total)) + liking), axis=1)[:, :k]
    kind = case.sizes["kind"]
    if kind == ONE_FOR_ALL:
        chosen[:] = 2
    elif kind == DROPPED:
        chosen[rng.random(chosen.shape) < 0.4] = -1
    elif kind == NONE_LEFT:
        chosen[:] = -1
    elif kind in NO_RESULT:
        # On rank 1 alone: the others find nothing wrong with their own.
        chosen[tokens_of(case)[0] + 1, 0] = total if kind == PAST_THE_LAST else -2
    return np.ascontiguousarray(chosen)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    tokens, held = tokens_of(case), held_of(case)
    number, total = sum(tokens), sum(held)
    k, width, hidden = (case.sizes[name] for name in ("k", "width", "hidden"))

    def dealt(whole: np.ndarray, sizes: Sequence[int]) -> PerRank:
        parts = np.split(whole, np.cumsum(sizes)[:-1])
        return PerRank(tuple(np.ascontiguousarray(part) for part in parts))

    return {
        "x": dealt(rng.normal(size=(number, width)), tokens),
        "experts": dealt(_choices(rng, case), tokens),
        "weights": dealt(rng.uniform(0.1, 1.0, (number, k)), tokens),
        "held": held,
        "up": dealt(rng.normal(size=(total, hidden, width)) / width**0.5, held),
        "down": dealt(rng.normal(size=(total, width, hidden)) / hidden**0.5, held),
        "dy": dealt(rng.normal(size=(number, width)), tokens),
        "refuses": case.sizes["kind"] in NO_RESULT,
    }


def _reference(inputs: Values, case: Case) -> Values:
    """All experts in one place, by PyTorch's autograd; then dealt out again."""
    import torch

    from gpu_course.measure.experts.exchange import dense

    ranks = ranks_of(case)
    if inputs["refuses"]:
        return {"y": (REFUSED,) * ranks}
    whole = {
        name: torch.from_numpy(np.concatenate(inputs[name].parts))
        for name in ("x", "experts", "weights", "up", "down", "dy")
    }
    leaves = [whole[name].requires_grad_() for name in ("x", "weights", "up", "down")]
    x, weights, up, down = leaves
    y = dense(x, whole["experts"], weights, up, down)
    y.backward(whole["dy"])
    found = [y.detach(), *(leaf.grad for leaf in leaves)]
    cuts = [tokens_of(case)] * 3 + [held_of(case)] * 2
    return {
        name: tuple(part.numpy() for part in torch.zeros_like(like).add(each).split(cut))
        if each is not None
        else tuple(part.numpy() for part in torch.zeros_like(like).split(cut))
        for name, each, like, cut in zip(("y", *GRADIENTS), found, [y, *leaves], cuts, strict=True)
    }


def crossing_rows(inputs: Values, case: Case) -> list[int]:
    """Returns how many rows each rank sends in a pass: there for its tokens, back for others'."""
    held, ranks = held_of(case), ranks_of(case)
    owner = np.repeat(np.arange(ranks), held)
    found = [0] * ranks
    for rank, chosen in enumerate(inputs["experts"].parts):
        for goal in owner[chosen[chosen >= 0]]:
            found[rank] += goal != rank
            found[goal] += goal != rank
    return found


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    ranks, total = ranks_of(case), sum(held_of(case))
    rows = [0] * ranks if inputs["refuses"] else crossing_rows(inputs, case)
    for rank in range(ranks):
        most = FLOAT64_BYTES * case.sizes["width"] * rows[rank]
        beside = FLOAT64_BYTES * (ranks * (total + 2) + inputs["experts"].parts[rank].size)
        for words, calls in zip(("forward", "backward"), passes(got["wire"], rank), strict=True):
            real = [call for call in calls if call.dtype.startswith("float")]
            other = [call for call in calls if not call.dtype.startswith("float")]
            for what, own, limit in (("", real, most), (" of whole numbers", other, beside)):
                sent = booked_bytes(own)
                if sent > limit:
                    largest = max(own, key=lambda call: call.booked_bytes)
                    will = f"{limit:,} will do" if limit else "none are needed"
                    fact = f"rank {rank} sends {float(sent):,.0f} bytes{what} {words}; {will}"
                    key = "beside-the-rows" if what else _why(inputs, own)
                    return Judgement(key, fact, "over-budget", largest.line)
    return None


def _why(inputs: Values, own: Sequence[Call]) -> str:
    if inputs["refuses"]:
        return "refused-too-late"
    others = {call.kind for call in own} - {"send", "recv", "all_to_all"}
    return "everything-to-all" if others else "too-many-rows"


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    failed = got.get("failed")
    if inputs["refuses"]:
        return "refused-alone" if failed else "not-refused"
    if failed in ("standstill", "calls-differ"):
        if 0 in tokens_of(case) or 0 in held_of(case) or case.sizes["kind"] == NONE_LEFT:
            return "left-out"
        return standstill(got)
    if failed == "sizes-differ":
        return "sizes-crossed"
    lost = any(_lost(got.get(name), expected[name]) for name in GRADIENTS)
    if failed is None and lost and _same(got.get("y"), expected["y"]):
        return "lost-gradient"
    return None


def _same(got: object, expected: Sequence[np.ndarray]) -> bool:
    """Whether each rank has what it should have."""
    return isinstance(got, tuple) and all(
        isinstance(own, np.ndarray) and own.shape == right.shape and np.allclose(own, right)
        for own, right in zip(got, expected, strict=True)
    )


def _lost(got: object, expected: Sequence[np.ndarray]) -> bool:
    """Whether no rank has any of a gradient that is not all zero."""
    if not isinstance(got, tuple) or not any(part.any() for part in expected):
        return False
    return not any(np.any(part) for part in got if part is not None)


def _call(inputs: Values) -> str:
    tokens = ", ".join(str(len(part)) for part in inputs["x"].parts)
    held = ", ".join(map(str, inputs["held"]))
    return f"all_to_all_experts(..., [{held}], ...), tokens {tokens}"


ALL_TO_ALL_EXPERTS = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.experts.harness.expert_passes",
    ranks=ranks_of,
    torch=True,
    cases=CASES,
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    tolerance=(1e-9, 1e-11),
    judge=_judge,
    diagnose=_diagnose,
    call=_call,
)
