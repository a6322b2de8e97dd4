"""Wrong answers to ring_attention_backward that people give."""

import torch
import torch.distributed as dist


def gradients(q, k, v, dout, out, lse, seen):
    """(dq, dk, dv) of one block; lse is over the whole sequence."""
    scale = q.shape[2] ** -0.5
    scores = (q @ k.transpose(1, 2)) * scale
    weights = torch.exp(scores - lse.unsqueeze(2)).masked_fill(~seen, 0.0)
    slope = dout @ v.transpose(1, 2)
    mean = (dout * out).sum(2, keepdim=True)
    slope = weights * (slope - mean) * scale
    return slope @ k, slope.transpose(1, 2) @ q, weights.transpose(1, 2) @ dout


def swap(tensors, tokens):
    """What comes from the left, with so many tokens each."""
    n, r = dist.get_world_size(), dist.get_rank()
    shape = (tensors[0].shape[0], tokens, tensors[0].shape[2])
    arrive = [each.new_empty(shape) for each in tensors]
    leave = [each.contiguous() for each in tensors]
    works = dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, each, (r + 1) % n) for each in leave]
        + [dist.P2POp(dist.irecv, each, (r - 1) % n) for each in arrive]
    )
    for work in works:
        work.wait()
    return arrive


def sees(places, owner, causal):
    """Which of this rank's queries sees which key of `owner`."""
    seen = places[dist.get_rank()].unsqueeze(1) >= places[owner].unsqueeze(0)
    return seen if causal else torch.ones_like(seen)


def found(dout, q, k, v, out, lse, places, causal, way=-1):
    """Yields (owner, dq, dk, dv) of each block, this rank's own first.

    The mask is that of the owner, or of the rank as far away on the other side.
    """
    n, r = dist.get_world_size(), dist.get_rank()
    for step in range(n):
        owner = (r - step) % n
        if step:
            k, v = swap([k, v], len(places[owner]))
        seen = sees(places, (r + way * step) % n, causal)
        yield owner, *gradients(q, k, v, dout, out, lse, seen)


def right(dout, q, k, v, out, lse, places, causal, way=-1):
    """Returns (dq, own share, what the others found) as it should be."""
    tokens = [len(each) for each in places]
    dq, own, travels = 0, None, None
    for owner, block_dq, *block in found(dout, q, k, v, out, lse, places, causal, way):
        dq = dq + block_dq
        if own is None:
            own = block
            continue
        if travels is not None:
            before = swap(travels, tokens[owner])
            block = [a + b for a, b in zip(block, before, strict=True)]
        travels = block
    if travels is None:
        return dq, own, [torch.zeros_like(each) for each in own]
    return dq, own, swap(travels, tokens[dist.get_rank()])


# wrong-result, own-block-alone: The backward pass of one GPU.
def looks_at_its_own(dout, q, k, v, out, lse, places, causal):
    return gradients(q, k, v, dout, out, lse, sees(places, dist.get_rank(), causal))


# wrong-result, shares-kept: dq is summed over the blocks; dk and dv are those of the own block.
def keeps_what_it_finds(dout, q, k, v, out, lse, places, causal):
    dq, own, _ = right(dout, q, k, v, out, lse, places, causal)
    return dq, *own


# wrong-result, added-up-here: Gradients are added up, all three alike.
def adds_all_to_its_own(dout, q, k, v, out, lse, places, causal):
    dq, dk, dv = 0, torch.zeros_like(k), torch.zeros_like(v)
    for _, block_dq, block_dk, block_dv in found(dout, q, k, v, out, lse, places, causal):
        dq = dq + block_dq
        common = min(dk.shape[1], block_dk.shape[1])
        dk[:, :common] += block_dk[:, :common]
        dv[:, :common] += block_dv[:, :common]
    return dq, dk, dv


# wrong-result, gradients-away: After the last block everything is done.
def does_not_bring_home(dout, q, k, v, out, lse, places, causal):
    tokens = [len(each) for each in places]
    dq, dk, dv = 0, None, None
    for owner, block_dq, block_dk, block_dv in found(dout, q, k, v, out, lse, places, causal):
        dq = dq + block_dq
        if dk is not None:
            dk, dv = swap([dk, dv], tokens[owner])
        dk, dv = (block_dk, block_dv) if dk is None else (dk + block_dk, dv + block_dv)
    return dq, dk, dv


# wrong-result, own-share-twice: The journey begins at home, and what was found there is added at
# its end as well.
def counts_its_own_twice(dout, q, k, v, out, lse, places, causal):
    dq, own, others = right(dout, q, k, v, out, lse, places, causal)
    return dq, *(2 * a + b for a, b in zip(own, others, strict=True))


# wrong-result, own-share-missing: What comes home is dk and dv.
def forgets_its_own(dout, q, k, v, out, lse, places, causal):
    dq, _, others = right(dout, q, k, v, out, lse, places, causal)
    return dq, *others


# wrong-result, last-share-alone: Hands on what it has found, and forgets what came with the
# block.
def does_not_add_on_the_way(dout, q, k, v, out, lse, places, causal):
    r = dist.get_rank()
    dq, own, travels = 0, None, None
    for owner, block_dq, *block in found(dout, q, k, v, out, lse, places, causal):
        dq = dq + block_dq
        if own is None:
            own = block
            continue
        if travels is not None:
            swap(travels, len(places[owner]))
        travels = block
    if travels is None:
        return dq, *own
    home = swap(travels, len(places[r]))
    return dq, *(a + b for a, b in zip(own, home, strict=True))


