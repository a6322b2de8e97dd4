"""Wrong answers to round_to that learners give."""

import math


def _rounded(x, exponent_bits, mantissa_bits, largest, saturate, whole=round, lowest=None):
    least = 2 - 2 ** (exponent_bits - 1) if lowest is None else lowest
    if math.isfinite(x) and x != 0:
        step = 2.0 ** (max(math.frexp(x)[1] - 1, least) - mantissa_bits)
        x = math.copysign(whole(abs(x) / step) * step, x)
    if abs(x) > largest:
        x = math.copysign(largest if saturate else math.inf, x)
    return x


# wrong-result, truncated: Drops the bits that have no place.
def cuts_off(numbers, exponent_bits, mantissa_bits, largest, saturate):
    form = (exponent_bits, mantissa_bits, largest, saturate)
    return [_rounded(x, *form, whole=math.floor) for x in numbers]


# wrong-result, half-up: Rounds halves away from 0.
def half_up(numbers, exponent_bits, mantissa_bits, largest, saturate):
    form = (exponent_bits, mantissa_bits, largest, saturate)
    return [_rounded(x, *form, whole=lambda y: int(y) + (y - int(y) >= 0.5)) for x in numbers]


# wrong-result, no-subnormals: Gives every number all bits of its mantissa.
def no_least_exponent(numbers, exponent_bits, mantissa_bits, largest, saturate):
    form = (exponent_bits, mantissa_bits, largest, saturate)
    return [_rounded(x, *form, lowest=-2000 + mantissa_bits + 930) for x in numbers]


# wrong-result, flushed: Makes 0 of what is below the normal numbers.
def flushes(numbers, exponent_bits, mantissa_bits, largest, saturate):
    form = (exponent_bits, mantissa_bits, largest, saturate)
    least = 2.0 ** (2 - 2 ** (exponent_bits - 1))
    found = [_rounded(x, *form) for x in numbers]
    return [math.copysign(0.0, x) if abs(x) < least else x for x in found]


# wrong-result, one-exponent-off: Counts the exponent of frexp as it is.
def frexp_as_it_is(numbers, exponent_bits, mantissa_bits, largest, saturate):
    return [_rounded(x, exponent_bits, mantissa_bits - 1, largest, saturate) for x in numbers]


# wrong-result, compares-first: Looks for what is too large before rounding.
def compares_first(numbers, exponent_bits, mantissa_bits, largest, saturate):
    form = (exponent_bits, mantissa_bits, largest, saturate)
    beyond = largest if saturate else math.inf
    return [math.copysign(beyond, x) if abs(x) > largest else _rounded(x, *form) for x in numbers]


# wrong-result, always-saturates: Never gives infinity.
def always_saturates(numbers, exponent_bits, mantissa_bits, largest, saturate):
    return [_rounded(x, exponent_bits, mantissa_bits, largest, True) for x in numbers]


# wrong-result, sign-lost: Multiplies a whole number, and 0 has no sign.
def sign_lost(numbers, exponent_bits, mantissa_bits, largest, saturate):
    form = (exponent_bits, mantissa_bits, largest, saturate)
    return [_rounded(x, *form) or 0.0 for x in numbers]


# wrong-result, infinity-stays: Saturates only what was finite.
def infinity_stays(numbers, exponent_bits, mantissa_bits, largest, saturate):
    form = (exponent_bits, mantissa_bits, largest, saturate)
    return [x if math.isinf(x) else _rounded(x, *form) for x in numbers]
