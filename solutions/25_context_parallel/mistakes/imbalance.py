"""Wrong answers to imbalance that people give."""

import numpy as np


def table(places, cell):
    """Returns cell(rank, owner of the keys) for each rank and round."""
    n = len(places)
    return [[int(cell(r, (r - t) % n)) for t in range(n)] for r in range(n)]


def seen(queries, keys, side="right"):
    """Returns how many scores these queries have with these keys."""
    return np.searchsorted(np.sort(keys), queries, side=side).sum()


# crash, memory: Each query against each key, in one table: NumPy is quick.
def looks_at_each_pair(places):
    n = len(places)
    return [
        [int((places[r][:, None] >= places[(r - t) % n][None, :]).sum()) for t in range(n)]
        for r in range(n)
    ]


# wrong-result, not-causal: A block of queries and a block of keys.
def counts_whole_blocks(places):
    return table(places, lambda r, o: len(places[r]) * len(places[o]))


# wrong-result, without-itself: Before it: that is less than its own place.
def leaves_itself_out(places):
    return table(places, lambda r, o: seen(places[r], places[o], "left"))


# wrong-result, from-the-right: In round t it is the turn of rank r + t.
def takes_keys_from_the_right(places):
    n = len(places)
    return [[int(seen(places[r], places[(r + t) % n])) for t in range(n)] for r in range(n)]


# wrong-result, by-rank-number: A table of ranks and ranks.
def by_owner_of_the_keys(places):
    n = len(places)
    return [[int(seen(places[r], places[o])) for o in range(n)] for r in range(n)]


# wrong-result, looks-ahead: Keys that are not before a query.
def looks_ahead(places):
    def cell(r, o):
        return len(places[r]) * len(places[o]) - seen(places[r], places[o], "left")

    return table(places, cell)


# wrong-result, by-order-of-ranks: Half a block on the diagonal, whole ones for the ranks before.
def by_order_of_ranks(places):
    def cell(r, o):
        size = len(places[r])
        return size * (size + 1) // 2 if o == r else size * len(places[o]) * (o < r)

    return table(places, cell)


# wrong-result, rounds-do-not-wait, for bound: The rank with the most to do says how long it
# takes.
def the_busiest_rank(scores):
    sums = [sum(row) for row in scores]
    return sum(sums) / (len(scores) * max(sums))


def right(scores):
    """Returns the share that is asked for."""
    slowest = sum(max(column) for column in zip(*scores, strict=True))
    return sum(map(sum, scores)) / (len(scores) * slowest)


# wrong-result, waiting-instead, for bound: What is lost.
def share_of_waiting(scores):
    return 1 - right(scores)


# wrong-result, inverse, for bound: How much longer than it need take.
def times_as_long(scores):
    return 1 / right(scores)


# wrong-result, not-over-ranks, for bound: All the work over all the time.
def forgets_the_ranks(scores):
    return right(scores) * len(scores)


# wrong-result, every-round-as-the-worst, for bound: A round lasts as long as it lasts: as the
# longest.
def the_worst_round(scores):
    n = len(scores)
    return sum(map(sum, scores)) / (n * n * max(map(max, scores)))


# wrong-result, least-over-most, for bound: Imbalance is the least over the most.
def least_over_most(scores):
    sums = [sum(row) for row in scores]
    return min(sums) / max(sums)


# wrong-result, mean-of-rounds, for bound: The share of each round, and their mean.
def mean_of_the_rounds(scores):
    columns = list(zip(*scores, strict=True))
    return sum(sum(c) / (len(c) * max(c)) for c in columns) / len(columns)


# wrong-result, percent, for bound: 53.3, as it is printed.
def in_per_cent(scores):
    return 100 * right(scores)
