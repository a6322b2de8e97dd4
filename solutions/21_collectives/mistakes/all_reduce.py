"""Wrong answers to all_reduce that people give."""

import torch
import torch.distributed as dist


def ring():
    """Returns (number of ranks, this rank, its right neighbour, its left one)."""
    n, r = dist.get_world_size(), dist.get_rank()
    return n, r, (r + 1) % n, (r - 1) % n


def swap(leaves, like):
    """Passes a piece to the right, and returns what comes from the left."""
    n, r, right, left = ring()
    arrives = torch.empty_like(like)
    for work in [dist.isend(leaves, right), dist.irecv(arrives, left)]:
        work.wait()
    return arrives


def summed(pieces):
    """Finishes piece r on rank r, the other pieces being on their way."""
    n, r, _, _ = ring()
    for step in range(n - 1):
        at = (r - step - 2) % n
        pieces[at] = pieces[at] + swap(pieces[(r - step - 1) % n], pieces[at])
    return pieces


def handed_out(pieces, first):
    """Passes pieces round, piece `first` of this rank before all others."""
    n, _, _, _ = ring()
    for step in range(n - 1):
        at = (first - step - 1) % n
        pieces[at] = swap(pieces[(first - step) % n], pieces[at])
    return pieces


# hazard, receives-first: First take what comes, then hand it on.
def receives_before_it_sends(x):
    n, r, right, left = ring()
    pieces = [piece.clone() for piece in x.tensor_split(n)]
    for step in range(n - 1):
        arrives = torch.empty_like(pieces[(r - step - 2) % n])
        dist.recv(arrives, left)
        dist.send(pieces[(r - step - 1) % n], right)
        pieces[(r - step - 2) % n] += arrives
    return torch.cat(handed_out(pieces, r))


# hazard, sends-first: A send only drops the message into a buffer, does it not?
def sends_before_it_receives(x):
    n, r, right, left = ring()
    pieces = [piece.clone() for piece in x.tensor_split(n)]
    for step in range(n - 1):
        arrives = torch.empty_like(pieces[(r - step - 2) % n])
        dist.send(pieces[(r - step - 1) % n], right)
        dist.recv(arrives, left)
        pieces[(r - step - 2) % n] += arrives
    return torch.cat(handed_out(pieces, r))


# hazard, not-waited: Sends are begun, and what they are is forgotten.
def begins_and_goes_on(x):
    n, r, right, left = ring()
    pieces = [piece.clone() for piece in x.tensor_split(n)]
    for step in range(n - 1):
        arrives = torch.empty_like(pieces[(r - step - 2) % n])
        dist.isend(pieces[(r - step - 1) % n], right)
        dist.recv(arrives, left)
        pieces[(r - step - 2) % n] += arrives
    return torch.cat(handed_out(pieces, r))


# wrong-result, averaged: As gradients want it: the mean.
def averages(x):
    n, r, _, _ = ring()
    return torch.cat(handed_out(summed(list(x.tensor_split(n))), r)) / n


# wrong-result, nothing-sent: Adds up the pieces of one rank, as if they were the ranks.
def sums_its_own_pieces(x):
    return x.clone() * dist.get_world_size()


# wrong-result, one-rank-alone: A reduce: rank 0 has the sum, and the others keep theirs.
def only_to_rank_0(x):
    n, r, _, _ = ring()
    total = x.clone()
    if r > 0:
        dist.send(x, 0)
        return total
    for other in range(1, n):
        arrives = torch.empty_like(x)
        dist.recv(arrives, other)
        total += arrives
    return total


# wrong-result, rest-dropped: Pieces of equal length; what is left over at the end stays as it is.
def drops_the_rest(x):
    n, r, _, _ = ring()
    size = len(x) // n
    pieces = [x[k * size : (k + 1) * size] for k in range(n)]
    return torch.cat([*handed_out(summed(pieces), r), x[n * size :]])


# wrong-result, scattered-only: A reduce-scatter, and the pieces put together where they are.
def first_half_only(x):
    n, _, _, _ = ring()
    return torch.cat(summed(list(x.tensor_split(n))))


# wrong-result, pieces-turned: The ring that starts with the own piece finishes piece r + 1 here;
# the second half begins with r.
def hands_out_from_the_wrong_piece(x):
    n, r, _, _ = ring()
    pieces = summed(list(x.tensor_split(n)))
    finished = pieces[r]
    found = [finished]
    for step in range(n - 1):
        finished = swap(finished, pieces[(r - step - 1) % n])
        found.insert(0, finished)
    return torch.cat(found)


# wrong-result, added-twice: The same loop twice: what comes is added, always.
def adds_in_the_second_half_too(x):
    n, r, _, _ = ring()
    pieces = summed(list(x.tensor_split(n)))
    for step in range(n - 1):
        at = (r - step - 1) % n
        pieces[at] = pieces[at] + swap(pieces[(r - step) % n], pieces[at])
    return torch.cat(pieces)


# input-changed, input-changed: += on a piece of x is += on x.
def adds_in_place(x):
    n, r, _, _ = ring()
    pieces = list(x.tensor_split(n))
    for step in range(n - 1):
        pieces[(r - step - 2) % n] += swap(pieces[(r - step - 1) % n], pieces[(r - step - 2) % n])
    return torch.cat(handed_out(pieces, r))


# over-budget, too-many-bytes: Every buffer goes once round the ring and is added up everywhere.
def everything_round_the_ring(x):
    n, _, _, _ = ring()
    total, passing = x.clone(), x
    for _ in range(n - 1):
        passing = swap(passing, x)
        total += passing
    return total


# over-budget, through-one-rank: One rank adds and tells: right, and its link does all the work.
def through_rank_0(x):
    n, r, _, _ = ring()
    total = x.clone()
    if r > 0:
        dist.send(x, 0)
        dist.recv(total, 0)
        return total
    for other in range(1, n):
        arrives = torch.empty_like(x)
        dist.recv(arrives, other)
        total += arrives
    for other in range(1, n):
        dist.send(total, other)
    return total


# refused, library-collective: There is a function for it.
def asks_the_library(x):
    total = x.clone()
    dist.all_reduce(total)
    return total


# refused, narrowed: Half the bytes: what is sent need not be as exact as what is computed.
def sends_them_in_float32(x):
    n, r, _, _ = ring()
    pieces = [piece.clone() for piece in x.float().tensor_split(n)]
    return torch.cat(handed_out(summed(pieces), r)).double()
