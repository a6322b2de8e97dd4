"""Wrong answers to to_bf16 that learners give."""

from numba import cuda, uint16, uint32

TPB = 128


# wrong-result, truncated: Takes the upper half as it is.
@cuda.jit
def truncated(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = uint16(bits[i] >> uint32(16))


# wrong-result, truncated: Takes the upper half as it is, and minds NaN.
@cuda.jit
def truncated_with_nan(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        b = bits[i]
        if b & uint32(0x7FFFFFFF) > uint32(0x7F800000):
            out[i] = uint16(0x7FC0)
        else:
            out[i] = uint16(b >> uint32(16))


# wrong-result, half-up: Adds half of the last bit, as at school.
@cuda.jit
def half_up(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        b = bits[i]
        if b & uint32(0x7FFFFFFF) > uint32(0x7F800000):
            out[i] = uint16(0x7FC0)
        else:
            out[i] = uint16((b + uint32(0x8000)) >> uint32(16))


# wrong-result, half-down: Goes up only past the middle.
@cuda.jit
def half_down(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        b = bits[i]
        if b & uint32(0x7FFFFFFF) > uint32(0x7F800000):
            out[i] = uint16(0x7FC0)
        else:
            out[i] = uint16((b + uint32(0x7FFF)) >> uint32(16))


# wrong-result, carry-lost: Rounds the mantissa and keeps seven bits of it.
@cuda.jit
def carry_lost(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        b = bits[i]
        if b & uint32(0x7FFFFFFF) > uint32(0x7F800000):
            out[i] = uint16(0x7FC0)
        else:
            odd = (b >> uint32(16)) & uint32(1)
            kept = ((b + uint32(0x7FFF) + odd) >> uint32(16)) & uint32(0x7F)
            out[i] = uint16(((b >> uint32(16)) & uint32(0xFF80)) | kept)


# wrong-result, to-odd: Goes to the odd neighbour from the middle.
@cuda.jit
def to_odd(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        b = bits[i]
        if b & uint32(0x7FFFFFFF) > uint32(0x7F800000):
            out[i] = uint16(0x7FC0)
        else:
            odd = (b >> uint32(16)) & uint32(1)
            out[i] = uint16((b + uint32(0x8000) - odd) >> uint32(16))


# wrong-result, nan-is-a-number: Rounds NaN like everything else.
@cuda.jit
def nan_is_a_number(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        b = bits[i]
        odd = (b >> uint32(16)) & uint32(1)
        out[i] = uint16((b + uint32(0x7FFF) + odd) >> uint32(16))


# wrong-result, infinity-is-nan: Takes every full exponent for NaN.
@cuda.jit
def infinity_is_nan(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        b = bits[i]
        if b & uint32(0x7FFFFFFF) >= uint32(0x7F800000):
            out[i] = uint16(0x7FC0)
        else:
            odd = (b >> uint32(16)) & uint32(1)
            out[i] = uint16((b + uint32(0x7FFF) + odd) >> uint32(16))


# wrong-result, saturated: Stops at the largest number.
@cuda.jit
def saturated(out, bits, size):
    i = cuda.grid(1)
    if i < size:
        b = bits[i]
        size_bits = b & uint32(0x7FFFFFFF)
        if size_bits > uint32(0x7F800000):
            out[i] = uint16(0x7FC0)
        elif size_bits < uint32(0x7F800000) and size_bits >= uint32(0x7F7F8000):
            out[i] = uint16(((b >> uint32(16)) & uint32(0x8000)) | uint32(0x7F7F))
        else:
            odd = (b >> uint32(16)) & uint32(1)
            out[i] = uint16((b + uint32(0x7FFF) + odd) >> uint32(16))


# hazard, out-of-bounds: Leaves the guard out.
@cuda.jit
def no_guard(out, bits, size):
    i = cuda.grid(1)
    b = bits[i]
    if b & uint32(0x7FFFFFFF) > uint32(0x7F800000):
        out[i] = uint16(0x7FC0)
    else:
        odd = (b >> uint32(16)) & uint32(1)
        out[i] = uint16((b + uint32(0x7FFF) + odd) >> uint32(16))


# over-budget, not-shared: The first thread of a block goes over all its cells.
@cuda.jit
def one_thread_of_a_block(out, bits, size):
    first = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        for i in range(first, min(first + TPB, size)):
            b = bits[i]
            if b & uint32(0x7FFFFFFF) > uint32(0x7F800000):
                out[i] = uint16(0x7FC0)
            else:
                odd = (b >> uint32(16)) & uint32(1)
                out[i] = uint16((b + uint32(0x7FFF) + odd) >> uint32(16))
