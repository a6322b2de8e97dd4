"""layer_batch: the smallest batch that is not bound by bandwidth.

    layer_batch(d, f, itemsizes, peak, bandwidth, multiple)
        -> int, or None where no batch is large enough

    d, f       sides of the weights: a batch (b, d) times weights (d, f)
               gives a result (b, f)
    itemsizes  (x, w, y): bytes for each number of the batch, of the
               weights and of the result; 0.5 for four bits
    peak       FLOP/s
    bandwidth  bytes/s
    multiple   b has to be a multiple of it, for the sake of the tiles

Return the smallest b at which the arithmetic takes at least as long as
the bytes, each array being moved once.

The batch may be as large as it takes, millions of rows too. Nothing but
the batch is rounded, and that up: a hair above a multiple is the next
one.
"""

import math


def layer_batch(d, f, itemsizes, peak, bandwidth, multiple):
    # your code here (about 7 lines)
    pass
