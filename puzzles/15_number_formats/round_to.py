"""round_to: the nearest number of any format.

    round_to(numbers, exponent_bits, mantissa_bits, largest, saturate)
        -> list of float

    numbers        list of float, of any size; it may be empty
    exponent_bits  2 to 8
    mantissa_bits  1 to 23
    largest        the largest finite number of the format: 65504 for
                   fp16, 448 for E4M3
    saturate       True or False, see below

Return for each number the one of the format that is nearest; of two
equally near, the one whose mantissa is even. The smallest normal number
is 2**(2 - 2**(exponent_bits - 1)), and those below it are as far apart
as those just above it.

Round first as if the exponent had no end. What is then larger than
largest becomes infinity, or largest if saturate is true; so does an
infinity. NaN stays NaN. Everything keeps its sign: zeros do, and
what is rounded to 0.
"""

import math


def round_to(numbers, exponent_bits, mantissa_bits, largest, saturate):
    # your code here (about 13 lines)
    pass
