"""Wrong answers to coords that people give."""

import math


def check(order, sizes):
    if len(set(order)) < len(order) or set(sizes) - set(order):
        raise ValueError


def places(rank, order, sizes):
    check(order, sizes)
    if not 0 <= rank < math.prod(sizes.get(axis, 1) for axis in order):
        raise ValueError
    found = {}
    for axis in order:
        rank, found[axis] = divmod(rank, sizes.get(axis, 1))
    return found


# wrong-result, outermost-first: Takes the first axis for the outermost.
def the_first_is_the_outermost(rank, order, sizes):
    return places(rank, order[::-1], sizes)


# wrong-result, order-of-sizes: Goes through the axes as `sizes` names them.
def goes_by_sizes(rank, order, sizes):
    check(order, sizes)
    named = list(sizes) + [axis for axis in order if axis not in sizes]
    return places(rank, named, sizes)


# wrong-result, not-divided: Takes each place from the whole rank.
def from_the_whole_rank(rank, order, sizes):
    places(rank, order, sizes)
    return {axis: rank % sizes.get(axis, 1) for axis in order}


# wrong-result, divided-alone: Divides by the stride, and lets places grow.
def never_begins_anew(rank, order, sizes):
    places(rank, order, sizes)
    found, stride = {}, 1
    for axis in order:
        found[axis] = rank // stride
        stride *= sizes.get(axis, 1)
    return found


# wrong-result, axis-left-out: Returns the axes of `sizes` alone.
def axes_of_sizes_alone(rank, order, sizes):
    return {axis: at for axis, at in places(rank, order, sizes).items() if axis in sizes}


# wrong-result, wrong-form: Returns the places as a tuple.
def a_tuple_of_places(rank, order, sizes):
    return tuple(places(rank, order, sizes).values())


# wrong-result, not-refused: Begins anew after the last rank.
def begins_anew_after_the_last(rank, order, sizes):
    check(order, sizes)
    found = {}
    for axis in order:
        rank, found[axis] = divmod(rank, sizes.get(axis, 1))
    return found


# wrong-result, refused: Asks for a size of each axis.
def asks_for_every_size(rank, order, sizes):
    if set(order) != set(sizes):
        raise ValueError
    return places(rank, order, sizes)


def _rank(place, order, sizes):
    check(order, sizes)
    if set(place) != set(order):
        raise ValueError
    found = 0
    for axis in reversed(order):
        if not 0 <= place[axis] < sizes.get(axis, 1):
            raise ValueError
        found = found * sizes.get(axis, 1) + place[axis]
    return found


# wrong-result, places-are-digits, for rank_of: A step along an axis is worth its size.
def worth_its_own_size(place, order, sizes):
    _rank(place, order, sizes)
    found = place[order[0]]
    for axis, inner in zip(order[1:], order, strict=False):
        found += place[axis] * sizes.get(inner, 1)
    return found


# wrong-result, back-from-outside, for rank_of: Takes the last axis for the innermost.
def the_last_is_the_innermost(place, order, sizes):
    return _rank(place, order[::-1], sizes)


# wrong-result, not-refused, for rank_of: Trusts the places.
def trusts_the_places(place, order, sizes):
    check(order, sizes)
    found = 0
    for axis in reversed(order):
        found = found * sizes.get(axis, 1) + place.get(axis, 0)
    return found
