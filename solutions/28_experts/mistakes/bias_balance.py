"""Wrong answers to bias_balance that people give."""

import torch


def chosen(scores, bias, k):
    """Returns the experts of each token, by scores with a bias."""
    order = (scores + bias).argsort(dim=1, descending=True, stable=True)
    return order[:, :k].contiguous()


def moved(bias, experts, rate):
    """Returns the bias after a batch."""
    loads = torch.bincount(experts.flatten(), minlength=len(bias)).to(bias)
    return (bias + rate * (loads.sum() - loads * len(bias)).sign()).detach()


def shares(scores):
    """Returns the weights of scores that were chosen."""
    return scores / (scores.sum(1, keepdim=True) + 1e-20)


# wrong-result, bias-in-weights: One number for each expert, which is compared and counts.
def weighs_with_bias(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    weights = shares((scores + bias).gather(1, experts))
    return experts, weights, moved(bias, experts, rate)


# wrong-result, not-normalised: A score is a weight.
def takes_scores(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    return experts, scores.gather(1, experts), moved(bias, experts, rate)


# wrong-result, wrong-way: More load, more bias.
def moves_the_wrong_way(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    return experts, shares(scores.gather(1, experts)), moved(bias, experts, -rate)


# wrong-result, by-how-much: The farther off, the farther it moves.
def moves_by_the_difference(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    loads = torch.bincount(experts.flatten(), minlength=len(bias)).to(bias)
    moved_by = rate * (loads.sum() / len(bias) - loads)
    return experts, shares(scores.gather(1, experts)), (bias + moved_by).detach()


# wrong-result, updated-first: The batch at hand is what should be even.
def chooses_again(logits, bias, k, rate):
    scores = logits.sigmoid()
    left = moved(bias, chosen(scores, bias, k), rate)
    experts = chosen(scores, left, k)
    return experts, shares(scores.gather(1, experts)), left


# wrong-result, loads-without-bias: What the router wants is what has to be evened out.
def counts_what_scores_want(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    wanted = chosen(scores, torch.zeros_like(bias), k)
    return experts, shares(scores.gather(1, experts)), moved(bias, wanted, rate)


# wrong-result, bias-carries-gradient: A line of PyTorch like any other.
def records_the_bias(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    loads = torch.bincount(experts.flatten(), minlength=len(bias)).to(bias)
    left = bias + rate * (loads.sum() - loads * len(bias)).sign()
    return experts, shares(scores.gather(1, experts)), left


# wrong-result, softmax-scores: Routers have a softmax.
def by_softmax(logits, bias, k, rate):
    experts = chosen(logits.sigmoid(), bias, k)
    weights = logits.gather(1, experts).softmax(1).nan_to_num(0.0)
    return experts, weights, moved(bias, experts, rate)


# wrong-result, at-the-mean: Either there are too many or too few.
def moves_all(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    loads = torch.bincount(experts.flatten(), minlength=len(bias)).to(bias)
    more = loads * len(bias) > loads.sum()
    left = torch.where(more, bias - rate, bias + rate).detach()
    return experts, shares(scores.gather(1, experts)), left


# wrong-result, mean-rounded: Tokens are whole, so the mean is.
def compares_with_a_whole_mean(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    loads = torch.bincount(experts.flatten(), minlength=len(bias)).to(bias)
    left = bias + rate * (loads.sum() // len(bias) - loads).sign()
    return experts, shares(scores.gather(1, experts)), left.detach()


# wrong-result, lost-gradient: All of it is a choice.
@torch.no_grad()
def nothing_is_recorded(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    return experts, shares(scores.gather(1, experts)), moved(bias, experts, rate)


# wrong-result, no-floor: A share of the sum.
def divides_by_nothing(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    mine = scores.gather(1, experts)
    weights = mine / mine.sum(1, keepdim=True)
    return experts, weights, moved(bias, experts, rate)


# wrong-result, ties-in-any-order: The k highest are what topk is for.
def asks_topk(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = (scores + bias).topk(k, dim=1).indices
    return experts, shares(scores.gather(1, experts)), moved(bias, experts, rate)


# wrong-result, ties-higher-first: Sorted upwards and turned round.
def turns_a_sort_round(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = (scores + bias).argsort(dim=1, stable=True).flip(1)[:, :k].contiguous()
    return experts, shares(scores.gather(1, experts)), moved(bias, experts, rate)


# wrong-result, seven-digits: Routers are in float32.
def in_float32(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    return experts, shares(scores.float().gather(1, experts)).double(), moved(bias, experts, rate)


# wrong-result, seven-digits: A number times whole numbers: PyTorch makes float32 of it.
def keeps_loads_whole(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    loads = torch.bincount(experts.flatten(), minlength=len(bias))
    left = bias + rate * (loads.sum() - loads * len(bias)).sign()
    return experts, shares(scores.gather(1, experts)), left.detach()


# over-budget, one-by-one: A list of experts, looked at one by one.
def expert_by_expert(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    left = bias.detach().clone()
    for expert in range(len(bias)):
        load = (experts == expert).sum() * len(bias)
        left[expert] += rate * (experts.numel() - load).sign().to(bias)
    return experts, shares(scores.gather(1, experts)), left


# over-budget, read-out: Counted with a Counter.
def counts_in_python(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    loads = [0] * len(bias)
    for row in experts.tolist():
        for expert in row:
            loads[expert] += 1
    off = torch.tensor([sum(loads) - load * len(bias) for load in loads]).to(bias)
    return experts, shares(scores.gather(1, experts)), (bias + rate * off.sign()).detach()


# input-changed, input-changed: The bias is kept where it is.
def moves_it_in_place(logits, bias, k, rate):
    scores = logits.sigmoid()
    experts = chosen(scores, bias, k)
    with torch.no_grad():
        bias.copy_(moved(bias, experts, rate))
    return experts, shares(scores.gather(1, experts)), bias.detach().clone()
