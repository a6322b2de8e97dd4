"""Wrong answers to ring_all_gather that people give."""

import torch
import torch.distributed as dist


def ring():
    """Returns (number of ranks, this rank, its right neighbour, its left one)."""
    n, r = dist.get_world_size(), dist.get_rank()
    return n, r, (r + 1) % n, (r - 1) % n


def swap(leaves, to, arrives, source):
    """Sends a piece and receives one meanwhile."""
    for work in [dist.isend(leaves, to), dist.irecv(arrives, source)]:
        work.wait()


def places(piece, lengths, make=torch.empty):
    """Returns a tensor for each piece, the own one in its place."""
    pieces = [make(length, dtype=piece.dtype) for length in lengths]
    pieces[dist.get_rank()] = piece
    return pieces


# hazard, receives-first: First take what comes, then hand it on.
def receives_before_it_sends(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths)
    for step in range(n - 1):
        dist.recv(pieces[(r - step - 1) % n], left)
        dist.send(pieces[(r - step) % n], right)
    return torch.cat(pieces)


# hazard, sends-first: A send only drops the message into a buffer, does it not?
def sends_before_it_receives(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths)
    for step in range(n - 1):
        dist.send(pieces[(r - step) % n], right)
        dist.recv(pieces[(r - step - 1) % n], left)
    return torch.cat(pieces)


# hazard, tags-differ: The number of the piece as a tag, taken for the own piece on both sides.
def numbers_its_messages(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths)
    for step in range(n - 1):
        work = dist.isend(pieces[(r - step) % n], right, tag=(r - step) % n)
        dist.recv(pieces[(r - step - 1) % n], left, tag=(r - step) % n)
        work.wait()
    return torch.cat(pieces)


# hazard, not-waited: All messages are begun at once, and the result is put together meanwhile.
def begins_and_returns(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths)
    for step in range(n - 1):
        work = dist.isend(pieces[(r - step) % n], right)
        dist.recv(pieces[(r - step - 1) % n], left)
    return torch.cat(pieces)


# hazard, length-of-another: Pieces of equal length, as in most pictures.
def all_as_long_as_mine(piece, lengths):
    n, r, right, left = ring()
    pieces = [torch.empty_like(piece) for _ in range(n)]
    pieces[r] = piece
    for step in range(n - 1):
        swap(pieces[(r - step) % n], right, pieces[(r - step - 1) % n], left)
    return torch.cat(pieces)


# wrong-result, own-piece-first: A list that begins with the own piece, and goes on along the
# ring.
def own_piece_first(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths)
    for step in range(n - 1):
        swap(pieces[(r - step) % n], right, pieces[(r - step - 1) % n], left)
    return torch.cat(pieces[r:] + pieces[:r])


# wrong-result, in-order-of-arrival: Appends what comes.
def in_order_of_arrival(piece, lengths):
    n, r, right, left = ring()
    found = [piece]
    for step in range(n - 1):
        arrives = torch.empty(lengths[(r - step - 1) % n], dtype=piece.dtype)
        swap(found[-1], right, arrives, left)
        found.append(arrives)
    return torch.cat(found)


# wrong-result, one-step-too-few: With the own piece and n - 2 others, surely all are there.
def stops_one_step_early(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths, torch.zeros)
    for step in range(n - 2):
        swap(pieces[(r - step) % n], right, pieces[(r - step - 1) % n], left)
    return torch.cat(pieces)


# wrong-result, pieces-missing: Both neighbours are asked, and there are no others in a small
# ring: drops the rest.
def one_exchange(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths, torch.zeros)
    for _ in range(n - 1):
        swap(piece, right, pieces[left], left)
    return torch.cat(pieces)


# wrong-result, own-piece-everywhere: What arrives lies in a buffer that nobody looks at.
def forgets_what_arrived(piece, lengths):
    n, r, right, left = ring()
    for step in range(n - 1):
        arrives = torch.empty(lengths[(r - step - 1) % n], dtype=piece.dtype)
        swap(piece.new_zeros(lengths[(r - step) % n]), right, arrives, left)
    return piece.repeat(sum(lengths))[: sum(lengths)]


# wrong-result, wrong-neighbour: The right pieces, the other way round the ring.
def to_the_left(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths)
    for step in range(n - 1):
        swap(pieces[(r - step) % n], left, pieces[(r - step - 1) % n], right)
    return torch.cat(pieces)


# wrong-result, sends-its-own-again: The own piece goes out in every step; whatever comes is taken
# for the next one.
def sends_its_own_each_time(piece, lengths):
    n, r, right, left = ring()
    pieces = [piece] * n
    for step in range(n - 1):
        arrives = torch.empty(lengths[left], dtype=piece.dtype)
        swap(piece, right, arrives, left)
        pieces[(r - step - 1) % n] = arrives
    return torch.cat(pieces)


# over-budget, too-many-bytes: The whole result goes round, filled up more and more.
def sends_all_it_has(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths, torch.zeros)
    for step in range(n - 1):
        arrives = torch.empty(sum(lengths), dtype=piece.dtype)
        swap(torch.cat(pieces), right, arrives, left)
        for k, other in enumerate(arrives.split(lengths)):
            pieces[k] = piece if k == r else other
    return torch.cat(pieces)


# exception, sends-to-itself: n ranks, so n steps; the last one brings the own piece home.
def one_round_too_many(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece.clone(), lengths)
    for step in range(n):
        swap(pieces[(r - step) % n], right, pieces[(r - step - 1) % n], left)
    return torch.cat(pieces)


# over-budget, not-a-ring: Whoever needs it gets it from its owner.
def sends_to_everyone(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece, lengths)
    for step in range(1, n):
        swap(piece, (r + step) % n, pieces[(r - step) % n], (r - step) % n)
    return torch.cat(pieces)


# refused, library-collective: There is a function for it.
def asks_the_library(piece, lengths):
    found = [piece.new_zeros(max(lengths)) for _ in lengths]
    padded = piece.new_zeros(max(lengths))
    padded[: len(piece)] = piece
    dist.all_gather(found, padded)
    return torch.cat([each[:length] for each, length in zip(found, lengths)])


# refused, narrowed: Half the bytes: what is sent need not be as exact as what is computed.
def sends_them_in_float32(piece, lengths):
    n, r, right, left = ring()
    pieces = places(piece.float(), lengths)
    for step in range(n - 1):
        swap(pieces[(r - step) % n], right, pieces[(r - step - 1) % n], left)
    return torch.cat(pieces).double()
