"""Wrong answers to double_tree that people give."""

import torch
import torch.distributed as dist


def family(up):
    """Returns (this rank, its parent, its children)."""
    n, r = dist.get_world_size(), dist.get_rank()
    return r, up[r], [rank for rank in range(n) if up[rank] == r]


def taken(like, source):
    """Returns what a rank sends."""
    arrives = torch.empty_like(like)
    dist.recv(arrives, source)
    return arrives


def up_and_down(half, up):
    """Returns the sum of a half over its tree."""
    _, above, children = family(up)
    total = half.clone()
    for child in children:
        total = total + taken(half, child)
    if above is not None:
        dist.send(total, above)
        total = taken(half, above)
    for child in children:
        dist.send(total, child)
    return total


def both(x, one):
    """Returns both halves, each after what `one` does with it in its tree."""
    parts = x.tensor_split(2)
    return [one(half, up) for half, up in zip(parts, trees(dist.get_world_size()))]


# hazard, receives-first: The answer comes from above, so that is where one waits.
def waits_for_the_parent_first(x):
    def one(half, up):
        _, above, children = family(up)
        # The root of one tree is not the root of the other.
        total = taken(half, above) if above is not None else half.clone()
        for child in children:
            total = total + taken(half, child)
            dist.send(total, child)
        if above is not None:
            dist.send(half, above)
        return total

    return torch.cat(both(x, one))


# hazard, not-waited: The sends are begun and forgotten.
def does_not_wait(x):
    def one(half, up):
        _, above, children = family(up)
        total = half.clone()
        for child in children:
            total = total + taken(half, child)
        if above is not None:
            dist.isend(total, above)
            total = taken(half, above)
        for child in children:
            dist.isend(total, child)
        return total

    return torch.cat(both(x, one))


# wrong-result, never-down: A reduction ends at the root.
def never_sends_down(x):
    def one(half, up):
        _, above, children = family(up)
        total = half.clone()
        for child in children:
            total = total + taken(half, child)
        if above is not None:
            dist.send(total, above)
        return total

    return torch.cat(both(x, one))


# wrong-result, own-left-out: The sum begins at 0.
def leaves_its_own_out(x):
    def one(half, up):
        _, above, children = family(up)
        total = torch.zeros_like(half) if children else half.clone()
        for child in children:
            total = total + taken(half, child)
        if above is not None:
            dist.send(total, above)
            total = taken(half, above)
        for child in children:
            dist.send(total, child)
        return total

    return torch.cat(both(x, one))


# wrong-result, own-passed-on: Sends what is its own.
def passes_its_own_up(x):
    def one(half, up):
        _, above, children = family(up)
        total = half.clone()
        for child in children:
            total = total + taken(half, child)
        if above is not None:
            dist.send(half.contiguous(), above)
            total = taken(half, above)
        for child in children:
            dist.send(total, child)
        return total

    return torch.cat(both(x, one))


# wrong-result, one-child: One buffer for what arrives, added once.
def keeps_the_last_child(x):
    def one(half, up):
        _, above, children = family(up)
        arrives = torch.zeros_like(half)
        for child in children:
            dist.recv(arrives, child)
        total = half + arrives
        if above is not None:
            dist.send(total, above)
            total = taken(half, above)
        for child in children:
            dist.send(total, child)
        return total

    return torch.cat(both(x, one))


# wrong-result, branch-sent-down: Two names for two sums, and the wrong one goes on.
def sends_its_branch_down(x):
    def one(half, up):
        _, above, children = family(up)
        branch = half.clone()
        for child in children:
            branch = branch + taken(half, child)
        result = branch
        if above is not None:
            dist.send(branch, above)
            result = taken(half, above)
        for child in children:
            dist.send(branch, child)
        return result

    return torch.cat(both(x, one))


# wrong-result, halves-exchanged: Puts each new half in front.
def halves_the_wrong_way_round(x):
    return torch.cat(both(x, up_and_down)[::-1])


# wrong-result, rest-dropped: A half is length // 2.
def drops_the_rest(x):
    half = len(x) // 2
    parts = x[:half], x[half : 2 * half]
    sums = [up_and_down(part, up) for part, up in zip(parts, trees(dist.get_world_size()))]
    return torch.cat(sums)


# wrong-result, averaged: As for gradients.
def divides_at_the_end(x):
    return torch.cat(both(x, up_and_down)) / dist.get_world_size()


# input-changed, input-changed: Saves a tensor.
def adds_in_place(x):
    def one(half, up):
        _, above, children = family(up)
        for child in children:
            half += taken(half, child)
        if above is not None:
            dist.send(half, above)
            dist.recv(half, above)
        for child in children:
            dist.send(half, child)
        return half

    return torch.cat(both(x, one))


# over-budget, one-tree: One tree is easier to think of.
def one_tree_for_all(x):
    first, _ = trees(dist.get_world_size())
    return up_and_down(x, first)


# over-budget, too-many-bytes: The whole buffer over each tree, and a half taken of either.
def all_of_it_twice(x):
    n = dist.get_world_size()
    first, second = (up_and_down(x, up) for up in trees(n))
    half = len(x) - len(x) // 2
    return torch.cat([first[:half], second[half:]])


# over-budget, trees-exchanged: Rounds the first half down.
def the_longer_half_last(x):
    first, second = trees(dist.get_world_size())
    half = len(x) // 2
    return torch.cat([up_and_down(x[:half], first), up_and_down(x[half:], second)])


# over-budget, not-the-trees: A tree of one level.
def everyone_to_rank_0(x):
    n = dist.get_world_size()
    return up_and_down(x, [None] + [0] * (n - 1))


# refused, library-collective: It is one line.
def asks_the_library(x):
    total = x.clone()
    dist.all_reduce(total)
    return total


# refused, narrowed: Half the bytes: what is sent need not be as exact as what is computed.
def sends_them_in_float32(x):
    return torch.cat(both(x.float(), up_and_down)).double()
