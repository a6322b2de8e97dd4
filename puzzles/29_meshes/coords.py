"""coords: where a rank stands on each axis, and who stands there.

    coords(rank, order, sizes) -> a dict

    rank    a whole number
    order   names of the axes, the innermost first: going from one rank
            to the next, the first axis changes with every step, the
            second each time the first has been gone through, and so on
    sizes   dict: how many places there are along an axis, at least 1.
            An axis of the order that is not in it has one place
    return  {axis: place} for every axis of the order, counted from 0

    rank_of(place, order, sizes) -> a whole number

    place   a dict as coords returns it
    return  the rank that stands there

With the order ["tp", "cp", "pp", "dp"] and two places along each axis,
rank 5 has tp 1, cp 0, pp 1 and dp 0. There may be 16,384 ranks and
more.

Raise ValueError where there is no answer: a rank that is not there, an
axis that stands in the order twice, an axis of `sizes` that the order
has not; and in rank_of, axes that are not those of the order, and a
place that is outside of its axis.
"""


def check(order, sizes):
    """Raises ValueError for an order that does not fit."""
    # your code here (about 2 lines)


def coords(rank, order, sizes):
    # your code here (about 7 lines)
    pass


def rank_of(place, order, sizes):
    # your code here (about 11 lines)
    pass
