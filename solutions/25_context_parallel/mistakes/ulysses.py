"""Wrong answers to ulysses that people give."""

import torch
import torch.distributed as dist
from torch.nn.functional import scaled_dot_product_attention


def attention(q, k, v, causal):
    """out (heads, tokens, width), where all tokens are in one place."""
    return scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0]


def divided(heads):
    """Returns heads / n."""
    n = dist.get_world_size()
    if heads % n:
        raise ValueError(f"{n} ranks do not divide {heads} heads")
    return heads // n


def exchange(parts, shapes):
    """Sends a part to each rank, and returns what comes from each, in these shapes."""
    r = dist.get_rank()
    arrive = [parts[0].new_empty(shape) for shape in shapes]
    arrive[r] = parts[r].contiguous()
    works = []
    for other, part in enumerate(parts):
        if other != r:
            works += [dist.isend(part.contiguous(), other), dist.irecv(arrive[other], other)]
    for work in works:
        work.wait()
    return arrive


def to_heads(x, tokens):
    """Returns all tokens of this rank's heads."""
    share = divided(x.shape[0])
    shapes = [(share, each, x.shape[2]) for each in tokens]
    return torch.cat(exchange(list(x.split(share)), shapes), dim=1)


def to_tokens(x, tokens, heads):
    """Returns all heads of this rank's tokens."""
    n, r = dist.get_world_size(), dist.get_rank()
    shapes = [(x.shape[0], tokens[r], x.shape[2])] * n
    return torch.cat(exchange(list(x.split(tokens, dim=1)), shapes), dim=0)


def solved(q, k, v, tokens, causal):
    """Returns what ulysses should."""
    mixed = attention(*(to_heads(each, tokens) for each in (q, k, v)), causal)
    return to_tokens(mixed, tokens, q.shape[0])


# wrong-result, own-tokens-alone: Attention as on one GPU, for the tokens that are here.
def looks_at_its_own_tokens(q, k, v, tokens, causal):
    divided(q.shape[0])
    return attention(q, k, v, causal)


# wrong-result, not-brought-back: Heads are where attention is done.
def keeps_its_heads(q, k, v, tokens, causal):
    return attention(*(to_heads(each, tokens) for each in (q, k, v)), causal)


# wrong-result, heads-scrambled: What came back has as many numbers as q, so it is q's shape.
def views_tokens_as_heads(q, k, v, tokens, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    mixed = attention(*(to_heads(each, tokens) for each in (q, k, v)), causal)
    shapes = [(mixed.shape[0], tokens[r], mixed.shape[2])] * n
    parts = exchange(list(mixed.split(tokens, dim=1)), shapes)
    return torch.cat(parts, dim=1).reshape(q.shape)


# wrong-result, heads-scrambled: Head 0 to rank 0, head 1 to rank 1, and so on; they come back in
# that order.
def deals_heads_like_cards(q, k, v, tokens, causal):
    n = dist.get_world_size()
    divided(q.shape[0])
    order = [head for r in range(n) for head in range(r, q.shape[0], n)]
    return solved(*(each[order] for each in (q, k, v)), tokens, causal)


# wrong-result, tokens-scrambled: Counts the ranks from one on the way back.
def sends_back_one_further(q, k, v, tokens, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    mixed = attention(*(to_heads(each, tokens) for each in (q, k, v)), causal)
    parts = list(mixed.split(tokens, dim=1))
    shapes = [(mixed.shape[0], tokens[(r + 1) % n], mixed.shape[2])] * n
    return torch.cat(exchange([*parts[1:], parts[0]], shapes), dim=0)


# wrong-result, ignores-causal: is_causal is False by default.
def forgets_causal(q, k, v, tokens, causal):
    return solved(q, k, v, tokens, False)


# wrong-result, always-causal: Language models are causal.
def masks_always(q, k, v, tokens, causal):
    return solved(q, k, v, tokens, True)


# wrong-result, not-refused: Heads that are left over are left alone.
def rounds_heads_down(q, k, v, tokens, causal):
    n = dist.get_world_size()
    even = q.shape[0] // n * n
    done = solved(q[:even], k[:even], v[:even], tokens, causal)
    return torch.cat([done, q[even:]])


# hazard, tokens-alike: The ranks have equally many tokens.
def counts_on_equal_parts(q, k, v, tokens, causal):
    divided(q.shape[0])
    return solved(q, k, v, [q.shape[1]] * len(tokens), causal)


# hazard, receives-first: First take what comes.
def receives_before_it_sends(q, k, v, tokens, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    share = divided(q.shape[0])
    for other in range(n):
        if other != r:
            arrives = q.new_empty(share, tokens[other], q.shape[2])
            dist.recv(arrives, other)
            dist.send(q[other * share : (other + 1) * share].contiguous(), other)
    return solved(q, k, v, tokens, causal)


# over-budget, refused-too-late: The view fails in any case where heads are left over; say so
# then.
def refuses_at_the_end(q, k, v, tokens, causal):
    n = dist.get_world_size()
    even = q.shape[0] // n * n
    done = solved(q[:even], k[:even], v[:even], tokens, causal) if even else q
    if even < q.shape[0]:
        raise ValueError("heads are left over")
    return done


# over-budget, too-many-heads: The whole of q to everybody; each takes its heads.
def sends_all_its_heads(q, k, v, tokens, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    share = divided(q.shape[0])
    mine = []
    for each in (q, k, v):
        shapes = [(each.shape[0], other, each.shape[2]) for other in tokens]
        whole = torch.cat(exchange([each] * n, shapes), dim=1)
        mine.append(whole[r * share : (r + 1) * share])
    return to_tokens(attention(*mine, causal), tokens, q.shape[0])


# over-budget, everything-to-all: Everything to everybody, and nothing has to go back.
def gathers_everything(q, k, v, tokens, causal):
    n, r = dist.get_world_size(), dist.get_rank()
    divided(q.shape[0])
    found = []
    for each in (q, k, v):
        padded = each.new_zeros(each.shape[0], max(tokens), each.shape[2])
        padded[:, : each.shape[1]] = each
        parts = [torch.empty_like(padded) for _ in range(n)]
        dist.all_gather(parts, padded)
        found.append(torch.cat([p[:, :t] for p, t in zip(parts, tokens, strict=True)], dim=1))
    start = sum(tokens[:r])
    return attention(*found, causal)[:, start : start + tokens[r]]


# input-changed, input-changed: The scale belongs to q, so q is scaled.
def scales_q_in_place(q, k, v, tokens, causal):
    divided(q.shape[0])
    q.mul_(q.shape[2] ** -0.5)
    mine = [to_heads(each, tokens) for each in (q, k, v)]
    mixed = scaled_dot_product_attention(*(m[None] for m in mine), is_causal=causal, scale=1.0)[0]
    return to_tokens(mixed, tokens, q.shape[0])
