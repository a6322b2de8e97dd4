"""Wrong answers to ring_reduce_scatter that people give."""

import torch
import torch.distributed as dist


def ring():
    """Returns (number of ranks, this rank, its right neighbour, its left one)."""
    n, r = dist.get_world_size(), dist.get_rank()
    return n, r, (r + 1) % n, (r - 1) % n


def swap(piece, to, like, source):
    """Sends a piece, and returns what arrives meanwhile."""
    arrives = torch.empty_like(like)
    for work in [dist.isend(piece, to), dist.irecv(arrives, source)]:
        work.wait()
    return arrives


# hazard, receives-first: First take what comes, then hand it on: the order in which one tells it.
def receives_before_it_sends(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        arrives = torch.empty_like(own[(r - step - 2) % n])
        dist.recv(arrives, left)
        dist.send(piece, right)
        piece = arrives + own[(r - step - 2) % n]
    return piece


# hazard, sends-first: A send only drops the message into a buffer, does it not?
def sends_before_it_receives(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        arrives = torch.empty_like(own[(r - step - 2) % n])
        dist.send(piece, right)
        dist.recv(arrives, left)
        piece = arrives + own[(r - step - 2) % n]
    return piece


# hazard, wrong-neighbour: The neighbours are exchanged on the sending side alone.
def sends_to_the_left(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        piece = swap(piece, left, own[(r - step - 2) % n], left) + own[(r - step - 2) % n]
    return piece


# hazard, tags-differ: A number for each message, counted anew on either side: from 0 here, from 1
# there.
def numbers_its_messages(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        arrives = torch.empty_like(own[(r - step - 2) % n])
        work = dist.isend(piece, right, tag=step)
        dist.recv(arrives, left, tag=step + 1)
        work.wait()
        piece = arrives + own[(r - step - 2) % n]
    return piece


# hazard, not-waited: The receive is waited for, and the send is forgotten.
def does_not_wait(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        arrives = torch.empty_like(own[(r - step - 2) % n])
        dist.isend(piece, right)
        dist.recv(arrives, left)
        piece = arrives + own[(r - step - 2) % n]
    return piece


# wrong-result, piece-of-a-neighbour: Rank r starts with piece r, as the ring is mostly drawn.
def begins_with_its_own_piece(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[r].clone()
    for step in range(n - 1):
        mine = own[(r - step - 1) % n]
        piece = swap(piece, right, mine, left) + mine
    return piece


# wrong-result, one-step-too-many: n ranks, so n steps.
def one_round_too_many(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[r].clone()
    for step in range(n):
        mine = own[(r - step - 1) % n]
        piece = swap(piece, right, mine, left) + mine
    return piece


# wrong-result, one-step-too-few: Stops when the piece is at the neighbour.
def one_round_too_few(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[(r - 2) % n].clone()
    for step in range(n - 2):
        mine = own[(r - step - 3) % n]
        piece = swap(piece, right, mine, left) + mine
    return piece


# wrong-result, not-added: The ring of an all-gather: pieces go round, and nothing is added.
def passes_on_without_adding(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        piece = swap(piece, right, own[(r - step - 2) % n], left)
    return piece


# wrong-result, rest-dropped: Pieces of equal length; what is left over at the end belongs to
# nobody.
def drops_the_rest(x):
    n, r, right, left = ring()
    size = len(x) // n
    own = [x[k * size : (k + 1) * size] for k in range(n)]
    piece = own[left].clone()
    for step in range(n - 1):
        mine = own[(r - step - 2) % n]
        piece = swap(piece, right, mine, left) + mine
    return piece


# wrong-result, averaged: As gradients want it: the mean.
def divides_at_the_end(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        mine = own[(r - step - 2) % n]
        piece = swap(piece, right, mine, left) + mine
    return piece / n


# wrong-result, open-ring: The last rank has no rank after it, so it only receives; the first only
# sends.
def the_last_rank_sends_nothing(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        mine = own[(r - step - 2) % n]
        arrives = torch.zeros_like(mine)
        works = [dist.isend(piece, right)] if r < n - 1 else []
        works += [dist.irecv(arrives, left)] if r > 0 else []
        for work in works:
            work.wait()
        piece = arrives + mine
    return piece


# input-changed, input-changed: += on a piece of x is += on x.
def adds_in_place(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    piece = own[left]
    for step in range(n - 1):
        mine = own[(r - step - 2) % n]
        mine += swap(piece, right, mine, left)
        piece = mine
    return piece.clone()


# over-budget, too-many-bytes: Everything goes round the ring and is added up; the piece is cut
# out at the end.
def sends_all_of_it(x):
    n, r, right, left = ring()
    total, passing = x.clone(), x
    for step in range(n - 1):
        passing = swap(passing, right, x, left)
        total = total + passing
    return total.tensor_split(n)[r]


# over-budget, not-a-ring: Piece k belongs to rank k, so there it goes.
def straight_to_its_rank(x):
    n, r, right, left = ring()
    own = x.tensor_split(n)
    total = own[r].clone()
    for step in range(1, n):
        to = (r + step) % n
        total = total + swap(own[to].clone(), to, own[r], (r - step) % n)
    return total


# refused, library-collective: There is a function for it.
def asks_the_library(x):
    total = x.clone()
    dist.all_reduce(total)
    return total.tensor_split(dist.get_world_size())[dist.get_rank()].clone()


# refused, narrowed: Half the bytes: what is sent need not be as exact as what is computed.
def sends_them_in_float32(x):
    n, r, right, left = ring()
    own = x.float().tensor_split(n)
    piece = own[left].clone()
    for step in range(n - 1):
        like = own[(r - step - 2) % n]
        piece = swap(piece, right, like, left) + like
    return piece.double()
