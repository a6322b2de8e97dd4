"""Wrong answers to sectors that learners give."""


# wrong-result, lines: A cache line has 128 bytes, so that must be what is moved.
def counts_whole_lines(stride, offset, itemsize):
    return len({(offset + lane * stride) * itemsize // 128 for lane in range(32)})


# wrong-result, span: From the first byte to the last, everything in between included.
def counts_the_span(stride, offset, itemsize):
    ends = [(offset + lane * stride) * itemsize // 32 for lane in (0, 31)]
    return max(ends) - min(ends) + 1


# wrong-result, alignment: Arrays are aligned, so the offset cannot matter.
def begins_at_a_border(stride, offset, itemsize):
    return len({lane * stride * itemsize // 32 for lane in range(32)})


# wrong-result, four-bytes: Carries the float32 of the examples over to every type.
def four_bytes_for_everything(stride, offset, itemsize):
    return len({(offset + lane * stride) * 4 // 32 for lane in range(32)})


# wrong-result, only-what-is-used: 32 elements of so many bytes, in sectors of 32.
def counts_what_is_used(stride, offset, itemsize):
    return 32 * itemsize // 32


# wrong-result, one-each: Each lane loads, so each lane costs one.
def one_sector_for_each_lane(stride, offset, itemsize):
    return 32


# wrong-result, at-most-eight: No number is wider than a double, it thinks.
def eight_bytes_at_most(stride, offset, itemsize):
    size = min(itemsize, 8)
    return len({(offset + lane * stride) * size // 32 for lane in range(32)})
