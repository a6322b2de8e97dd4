"""Wrong answers to model_size_overhead that people give."""

import math


def _one(k_n, k_d):
    """Returns the factor that is given, and whether it is that of the size."""
    if (k_n is None) == (k_d is None):
        raise ValueError("one of them")
    given = k_d if k_n is None else k_n
    if not (math.isfinite(given) and given > 0):
        raise ValueError("a factor")
    return given, k_d is None


def _best(law, flop):
    alpha, beta = law["alpha"], law["beta"]
    ratio = alpha * law["A"] / (beta * law["B"])
    best_n = (ratio * (flop / 6) ** beta) ** (1 / (alpha + beta))
    return best_n, flop / 6 / best_n


def _found(given, own, other):
    left = 1 - (given**-own - 1) * other / own
    if left <= 0:
        raise ValueError("never")
    return left ** (-1 / other)


def _factors(law, k_n, k_d):
    given, is_size = _one(k_n, k_d)
    if is_size:
        return given, _found(given, law["alpha"], law["beta"])
    return _found(given, law["beta"], law["alpha"]), given


# wrong-result, same-flop: Half the size, twice the tokens.
def keeps_the_flop(law, flop, k_n, k_d):
    given, is_size = _one(k_n, k_d)
    best_n, best_d = _best(law, flop)
    k_n, k_d = (given, 1 / given) if is_size else (1 / given, given)
    return k_n * best_n, k_d * best_d, k_n * k_d - 1


# wrong-result, tokens-alone: The overhead are the tokens that come on top.
def counts_tokens_alone(law, flop, k_n, k_d):
    k_n, k_d = _factors(law, k_n, k_d)
    best_n, best_d = _best(law, flop)
    return k_n * best_n, k_d * best_d, k_d - 1


# wrong-result, percent: An overhead is a percentage.
def in_percent(law, flop, k_n, k_d):
    k_n, k_d = _factors(law, k_n, k_d)
    best_n, best_d = _best(law, flop)
    return k_n * best_n, k_d * best_d, 100 * (k_n * k_d - 1)


# wrong-result, times: How many times the FLOP.
def how_many_times(law, flop, k_n, k_d):
    k_n, k_d = _factors(law, k_n, k_d)
    best_n, best_d = _best(law, flop)
    return k_n * best_n, k_d * best_d, k_n * k_d


# wrong-result, turned-ratio: The terms are in the ratio of alpha to beta.
def turns_the_ratio_round(law, flop, k_n, k_d):
    given, is_size = _one(k_n, k_d)
    best_n, best_d = _best(law, flop)
    own, other = (law["alpha"], law["beta"]) if is_size else (law["beta"], law["alpha"])
    left = 1 - (given**-own - 1) * own / other
    if left <= 0:
        raise ValueError("never")
    found = left ** (-1 / other)
    k_n, k_d = (given, found) if is_size else (found, given)
    return k_n * best_n, k_d * best_d, k_n * k_d - 1


# wrong-result, equal-terms: At the best point both terms are alike.
def takes_both_terms_for_alike(law, flop, k_n, k_d):
    given, is_size = _one(k_n, k_d)
    best_n, best_d = _best(law, flop)
    own, other = (law["alpha"], law["beta"]) if is_size else (law["beta"], law["alpha"])
    left = 2 - given**-own
    if left <= 0:
        raise ValueError("never")
    found = left ** (-1 / other)
    k_n, k_d = (given, found) if is_size else (found, given)
    return k_n * best_n, k_d * best_d, k_n * k_d - 1


# wrong-result, one-exponent: alpha and beta are nearly alike.
def one_exponent_for_both(law, flop, k_n, k_d):
    given, is_size = _one(k_n, k_d)
    best_n, best_d = _best(law, flop)
    own, other = (law["alpha"], law["beta"]) if is_size else (law["beta"], law["alpha"])
    left = 1 - (given**-own - 1) * other / own
    if left <= 0:
        raise ValueError("never")
    found = left ** (-1 / own)
    k_n, k_d = (given, found) if is_size else (found, given)
    return k_n * best_n, k_d * best_d, k_n * k_d - 1


# wrong-result, twenty: The best is twenty tokens for each parameter.
def twenty_tokens_for_each_parameter(law, flop, k_n, k_d):
    k_n, k_d = _factors(law, k_n, k_d)
    best_n = (flop / 120) ** 0.5
    return k_n * best_n, k_d * 20 * best_n, k_n * k_d - 1


# wrong-result, no-six: FLOP are parameters times tokens.
def one_flop_for_each(law, flop, k_n, k_d):
    k_n, k_d = _factors(law, k_n, k_d)
    best_n, best_d = _best(law, 6 * flop)
    return k_n * best_n, k_d * best_d, k_n * k_d - 1


# wrong-result, balanced: The best is where both terms of the loss are alike.
def best_where_both_terms_are_alike(law, flop, k_n, k_d):
    k_n, k_d = _factors(law, k_n, k_d)
    alpha, beta = law["alpha"], law["beta"]
    best_n = (law["A"] / law["B"] * (flop / 6) ** beta) ** (1 / (alpha + beta))
    return k_n * best_n, k_d * flop / 6 / best_n, k_n * k_d - 1


# wrong-result, the-best: The parameters and tokens that the law gives.
def returns_the_best_run(law, flop, k_n, k_d):
    k_n, k_d = _factors(law, k_n, k_d)
    return *_best(law, flop), k_n * k_d - 1


# wrong-result, one-way: Size and tokens stand in the law in the same way.
def solves_both_ways_alike(law, flop, k_n, k_d):
    given, is_size = _one(k_n, k_d)
    best_n, best_d = _best(law, flop)
    found = _found(given, law["alpha"], law["beta"])
    k_n, k_d = (given, found) if is_size else (found, given)
    return k_n * best_n, k_d * best_d, k_n * k_d - 1


# wrong-result, whole-loss: The whole loss grows, E too.
def lets_the_whole_loss_grow(law, flop, k_n, k_d):
    given, is_size = _one(k_n, k_d)
    best_n, best_d = _best(law, flop)
    alpha, beta = law["alpha"], law["beta"]
    of_size, of_tokens = law["A"] / best_n**alpha, law["B"] / best_d**beta
    loss = law["E"] + of_size + of_tokens
    if is_size:
        k_n, left = given, loss - of_size * given**-alpha
        k_d = (left / (law["E"] + of_tokens)) ** (-1 / beta) if left > 0 else math.nan
    else:
        k_d, left = given, loss - of_tokens * given**-beta
        k_n = (left / (law["E"] + of_size)) ** (-1 / alpha) if left > 0 else math.nan
    if math.isnan(k_n * k_d):
        raise ValueError("never")
    return k_n * best_n, k_d * best_d, k_n * k_d - 1


# wrong-result, not-refused: More tokens always help, so there is always a number of them.
def infinitely_many_tokens(law, flop, k_n, k_d):
    given, is_size = _one(k_n, k_d)
    best_n, best_d = _best(law, flop)
    own, other = (law["alpha"], law["beta"]) if is_size else (law["beta"], law["alpha"])
    left = 1 - (given**-own - 1) * other / own
    found = left ** (-1 / other) if left > 0 else math.inf
    k_n, k_d = (given, found) if is_size else (found, given)
    return k_n * best_n, k_d * best_d, k_n * k_d - 1
