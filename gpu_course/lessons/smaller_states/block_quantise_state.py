"""Puzzle `block_quantise_state`: a moment in one byte per number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

KINDS = (
    "first moment",
    "second moment",
    "zeros among them",
    "tiny numbers",
    "halves of the largest",
    "the least normal numbers",
    "next to halves",
)

NEAR = 4e-3
"""How far a number of 16 bits may be off, as a share of it: less than 1/127 by far."""


def _case(name: str, kind: int, size: int, block: int, power: int, visible: bool = False) -> Case:
    return Case(name, {"kind": kind, "size": size, "block": block, "power": power}, visible)


def _random_case(rng: np.random.Generator) -> Case:
    block = int(rng.integers(3, 12))
    size = block * int(rng.integers(2, 6)) + int(rng.integers(1, block))
    kind, power = int(rng.integers(4)), int(rng.integers(1, 5))
    return _case("a moment drawn at random", kind, size, block, power)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    """Blocks of very different size; in each, the number of largest size is below zero."""
    size, block = case.sizes["size"], case.sizes["block"]
    blocks = np.arange(size) // block
    values = rng.normal(size=size) * 10.0 ** rng.integers(-3, 3, size=blocks[-1] + 1)[blocks]
    for number in range(blocks[-1] + 1):
        inside = np.flatnonzero(blocks == number)
        largest = inside[np.abs(values[inside]).argmax()]
        values[largest] = -abs(values[largest])
    kind = KINDS[case.sizes["kind"]]
    if kind == "second moment":
        values = values**2
    elif kind == "zeros among them":
        values[blocks == 1] = 0.0
        values[np.flatnonzero(blocks == 1)[0]] = -0.0
    elif kind == "tiny numbers":
        values *= 1e-12
    elif kind == "halves of the largest":
        # 127 / 2 is the one half that float32 holds exactly, whichever way it is worked out.
        values = np.clip(values, -0.9, 0.9)
        for start in range(0, size, block):
            values[start : start + 3] = [-2.0, 1.0, -1.0]
    elif kind == "the least normal numbers":
        values *= 1e-34
    elif kind == "next to halves":
        # So near to the half between two codes that fewer digits than float32's miss the right one.
        codes = rng.integers(64, 127, size=size) + rng.choice([0.497, 0.503], size=size)
        values = 2.0 * rng.choice([-1.0, 1.0], size=size) * codes / 127
        values[::block] = -2.0
    return {
        "values": values.astype(np.float32),
        "block": block,
        "power": case.sizes["power"],
    }


def _reference(inputs: Values, case: Case) -> Values:
    values, block, power = inputs["values"], inputs["block"], inputs["power"]
    codes, scales = _codes(values, block, power)
    shares = codes.astype(np.float64) / 127
    spread = np.repeat(scales, block)[: len(values)]
    restored = np.sign(shares) * np.abs(shares) ** power * spread
    return {"codes": codes, "scales": scales, "restored": restored.astype(np.float32)}


def _codes(
    values: np.ndarray,
    block: int,
    power: int,
    *,
    largest: Callable[[np.ndarray], Any] = lambda part: np.abs(part).max(),
    rounded: Callable[[np.ndarray], np.ndarray] = np.round,
    levels: int = 127,
    epsilon: float = 0.0,
    root: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns codes and scales, worked out block by block in float64."""
    wide = values.astype(np.float64)
    codes, scales = [], []
    for start in range(0, len(wide), block):
        part = wide[start : start + block]
        scale = largest(part) + epsilon
        share = part / scale if scale else part
        size = levels * np.abs(share) ** (1 / power if root is None else root)
        codes.append((np.sign(share) * rounded(size)).astype(np.int64).astype(np.int8))
        scales.append(scale)
    return np.concatenate(codes), np.array(scales, dtype=np.float32)


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    size, block = len(inputs["values"]), inputs["block"]
    blocks = -(-size // block)
    limit = blocks * block + 4 * blocks
    if got["bytes"] <= limit:
        return None
    fact = f"{got['bytes']:,} bytes are kept by codes and scales; {limit:,} are enough"
    return Judgement("large-state", fact, "over-budget")


def _diagnose(inputs: Values, case: Case, expected: Values, got: Values) -> str | None:
    values, block, power = inputs["values"], inputs["block"], inputs["power"]
    codes, scales = got["codes"], got["scales"]
    if scales.shape != expected["scales"].shape or codes.shape != expected["codes"].shape:
        if scales.size == 1:
            return "one-scale"
        dropped = len(scales) == len(values) // block and len(values) % block
        return "rest-dropped" if dropped else None
    if np.array_equal(codes, expected["codes"]) and np.allclose(
        scales, expected["scales"], 1e-5, 0
    ):
        if got["restored"].dtype != np.float32:
            return "not-float32"
        near = np.allclose(got["restored"], expected["restored"], NEAR, 0)
        return "rounded-back" if near else "way-back"
    if np.array_equal(codes, np.abs(expected["codes"])):
        return "sign-lost"
    ways: dict[str, dict[str, Any]] = {
        "cut-off": {"rounded": np.floor},
        "half-down": {"rounded": lambda size: np.ceil(size - 0.5)},
        "too-many-levels": {"levels": 128},
        "signed-largest": {"largest": np.max},
        "epsilon": {"epsilon": 1e-8},
        "power-for-root": {"root": power},
        "mean": {"largest": lambda part: np.abs(part).mean()},
    }
    if power > 1 and np.array_equal(codes, _codes(values, block, 1)[0]):
        return "no-power"
    for key, way in ways.items():
        with np.errstate(all="ignore"):
            wrong_codes, wrong_scales = _codes(values, block, power, **way)
        if np.allclose(scales, wrong_scales, 1e-5, 0) and np.array_equal(codes, wrong_codes):
            return key
    if _off_next_to_halves(codes, values, block, power):
        return "rounded-before"
    tiny = np.abs(values).max() < 1e-8  # a floor under the divisor, where it is all that counts
    return "epsilon" if tiny and np.abs(codes).max() < np.abs(expected["codes"]).max() else None


def _off_next_to_halves(codes: np.ndarray, values: np.ndarray, block: int, power: int) -> bool:
    """Whether codes are off by 1, and only where what is to be rounded lies next to a half."""
    exact, _ = _codes(values, block, power)
    off = np.abs(codes.astype(int) - exact)
    spread = np.abs(values).astype(np.float64)
    for start in range(0, len(spread), block):
        spread[start : start + block] /= spread[start : start + block].max() or 1.0
    size = 127 * spread ** (1 / power)
    return bool(off.any() and off.max() == 1 and (np.abs(size % 1 - 0.5)[off == 1] < 0.3).all())


BLOCK_QUANTISE_STATE = PythonPuzzle(
    **puzzle_fields(__file__),
    harness="gpu_course.lessons.smaller_states.harness.block_quantise_state",
    torch=True,
    cases=(
        _case("visible example", 0, 12, 4, 1, visible=True),
        _case("a first moment, a short last block", 0, 23, 5, 2),
        _case("a second moment", 1, 30, 7, 4),
        _case("a block of zeros", 2, 26, 6, 2),
        _case("tiny numbers", 3, 40, 8, 1),
        _case("one block", 0, 5, 9, 2),
        _case("halves of the largest", 4, 12, 4, 1),
        _case("the least normal numbers", 5, 17, 4, 1),
        _case("one number in each block", 0, 5, 1, 3),
        _case("next to halves", 6, 40, 8, 1),
    ),
    random_case=_random_case,
    inputs=_inputs,
    reference=_reference,
    judge=_judge,
    self_check="the memory behind codes and scales",
    diagnose=_diagnose,
    tolerance=(1e-5, 0.0),
)
