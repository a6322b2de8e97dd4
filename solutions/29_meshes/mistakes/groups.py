"""Wrong answers to groups that people give."""

import itertools
import math


def check(axes, order, sizes):
    for names in (axes, order):
        if len(set(names)) < len(names):
            raise ValueError
    if (set(axes) | set(sizes)) - set(order):
        raise ValueError


def agreeing(fixed, order, sizes):
    """Groups of ranks that have the same places on the fixed axes."""
    found = {}
    for rank in range(math.prod(sizes.get(axis, 1) for axis in order)):
        left, place = rank, {}
        for axis in order:
            left, place[axis] = divmod(left, sizes.get(axis, 1))
        found.setdefault(tuple(place[axis] for axis in fixed), []).append(rank)
    return list(found.values())


def proper(axes, order, sizes):
    check(axes, order, sizes)
    return agreeing([axis for axis in order if axis not in axes], order, sizes)


# wrong-result, side-by-side: Puts ranks together that are side by side.
def side_by_side(axes, order, sizes):
    check(axes, order, sizes)
    size = math.prod(sizes.get(axis, 1) for axis in axes)
    world = math.prod(sizes.get(axis, 1) for axis in order)
    return [list(range(first, first + size)) for first in range(0, world, size)]


# wrong-result, beyond-the-axis: Goes in the right steps, up to the last rank.
def in_steps_to_the_end(axes, order, sizes):
    check(axes, order, sizes)
    world = math.prod(sizes.get(axis, 1) for axis in order)
    if len(axes) != 1:
        return proper(axes, order, sizes)
    inner = order[: order.index(axes[0])]
    stride = math.prod(sizes.get(axis, 1) for axis in inner)
    return [list(range(first, world, stride)) for first in range(stride)]


# wrong-result, the-other-axes: Puts ranks together that agree on the axes.
def agree_on_the_axes(axes, order, sizes):
    check(axes, order, sizes)
    return agreeing(axes, order, sizes)


# wrong-result, first-alone: Goes along the first of several axes.
def along_the_first_axis(axes, order, sizes):
    check(axes, order, sizes)
    return proper(axes[:1], order, sizes)


# wrong-result, doubled: Makes groups for each axis.
def groups_for_each_axis(axes, order, sizes):
    check(axes, order, sizes)
    return [group for axis in axes for group in proper([axis], order, sizes)] or proper(
        [], order, sizes
    )


# wrong-result, not-rising: Goes through the places in the order of the axes asked for.
def in_the_order_of_the_axes(axes, order, sizes):
    check(axes, order, sizes)
    strides, stride = {}, 1
    for axis in order:
        strides[axis] = stride
        stride *= sizes.get(axis, 1)
    steps = [range(0, strides[a] * sizes.get(a, 1), strides[a]) for a in axes]
    return [
        [group[0] + sum(step) for step in itertools.product(*steps)]
        for group in proper(axes, order, sizes)
    ]


# wrong-result, outermost-first: Takes the first axis for the outermost.
def the_first_is_the_outermost(axes, order, sizes):
    return proper(axes, order[::-1], sizes)


# wrong-result, order-of-sizes: Goes through the axes as `sizes` names them.
def goes_by_sizes(axes, order, sizes):
    check(axes, order, sizes)
    named = list(sizes) + [axis for axis in order if axis not in sizes]
    return proper(axes, named, sizes)


# wrong-result, missing: Leaves out groups of one.
def nobody_alone(axes, order, sizes):
    return [group for group in proper(axes, order, sizes) if len(group) > 1]


# wrong-result, empty-group: Begins a group for each rank, and fills those of the first ones.
def a_group_for_each_rank(axes, order, sizes):
    found = [[] for _ in range(math.prod(sizes.get(axis, 1) for axis in order))]
    for group in proper(axes, order, sizes):
        found[group[0]] = group
    return found


# wrong-result, no-such-rank: Counts ranks from 1.
def counts_from_one(axes, order, sizes):
    return [[rank + 1 for rank in group] for group in proper(axes, order, sizes)]


# wrong-result, wrong-form: Returns the group of rank 0.
def the_group_of_rank_0(axes, order, sizes):
    return proper(axes, order, sizes)[0]


# wrong-result, not-refused: Passes over an axis that the order has not.
def passes_over_an_unknown_axis(axes, order, sizes):
    check([], order, sizes)
    return proper([axis for axis in axes if axis in order], order, sizes)


# wrong-result, refused: Asks for a size of each axis.
def asks_for_every_size(axes, order, sizes):
    if set(order) != set(sizes):
        raise ValueError
    return proper(axes, order, sizes)
