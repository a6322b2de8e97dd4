"""all_to_all_bytes: what one rank's tokens send over which links.

    all_to_all_bytes(experts, rank, per_rank, per_node, total, width)
        -> (dispatch, combine)

    experts   for each token of the rank, a list of the experts that it
              is for; -1 is a choice that was dropped
    rank      whose tokens they are
    per_rank  experts that each rank has: rank 0 the first ones, then
              rank 1, and so on
    per_node  ranks that each node has: node 0 the first ones
    total     of all experts: whole nodes of them
    width     numbers in a row
    dispatch  (nvlink, rdma): bytes of the rows on their way to experts,
              on links inside nodes, and on those between nodes
    combine   (nvlink, rdma): the same, on their way back

A token crosses to each other node once, if any of its experts is there,
however many. It lands on the rank that has the same place in that node
as its own rank has at home. From there, and at home from its own rank,
it goes over NVLink to each other rank of the node that has one of its
experts, once. The way back is the same: experts' rows are added up
where ways meet, so one row comes back for each that went.

Rows go out in FP8: a byte for each number, and a float32 scale for each
128 of them, the last of which may be fewer. They come back in BF16, two
bytes a number. An expert below -1, or one that does not exist, is a
ValueError. There may be no token. Return whole numbers.
"""


def all_to_all_bytes(experts, rank, per_rank, per_node, total, width):
    # your code here (about 13 lines)
    return None
