"""Wrong answers to placement that people give."""

import itertools
import math


def others(pattern, place, size):
    if size == 1:
        return []
    if pattern == "ring":
        return [(place + 1) % size]
    if pattern == "line":
        return [at for at in (place - 1, place + 1) if 0 <= at < size]
    return [at for at in range(size) if at != place]


def counted(
    order, sizes, traffic, node, rack, goes=others, part=None, twice=False, of_rack=None, ranks=None
):
    found, stride = [0, 0, 0], 1
    of_rack = of_rack or node * rack
    world = math.prod(sizes.values())
    for axis in order:
        size, (pattern, sent) = sizes[axis], traffic[axis]
        for rank in ranks or range(world):
            place = rank // stride % size
            for at in goes(pattern, place, size):
                other = rank + (at - place) * stride
                each = sent // (size - 1) if pattern == "all to all" and part is None else sent
                apart = (rank // node != other // node) + (rank // of_rack != other // of_rack)
                found[apart] += each
                if twice and apart == 2:
                    found[1] += each
        stride *= size
    return tuple(found)


# wrong-result, ring-open, for link_bytes: Takes a ring for a line that goes one way.
def a_ring_without_its_end(order, sizes, traffic, node, rack):
    def goes(pattern, place, size):
        found = others(pattern, place, size)
        return [at for at in found if pattern != "ring" or at > place]

    return counted(order, sizes, traffic, node, rack, goes)


# wrong-result, ring-both-ways, for link_bytes: Lets each rank of a ring send to both neighbours.
def a_ring_both_ways(order, sizes, traffic, node, rack):
    def goes(pattern, place, size):
        if pattern == "ring" and size > 1:
            return [(place + 1) % size, (place - 1) % size]
        return others(pattern, place, size)

    return counted(order, sizes, traffic, node, rack, goes)


# wrong-result, line-one-way, for link_bytes: Thinks of the activations alone.
def a_line_one_way(order, sizes, traffic, node, rack):
    def goes(pattern, place, size):
        found = others(pattern, place, size)
        return [at for at in found if pattern != "line" or at > place]

    return counted(order, sizes, traffic, node, rack, goes)


# wrong-result, all-in-full, for link_bytes: Sends all bytes to each of the others.
def all_bytes_to_each(order, sizes, traffic, node, rack):
    return counted(order, sizes, traffic, node, rack, part=1)


# wrong-result, sends-to-itself, for link_bytes: Lets a rank alone in its ring send to itself.
def sends_to_itself(order, sizes, traffic, node, rack):
    def goes(pattern, place, size):
        return [0] if pattern == "ring" and size == 1 else others(pattern, place, size)

    return counted(order, sizes, traffic, node, rack, goes)


# wrong-result, rack-of-ranks, for link_bytes: Takes `rack` for ranks.
def a_rack_of_so_many_ranks(order, sizes, traffic, node, rack):
    return counted(order, sizes, traffic, node, rack, of_rack=rack)


# wrong-result, counted-twice, for link_bytes: Counts what goes between racks as between nodes, too.
def between_racks_is_between_nodes(order, sizes, traffic, node, rack):
    return counted(order, sizes, traffic, node, rack, twice=True)


# wrong-result, not-three, for link_bytes: Returns what leaves a node.
def slow_and_fast(order, sizes, traffic, node, rack):
    inside, *outside = counted(order, sizes, traffic, node, rack)
    return inside, sum(outside)


# wrong-result, one-rank-only, for link_bytes: Counts what rank 0 sends.
def what_rank_0_sends(order, sizes, traffic, node, rack):
    return counted(order, sizes, traffic, node, rack, ranks=[0])


# wrong-result, outermost-first, for link_bytes: Takes the first axis for the outermost.
def the_first_is_the_outermost(order, sizes, traffic, node, rack):
    return counted(order[::-1], sizes, traffic, node, rack)


# wrong-result, heaviest-first: Sorts the axes by what they send.
def the_heaviest_inside(sizes, traffic, node, rack):
    return sorted(sizes, key=lambda axis: -traffic[axis][1] * (sizes[axis] > 1))


# wrong-result, smallest-first: Puts small axes inside, so that they fit.
def the_smallest_inside(sizes, traffic, node, rack):
    return sorted(sizes, key=lambda axis: sizes[axis])


# wrong-result, by-heart: Knows the order of Llama 3 by heart.
def as_llama_3(sizes, traffic, node, rack):
    known = [axis for axis in ("tp", "cp", "pp", "dp") if axis in sizes]
    return known + [axis for axis in sizes if axis not in known]


def _least(key):
    def placement(sizes, traffic, node, rack):
        orders = itertools.permutations(sizes)
        return list(min(orders, key=lambda o: key(counted(o, sizes, traffic, node, rack))))

    return placement


# wrong-result, slow-ones-together: Adds up all that leaves a node.
def least_out_of_nodes(sizes, traffic, node, rack):
    return _least(lambda found: found[1] + found[2])(sizes, traffic, node, rack)


# wrong-result, nodes-first: Looks at links between nodes first.
def least_between_nodes(sizes, traffic, node, rack):
    return _least(lambda found: found[1:])(sizes, traffic, node, rack)


# wrong-result, outermost-first: Returns the outermost axis first.
def returns_the_outermost_first(sizes, traffic, node, rack):
    return _least(lambda found: found[:0:-1])(sizes, traffic, node, rack)[::-1]


# wrong-result, not-all-axes: Leaves axes of one place out.
def axes_of_one_left_out(sizes, traffic, node, rack):
    found = _least(lambda found: found[:0:-1])(sizes, traffic, node, rack)
    return [axis for axis in found if sizes[axis] > 1]


# wrong-result, wrong-form: Returns the order as Megatron-LM writes it.
def joined_by_dashes(sizes, traffic, node, rack):
    return "-".join(_least(lambda found: found[:0:-1])(sizes, traffic, node, rack))
