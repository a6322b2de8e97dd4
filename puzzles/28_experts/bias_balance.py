"""bias_balance: a bias for even loads, seen by the choice alone.

    bias_balance(logits, bias, k, rate) -> (experts, weights, new_bias)

    logits    float64 (tokens, experts), what the router says; an
              expert's score is their sigmoid
    bias      float64 (experts,), a parameter to which no gradient
              belongs; leave it as it is
    k         how many experts a token goes to, 1 to all of them
    rate      how far the bias moves after a batch, above 0
    experts   int64 (tokens, k): those whose score + bias is highest,
              best first; of equal ones the lower index first
    weights   float64 (tokens, k): their scores without the bias, over
              1e-20 plus the sum of the token's k scores
    new_bias  float64 (experts,), for the next batch: lower by rate
              where an expert got more than the mean of this batch,
              higher by rate where it got less, else as it was

Gradients go from the weights to the logits, and new_bias carries none.
There may be no token. A score may be 0, of a logit of -inf; no logit is
NaN or +inf. Measured: PyTorch operations, of which 40 will do for any
number of tokens, without tolist or numpy on anything that grows.
"""

import torch


def bias_balance(logits, bias, k, rate):
    # your code here (about 11 lines)
    return None
