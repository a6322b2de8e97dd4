"""block_quantise_state: a moment of Adam in one byte per number.

    quantise(values, block, power) -> (codes, scales)
    dequantise(codes, scales, block, power) -> values

    values   float32 (n,), finite, n 1 or more
    block    so many numbers share a scale, in their order; the last
             block may have fewer
    power    1, 2, 3 or 4
    codes    int8 (n,), from -127 to 127
    scales   float32, one for each block: the largest size (absolute
             value) in it

A number's share is the number over the scale of its block. Its code is
127 times the power-th root of the share's size, rounded to the nearest
whole number (a half away from 0), with the sign of the number. A block
of zeros, 0.0 or -0.0, has scale 0 and codes 0; whatever is larger is a
scale, be it 1e-37. On the way back: the code over 127, to the power,
with its sign, times the scale.

Measured: codes, scales, what comes back, and the bytes behind codes and
scales.
"""

import torch


def quantise(values, block, power):
    codes = scales = None
    # your code here (about 6 lines)
    return codes, scales


def dequantise(codes, scales, block, power):
    values = None
    # your code here (about 3 lines)
    return values