# wrong-result, dq-of-own-block: dq is found where the queries are: here.
def dq_of_the_first_block(dout, q, k, v, out, lse, places, causal):
    _, own, others = right(dout, q, k, v, out, lse, places, causal)
    dq, _, _ = gradients(q, k, v, dout, out, lse, sees(places, dist.get_rank(), causal))
    return dq, *(a + b for a, b in zip(own, others, strict=True))


# wrong-result, lse-of-the-block: A softmax for each block, as the forward pass has it.
def weights_of_each_block(dout, q, k, v, out, lse, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    tokens = [len(each) for each in places]
    dq, own, travels = 0, None, None
    for step in range(n):
        owner = (r - step) % n
        if step:
            k, v = swap([k, v], tokens[owner])
        seen = sees(places, owner, causal)
        scores = (q @ k.transpose(1, 2)) * q.shape[2] ** -0.5
        block_lse = scores.masked_fill(~seen, -torch.inf).logsumexp(2)
        block_lse = block_lse.masked_fill(block_lse == -torch.inf, 0.0)
        block_dq, *block = gradients(q, k, v, dout, out, block_lse, seen)
        dq = dq + block_dq
        if own is None:
            own = block
            continue
        if travels is not None:
            before = swap(travels, tokens[owner])
            block = [a + b for a, b in zip(block, before, strict=True)]
        travels = block
    home = swap(travels, tokens[r]) if travels else [torch.zeros_like(each) for each in own]
    return dq, *(a + b for a, b in zip(own, home, strict=True))


def solved(*inputs):
    """Returns (dq, dk, dv)."""
    dq, own, others = right(*inputs)
    return dq, *(a + b for a, b in zip(own, others, strict=True))


# wrong-result, owner-turned: After one hop it is the next rank's block, surely.
def takes_the_block_from_the_right(dout, q, k, v, out, lse, places, causal):
    dq, own, others = right(dout, q, k, v, out, lse, places, causal, 1)
    return dq, *(mine + theirs for mine, theirs in zip(own, others, strict=True))


# wrong-result, other-order: Keys, values, queries: who remembers the order?
def keys_first(dout, q, k, v, out, lse, places, causal):
    dq, dk, dv = solved(dout, q, k, v, out, lse, places, causal)
    return dk, dv, dq


# wrong-result, not-three: dq was easy; the puzzle is about the others.
def keys_and_values_alone(dout, q, k, v, out, lse, places, causal):
    return solved(dout, q, k, v, out, lse, places, causal)[1:]


# hazard, some-do-not-send: A block that no query sees has no gradient, so there is nothing to
# send.
def sends_what_is_seen(dout, q, k, v, out, lse, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    tokens = [len(each) for each in places]
    dq, own_dk, own_dv = gradients(q, k, v, dout, out, lse, sees(places, r, causal))
    travels = [own_dk, own_dv]
    for step in range(1, n):
        owner = (r - step) % n
        k, v = swap([k, v], tokens[owner])
        seen = sees(places, owner, causal)
        if not seen.any():
            continue
        block_dq, *block = gradients(q, k, v, dout, out, lse, seen)
        dq = dq + block_dq
        before = swap(travels, tokens[owner])
        travels = [a + b for a, b in zip(block, before, strict=True)]
    return dq, *(swap(travels, tokens[r]) if n > 1 else travels)


# input-changed, input-changed: The gradient of k is kept where k is.
def adds_into_k(dout, q, k, v, out, lse, places, causal):
    dq, dk, dv = solved(dout, q, k, v, out, lse, places, causal)
    return dq, k.copy_(dk), v.copy_(dv)


# over-budget, full-circle: dk and dv set out with their block, and make a full circle with it.
def starts_at_home(dout, q, k, v, out, lse, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    tokens = [len(each) for each in places]
    dq, dk, dv = 0, None, None
    for owner, block_dq, block_dk, block_dv in found(dout, q, k, v, out, lse, places, causal):
        dq = dq + block_dq
        if dk is not None:
            dk, dv = swap([dk, dv], tokens[owner])
        dk, dv = (block_dk, block_dv) if dk is None else (dk + block_dk, dv + block_dv)
    return dq, *(swap([dk, dv], tokens[r]) if n > 1 else (dk, dv))


# over-budget, not-a-ring: Each share goes to the rank of its block at once.
def straight_to_its_rank(dout, q, k, v, out, lse, places, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    dq, own = 0, None
    for step, (owner, block_dq, *block) in enumerate(
        found(dout, q, k, v, out, lse, places, causal)
    ):
        dq = dq + block_dq
        if own is None:
            own = block
            continue
        home = [torch.empty_like(each) for each in own]
        works = [dist.isend(each, owner) for each in block]
        works += [dist.irecv(each, (r + step) % n) for each in home]
        for work in works:
            work.wait()
        own = [a + b for a, b in zip(own, home, strict=True)]
    return dq, *own


# refused, library-collective: A sum over ranks is an all-reduce.
def asks_the_library(dout, q, k, v, out, lse, places, causal):
    r = dist.get_rank()
    starts = [sum(map(len, places[:k])) for k in range(len(places))]
    total = sum(map(len, places))
    dq = 0
    sums = [q.new_zeros(q.shape[0], total, q.shape[2]) for _ in range(2)]
    for owner, block_dq, *block in found(dout, q, k, v, out, lse, places, causal):
        dq = dq + block_dq
        for each, part in zip(sums, block, strict=True):
            each[:, starts[owner] : starts[owner] + part.shape[1]] += part
    for each in sums:
        dist.all_reduce(each)
    return dq, *(each[:, starts[r] : starts[r] + q.shape[1]] for each in sums)
