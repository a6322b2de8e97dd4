"""Puzzle `rollback`: an optimizer step that is checked after it was taken, and taken back."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gpu_course.puzzle.on_ranks import FLOAT64_BYTES, by_hand, ranks_of, sends
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import (
    Case,
    Judgement,
    PerRank,
    PythonPuzzle,
    Values,
)

STEP, BEGINS = 1, 2
"""The harness's marks; a test holds them against it."""
ADAM = {"rate": 0.01, "beta_1": 0.9, "beta_2": 0.99, "epsilon": 1e-8, "decay": 0.1}
SMALL = 3
"""No gradient is larger, but for those that fill the sum of squares up."""
FINE, LARGE, LARGE_AT_ONCE, NAN_LAST, NAN_FIRST, INFINITE, TOO_LARGE = range(7)
"""What the gradients of a step are like: within the limit; past it with the last rank's, or with
the first one's already; with a NaN on the last or the first rank; with an infinity on the one in
the middle; so large that the sum of their squares is infinite."""


def _case(name: str, ranks: int, *calls: int, visible: bool = False, size: int = 3) -> Case:
    steps = {f"call_{number}": kind for number, kind in enumerate(calls)}
    return Case(name, {"ranks": ranks, "size": size, **steps}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    calls = [int(each) for each in rng.integers(0, 7, 5)]
    return _case("drawn at random", int(rng.integers(2, 5)), *calls)


def _calls(case: Case) -> list[int]:
    return [size for name, size in case.sizes.items() if name.startswith("call_")]


def _sizes(case: Case) -> list[list[int]]:
    """Returns the sizes of each rank's parameters; no two ranks have the same."""
    return [[case.sizes["size"] + rank, 4] for rank in range(ranks_of(case))]


def _limit(case: Case) -> float:
    """Returns a power of two whose half is no less than the norm of all small gradients."""
    numbers = sum(map(sum, _sizes(case)))
    return 2.0 ** (1 + math.ceil(math.log2(SMALL * math.sqrt(numbers))))


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    sizes, limit = _sizes(case), _limit(case)
    gradients = [_gradients(rng, sizes, limit, kind) for kind in _calls(case)]
    return {
        "sizes": PerRank(tuple(sizes)),
        "weights": PerRank(tuple(rng.normal(size=sum(each)) for each in sizes)),
        "gradients": PerRank(
            tuple(np.stack([each[rank] for each in gradients]) for rank in range(len(sizes)))
        ),
        "limit": limit,
        "adam": dict(ADAM),
    }


def _gradients(
    rng: np.random.Generator, sizes: Sequence[Sequence[int]], limit: float, kind: int
) -> list[np.ndarray]:
    """Returns each rank's gradients of one step.

    They are whole numbers, and the root of their squares' sum is a power of two. So that sum is the
    same in any order, and what is worked out with it has one right value, to the last bit.
    """
    past = kind in (LARGE, LARGE_AT_ONCE)
    root = int(4 * limit if past else limit / 2)
    large = {LARGE: len(sizes) - 1, LARGE_AT_ONCE: 0}.get(kind, 0)
    pool = [sign * size for size in range(1, SMALL + 1) for sign in (-1, 1)]
    found = [rng.choice(pool, sum(each)) for each in sizes]
    found[large][-4:] = 0
    rest = root**2 - sum(int(np.sum(each**2)) for each in found)
    found[large][-4:] = four_squares(rest) * rng.choice([-1, 1], 4)
    made = [each.astype(np.float64) for each in found]
    at = {NAN_LAST: len(sizes) - 1, NAN_FIRST: 0, INFINITE: len(sizes) // 2, TOO_LARGE: 0}
    value = {INFINITE: -math.inf, TOO_LARGE: 1e200}.get(kind, math.nan)
    if kind in at:
        made[at[kind]][int(rng.integers(made[at[kind]].size))] = value
    return made


def four_squares(number: int) -> np.ndarray:
    """Returns four whole numbers whose squares add up to this one; Lagrange: there always are.

    >>> four_squares(23).tolist()
    [3, 3, 2, 1]
    """
    for a in range(math.isqrt(number), -1, -1):
        for b in range(math.isqrt(number - a * a), -1, -1):
            rest = number - a * a - b * b
            for c in range(math.isqrt(rest), -1, -1):
                d = math.isqrt(rest - c * c)
                if d * d == rest - c * c:
                    return np.array([a, b, c, d])
                if c < d:
                    break
    raise AssertionError("every whole number is a sum of four squares")


def scale_by(total: float, limit: float) -> float | None:
    """Returns what a step takes the gradients times, given a sum of squares; None for no step."""
    if not math.isfinite(total):
        return None
    return limit / math.sqrt(total) if math.sqrt(total) > limit else 1.0


def _scales(inputs: Values, call: int) -> list[float | None]:
    """Returns for each rank the scale by the sum so far; the last one's is right."""
    with np.errstate(over="ignore"):
        sums = np.cumsum([np.sum(each[call] ** 2) for each in inputs["gradients"].parts])
    return [scale_by(float(each), inputs["limit"]) for each in sums]


def _reference(inputs: Values, case: Case) -> Values:
    import torch

    from gpu_course.lessons.zero_bubble.harness.rollback import trained, values

    found = []
    for rank, sizes in enumerate(inputs["sizes"].parts):
        parameters, optimizer = trained(sizes, inputs["weights"].parts[rank], inputs["adam"])
        steps = []
        for call, given in enumerate(inputs["gradients"].parts[rank]):
            scale = _scales(inputs, call)[-1]
            if scale is not None:
                parts = torch.from_numpy(given * scale).split(sizes)
                for parameter, part in zip(parameters, parts, strict=True):
                    parameter.grad = part
                optimizer.step()
            steps.append(values(parameters, optimizer))
        found.append(np.stack(steps))
    return {"result": tuple(found)}


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    if (found := by_hand(got["wire"])) is not None:
        return found
    ranks, calls = ranks_of(case), len(_calls(case))
    for rank in range(ranks):
        messages = calls * ((rank > 0) + (rank < ranks - 1))
        sent = sum(call.payload_bytes for call in sends(got["wire"], rank))
        if sent > messages * FLOAT64_BYTES:
            fact = f"rank {rank} sends {sent} bytes; {messages * FLOAT64_BYTES} will do"
            return Judgement("too-many-bytes", fact, "over-budget")
        for call, told in enumerate(_by_call(got["told"][rank])):
            if found := _step_by_step(inputs, case, got, rank, call, told):
                return found
    return None


def _by_call(told: Sequence[tuple[str, int]]) -> list[list[tuple[str, int]]]:
    """Returns what a rank told in each call of the answer."""
    parts: list[list[tuple[str, int]]] = []
    for event in told:
        if event == ("mark", BEGINS):
            parts.append([])
        elif parts:
            parts[-1].append(event)
    return parts


def _step_by_step(
    inputs: Values, case: Case, got: Values, rank: int, call: int, told: Sequence[tuple[str, int]]
) -> Judgement | None:
    """Returns what is wrong with when a rank stepped, and how often."""
    scales = _scales(inputs, call)
    guess, right = scales[rank], scales[-1]
    steps = [at for at, event in enumerate(told) if event == ("mark", STEP)]
    needed = (guess is not None) + (right != guess and right is not None)
    where = f"step {call}: rank {rank}"
    if len(steps) > needed:
        fact = f"{where} calls optimizer.step() {len(steps)} times; {needed} will do"
        return Judgement("needless-step", fact, "over-budget")
    if guess is None or rank == ranks_of(case) - 1:
        return None
    if not steps:
        return Judgement("waits-for-all", f"{where} takes no step by the sum so far", "over-budget")
    own = {each.number: each for each in got["wire"] if each.rank == rank}
    for at, (what, number) in enumerate(told):
        message = own.get(number) if what in ("begins", "waits") else None
        if message is None or message.peer != rank + 1:
            continue
        if (what, message.kind) == ("begins", "send") and at > steps[0]:
            fact = f"{where} steps before it sends on the sum so far"
            return Judgement("keeps-others-waiting", fact, "over-budget", message.line)
        if (what, message.kind) == ("waits", "recv") and at < steps[0]:
            fact = f"{where} waits for S before it steps"
            return Judgement("waits-for-all", fact, "over-budget", message.line)
    return None


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    if "failed" in got:
        return None
    pairs = zip(got["result"], expected["result"], strict=True)
    close = all(
        np.shape(a) == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in pairs
    )
    return "not-bit-for-bit" if close else None


ROLLBACK = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.zero_bubble.harness.rollback",
    ranks=ranks_of,
    torch=True,
    cases=(
        _case("visible example", 3, FINE, LARGE, NAN_LAST, FINE, visible=True),
        _case("one rank", 1, NAN_FIRST, LARGE, INFINITE, FINE),
        _case("the first step is taken back", 2, NAN_LAST, FINE, LARGE_AT_ONCE),
        _case("four ranks", 4, LARGE, INFINITE, LARGE_AT_ONCE, NAN_FIRST, TOO_LARGE, FINE),
        _case("many weights", 3, LARGE, NAN_LAST, FINE, size=4000),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    diagnose=_diagnose,
    call=lambda inputs: f"rollback(parameters, optimizer, {inputs['limit']:g})",
    self_check="when optimizer.step() is called, and how often",
)
