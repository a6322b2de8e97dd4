"""gather: read from anywhere, write to your own cell. Three kernels.

    gather(out, a, index, size)            out[i] = a[index[i]]
    gather_reversed(out, a, size)          out is a back to front
    gather_shifted(out, a, shift, size)    every number of a moves
                                           `shift` cells to the right;
                                           what leaves at the end comes
                                           in at the front

    out    float32 (size,)   to write
    a      float32           to read; (size,) except in gather, where
                             its length is its own
    index  int32 (size,)     to read: each entry is the number of a cell
                             of a
    shift  int               may be negative, and larger than size
    size   int               how many cells out has

Each launch brings as many blocks as it takes to give every cell of out
a thread. Each thread writes at most one cell, its own, and may read any
other. An index must lie between 0 and the length of its array: a
negative one is refused, so wrap around with %. a may hold NaN and
infinities as well.
"""

from numba import cuda


@cuda.jit
def gather(out, a, index, size):
    i = cuda.grid(1)
    # your code here (about 2 lines)


@cuda.jit
def gather_reversed(out, a, size):
    i = cuda.grid(1)
    # your code here (about 2 lines)


@cuda.jit
def gather_shifted(out, a, shift, size):
    i = cuda.grid(1)
    # your code here (about 2 lines)
