"""Wrong answers to optimal_interval that people give."""

import math


def share(m, t, write_s, recover_s):
    return t * math.exp(-(recover_s + t + write_s) / m) / m / -math.expm1(-(t + write_s) / m)


def daly(m, write_s):
    x = write_s / (2 * m)
    if x >= 1:
        return m
    return math.sqrt(2 * write_s * m) * (1 + math.sqrt(x) / 3 + x / 9) - write_s


def never(m):
    return (math.inf, math.inf, 1.0) if math.isinf(m) else None


# wrong-result, one-machine: Takes the time between failures as it is given.
def of_one_machine(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s
    t = daly(m, write_s)
    young = math.sqrt(2 * write_s * m)
    return never(m) or (young, t, share(m, t, write_s, recover_s))


# wrong-result, half-lost: Balances the write against a whole lost interval.
def loses_a_whole_interval(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    t = daly(m, write_s)
    return never(m) or (math.sqrt(write_s * m), t, share(m, t, write_s, recover_s))


# wrong-result, start-to-start: Leaves the write in Daly's interval.
def from_start_to_start(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    t = daly(m, write_s) + (write_s if write_s < 2 * m else 0)
    young = math.sqrt(2 * write_s * m)
    return never(m) or (young, t, share(m, t, write_s, recover_s))


# wrong-result, x-not-halved: Measures the write against the time between failures.
def measures_against_one_mtbf(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    x, young = write_s / m, math.sqrt(2 * write_s * m)
    t = m if write_s >= 2 * m else young * (1 + math.sqrt(x) / 3 + x / 9) - write_s
    return never(m) or (young, t, share(m, t, write_s, recover_s))


# wrong-result, long-write: Trusts the series everywhere.
def trusts_the_series(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    x, young = write_s / (2 * m), math.sqrt(2 * write_s * m)
    t = young * (1 + math.sqrt(x) / 3 + x / 9) - write_s
    return never(m) or (young, t, share(m, t, write_s, recover_s))


# wrong-result, first-order: Takes off writes, half intervals and recoveries.
def takes_off_the_losses(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    t, young = daly(m, write_s), math.sqrt(2 * write_s * m)
    return never(m) or (young, t, 1 - write_s / t - t / (2 * m) - recover_s / m)


# wrong-result, recovery-never-fails: Adds a recovery for each failure.
def recoveries_always_end(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    t, young = daly(m, write_s), math.sqrt(2 * write_s * m)
    if math.isinf(m):
        return never(m)
    fails = math.exp(-(t + write_s) / m) / -math.expm1(-(t + write_s) / m)
    return young, t, t / (m + recover_s) * fails


# wrong-result, no-recovery: Forgets the recoveries.
def forgets_recoveries(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    t, young = daly(m, write_s), math.sqrt(2 * write_s * m)
    return never(m) or (young, t, share(m, t, write_s, 0))


# wrong-result, at-youngs: Asks for the share at Young's interval.
def at_youngs_interval(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    young = math.sqrt(2 * write_s * m)
    return never(m) or (young, daly(m, write_s), share(m, young, write_s, recover_s))


# wrong-result, writes-count: Counts all of a saved interval, its write too.
def counts_the_write(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    t, young = daly(m, write_s), math.sqrt(2 * write_s * m)
    return never(m) or (young, t, share(m, t, write_s, recover_s) * (t + write_s) / t)


# wrong-result, without-failures-in-writes: A write is short, and never fails.
def writes_never_fail(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    t, young = daly(m, write_s), math.sqrt(2 * write_s * m)
    if math.isinf(m):
        return never(m)
    took = m / math.exp(-(recover_s + t) / m) * -math.expm1(-t / m) if t / m < 700 else math.inf
    return young, t, t / (took + write_s)


# wrong-result, never-fails: Puts infinity into the formulas.
def infinity_goes_in(nodes, node_mtbf_s, write_s, recover_s):
    m = node_mtbf_s / nodes
    t, young = daly(m, write_s), math.sqrt(2 * write_s * m)
    return young, t, 0.0 if math.isinf(m) else share(m, t, write_s, recover_s)
