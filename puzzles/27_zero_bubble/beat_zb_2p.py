"""beat_zb_2p: let a search fill the bubbles.

    beat_zb_2p(ranks, microbatches, times, comm, memory, limit)
        -> a list of orders

    ranks         how many there are; rank r holds stage r
    microbatches  how many there are
    times         (F, I, W): what each takes, in ms
    comm          from the end of an action to when the next rank has
                  its result, in ms; nobody is busy with it
    memory        (added, kept): what F adds on its rank, and what of it
                  stays from I to W; I gives back the rest, W gives back
                  what was kept
    limit         the most that a rank may hold

Return a list with an order for each rank, each a list of actions such
as "2F5", "2I5" and "2W5", as in the puzzles before. The bubble rate is
the share of the longest time from a rank's first start to its last end
in which it has nothing to do. It may be half as large as that of ZB-H2
at the same times and messages, or 1 %; and where no order reaches that,
one tenth larger than the bound that the lesson works out. What counts
is the rate: the lower the better. Each pipeline may take ten seconds.
"""

import heapq


def beat_zb_2p(ranks, microbatches, times, comm, memory, limit):
    # your code here (about 55 lines)
    pass
