"""Wrong answers to ring_attention that people give."""

import torch
import torch.distributed as dist


def attend(q, k, v, seen):
    """(out, lse) over one block."""
    scores = q @ k.transpose(1, 2) / q.shape[2] ** 0.5
    scores.masked_fill_(~seen, -torch.inf)
    lse = scores.logsumexp(2)
    safe = lse.masked_fill(lse == -torch.inf, 0.0)
    return scores.sub_(safe.unsqueeze(2)).exp_() @ v, lse


def merge(out, lse, other_out, other_lse):
    """(out, lse) over the keys of both."""
    both = torch.logaddexp(lse, other_lse)
    safe = both.masked_fill(both == -torch.inf, 0.0)
    share, other = torch.exp(lse - safe), torch.exp(other_lse - safe)
    return share.unsqueeze(2) * out + other.unsqueeze(2) * other_out, both


def passed_on(tensors, tokens, turn=1):
    """Sends tensors to the right, and returns what comes from the left, with so many tokens."""
    n, r = dist.get_world_size(), dist.get_rank()
    shape = (tensors[0].shape[0], tokens, tensors[0].shape[2])
    arrive = [each.new_empty(shape) for each in tensors]
    works = [dist.isend(each, (r + turn) % n) for each in tensors]
    works += [dist.irecv(each, (r - turn) % n) for each in arrive]
    for work in works:
        work.wait()
    return arrive


def blocks(k, v, places, rounds=None, turn=1):
    """Yields (owner, k, v) of each round."""
    n, r = dist.get_world_size(), dist.get_rank()
    for step in range(n if rounds is None else rounds):
        if step:
            k, v = passed_on([k, v], len(places[(r - turn * step) % n]), turn)
        yield (r - turn * step) % n, k, v


def sees(places, owner, causal):
    """Which of this rank's queries sees which key of `owner`."""
    seen = places[dist.get_rank()].unsqueeze(1) >= places[owner].unsqueeze(0)
    return seen if causal else torch.ones_like(seen)


def empty(q):
    """(out, lse) of no key."""
    return torch.zeros_like(q), q.new_full(q.shape[:2], -torch.inf)


def whole(q, k, v, places, causal, seen=sees, rounds=None, turn=1):
    """Ring attention with a mask and a number of rounds of one's own."""
    out, lse = empty(q)
    for owner, k_block, v_block in blocks(k, v, places, rounds, turn):
        out, lse = merge(out, lse, *attend(q, k_block, v_block, seen(places, owner, causal)))
    return out, lse


