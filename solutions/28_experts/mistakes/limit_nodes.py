"""Wrong answers to limit_nodes that people give."""

import torch


def checked(scores):
    """Raises a ValueError where a score is NaN."""
    if scores.isnan().any():
        raise ValueError("NaN")


def best(rows, number):
    """Returns where each row's highest numbers are."""
    order = rows.argsort(dim=1, descending=True, stable=True)
    return order[:, :number]


def grouped(scores, nodes):
    """Returns scores as tokens by nodes by experts of a node."""
    tokens, total = scores.shape
    return scores.view(tokens, nodes, total // nodes)


def strongest(by_node, number):
    """Returns for each node the sum of so many of its best."""
    return by_node.sort(dim=2, descending=True).values[:, :, :number].sum(2)


def within(scores, nodes, taken, k, closed=-torch.inf):
    """Returns the k best experts of the nodes that were taken."""
    by_node = grouped(scores, nodes)
    shut = torch.ones(by_node.shape[:2], dtype=torch.bool)
    shut.scatter_(1, taken, False)
    return best(by_node.masked_fill(shut[:, :, None], closed).flatten(1), k)


def limited_to(scores, k, nodes, limit):
    """Returns the experts that are right."""
    top = strongest(grouped(scores, nodes), k // limit)
    return within(scores, nodes, best(top, limit), k)


def crossing(experts, scores, nodes, home):
    """Returns how many rows cross."""
    seen = torch.zeros(len(scores), nodes, dtype=torch.bool)
    seen.scatter_(1, experts // (scores.shape[1] // nodes), True)
    return int(seen.scatter_(1, home[:, None], False).sum())


def with_counts(experts, scores, k, nodes, home):
    """Returns experts and both counts."""
    free = crossing(best(scores, k), scores, nodes, home)
    return experts, free, crossing(experts, scores, nodes, home)


# wrong-result, not-limited: The k best are the k best.
def takes_the_best_of_all(scores, k, nodes, limit, home):
    checked(scores)
    experts = best(scores, k)
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, zeros-for-closed: Scores are sigmoids, so 0 is nothing. As in the code on the Hub.
def closes_with_zeros(scores, k, nodes, limit, home):
    checked(scores)
    top = strongest(grouped(scores, nodes), k // limit)
    experts = within(scores, nodes, best(top, limit), k, 0.0)
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, by-the-best: The best node has the best expert.
def by_its_best_expert(scores, k, nodes, limit, home):
    checked(scores)
    top = grouped(scores, nodes).amax(2)
    experts = within(scores, nodes, best(top, limit), k)
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, by-all-experts: A node is the sum of its experts.
def by_all_its_experts(scores, k, nodes, limit, home):
    checked(scores)
    top = grouped(scores, nodes).sum(2)
    experts = within(scores, nodes, best(top, limit), k)
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, two-best: Two, as it stands in the code of DeepSeek-V3.
def by_its_two_best(scores, k, nodes, limit, home):
    checked(scores)
    top = strongest(grouped(scores, nodes), 2)
    experts = within(scores, nodes, best(top, limit), k)
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, even-shares: k over limit from each node.
def the_same_from_each(scores, k, nodes, limit, home):
    checked(scores)
    each = k // limit
    by_node = grouped(scores, nodes)
    taken = best(strongest(by_node, each), limit)
    order = by_node.argsort(dim=2, descending=True, stable=True)[:, :, :each]
    mine = order.gather(1, taken[:, :, None].expand(-1, -1, each))
    found = (mine + taken[:, :, None] * by_node.shape[2]).flatten(1)
    found = found.sort(dim=1).values
    experts = found.gather(1, best(scores.gather(1, found), k))
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, dealt-round: Experts are dealt out like cards.
def deals_experts_round(scores, k, nodes, limit, home):
    checked(scores)
    tokens, total = scores.shape
    by_node = scores.view(tokens, total // nodes, nodes).transpose(1, 2)
    shut = torch.ones(tokens, nodes, dtype=torch.bool)
    shut.scatter_(1, best(strongest(by_node, k // limit), limit), False)
    masked = by_node.masked_fill(shut[:, :, None], -torch.inf)
    experts = best(masked.transpose(1, 2).flatten(1), k)
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, home-counted: A node is a node.
def counts_home(scores, k, nodes, limit, home):
    checked(scores)
    experts = limited_to(scores, k, nodes, limit)

    def all_nodes(chosen):
        seen = torch.zeros(len(scores), nodes, dtype=torch.bool)
        seen.scatter_(1, chosen // (scores.shape[1] // nodes), True)
        return int(seen.sum())

    return experts, all_nodes(best(scores, k)), all_nodes(experts)


# wrong-result, choices-counted: A row for each expert.
def counts_choices(scores, k, nodes, limit, home):
    checked(scores)
    experts = limited_to(scores, k, nodes, limit)

    def choices(chosen):
        goals = chosen // (scores.shape[1] // nodes)
        return int((goals != home[:, None]).sum())

    return experts, choices(best(scores, k)), choices(experts)


# wrong-result, counts-swapped: What is, and then what would be.
def limited_first(scores, k, nodes, limit, home):
    checked(scores)
    experts = limited_to(scores, k, nodes, limit)
    experts, free, limited = with_counts(experts, scores, k, nodes, home)
    return experts, limited, free


# wrong-result, not-refused: A sort knows what to do with it.
def sorts_nan(scores, k, nodes, limit, home):
    experts = limited_to(scores, k, nodes, limit)
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, ties-in-any-order: topk, twice.
def asks_topk(scores, k, nodes, limit, home):
    checked(scores)
    top = strongest(grouped(scores, nodes), k // limit)
    by_node = grouped(scores, nodes)
    shut = torch.ones(by_node.shape[:2], dtype=torch.bool)
    shut.scatter_(1, top.topk(limit, dim=1).indices, False)
    masked = by_node.masked_fill(shut[:, :, None], -torch.inf).flatten(1)
    experts = masked.topk(k, dim=1).indices
    return with_counts(experts, scores, k, nodes, home)


# wrong-result, ties-higher-first: Sorted upwards and turned round.
def turns_a_sort_round(scores, k, nodes, limit, home):
    checked(scores)
    top = strongest(grouped(scores, nodes), k // limit)
    taken = top.argsort(dim=1, stable=True).flip(1)[:, :limit]
    experts = within(scores, nodes, taken, k)
    return with_counts(experts, scores, k, nodes, home)


# over-budget, one-by-one: Token by token, as one thinks of it.
def token_by_token(scores, k, nodes, limit, home):
    checked(scores)
    rows = []
    for row in scores:
        rows.append(limited_to(row[None], k, nodes, limit))
    empty = torch.zeros(0, k, dtype=torch.int64)
    experts = torch.cat([empty, *rows])
    return with_counts(experts, scores, k, nodes, home)


# over-budget, read-out: Sets are what Python has.
def counts_in_python(scores, k, nodes, limit, home):
    checked(scores)
    experts = limited_to(scores, k, nodes, limit)
    size = scores.shape[1] // nodes

    def rows(chosen):
        pairs = zip(chosen.tolist(), home.tolist(), strict=True)
        return sum(len({each // size for each in row} - {own}) for row, own in pairs)

    return experts, rows(best(scores, k)), rows(experts)
