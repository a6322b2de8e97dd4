"""best_fusion: the kernels of a chain that move the fewest bytes.

    best_fusion(operations, sizes, keep) -> list of lists of int

    operations, sizes, keep  as in traffic

Return groups of consecutive operations, in their order: each becomes
one kernel. The bytes that all kernels move, counted as in traffic, must
be the fewest that any such groups come to. Any best ones will do.

Not everything fits into one kernel:

    a "contraction" (a product of matrices) has its results tile by
        tile in registers: it must come first in its group, and only
        "map" operations (each number by itself) may follow it
    a "row" operation (softmax, a norm) needs whole rows: in its group
        there may be maps and other row operations, no contraction

There are at most 18 operations, and at least one.
"""


def best_fusion(operations, sizes, keep):
    # your code here (about 24 lines)
    pass
