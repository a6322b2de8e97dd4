"""mma_fragment: which lane holds which element for a tensor core.

    mma_fragment(matrix, lane, number) -> (row, col)

    matrix  "A", "B" or "C"
    lane    0 to 31
    number  of an element in the lane: 0 to 7 for A, 0 to 3 for B and C

The instruction mma.m16n8k16 multiplies A, 16 by 16, with B, 16 by 8,
and adds C, 16 by 8. Each of the 32 lanes of a warp holds 8 elements of
A, 4 of B and 4 of C in registers. Return where in the matrix the
element with this number belongs, as the PTX ISA has it for f16.

The warp counts its lanes in groups of four. The group number tells a
row of A and of C, and a column of B. The place in the group, 0 to 3,
tells a pair of neighbours, which are the elements 0 and 1:

    A  columns 2p and 2p + 1     of row g
    B  rows    2p and 2p + 1     of column g
    C  columns 2p and 2p + 1     of row g

The other elements of A: 2 and 3 lie eight rows below 0 and 1; 4 to 7
lie eight columns to the right of 0 to 3. In B, 2 and 3 lie eight rows
below 0 and 1, and in C as well.

The check gives the lanes their elements by your map, lets the tensor
core multiply, and reads the result by your map. Any map by which the
product comes out right passes.
"""


def mma_fragment(matrix, lane, number):
    # your code here (about 7 lines)
    pass
