"""vanishing_updates: what becomes of many small updates to one weight.

    vanishing_updates(w, updates, draws, mantissa_bits)
        -> (vanished, plain, master, drawn)

    w              float, a number of the format
    updates        list of float, added to the weight one after the
                   other; there may be none
    draws          a number between 0 and 1 for each update
    mantissa_bits  of the format; its exponents have no end, so 0 is the
                   only number without neighbours 2**-mantissa_bits of
                   its power of two away

The weight is kept in three ways:

    plain   in the format: each sum is rounded to the nearest number, of
            two equally near to the one with an even mantissa
    master  in float64, and rounded like that once, at the very end
    drawn   in the format: each sum goes to the next number above it if
            its draw is less than the part of the way from the next one
            below to the next one above, and else to the one below;
            above is towards infinity. A number of the format stays

Return how many updates other than 0 left plain as it was, and the three
weights. All sums of the cases are exact in float64.
"""

import math


def vanishing_updates(w, updates, draws, mantissa_bits):
    # answer
    def steps_of(x):
        """x as a number of steps, and the step."""
        step = 2.0 ** (math.frexp(x)[1] - 1 - mantissa_bits)
        return x / step, step

    def nearest(x):
        steps, step = steps_of(x)
        return round(steps) * step

    vanished, plain, master, drawn = 0, w, w, w
    for update, draw in zip(updates, draws, strict=True):
        before = plain
        plain = nearest(before + update)
        vanished += update != 0 and plain == before
        master += update
        steps, step = steps_of(drawn + update)
        below = math.floor(steps)
        drawn = (below + (draw < steps - below)) * step
    return vanished, plain, nearest(master), drawn
    # end answer
