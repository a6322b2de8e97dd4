"""placement: the order of axes with the fewest bytes on slow links.

    link_bytes(order, sizes, traffic, node, rack) -> three numbers

    order    names of the axes, the innermost first
    sizes    dict: how many places there are along an axis, at least 1
    traffic  dict: for each axis (pattern, bytes), which is what a rank
             sends to the others in its group of this axis:
               "ring"        bytes to the next rank of the group; the
                             last one sends to the first
               "line"        bytes to the next rank and bytes to the
                             one before, where there is one
               "all to all"  bytes in all, to each of the others an
                             equal part, which is a whole number
             A rank that is alone in its group sends nothing.
    node     ranks of a node: 0 to node - 1 are in the first one, and
             so on; the last node may not be full
    rack     nodes of a rack
    return   the bytes that all ranks send together: within nodes,
             between nodes of one rack, and between racks

    placement(sizes, traffic, node, rack) -> a list

    return   an order of all axes of `sizes`, the innermost first, with
             the fewest bytes between racks. Among those that have
             equally few, one with the fewest bytes between nodes.
             Several may be equally good, and any of them will do

`sizes` and `traffic` name the same axes, up to five of them, and there
are up to 64 ranks. All bytes are whole numbers, 0 or more.
"""

import itertools


def link_bytes(order, sizes, traffic, node, rack):
    # answer
    found, stride = [0, 0, 0], 1
    ranks = 1
    for axis in order:
        ranks *= sizes[axis]
    for axis in order:
        size, (pattern, sent) = sizes[axis], traffic[axis]
        for rank in range(ranks):
            place = rank // stride % size
            if pattern == "ring":
                goes_to = [(place + 1) % size]
            elif pattern == "line":
                goes_to = [at for at in (place - 1, place + 1) if 0 <= at < size]
            else:
                goes_to = range(size)
            for at in goes_to:
                other = rank + (at - place) * stride
                if other == rank:
                    continue
                far = (rank // node != other // node) + (
                    rank // (node * rack) != other // (node * rack)
                )
                found[far] += sent // (size - 1) if pattern == "all to all" else sent
        stride *= size
    return tuple(found)
    # end answer


def placement(sizes, traffic, node, rack):
    # answer
    def slow(order):
        return link_bytes(order, sizes, traffic, node, rack)[:0:-1]

    return list(min(itertools.permutations(sizes), key=slow))
    # end answer
