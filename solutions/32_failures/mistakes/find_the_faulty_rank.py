"""Wrong answers to find_the_faulty_rank that people give."""

import numpy as np


def same(a, b):
    return a == b or (np.isnan(a) and np.isnan(b))


def slow_of(arrived, left, least, share=0.5, strictly=False, equal=False):
    waits = left - arrived
    if not len(waits):
        return []
    lead = np.median(waits, axis=1, keepdims=True) - waits
    late = np.sum(lead > least if strictly else lead >= least, axis=0)
    many = late >= share * len(waits) if equal else late > share * len(waits)
    return np.flatnonzero(many).tolist()


def corrupt_of(own, sizes, result, alike=same, votes=True, sums=True, room=1e-12, wrong=None):
    corrupt = []
    for step, values in enumerate(result):
        count = [sum(alike(a, b) for b in values) for a in values]
        most = values[np.argmax(count)] if votes else values[0]
        corrupt += [(step, r) for r, value in enumerate(values) if not alike(value, most)]
        total, size = np.sum(own[step]), np.sum(sizes[step])
        if wrong is not None:
            off = wrong(most, total, size)
        else:
            off = np.isfinite(total) and not abs(most - total) <= room * size
        if sums and off:
            corrupt.append((step, None))
    return corrupt


def told(arrived, left, own, sizes, result, least, slow=None, **how):
    found = slow_of(arrived, left, least) if slow is None else slow
    return {"slow": found, "corrupt": corrupt_of(own, sizes, result, **how)}


# wrong-result, by-the-clock: The last one to arrive.
def the_last_to_arrive(arrived, left, own, sizes, result, least):
    lead = arrived - np.median(arrived, axis=1, keepdims=True)
    late = np.sum(lead >= least, axis=0)
    slow = np.flatnonzero(2 * late > len(arrived)).tolist()
    return told(arrived, left, own, sizes, result, least, slow)


# wrong-result, waits-longest: Who is slow is long in the all-reduce.
def the_longest_wait(arrived, left, own, sizes, result, least):
    waits = left - arrived
    lead = waits - np.median(waits, axis=1, keepdims=True)
    late = np.sum(lead >= least, axis=0)
    slow = np.flatnonzero(2 * late > len(waits)).tolist()
    return told(arrived, left, own, sizes, result, least, slow)


# wrong-result, by-the-mean: Whose mean wait is short.
def by_mean_waits(arrived, left, own, sizes, result, least):
    waits = (left - arrived).mean(0) if len(arrived) else np.zeros(arrived.shape[1])
    slow = np.flatnonzero(np.median(waits) - waits >= least).tolist()
    return told(arrived, left, own, sizes, result, least, slow)


# wrong-result, always-one: Who waits least in most steps.
def somebody_is_last(arrived, left, own, sizes, result, least):
    last = np.argmin(left - arrived, axis=1)
    slow = [int(np.bincount(last).argmax())] if len(last) else []
    return told(arrived, left, own, sizes, result, least, slow)


# wrong-result, half-the-steps: Half of the steps is enough.
def half_is_enough(arrived, left, own, sizes, result, least):
    slow = slow_of(arrived, left, least, equal=True)
    return told(arrived, left, own, sizes, result, least, slow)


# wrong-result, at-the-limit: Late by more than this.
def late_by_more(arrived, left, own, sizes, result, least):
    slow = slow_of(arrived, left, least, strictly=True)
    return told(arrived, left, own, sizes, result, least, slow)


# wrong-result, rank-0-is-right: All must have what rank 0 has.
def as_rank_0_has_it(arrived, left, own, sizes, result, least):
    return told(arrived, left, own, sizes, result, least, votes=False)


# wrong-result, exact-sum: A sum is a sum.
def the_sum_to_the_bit(arrived, left, own, sizes, result, least):
    return told(arrived, left, own, sizes, result, least, room=0.0)


# wrong-result, room-by-the-sum: Twelve digits of the sum.
def twelve_digits_of_the_sum(arrived, left, own, sizes, result, least):
    def wrong(most, total, size):
        return np.isfinite(total) and not abs(most - total) <= 1e-12 * abs(total)

    return told(arrived, left, own, sizes, result, least, wrong=wrong)


# wrong-result, sum-alone: Whose result is not the sum is corrupt.
def each_against_the_sum(arrived, left, own, sizes, result, least):
    corrupt = []
    for step, values in enumerate(result):
        total, room = np.sum(own[step]), 1e-12 * np.sum(sizes[step])
        for rank, value in enumerate(values):
            if np.isfinite(total) and not abs(value - total) <= room:
                corrupt.append((step, rank))
    return {"slow": slow_of(arrived, left, least), "corrupt": corrupt}


# wrong-result, votes-alone: Most ranks are right.
def most_are_right(arrived, left, own, sizes, result, least):
    return told(arrived, left, own, sizes, result, least, sums=False)


# wrong-result, nan-is-no-alarm: An alarm where the difference is large.
def where_the_difference_is_large(arrived, left, own, sizes, result, least):
    def wrong(most, total, size):
        return np.isfinite(most - total) and abs(most - total) > 1e-12 * size

    return told(arrived, left, own, sizes, result, least, wrong=wrong)


# wrong-result, nan-is-another: Equal is equal.
def nan_is_not_nan(arrived, left, own, sizes, result, least):
    return told(arrived, left, own, sizes, result, least, alike=lambda a, b: a == b)


# wrong-result, overflow: The sum has to be right in any case.
def right_in_any_case(arrived, left, own, sizes, result, least):
    def wrong(most, total, size):
        return not abs(most - total) <= 1e-12 * size

    return told(arrived, left, own, sizes, result, least, wrong=wrong)
