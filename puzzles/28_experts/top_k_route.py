"""top_k_route: each token to its k best experts, if they have room.

    top_k_route(logits, k, capacity) -> (experts, weights, slots)

    logits    float64 (tokens, experts), what the router says
    k         how many experts a token goes to: 1, or more, or all
    capacity  how many tokens an expert has room for, 0 or more
    experts   int64 (tokens, k): those with the highest logits, the
              highest first; between equal ones the lower index first
    weights   float64 (tokens, k): their softmax, so that they add up to
              1 over the k of a token
    slots     int64 (tokens, k): which place each gets in its expert's
              buffer, from 0 on; -1 where there is no room

An expert takes tokens in the order of their positions until it is full,
be it a token's first choice or its last. A choice without room is
dropped: its weight is 0. The token's other weights stay as they are.

There may be no token. A logit of -inf closes an expert to a token. A
logit that is NaN or +inf is a ValueError, and so is a token to which
fewer than k experts are open: there are no weights to give.

A router runs on the GPU. Measured: PyTorch operations, of which 60 will
do for any number of tokens, without tolist, item or numpy on anything
that grows with them; and the bytes that are alive at one time, at most
16 numbers for each token and expert.
"""

import torch


def top_k_route(logits, k, capacity):
    # your code here (about 15 lines)
    return None
