"""intensity: FLOP for each byte of a layer.

    intensity(b, d, f, itemsizes, own_weights) -> float

    b, d, f      sides: a batch (b, d) times weights (d, f) gives a
                 result (b, f)
    itemsizes    (x, w, y): bytes for each number of the batch, of the
                 weights and of the result; 0.5 for four bits
    own_weights  False: one matrix of weights for all rows;
                 True: each row of the batch has a matrix of its own

Return the FLOP of the layer over the bytes that it must move, if each
array is moved once: the batch and the weights read, the result written.
A product and an addition are two FLOP.

The sides are 1 or more. Half bytes count as they are, and the result is
not rounded.
"""


def intensity(b, d, f, itemsizes, own_weights):
    # your code here (about 5 lines)
    pass
