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
    # your code here (about 18 lines)
    return None
