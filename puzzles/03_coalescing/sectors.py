"""sectors: what one warp's load costs.

    sectors(stride, offset, itemsize) -> int

    stride    int, in elements; may be 0 or negative, or beyond 32 bits
    offset    int, in elements, large enough that no lane reads before
              the array; may be beyond 32 bits, too
    itemsize  int, bytes of an element: 1, 2, 4, 8 or 16

Lane i of a warp of 32 loads a[offset + i * stride]. The array begins at
the start of a sector, and a sector has 32 bytes. Return how many
different sectors the warp touches.
"""


def sectors(stride, offset, itemsize):
    # your code here (about 2 lines)
    pass
