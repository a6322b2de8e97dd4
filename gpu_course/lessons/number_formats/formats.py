"""Number formats: which numbers a few bits can hold, and which of them is nearest to a given one.

A float has a sign, E bits of exponent and M bits of mantissa. Counted without the sign, its codes
are the whole numbers from 0 on, in the order of what they stand for: that is all this module uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gpu_course.errors import CourseError


@dataclass(frozen=True)
class Format:
    """A format of floats.

    Attributes:
        name: as the field calls it.
        exponent_bits, mantissa_bits: beside the sign.
        largest: the largest finite number.
        infinity: whether it has one; E4M3 does not, and gives its codes to numbers.
        torch: the name of the dtype in PyTorch, "" where it has none.
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    largest: float
    infinity: bool = True
    torch: str = ""

    @property
    def bits(self) -> int:
        """All bits of a number, the sign too."""
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self) -> int:
        """What is added to the exponent before it is stored."""
        return int(2 ** (self.exponent_bits - 1)) - 1

    @property
    def least_exponent(self) -> int:
        """The exponent of the smallest normal number, and of all that are smaller."""
        return 1 - self.bias

    @property
    def smallest_normal(self) -> float:
        """The smallest number with all bits of its mantissa."""
        return float(2.0**self.least_exponent)

    @property
    def smallest(self) -> float:
        """The smallest number above 0, which is subnormal."""
        return float(2.0 ** (self.least_exponent - self.mantissa_bits))

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number above it."""
        return float(2.0**-self.mantissa_bits)


def _ieee(name: str, exponent_bits: int, mantissa_bits: int, torch: str) -> Format:
    largest = (2 - 2.0**-mantissa_bits) * 2.0 ** (2 ** (exponent_bits - 1) - 1)
    return Format(name, exponent_bits, mantissa_bits, largest, torch=torch)


FP32 = _ieee("fp32", 8, 23, "float32")
FP16 = _ieee("fp16", 5, 10, "float16")
BF16 = _ieee("bf16", 8, 7, "bfloat16")
E5M2 = _ieee("fp8 E5M2", 5, 2, "float8_e5m2")
E4M3 = Format("fp8 E4M3", 4, 3, 448.0, infinity=False, torch="float8_e4m3fn")
FORMATS: Mapping[str, Format] = {f.name: f for f in (FP32, BF16, FP16, E5M2, E4M3)}


def find(name: str) -> Format:
    """Returns a format by its name, such as "bf16".

    Raises:
        CourseError: there is none of that name.
    """
    if name not in FORMATS:
        raise CourseError(f"no format is called {name!r}", f"there are {', '.join(FORMATS)}")
    return FORMATS[name]


def step_at(x: np.ndarray, form: Format) -> np.ndarray:
    """Returns the distance of neighbouring numbers of a format where each of x lies."""
    found: np.ndarray = np.ldexp(1.0, _exponent(x, form) - form.mantissa_bits)
    return found


def _exponent(x: np.ndarray, form: Format) -> np.ndarray:
    """Of each number, as the format stores it: that of zero is the least."""
    _, above = np.frexp(np.abs(x))
    found: np.ndarray = np.where(x == 0, form.least_exponent, above - 1)
    return np.maximum(found, form.least_exponent)


def rounded(x: np.ndarray | float, form: Format, saturate: bool = False) -> np.ndarray:
    """Returns the numbers of a format that are nearest, of two equally near the even one.

    Args:
        x: any shape, taken as float64.
        form: the format.
        saturate: True makes the largest number of what lies beyond it, infinity too; False makes
            infinity of it, or NaN where the format has no infinity.

    Returns:
        float64, of the same shape.
    """
    wide = np.asarray(x, np.float64)
    finite = np.where(np.isfinite(wide), wide, 1.0)
    step = step_at(finite, form)
    # A power of two divides and multiplies without rounding: rint alone does.
    near = np.copysign(np.rint(finite / step) * step, finite)
    near = np.where(np.isfinite(wide), near, wide)
    beyond = form.largest if saturate else np.inf if form.infinity else np.nan
    found: np.ndarray = np.where(np.abs(near) > form.largest, np.copysign(beyond, near), near)
    return found


def codes(x: np.ndarray | float, form: Format) -> np.ndarray:
    """Returns the bits of numbers that the format holds, infinities among them and no NaN."""
    wide = np.asarray(x, np.float64)
    finite = np.where(np.isinf(wide), 0.0, wide)
    steps = np.rint(np.abs(finite) / step_at(finite, form)).astype(np.int64)
    above = _exponent(finite, form).astype(np.int64) - form.least_exponent
    size = (above << form.mantissa_bits) + steps
    top = (2**form.exponent_bits - 1) << form.mantissa_bits
    size = np.where(np.isinf(wide), top, size)
    found: np.ndarray = size | (np.signbit(wide).astype(np.int64) << (form.bits - 1))
    return found


def values(bits: np.ndarray, form: Format) -> np.ndarray:
    """Returns what codes stand for: the other way round."""
    code = np.asarray(bits, np.int64)
    m = form.mantissa_bits
    sign = np.where(code >> (form.bits - 1) & 1, -1.0, 1.0)
    exponent = code >> m & (2**form.exponent_bits - 1)
    mantissa = code & (2**m - 1)
    normal = (exponent > 0).astype(np.int64)
    size = np.ldexp(
        (normal * 2**m + mantissa).astype(np.float64),
        np.maximum(exponent, 1) - form.bias - m,
    )
    size = np.where(size > form.largest, np.nan, size)
    if form.infinity:
        top = exponent == 2**form.exponent_bits - 1
        size = np.where(top, np.where(mantissa == 0, np.inf, np.nan), size)
    found: np.ndarray = sign * size
    return found


def all_values(form: Format) -> np.ndarray:
    """Returns all finite numbers of a format from 0 on, in their order.

    Raises:
        CourseError: a format of more than 16 bits.
    """
    if form.bits > 16:
        raise CourseError(f"{form.name} has too many numbers to list", "take one of 16 bits")
    found = values(np.arange(2 ** (form.bits - 1)), form)
    return found[np.isfinite(found)]
