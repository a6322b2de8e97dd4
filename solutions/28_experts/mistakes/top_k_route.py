"""Wrong answers to top_k_route that people give."""

import torch
from torch.nn.functional import one_hot


def checked(logits, k):
    """Raises a ValueError where there are no weights to give."""
    bad = logits.isnan().any() or (logits == torch.inf).any()
    if bad or ((logits > -torch.inf).sum(1) < k).any():
        raise ValueError("no weights")


def chosen(logits, k):
    """Returns the k best experts and their logits."""
    ranked, experts = logits.sort(dim=1, descending=True, stable=True)
    return experts[:, :k], ranked[:, :k]


def queue(experts, number):
    """Returns the place of each choice in its expert's queue."""
    table = one_hot(experts, number).sum(1)
    return (table.cumsum(0) - table).gather(1, experts)


# wrong-result, ties-higher-first: Sorted upwards and turned round.
def turns_a_sort_round(logits, k, capacity):
    checked(logits, k)
    experts = logits.argsort(dim=1, stable=True).flip(1)[:, :k]
    weights = logits.gather(1, experts).softmax(1)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    return experts, weights.where(kept, 0.0), slots.where(kept, -1)


# wrong-result, ties-in-any-order: The k highest are what topk is for.
def asks_topk(logits, k, capacity):
    checked(logits, k)
    best, experts = logits.topk(k, dim=1)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    return experts, best.softmax(1).where(kept, 0.0), slots.where(kept, -1)


# wrong-result, not-normalised: The softmax is over the experts, and there are that many.
def softmax_over_all(logits, k, capacity):
    checked(logits, k)
    experts, _ = chosen(logits, k)
    weights = logits.softmax(1).gather(1, experts)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    return experts, weights.where(kept, 0.0), slots.where(kept, -1)


# wrong-result, choices-first: As GShard does it.
def first_choices_first(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    by_choice = experts.t().reshape(-1, 1)
    slots = queue(by_choice, logits.shape[1]).view(k, -1).t().contiguous()
    kept = slots < capacity
    return experts, best.softmax(1).where(kept, 0.0), slots.where(kept, -1)


# wrong-result, share-of-what-is-left: Weights add up to 1, dropped or not.
def shares_what_is_left(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    weights = best.softmax(1).where(kept, 0.0)
    total = weights.sum(1, keepdim=True)
    weights = (weights / total).where(total > 0, 0.0)
    return experts, weights, slots.where(kept, -1)


# wrong-result, share-of-what-is-left: Divides by the sum of what is left, be it 0.
def divides_by_what_is_left(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    weights = best.softmax(1).where(kept, 0.0)
    return experts, weights / weights.sum(1, keepdim=True), slots.where(kept, -1)


# wrong-result, no-capacity: A buffer grows as it must.
def drops_nothing(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    return experts, best.softmax(1), queue(experts, logits.shape[1])


# wrong-result, dropped-with-weight: The slot says that it is dropped.
def keeps_the_weight(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    slots = queue(experts, logits.shape[1])
    return experts, best.softmax(1), slots.where(slots < capacity, -1)


# wrong-result, one-too-many: Up to the capacity.
def takes_one_more(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    slots = queue(experts, logits.shape[1])
    kept = slots <= capacity
    return experts, best.softmax(1).where(kept, 0.0), slots.where(kept, -1)


# wrong-result, by-weight: What counts least goes first.
def drops_the_lightest(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    weights = best.softmax(1)
    number = logits.shape[1]
    table = torch.zeros_like(logits).scatter(1, experts, weights)
    order = table.argsort(dim=0, descending=True, stable=True)
    lighter = order.argsort(dim=0)
    wanted = one_hot(experts, number).sum(1).bool() & (lighter < capacity)
    slots = (wanted.long().cumsum(0) - 1).where(wanted, -1).gather(1, experts)
    kept = slots >= 0
    return experts, weights.where(kept, 0.0), slots


# wrong-result, overflow: exp, over its sum.
def plain_exp(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    powers = best.exp()
    weights = powers / powers.sum(1, keepdim=True)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    return experts, weights.where(kept, 0.0), slots.where(kept, -1)


# wrong-result, not-refused: Whatever comes out comes out.
def lets_everything_in(logits, k, capacity):
    experts, best = chosen(logits, k)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    return experts, best.softmax(1).where(kept, 0.0), slots.where(kept, -1)


# wrong-result, seven-digits: Logits in float32 are what a router has.
def in_float32(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    weights = best.float().softmax(1).double()
    return experts, weights.where(kept, 0.0), slots.where(kept, -1)


# over-budget, one-by-one: A counter for each expert, as on paper.
def token_by_token(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    counts = torch.zeros(logits.shape[1], dtype=torch.int64)
    slots = torch.empty_like(experts)
    for token, own in enumerate(experts):
        slots[token] = counts[own]
        counts[own] += 1
    kept = slots < capacity
    return experts, best.softmax(1).where(kept, 0.0), slots.where(kept, -1)


# over-budget, read-out: A loop over plain numbers.
def counts_in_python(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    counts = [0] * logits.shape[1]
    places = []
    for own in experts.tolist():
        places.append([counts[each] for each in own])
        for each in own:
            counts[each] += 1
    slots = torch.tensor(places, dtype=torch.int64).view_as(experts)
    kept = slots < capacity
    return experts, best.softmax(1).where(kept, 0.0), slots.where(kept, -1)


# over-budget, too-much-memory: GShard's mask, from which one product fills all buffers.
def mask_of_buffers(logits, k, capacity):
    checked(logits, k)
    experts, best = chosen(logits, k)
    slots = queue(experts, logits.shape[1])
    kept = slots < capacity
    at_slot = one_hot(slots.where(kept, capacity), capacity + 1)[..., :capacity].double()
    at_expert = one_hot(experts, logits.shape[1]).double()
    mask = torch.einsum("tke,tkc->tec", at_expert, at_slot)
    found = mask.gather(1, experts[..., None].expand(-1, -1, capacity))
    kept = found.sum(2) > 0
    return experts, best.softmax(1).where(kept, 0.0), slots.where(kept, -1)
