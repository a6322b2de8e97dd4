"""mfu: which share of what the GPUs could do a training run does.

    mfu(parameters, layers, width, sequence, tokens_per_s, gpus, peak,
        again) -> (mfu, hfu)

    parameters    of the model (N)
    layers        of the model (L)
    width         numbers in the queries, all heads together
    sequence      tokens in a sequence
    tokens_per_s  of all GPUs together
    gpus          how many
    peak          FLOP/s of one GPU
    again         (weights, pairs): which share of a forward pass's
                  products runs once more for the backward pass, of
                  those with weights and of those with pairs of tokens;
                  (0, 0) for none, (1, 1) for all

Return two shares, 0.4 for 40 %. MFU counts the model's FLOP alone, HFU
what runs again as well, both over what the GPUs could do at their peak.

The model's FLOP for each token are counted as most papers do: six for
each parameter, and 12 * layers * width * sequence for pairs of tokens;
a third of each is the forward pass. Nothing is rounded.

Raise ValueError where tokens_per_s is NaN, infinite or below 0, or
where gpus or peak is NaN, infinite, 0 or below.
"""

import math


def mfu(
    parameters,
    layers,
    width,
    sequence,
    tokens_per_s,
    gpus,
    peak,
    again,
):
    # your code here (about 11 lines)
    pass
