"""model_size_overhead: what a model smaller than the best one costs.

    model_size_overhead(law, flop, k_n, k_d)
        -> (parameters, tokens, overhead)

    law   {"E": .., "A": .., "B": .., "alpha": .., "beta": ..}: a model
          of N parameters has after D tokens the loss
          E + A / N ** alpha + B / D ** beta
    flop  of a run with 6 N D = flop; the best N and D are those with
          the least loss among all such runs
    k_n   size over the best N, such as 0.5; None where k_d is given
    k_d   tokens over the best D; None where k_n is given

Another run is to end with the same loss as the best one. Of its size
and its tokens one is given as a factor of the best; find the other.
Return

    parameters  of that run
    tokens      of that run
    overhead    how much more FLOP it takes than the best run, as a
                share: 0.2 for 20 % more

A few steps of float64 rounding are no matter: 1e-6 of each number.

Raise ValueError where a factor is NaN, infinite, 0 or below, where both
or none of them are given, or where that loss is never reached: a model
may be too small whatever its tokens, and tokens too few whatever the
size. Every number of law, and flop, is above 0.
"""

import math


def model_size_overhead(law, flop, k_n, k_d):
    # answer
    if (k_n is None) == (k_d is None):
        raise ValueError("one of k_n and k_d is to be given")
    given = k_d if k_n is None else k_n
    if not (math.isfinite(given) and given > 0):
        raise ValueError(f"{given} times the best")
    alpha, beta = law["alpha"], law["beta"]
    own, other = (beta, alpha) if k_n is None else (alpha, beta)
    left = 1 - (given**-own - 1) * other / own
    if left <= 0:
        raise ValueError(f"{given} times the best is too little")
    found = left ** (-1 / other)
    ratio = alpha * law["A"] / (beta * law["B"])
    best_n = (ratio * (flop / 6) ** beta) ** (1 / (alpha + beta))
    best_d = flop / 6 / best_n
    k_n, k_d = (found, given) if k_n is None else (given, found)
    return k_n * best_n, k_d * best_d, k_n * k_d - 1
    # end answer
