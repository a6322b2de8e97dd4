"""Wrong answers to all_to_all_experts that people give. Exchange is the solution's."""

import torch
import torch.distributed as dist


class Plain(torch.autograd.Function):
    """An exchange whose gradients go the way that the rows went."""

    @staticmethod
    def forward(ctx, rows, leave, arrive):
        ctx.same = leave, arrive
        return exchanged(rows, leave, arrive)

    @staticmethod
    def backward(ctx, gradient):
        return exchanged(gradient, *ctx.same), None, None


class Stays(torch.autograd.Function):
    """An exchange that gives each gradient to a row that left from the same rank."""

    @staticmethod
    def forward(ctx, rows, leave, arrive):
        ctx.rows = len(rows)
        return exchanged(rows, leave, arrive)

    @staticmethod
    def backward(ctx, gradient):
        found = gradient.new_zeros(ctx.rows, gradient.shape[1])
        fits = min(len(found), len(gradient))
        found[:fits] = gradient[:fits]
        return found, None, None


def agreed(experts, total):
    """Raises a ValueError on all ranks where one has a wrong number."""
    wrong = ((experts < -1) | (experts >= total)).any().long()
    dist.all_reduce(wrong, op=dist.ReduceOp.MAX)
    if wrong:
        raise ValueError("no such expert")


def sorted_choices(experts, total):
    """Returns the choices by expert, their tokens, and each expert's load."""
    chosen = experts.flatten()
    choices = chosen.argsort(stable=True)[(chosen < 0).sum() :]
    loads = torch.bincount(chosen[choices], minlength=total)
    return choices, choices // experts.shape[1], loads


def counts(loads, held, own):
    """Returns what leaves, what arrives, and how much for each expert."""
    coming = exchanged(loads, held, [own] * len(held)).view(len(held), own)
    leave = [int(part.sum()) for part in loads.split(held)]
    return leave, coming.sum(1).tolist(), coming


def made_of(rows, coming, up, down):
    """Returns what this rank's experts make of the rows, in their order."""
    n, own = coming.shape
    order = torch.arange(own).repeat(n).repeat_interleave(coming.flatten())
    order = order.argsort(stable=True)
    parts = rows[order].split(coming.sum(0).tolist())
    made = [expert(parts[e], up[e], down[e]) for e in range(own)]
    return torch.cat([rows[:0], *made])[order.argsort()]


def summed(back, x, tokens, weights, choices):
    """Returns the sum of the rows of each token, times the weights."""
    scaled = back * weights.flatten()[choices][:, None]
    return torch.zeros_like(x).index_add(0, tokens, scaled)


