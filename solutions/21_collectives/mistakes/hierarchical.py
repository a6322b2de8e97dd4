"""Wrong answers to hierarchical that people give."""

import torch
import torch.distributed as dist


def rings(per_node):
    """Returns (this rank's ring in its node, its ring between nodes)."""
    n, r = dist.get_world_size(), dist.get_rank()
    first = r - r % per_node
    return list(range(first, first + per_node)), list(range(r % per_node, n, per_node))


def all_reduce(x, ring):
    """Returns the sum over a ring."""
    parts = x.tensor_split(len(ring))
    return torch.cat(all_gather(reduce_scatter(parts, ring), parts, ring))


def three_parts(x, inside, between):
    """Returns the sum in three parts, whatever the rings are."""
    parts = x.tensor_split(len(inside))
    share = all_reduce(reduce_scatter(parts, inside), between)
    return torch.cat(all_gather(share, parts, inside))


# over-budget, flat-ring: An all-reduce is an all-reduce.
def one_ring_for_all(x, per_node):
    return all_reduce(x, list(range(dist.get_world_size())))


# over-budget, leaders: One rank of each node speaks for all of it.
def leaders_send_it_all(x, per_node):
    inside, between = rings(per_node)
    total = all_reduce(x, inside)
    if dist.get_rank() == inside[0]:
        total = all_reduce(total, between)
        for rank in inside[1:]:
            dist.send(total, rank)
    else:
        dist.recv(total, inside[0])
    return total


# over-budget, whole-between: First the node, then the others, with the whole buffer each time.
def whole_buffers_between(x, per_node):
    inside, between = rings(per_node)
    return all_reduce(all_reduce(x, inside), between)


# over-budget, whole-between: The slow part first, so that it is done.
def between_before_inside(x, per_node):
    inside, between = rings(per_node)
    return all_reduce(all_reduce(x, between), inside)


# over-budget, whole-between: r % nodes and r // nodes, as if neighbours were in different nodes.
def takes_the_levels_for_each_other(x, per_node):
    inside, between = rings(per_node)
    return three_parts(x, between, inside)


# over-budget, too-many-bytes: The last part with the whole buffer, filled up with zeros and
# added.
def gathers_all_inside(x, per_node):
    inside, between = rings(per_node)
    parts = x.tensor_split(per_node)
    share = all_reduce(reduce_scatter(parts, inside), between)
    filled = [torch.zeros_like(part) for part in parts]
    filled[dist.get_rank() % per_node] = share
    return all_reduce(torch.cat(filled), inside)


# wrong-result, node-alone: Forgets that there are other nodes.
def stays_in_its_node(x, per_node):
    inside, _ = rings(per_node)
    return all_reduce(x, inside)


# wrong-result, not-added-inside: Takes its part of its own numbers for its share.
def forgets_the_first_part(x, per_node):
    _, between = rings(per_node)
    return all_reduce(x, between)


# wrong-result, share-alone: Its share is complete, so it is done.
def forgets_the_last_part(x, per_node):
    inside, between = rings(per_node)
    return all_reduce(reduce_scatter(x.tensor_split(per_node), inside), between)


# wrong-result, leaders-alone: A leader settles things with the others, for its own share.
def only_leaders_talk(x, per_node):
    inside, between = rings(per_node)
    parts = x.tensor_split(per_node)
    share = reduce_scatter(parts, inside)
    if dist.get_rank() == inside[0]:
        share = all_reduce(share, between)
    return torch.cat(all_gather(share, parts, inside))


# wrong-result, rest-dropped: A share is length // per_node.
def drops_the_rest(x, per_node):
    inside, between = rings(per_node)
    return three_parts(x[: len(x) // per_node * per_node], inside, between)


# wrong-result, averaged: As for gradients.
def divides_at_the_end(x, per_node):
    inside, between = rings(per_node)
    return three_parts(x, inside, between) / dist.get_world_size()


# input-changed, input-changed: The result has to be somewhere.
def writes_into_x(x, per_node):
    inside, between = rings(per_node)
    x.copy_(three_parts(x, inside, between))
    return x.clone()


# refused, library-collective: It is one line.
def asks_the_library(x, per_node):
    total = x.clone()
    dist.all_reduce(total)
    return total


# refused, narrowed: Half the bytes: what is sent need not be as exact as what is computed.
def sends_them_in_float32(x, per_node):
    return three_parts(x.float(), *rings(per_node)).double()
