"""The numbers of PTX: how a value is rounded, fused, converted and read as bits.

Floats are Python's own, which hold every float32 exactly; whole numbers are Python's, from 0 to
2^bits - 1 as they stand in a register. What has to be rounded otherwise than to the nearest float64
is worked out exactly, as a fraction.

Source: PTX ISA 9.0, 9.7.3 (floating point) and 9.7.9.21 (cvt).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from fractions import Fraction

INFINITY = math.inf
NAN = math.nan

CELL = memoryview(bytearray(4)).cast("f")
"""A cell of float32: what is put into it comes out rounded to the nearest one."""


@dataclass(frozen=True)
class Form:
    """A format of IEEE 754: bits of the significand, and the smallest and largest exponents."""

    precision: int
    lowest: int
    highest: int


F32 = Form(24, -126, 127)
F64 = Form(53, -1022, 1023)
FORMS = {"f32": F32, "f64": F64}


def rounded(exact: Fraction, form: Form, mode: str) -> float:
    """Returns a number rounded to a format.

    Args:
        exact: the number; a zero comes out as +0.
        form: the format.
        mode: "rn" to the nearest, ties to even; "rz" to zero; "rm" down; "rp" up.

    >>> rounded(Fraction(1, 3), F32, "rn") == struct.unpack("f", struct.pack("f", 1 / 3))[0]
    True
    >>> [rounded(Fraction(2**24 + 1), F32, mode) for mode in ("rn", "rz", "rm", "rp")]
    [16777216.0, 16777216.0, 16777216.0, 16777218.0]
    >>> rounded(Fraction(-(2**24) - 1), F32, "rm"), rounded(Fraction(10) ** 40, F32, "rn")
    (-16777218.0, inf)
    >>> rounded(Fraction(1, 2**149), F32, "rn"), rounded(Fraction(1, 2**150), F32, "rn")
    (1.401298464324817e-45, 0.0)
    """
    if exact == 0:
        return 0.0
    size = abs(exact)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = max(exponent, form.lowest) - form.precision + 1
    steps = size / Fraction(2) ** step
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    away = mode == ("rm" if exact < 0 else "rp")
    if mode == "rn":
        away = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    whole += away and rest > 0
    if whole.bit_length() + step > form.highest + 1:
        to_the_largest = mode == "rz" or mode == ("rp" if exact < 0 else "rm")
        largest = math.ldexp(2**form.precision - 1, form.highest - form.precision + 1)
        result = largest if to_the_largest else INFINITY
    else:
        result = math.ldexp(whole, step)
    return -result if exact < 0 else result


def to_f32(value: float) -> float:
    """Returns the nearest float32.

    >>> to_f32(0.1), to_f32(1e39)
    (0.10000000149011612, inf)
    """
    CELL[0] = value
    return CELL[0]


def bits_of_f32(value: float) -> int:
    """Returns the bits of a float32.

    >>> hex(bits_of_f32(1.0)), hex(bits_of_f32(-0.0))
    ('0x3f800000', '0x80000000')
    """
    return _U32.unpack(_F32.pack(value))[0]


def f32_of_bits(bits: int) -> float:
    """Returns the float32 of these bits.

    >>> f32_of_bits(0x7F800000), f32_of_bits(1)
    (inf, 1.401298464324817e-45)
    """
    return _F32.unpack(_U32.pack(bits))[0]


def bits_of_f64(value: float) -> int:
    """Returns the bits of a float64."""
    return _U64.unpack(_F64.pack(value))[0]


def f64_of_bits(bits: int) -> float:
    """Returns the float64 of these bits."""
    return _F64.unpack(_U64.pack(bits))[0]


_U32, _F32 = struct.Struct("<I"), struct.Struct("<f")
_U64, _F64 = struct.Struct("<Q"), struct.Struct("<d")
_DOUBLE = memoryview(bytearray(8)).cast("d")
_AS_BITS = memoryview(_DOUBLE).cast("B").cast("Q")


def fma_f32(a: float, b: float, c: float) -> float:
    """Returns a * b + c of three float32, rounded once.

    The product is exact in float64. Their sum rounded to float64 and then to float32 is rounded
    twice, which shows only where it comes to lie half way between two float32, or below the
    smallest normal one: there it is worked out exactly.

    >>> tiny = 2.0**-60
    >>> fma_f32(1.0, 1.0 + 2.0**-23, 2.0**-24), fma_f32(1.0, 1.0 + 2.0**-23, 2.0**-24 - tiny)
    (1.000000238418579, 1.0000001192092896)
    """
    total = a * b + c
    _DOUBLE[0] = total
    if _AS_BITS[0] & 0x1FFFFFFF == 0x10000000 or abs(total) < 2.0**-126:
        return fma(a, b, c, "f32", "rn")
    CELL[0] = total
    return CELL[0]


def fma(a: float, b: float, c: float, kind: str, mode: str) -> float:
    """Returns a * b + c of two exact operations and one rounding.

    >>> fma(0.1, 10.0, -1.0, "f64", "rn")
    5.551115123125783e-17
    """
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        if math.isfinite(a) and math.isfinite(b):
            return c
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return _zero(a * b, c, mode, exact_product=a == 0 or b == 0)
    return rounded(exact, FORMS[kind], mode)


def _zero(product: float, c: float, mode: str, exact_product: bool) -> float:
    """Returns the zero of a sum that is zero: with its sign."""
    if exact_product and c == 0 and math.copysign(1, product) == math.copysign(1, c):
        return c
    return -0.0 if mode == "rm" else 0.0


def add(a: float, b: float, kind: str, mode: str) -> float:
    """Returns a sum rounded in a direction.

    >>> add(1.0, 2.0**-30, "f32", "rp") > 1.0, add(1.0, 2.0**-30, "f32", "rm")
    (True, 1.0)
    """
    return fma(a, 1.0, b, kind, mode)


def multiply(a: float, b: float, kind: str, mode: str) -> float:
    """Returns a product rounded in a direction.

    >>> multiply(-0.0, 1.0, "f32", "rm"), multiply(16777215.0, 16777215.0, "f32", "rz")
    (-0.0, 281474943156224.0)
    """
    if a == 0 or b == 0 or not (math.isfinite(a) and math.isfinite(b)):
        return a * b
    return rounded(Fraction(a) * Fraction(b), FORMS[kind], mode)


def divide(a: float, b: float, kind: str, mode: str = "rn") -> float:
    """Returns a quotient; by zero it is infinite, and 0 / 0 is no number.

    >>> divide(1.0, 3.0, "f32"), divide(-1.0, 0.0, "f32"), divide(0.0, 0.0, "f64")
    (0.3333333432674408, -inf, nan)
    """
    if b == 0:
        if a == 0 or a != a:
            return NAN
        return math.copysign(INFINITY, math.copysign(1, a) * math.copysign(1, b))
    if mode != "rn" and math.isfinite(a) and math.isfinite(b) and a != 0:
        return rounded(Fraction(a) / Fraction(b), FORMS[kind], mode)
    return to_f32(a / b) if kind == "f32" else a / b


def square_root(a: float, kind: str) -> float:
    """Returns a square root; below zero there is none.

    >>> square_root(2.0, "f32"), square_root(-1.0, "f32"), square_root(-0.0, "f64")
    (1.4142135381698608, nan, -0.0)
    """
    if a < 0:
        return NAN
    return to_f32(math.sqrt(a)) if kind == "f32" else math.sqrt(a)


def smaller(a: float, b: float) -> float:
    """Returns the smaller; of a number and NaN the number, and -0 is smaller than +0.

    >>> smaller(NAN, 1.0), smaller(1.0, NAN), smaller(0.0, -0.0), smaller(-0.0, 0.0)
    (1.0, 1.0, -0.0, -0.0)
    """
    if a != a:
        return b
    if b != b or a < b:
        return a
    if a == b and a == 0:
        return a if math.copysign(1, a) < 0 else b
    return b


def larger(a: float, b: float) -> float:
    """Returns the larger; of a number and NaN the number, and +0 is larger than -0.

    >>> larger(NAN, 1.0), larger(-0.0, 0.0), larger(0.0, -0.0), larger(2.0, 3.0)
    (1.0, 0.0, 0.0, 3.0)
    """
    return -smaller(-a, -b)


def saturated(a: float) -> float:
    """Returns a value brought into 0 to 1; NaN becomes +0.

    >>> saturated(NAN), saturated(-2.0), saturated(0.25), saturated(7.0)
    (0.0, 0.0, 0.25, 1.0)
    """
    return a if 0.0 < a < 1.0 else 1.0 if a >= 1.0 else 0.0


def whole(a: float, mode: str) -> float:
    """Returns a float rounded to a whole number, as a float that keeps its sign.

    Args:
        a: the value.
        mode: "rni" to the nearest, ties to even; "rzi" to zero; "rmi" down; "rpi" up.

    >>> whole(2.5, "rni"), whole(-0.5, "rzi"), whole(-0.5, "rmi"), whole(0.5, "rpi")
    (2.0, -0.0, -1.0, 1.0)
    """
    if not math.isfinite(a):
        return a
    how = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode]
    return math.copysign(float(how(a)), a)


def to_integer(a: float, kind: str, bits: int, signed: bool, mode: str) -> int:
    """Returns the bits of a float's whole number; of what does not fit, the nearest end.

    NaN gives 0 where both have at most 32 bits, else the highest bit alone.

    >>> to_integer(NAN, "f32", 32, True, "rzi"), hex(to_integer(NAN, "f64", 32, True, "rzi"))
    (0, '0x80000000')
    >>> to_integer(1e30, "f32", 32, True, "rzi"), to_integer(-3.9, "f32", 32, False, "rzi")
    (2147483647, 0)
    >>> to_integer(-3.9, "f32", 32, True, "rzi") - 2**32
    -3
    """
    if a != a:
        return 0 if kind == "f32" and bits < 64 else 1 << (bits - 1)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    nearest = min(max(whole(a, mode), float(low)), float(high))
    return min(max(int(nearest), low), high) & ((1 << bits) - 1)


def of_integer(value: int, kind: str, mode: str) -> float:
    """Returns the float of a whole number, rounded once.

    >>> of_integer(2**24 + 1, "f32", "rn"), of_integer(2**60 + 2**36 + 1, "f32", "rn") > 2.0**60
    (16777216.0, True)
    """
    return rounded(Fraction(value), FORMS[kind], mode)


def narrowed(a: float, mode: str) -> float:
    """Returns the float32 of a float64.

    >>> narrowed(0.1, "rn") - narrowed(0.1, "rz")
    7.450580596923828e-09
    """
    if mode == "rn" or a == 0 or not math.isfinite(a):
        return to_f32(a)
    return rounded(Fraction(a), F32, mode)


def flushed(a: float) -> float:
    """Returns a float32 with what lies below the normal ones put to zero: `.ftz`."""
    return math.copysign(0.0, a) if abs(a) < 2.0**-126 else a


def gross_reciprocal(a: float) -> float:
    """Returns what `rcp.approx.ftz.f64` gives: it looks at the upper half of a float64 alone.

    >>> gross_reciprocal(4.0), gross_reciprocal(-0.0), gross_reciprocal(math.inf)
    (0.25, -inf, 0.0)
    """
    a = _upper_half(a)
    if a != a:
        return NAN
    if abs(a) < 2.0**-1022:
        return math.copysign(INFINITY, a)
    return _upper_half(1.0 / a) if abs(a) <= 2.0**1022 else math.copysign(0.0, a)


def _upper_half(a: float) -> float:
    bits = struct.unpack("<Q", struct.pack("<d", a))[0]
    return float(struct.unpack("<d", struct.pack("<Q", bits >> 32 << 32))[0])


def approximate(name: str, a: float) -> float:
    """Returns what an instruction that only approximates would give if it were exact.

    >>> approximate("ex2", 3.0), approximate("rcp", 4.0), approximate("lg2", 0.0)
    (8.0, 0.25, -inf)
    """
    if a != a:
        return NAN
    if name == "ex2":
        return to_f32(2.0**a) if a < 1024 else INFINITY
    if name == "lg2":
        return -INFINITY if a == 0 else NAN if a < 0 else to_f32(math.log2(a))
    if name == "rcp":
        return divide(1.0, a, "f32")
    if name == "sqrt":
        return square_root(a, "f32")
    if name == "rsqrt":
        return divide(1.0, square_root(a, "f64"), "f32")
    if name == "tanh":
        return to_f32(math.tanh(a))
    if math.isinf(a):
        return NAN
    return to_f32({"sin": math.sin, "cos": math.cos}[name](a))
