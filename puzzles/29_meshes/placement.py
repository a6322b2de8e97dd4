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
    # your code here (about 24 lines)
    pass


def placement(sizes, traffic, node, rack):
    # your code here (about 3 lines)
    pass