# wrong-result, lost-gradient: exchanged moves rows; that is all.
def exchanges_without_autograd(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = exchanged(x[tokens], leave, arrive)
    back = exchanged(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# wrong-result, lost-gradient: A router chooses, so its weights are plain numbers.
def detaches_the_weights(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights.detach(), choices)


# wrong-result, gradient-stays: Gradients are found where the experts are.
def gradients_without_a_way(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Stays.apply(x[tokens], leave, arrive)
    back = Stays.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# wrong-result, averaged: Gradients over ranks are averaged.
def averages_over_ranks(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    for each in (up, down):
        each.register_hook(lambda gradient: gradient / len(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# exception, exception: Backward is the same call once more.
def gradients_the_same_way(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Plain.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# hazard, sizes-crossed: The way back is the same exchange.
def comes_back_the_way_it_went(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, leave)
    back = Exchange.apply(rows, arrive, leave)
    return summed(back, x, tokens, weights, choices)


# wrong-result, rows-scrambled: What arrives is for my experts, one after the other.
def takes_rows_as_they_come(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    parts = rows.split(coming.sum(0).tolist())
    made = [expert(parts[e], up[e], down[e]) for e in range(len(up))]
    back = Exchange.apply(torch.cat([rows[:0], *made]), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# wrong-result, not-weighted: An expert has said what it says.
def adds_them_up(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, torch.ones_like(weights) + 0 * weights, choices)


# wrong-result, first-choice-alone: A token is in one place.
def first_choice(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts[:, :1], sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights[:, :1], choices)


# wrong-result, dropped-sent: -1 is a place like any other.
def sends_dropped_choices(x, experts, weights, held, up, down):
    total = sum(held)
    agreed(experts, total)
    choices, tokens, loads = sorted_choices(experts % total, total)
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# wrong-result, not-refused: What is no expert is no choice.
def skips_wrong_numbers(x, experts, weights, held, up, down):
    total = sum(held)
    known = experts.where((experts >= 0) & (experts < total), -1)
    choices, tokens, loads = sorted_choices(known, total)
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# hazard, refused-alone: Who sees the mistake says so.
def raises_by_itself(x, experts, weights, held, up, down):
    total = sum(held)
    if ((experts < -1) | (experts >= total)).any():
        raise ValueError("no such expert")
    choices, tokens, loads = sorted_choices(experts, total)
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# hazard, refused-alone: The counts tell whoever gets some.
def tells_it_with_the_counts(x, experts, weights, held, up, down):
    total = sum(held)
    wrong = ((experts < -1) | (experts >= total)).any()
    known = experts.where((experts >= 0) & (experts < total), -1)
    choices, tokens, loads = sorted_choices(known, total)
    told = loads - 1 - loads if wrong else loads
    coming = exchanged(told, held, [len(up)] * len(held)).view(len(held), -1)
    if wrong or (coming < 0).any():
        raise ValueError("no such expert")
    leave = [int(part.sum()) for part in loads.split(held)]
    arrive = coming.sum(1).tolist()
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming.view(len(held), len(up)), up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# over-budget, refused-too-late: One look at the end.
def looks_afterwards(x, experts, weights, held, up, down):
    total = sum(held)
    known = experts.where((experts >= 0) & (experts < total), -1)
    choices, tokens, loads = sorted_choices(known, total)
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    agreed(experts, total)
    return summed(back, x, tokens, weights, choices)


# hazard, left-out: Who has no token has nothing to do.
def goes_home_without_tokens(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    if len(x) == 0:
        return x * 1.0
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


class Gathered(torch.autograd.Function):
    """All ranks' rows everywhere; backward the sum of all their gradients."""

    @staticmethod
    def forward(ctx, x, most):
        ctx.own = len(x)
        padded = torch.cat([x, x.new_zeros(most - len(x), *x.shape[1:])])
        found = [torch.empty_like(padded) for _ in range(dist.get_world_size())]
        dist.all_gather(found, padded)
        return torch.stack(found)

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.contiguous()
        dist.all_reduce(gradient)
        return gradient[dist.get_rank(), : ctx.own], None


class Added(torch.autograd.Function):
    """The sum of all ranks; backward nothing."""

    @staticmethod
    def forward(ctx, x):
        found = x.clone()
        dist.all_reduce(found)
        return found

    @staticmethod
    def backward(ctx, gradient):
        gradient = gradient.contiguous()
        dist.all_reduce(gradient)
        return gradient


# over-budget, everything-to-all: All tokens to all ranks; each adds what its experts say.
def gathers_all_tokens(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    most = torch.tensor(len(x))
    dist.all_reduce(most, op=dist.ReduceOp.MAX)
    k = experts.shape[1]
    both = torch.cat([x, weights, experts.double()], 1)
    whole = Gathered.apply(both, int(most))
    width = x.shape[1]
    out = 0 * whole[..., :width]
    first = sum(held[: dist.get_rank()])
    real = torch.zeros(len(held), int(most), 1, dtype=torch.int64)
    real[dist.get_rank(), : len(x)] = 1
    dist.all_reduce(real)
    for e in range(len(up)):
        hit = (whole[..., width + k :].detach() == first + e) & (real > 0)
        share = (whole[..., width : width + k] * hit).sum(-1, keepdim=True)
        out = out + share * expert(whole[..., :width], up[e], down[e])
    return Added.apply(out)[dist.get_rank(), : len(x)]


# over-budget, too-many-rows: Parts of one length, with zeros at their end.
def pads_to_the_fullest(x, experts, weights, held, up, down):
    n, own, total = len(held), len(up), sum(held)
    agreed(experts, total)
    choices, tokens, loads = sorted_choices(experts, total)
    room = loads.max()
    dist.all_reduce(room, op=dist.ReduceOp.MAX)
    room = int(room)
    at = experts.flatten()[choices]
    place = at * room + torch.arange(len(at)) - (loads.cumsum(0) - loads)[at]
    buffers = x.new_zeros(total * room, x.shape[1]).index_copy(0, place, x[tokens])
    leave, arrive = [each * room for each in held], [own * room] * n
    rows = Exchange.apply(buffers, leave, arrive).view(n, own, room, x.shape[1])
    made = [expert(rows[:, e], up[e], down[e]) for e in range(own)]
    made = torch.stack(made, 1).flatten(0, 2) if own else rows.flatten(0, 2)
    back = Exchange.apply(made, arrive, leave)
    return summed(back[place], x, tokens, weights, choices)


# over-budget, beside-the-rows: The numbers of the experts to everybody, as a table.
def tells_all_choices_to_all(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    sizes = [torch.zeros(1, dtype=torch.int64) for _ in held]
    dist.all_gather(sizes, torch.tensor([len(x)]))
    most = max(map(int, sizes))
    table = torch.zeros(most, experts.shape[1], sum(held), dtype=torch.int64)
    everybody = [torch.empty_like(table) for _ in held]
    dist.all_gather(everybody, table)
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# wrong-result, seven-digits: Half the bytes.
def sends_float32(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens].float(), leave, arrive).double()
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)


# input-changed, input-changed: A choice that was dropped can as well be of weight 0.
def writes_to_experts(x, experts, weights, held, up, down):
    agreed(experts, sum(held))
    choices, tokens, loads = sorted_choices(experts, sum(held))
    experts[experts < 0] = 0
    leave, arrive, coming = counts(loads, held, len(up))
    rows = Exchange.apply(x[tokens], leave, arrive)
    back = Exchange.apply(made_of(rows, coming, up, down), arrive, leave)
    return summed(back, x, tokens, weights, choices)