# hazard, receives-first: First take what comes, then hand it on.
def receives_before_it_sends(q, k, v, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    out, lse = attend(q, k, v, sees(places, r, causal))
    for step in range(1, n):
        owner = (r - step) % n
        shape = (k.shape[0], len(places[owner]), k.shape[2])
        coming = [k.new_empty(shape), v.new_empty(shape)]
        for each in coming:
            dist.recv(each, (r - 1) % n)
        for each in (k, v):
            dist.send(each, (r + 1) % n)
        k, v = coming
        out, lse = merge(out, lse, *attend(q, k, v, sees(places, owner, causal)))
    return out, lse


# hazard, sends-first: send and recv, one after the other.
def sends_before_it_receives(q, k, v, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    out, lse = attend(q, k, v, sees(places, r, causal))
    for step in range(1, n):
        owner = (r - step) % n
        shape = (k.shape[0], len(places[owner]), k.shape[2])
        coming = [k.new_empty(shape), v.new_empty(shape)]
        for each in (k, v):
            dist.send(each, (r + 1) % n)
        for each in coming:
            dist.recv(each, (r - 1) % n)
        k, v = coming
        out, lse = merge(out, lse, *attend(q, k, v, sees(places, owner, causal)))
    return out, lse


# hazard, not-waited: The sends are begun, and the receives waited for: that should be enough.
def does_not_wait(q, k, v, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    out, lse = attend(q, k, v, sees(places, r, causal))
    for step in range(1, n):
        owner = (r - step) % n
        shape = (k.shape[0], len(places[owner]), k.shape[2])
        coming = [k.new_empty(shape), v.new_empty(shape)]
        for each in (k, v):
            dist.isend(each, (r + 1) % n)
        for each in coming:
            dist.recv(each, (r - 1) % n)
        k, v = coming
        out, lse = merge(out, lse, *attend(q, k, v, sees(places, owner, causal)))
    return out, lse


# hazard, size-of-another: empty_like is what one receives into.
def takes_its_own_size(q, k, v, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    out, lse = attend(q, k, v, sees(places, r, causal))
    for step in range(1, n):
        owner = (r - step) % n
        k, v = passed_on([k, v], k.shape[1])
        out, lse = merge(out, lse, *attend(q, k, v, sees(places, owner, causal)))
    return out, lse


# wrong-result, own-block-alone: Attention as on one GPU, for the tokens that are here.
def looks_at_its_own(q, k, v, places, causal):
    return attend(q, k, v, sees(places, dist.get_rank(), causal))


# wrong-result, added: Attention sums over keys, so blocks are summed.
def adds_the_blocks(q, k, v, places, causal):
    out, lse = empty(q)
    for owner, k_block, v_block in blocks(k, v, places):
        block, other = attend(q, k_block, v_block, sees(places, owner, causal))
        out, lse = out + block, torch.logaddexp(lse, other)
    return out, lse


# wrong-result, averaged: n means: their mean.
def averages_the_blocks(q, k, v, places, causal):
    out, lse = adds_the_blocks(q, k, v, places, causal)
    return out / dist.get_world_size(), lse


# wrong-result, ignores-causal: First let it run at all, and then see to the mask.
def forgets_causal(q, k, v, places, causal):
    return whole(q, k, v, places, False)


# wrong-result, always-causal: Language models are causal.
def masks_always(q, k, v, places, causal):
    return whole(q, k, v, places, True)


# wrong-result, mask-of-one-block: torch.tril, as everybody writes it, for each block.
def masks_by_place_in_the_block(q, k, v, places, causal):
    def seen(places, owner, causal):
        own = torch.ones(q.shape[1], len(places[owner]), dtype=torch.bool)
        return own.tril() if causal else own

    return whole(q, k, v, places, causal, seen)


# wrong-result, mask-of-one-block: Blocks of earlier ranks are seen whole, those of later ones not
# at all.
def goes_by_the_order_of_ranks(q, k, v, places, causal):
    def seen(places, owner, causal):
        r = dist.get_rank()
        own = torch.ones(q.shape[1], len(places[owner]), dtype=torch.bool)
        if not causal:
            return own
        return own.tril() if owner == r else own & (owner < r)

    return whole(q, k, v, places, causal, seen)


# wrong-result, sees-not-itself: Only what is before: that is what causal means.
def looks_before_itself(q, k, v, places, causal):
    def seen(places, owner, causal):
        before = places[dist.get_rank()].unsqueeze(1) > places[owner].unsqueeze(0)
        return before if causal else torch.ones_like(before)

    return whole(q, k, v, places, causal, seen)


# wrong-result, not-a-pair: lse was needed for the merge; now it has served.
def out_alone(q, k, v, places, causal):
    return whole(q, k, v, places, causal)[0]


# wrong-result, owner-turned: After one hop it is the next rank's block, surely.
def takes_the_block_from_the_right(q, k, v, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()

    def seen(places, owner, causal):
        other = (2 * r - owner) % n
        if len(places[other]) != len(places[owner]):
            other = owner
        return sees(places, other, causal)

    return whole(q, k, v, places, causal, seen)


# wrong-result, one-round-too-few: n - 1 hops, so n - 1 rounds.
def one_round_too_few(q, k, v, places, causal):
    n = dist.get_world_size()
    return whole(q, k, v, places, causal, rounds=max(n - 1, 1))


# wrong-result, sees-nothing: softmax gives the weights of a block, and logsumexp what they weigh.
def softmax_of_nothing(q, k, v, places, causal):
    out, lse = empty(q)
    for owner, k_block, v_block in blocks(k, v, places):
        scores = q @ k_block.transpose(1, 2) / q.shape[2] ** 0.5
        scores = scores.masked_fill(~sees(places, owner, causal), -torch.inf)
        out, lse = merge(out, lse, scores.softmax(2) @ v_block, scores.logsumexp(2))
    return out, lse


# wrong-result, overflow: Sums above and below the line, divided at the end: that is all a softmax
# is.
def sums_of_exp(q, k, v, places, causal):
    above, below = torch.zeros_like(q), q.new_zeros(q.shape[:2])
    for owner, k_block, v_block in blocks(k, v, places):
        scores = q @ k_block.transpose(1, 2) / q.shape[2] ** 0.5
        weights = scores.exp() * sees(places, owner, causal)
        above, below = above + weights @ v_block, below + weights.sum(2)
    return above / below.unsqueeze(2), below.log()


# wrong-result, lse-of-one-block: lse is a by-product; the last one will do.
def keeps_the_last_lse(q, k, v, places, causal):
    out, lse = empty(q)
    last = lse
    for owner, k_block, v_block in blocks(k, v, places):
        block, other = attend(q, k_block, v_block, sees(places, owner, causal))
        out, lse = merge(out, lse, block, other)
        last = other
    return out, last


# input-changed, input-changed: k and v are there already, so that is where the next ones go.
def receives_into_k(q, k, v, places, causal):
    out, lse = empty(q)
    for owner, k_block, v_block in blocks(k, v, places):
        if k_block.shape == k.shape:
            k.copy_(k_block)
            v.copy_(v_block)
        out, lse = merge(out, lse, *attend(q, k_block, v_block, sees(places, owner, causal)))
    return out, lse


# over-budget, too-many-bytes: All rounds alike: compute, then pass on.
def one_hop_too_many(q, k, v, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    out, lse = empty(q)
    for step in range(n):
        owner = (r - step) % n
        out, lse = merge(out, lse, *attend(q, k, v, sees(places, owner, causal)))
        if n > 1:
            k, v = passed_on([k, v], len(places[(owner - 1) % n]))
    return out, lse


# over-budget, not-a-ring: A ring is a ring.
def round_the_other_way(q, k, v, places, causal):
    return whole(q, k, v, places, causal, turn=-1)


# over-budget, too-much-memory: First have everything here, then do as on one GPU.
def gathers_first(q, k, v, places, causal):
    owners, keys, values = zip(*blocks(k, v, places), strict=True)
    seen = torch.cat([sees(places, owner, causal) for owner in owners], dim=1)
    return attend(q, torch.cat(keys, dim=1), torch.cat(values, dim=1), seen)


# refused, library-collective: There is a collective for it.
def asks_the_library(q, k, v, places, causal):
    n = dist.get_world_size()
    found = []
    for each in (k, v):
        parts = [each.new_empty(each.shape[0], len(own), each.shape[2]) for own in places]
        longest = max(map(len, places))
        padded = each.new_zeros(each.shape[0], longest, each.shape[2])
        padded[:, : each.shape[1]] = each
        whole_ones = [torch.empty_like(padded) for _ in range(n)]
        dist.all_gather(whole_ones, padded)
        parts = [w[:, : len(own)] for w, own in zip(whole_ones, places, strict=True)]
        found.append(torch.cat(parts, dim=1))
    seen = torch.cat([sees(places, owner, causal) for owner in range(n)], dim=1)
    return attend(q, found[0], found[1], seen)
