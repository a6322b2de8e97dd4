"""optimal_interval: how long to train between two checkpoints.

    optimal_interval(nodes, node_mtbf_s, write_s, recover_s)
        -> (young_s, daly_s, useful)

    nodes        machines of the run, which stops if one of them fails
    node_mtbf_s  mean time between failures of ONE machine, in seconds;
                 infinite if it never fails
    write_s      seconds that a checkpoint takes, during which nobody
                 trains; more than 0
    recover_s    seconds from a failure until all machines have the
                 state of the last checkpoint again; 0 or more

An interval is the time of training from the end of one write to the
beginning of the next, in seconds. Let M be the mean time between
failures of the run.

young_s  the interval t for which write_s / t + t / (2 M) is least: the
         writes, and half an interval that is lost with each failure
daly_s   with x = write_s / (2 M), if x < 1:
         young_s * (1 + sqrt(x) / 3 + x / 9) - write_s; otherwise M
useful   what share of the time is training that is kept, for daly_s,
         exactly: failures come at any moment alike, whatever came
         before, also in a write or a recovery, which begins anew then

If no machine ever fails, both intervals are infinite, and all of the
time is useful. The share may be so small that a float has only 0 left.
"""

import math


def optimal_interval(nodes, node_mtbf_s, write_s, recover_s):
    # answer
    mtbf_s = node_mtbf_s / nodes
    if math.isinf(mtbf_s):
        return math.inf, math.inf, 1.0
    young_s = math.sqrt(2 * write_s * mtbf_s)
    x = write_s / (2 * mtbf_s)
    daly_s = young_s * (1 + math.sqrt(x) / 3 + x / 9) - write_s
    if x >= 1:
        daly_s = mtbf_s

    # From one saved state to the next, on average:
    # M * e^(recover_s / M) * (e^(segment_s / M) - 1) seconds.
    segment_s = daly_s + write_s
    kept = math.exp(-(recover_s + segment_s) / mtbf_s)
    useful = daly_s / mtbf_s * kept
    useful /= 1 - math.exp(-segment_s / mtbf_s)
    return young_s, daly_s, useful
    # end answer
