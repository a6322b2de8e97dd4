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
    # your code here (about 10 lines)
    pass
