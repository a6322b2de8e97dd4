"""limit_nodes: a token's experts lie in few nodes, so few rows cross.

    limit_nodes(scores, k, nodes, limit, home)
        -> (experts, free, limited)

    scores   float64 (tokens, experts), what the choice goes by
    k        how many experts a token goes to, a multiple of limit
    nodes    how many there are: each holds equally many experts, node 0
             the first ones, then node 1, and so on
    limit    in how many nodes a token's experts may lie, 1 to all
    home     int64 (tokens,): the node of each token
    experts  int64 (tokens, k): the k highest scores among the experts
             of the nodes that the token may go to, the highest first
    free     how many rows would cross between nodes if each token went
             to its k best experts wherever they are: one for each token
             and each node, other than its home, that has one of them
    limited  the same for the experts that you return

A token goes to those nodes whose k // limit best experts have the
largest sum of scores; a node has at least as many. Of equal numbers,
be they scores or sums, the lower index comes first. Scores may be below
0. There may be no token. A NaN is a ValueError; no score is infinite.

free and limited are whole numbers of Python. Measured: PyTorch
operations, of which 60 will do for any number of tokens, without tolist
or numpy on anything that grows with them.
"""

import torch


def limit_nodes(scores, k, nodes, limit, home):
    # answer
    if scores.isnan().any():
        raise ValueError("a score is NaN")
    tokens, total = scores.shape

    def best(rows, number):
        order = rows.argsort(dim=1, descending=True, stable=True)
        return order[:, :number]

    def crossing(experts):
        seen = torch.zeros(tokens, nodes, dtype=torch.bool)
        seen.scatter_(1, experts // (total // nodes), True)
        return int(seen.scatter_(1, home[:, None], False).sum())

    by_node = scores.view(tokens, nodes, total // nodes)
    ranked = by_node.sort(dim=2, descending=True).values
    top = ranked[:, :, : k // limit]
    closed = torch.ones(tokens, nodes, dtype=torch.bool)
    closed.scatter_(1, best(top.sum(2), limit), False)
    open_scores = by_node.masked_fill(closed[:, :, None], -torch.inf)
    experts = best(open_scores.flatten(1), k)
    return experts, crossing(best(scores, k)), crossing(experts)
    # end answer
    return None
