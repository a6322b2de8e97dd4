"""Puzzle `block_quantise_state`: a moment in one byte per number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpu_course.puzzle.specification import Case, Debrief, Finding, Mistake, PythonPuzzle, Values

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


def _judge(inputs: Values, case: Case, got: Values) -> Finding | None:
    size, block = len(inputs["values"]), inputs["block"]
    blocks = -(-size // block)
    limit = blocks * block + 4 * blocks
    if got["bytes"] <= limit:
        return None
    fact = f"{got['bytes']:,} bytes stay behind codes and scales; {limit:,} are enough"
    return Finding("large-state", fact, "over-budget")


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


DEBRIEF = Debrief(
    shows=("bytes",),
    why=(
        "Each block has its own scale, so one large number spoils the digits of its block and of "
        "no other. The root gives the many small numbers more of the 127 steps."
    ),
    alternative=(
        "Padding the last block, or treating it separately, gives the same codes. Tables of 256 "
        "values, as bitsandbytes uses them, replace the root by a search."
    ),
)

BLOCK_QUANTISE_STATE = PythonPuzzle(
    name="20_smaller_states/block_quantise_state",
    title="a moment in eight bits",
    difficulty="medium",
    minutes=15,
    debrief=DEBRIEF,
    statement=(
        "Write a moment of Adam as one int8 per number and one float32 per block, and read it back."
    ),
    parameters={
        "quantise": ("values", "block", "power"),
        "dequantise": ("codes", "scales", "block", "power"),
    },
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
    diagnoses={
        "one-scale": (
            "You have one scale for all numbers. A single large one then leaves nothing but zeros "
            "of the others: each block has a scale of its own."
        ),
        "rest-dropped": "The last block is shorter than the others, and it counts, too.",
        "cut-off": (
            "Your codes are cut off towards 0. Rounding to the nearest halves the largest error."
        ),
        "half-down": (
            "A code that would be 63.5 becomes 63 with you. A half is rounded away from 0, on "
            "both sides of it."
        ),
        "rounded-before": (
            "A few codes are off by 1, where 127 times the root lies next to a half. Something "
            "was rounded before that. Keep all digits of float32 up to the one rounding."
        ),
        "too-many-levels": (
            "int8 goes from -128 to 127, so 128 does not exist: it becomes -128, and the largest "
            "number changes its sign."
        ),
        "signed-largest": (
            "Your scale is the largest number. What has to fit is the number of largest size, and "
            "that one may be below zero."
        ),
        "epsilon": (
            "Something small is added to your scales, or they are kept from falling below it. A "
            "second moment of 1e-12 is nothing out of the ordinary. What else keeps a block of "
            "zeros from a division by zero?"
        ),
        "no-number": (
            "0 / 0 is no number, and int8 has no place for that: which code it becomes depends on "
            "the machine. What can a block of zeros be divided by?"
        ),
        "mean": (
            "Your scale is a mean, and half of the numbers are larger. Their codes have no place "
            "in int8."
        ),
        "no-power": (
            "You spread the codes evenly whatever `power` is. It is the root of the share that "
            "becomes the code."
        ),
        "power-for-root": (
            "You take the power on the way there. Codes lie closer near zero if the share's *root* "
            "is rounded, and the power taken on the way back."
        ),
        "sign-lost": "Your codes have no sign. The root is taken of the size; the sign comes back.",
        "not-float32": (
            "What comes back is not float32. The numbers are right; only their width is not what "
            "Adam handed over."
        ),
        "not-written": (
            "There are two functions to write: `quantise` returns a tuple of int8 codes and "
            "float32 scales, `dequantise` one tensor."
        ),
        "rounded-back": (
            "Codes and scales are right, and what comes back is close and no more. Something was "
            "rounded on the way: keep all digits of float32."
        ),
        "way-back": (
            "Codes and scales are right, and what comes back is not. Undo the steps in the "
            "opposite order: levels, power, scale."
        ),
        "large-state": (
            "The values are right, and more memory stays behind them than a byte for each number "
            "and four for each block. Is something a view of something larger?"
        ),
    },
    hints=(
        (
            "Pad the numbers with zeros until they fill whole blocks, look at them as a table with "
            "a block in each row, and all blocks are done at once."
        ),
        (
            "A number over the largest size in its block is a share from -1 to 1. The root is "
            "taken of its size, and the sign put back. Where a block has only zeros, divide by 1."
        ),
        (
            "Times 127, rounded, to int8; cut the padding off again. On the way back: over 127, to "
            "the power, sign, times the scale, each scale repeated for its block."
        ),
    ),
    mistakes=(
        Mistake("one_scale_for_all", "wrong-result", "one-scale"),
        Mistake("drops_the_rest", "wrong-result", "rest-dropped"),
        Mistake("cuts_off", "wrong-result", "cut-off"),
        Mistake("halves_towards_zero", "wrong-result", "half-down"),
        Mistake("shares_in_float16", "wrong-result", "rounded-before"),
        Mistake("levels_up_to_128", "wrong-result", "too-many-levels"),
        Mistake("largest_and_not_largest_size", "wrong-result", "signed-largest"),
        Mistake("epsilon_in_the_scale", "wrong-result", "epsilon"),
        Mistake("mean_for_the_largest", "wrong-result", "mean"),
        Mistake("forgets_the_power", "wrong-result", "no-power"),
        Mistake("power_for_the_root", "wrong-result", "power-for-root"),
        Mistake("loses_the_sign", "wrong-result", "sign-lost"),
        Mistake("floor_under_the_scale", "wrong-result", "epsilon"),
        Mistake("codes_of_float32", "wrong-result", "not-written"),
        Mistake("divides_zero_by_zero", "wrong-result", "no-number"),
        Mistake("divides_zero_by_zero_in_numpy", "wrong-result", "no-number"),
        Mistake("comes_back_in_float64", "wrong-result", "not-float32", stands_for="dequantise"),
        Mistake("back_in_bfloat16", "wrong-result", "rounded-back", stands_for="dequantise"),
        Mistake("forgets_the_way_back", "wrong-result", "way-back", stands_for="dequantise"),
        Mistake("scale_of_the_first_block", "wrong-result", "way-back", stands_for="dequantise"),
    ),
    equivalent_mutants={
        "dequantise:call-dropped:shares = codes / 127": (
            "A true division of whole numbers gives float32 in PyTorch, as the call does."
        ),
        (
            "quantise:constant:shares = table / torch.where(scales > 0, scales, 2.0).unsqueeze(1)"
        ): "Only a block of zeros is concerned, and its codes are 0 over any number.",
    },
    source="Dettmers et al. 2022, 8-bit optimizers via block-wise quantization, arXiv 2110.02861",
)
