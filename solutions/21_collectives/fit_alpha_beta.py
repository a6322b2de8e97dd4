"""fit_alpha_beta: what a message costs, from times of all-reduces.

    fit_alpha_beta(runs) -> (alpha, rate)

    runs   list of (ranks, size, seconds): an all-reduce of `size` bytes
           around a ring of `ranks` ranks took so many seconds
    alpha  seconds of a message before its first byte
    rate   bytes per second of a link

By the model, a message of b bytes takes alpha + b / rate seconds, and
all ranks send at the same time. No pair (alpha, rate) gives all the
measured times. Return the one with the least sum of the squares of

    (time by the model - measured time) / measured time

All numbers are finite. The runs have at least two different sizes, at
least 2 ranks each, and times above 0. Six digits of both are enough.
"""


def fit_alpha_beta(runs):
    # answer
    pp = pq = qq = p_sum = q_sum = 0.0
    for ranks, size, seconds in runs:
        # By the model p * alpha + q / rate is 1.
        p = 2 * (ranks - 1) / seconds
        q = p * size / ranks
        pp, pq, qq = pp + p * p, pq + p * q, qq + q * q
        p_sum, q_sum = p_sum + p, q_sum + q
    determinant = pp * qq - pq * pq
    alpha = (p_sum * qq - q_sum * pq) / determinant
    rate = determinant / (q_sum * pp - p_sum * pq)
    return alpha, rate
    # end answer
