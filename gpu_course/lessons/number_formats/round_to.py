"""Puzzle `round_to`: the nearest number of any format."""

from __future__ import annotations

import numpy as np

from gpu_course.lessons.number_formats.formats import FORMATS, Format, rounded
from gpu_course.puzzle.room import puzzle_fields
from gpu_course.puzzle.specification import Case, Judgement, PythonPuzzle, Values

_NAMES = list(FORMATS)
_FP6 = Format("fp6 E3M2", 3, 2, 28.0, infinity=False)
_FP4 = Format("fp4 E2M1", 2, 1, 6.0, infinity=False)
_ALL = [*FORMATS.values(), _FP6, _FP4]


def _case(
    name: str, form: int, count: int, saturate: int = 0, odd: int = 0, visible: bool = False
) -> Case:
    sizes = {"form": form, "count": count, "saturate": saturate, "odd": odd}
    return Case(name, sizes, visible)


def _between(rng: np.random.Generator, form: Format, count: int) -> np.ndarray:
    """Numbers, ties and their closest neighbours, over the whole range of a format."""
    low = form.least_exponent - form.mantissa_bits - 2
    high = np.log2(form.largest) + 1.2
    size = 2.0 ** rng.uniform(low, high, count)
    near = rounded(size, form, saturate=True)
    step = 2.0 ** np.maximum(
        np.floor(np.log2(np.maximum(near, form.smallest))) - form.mantissa_bits,
        form.least_exponent - form.mantissa_bits,
    )
    kind = rng.integers(0, 5, count)
    tie = near + step / 2
    found = np.select(
        [kind == 0, kind == 1, kind == 2, kind == 3],
        [size, tie, np.nextafter(tie, 0), np.nextafter(tie, np.inf)],
        near,
    )
    return found * rng.choice([-1.0, 1.0], count)


def _inputs(rng: np.random.Generator, case: Case) -> Values:
    form = _ALL[case.sizes["form"]]
    numbers = _between(rng, form, case.sizes["count"]).tolist()
    if case.visible:
        numbers = [0.3, 1.0625, 1.1875, -0.001, 0.0146, 460.0, 500.0, 2.0**-10]
    if case.sizes["odd"]:
        numbers += [float("nan"), float("inf"), float("-inf"), 0.0, -0.0, 1e300, -1e300, 5e-324]
        numbers += [-form.smallest / 2, form.smallest * 0.75, form.largest]
    return {
        "numbers": numbers,
        "exponent_bits": form.exponent_bits,
        "mantissa_bits": form.mantissa_bits,
        "largest": form.largest,
        "saturate": bool(case.sizes["saturate"]),
    }


def nearest(
    numbers: list[float], exponent_bits: int, mantissa_bits: int, largest: float, saturate: bool
) -> list[float]:
    """Returns what `round_to` is asked for."""
    form = Format("", exponent_bits, mantissa_bits, largest)
    found: list[float] = rounded(np.array(numbers, np.float64), form, saturate).tolist()
    return found


def _judge(inputs: Values, case: Case, got: Values) -> Judgement | None:
    right = nearest(**inputs)
    for k, (wanted, found) in enumerate(zip(right, got["result"], strict=True)):
        if wanted == 0 and np.signbit(wanted) != np.signbit(found):
            fact = f"numbers[{k}] is {inputs['numbers'][k]!r} and becomes {found!r}"
            return Judgement("sign-lost", fact)
    return None


ROUND_TO = PythonPuzzle(
    **puzzle_fields(__file__),
    cases=(
        _case("visible example: E4M3", _NAMES.index("fp8 E4M3"), 8, visible=True),
        _case("no numbers", 0, 0),
        _case("fp16", _NAMES.index("fp16"), 60),
        _case("E5M2", _NAMES.index("fp8 E5M2"), 60),
        _case("E4M3, saturating", _NAMES.index("fp8 E4M3"), 60, 1),
        _case("bf16", _NAMES.index("bf16"), 60),
        _case("float32", 0, 60),
        _case("six bits, saturating", 5, 60, 1),
        _case("four bits", 6, 60),
        _case("NaN, infinities and zeros", _NAMES.index("fp16"), 12, 0, 1),
        _case("NaN, infinities and zeros, saturating", _NAMES.index("fp8 E5M2"), 12, 1, 1),
    ),
    random_case=lambda rng: _case(
        "a format drawn at random",
        int(rng.integers(len(_ALL))),
        int(rng.integers(30, 90)),
        int(rng.integers(2)),
        int(rng.integers(2)),
    ),
    inputs=_inputs,
    reference=lambda inputs, case: {"result": nearest(**inputs)},
    judge=_judge,
)
