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
    # answer
    if len(set(order)) < len(order) or set(sizes) - set(order):
        raise ValueError(f"an order of {sorted(sizes)} is not {order}")
    # end answer


def coords(rank, order, sizes):
    # answer
    check(order, sizes)
    place, left = {}, rank
    for axis in order:
        left, place[axis] = divmod(left, sizes.get(axis, 1))
    if left:
        raise ValueError(f"there is no rank {rank}")
    return place
    # end answer


def rank_of(place, order, sizes):
    # answer
    check(order, sizes)
    if set(place) != set(order):
        raise ValueError(f"a place on {order} is not {place}")
    rank, stride = 0, 1
    for axis in order:
        size = sizes.get(axis, 1)
        if not 0 <= place[axis] < size:
            raise ValueError(f"{axis} has no place {place[axis]}")
        rank += stride * place[axis]
        stride *= size
    return rank
    # end answer
