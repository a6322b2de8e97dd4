"""parameter_server: nobody waits, and gradients are old.

    parameter_server(weights, matrix, target, rate, bound, events)
        -> (weights, versions, staleness)

    weights    float64 (n,), at the start; leave it as it is
    matrix     float64 (n, n); target float64 (n,): the gradient at w
               is matrix @ w - target
    rate       of a step
    bound      the oldest gradient that the server still takes
    events     list of (what, worker) in the order in which they reach
               the server

The server holds the weights and counts their version, 0 at the start.

*  ("pull", k): worker k gets a copy of the weights and their version.
*  ("push", k): worker k hands in its gradient, taken at the copy that
   it has pulled last. Its staleness is the version now less the
   version of that copy. If that is at most bound, the server takes a
   step of gradient descent, and the version grows by 1; else nothing
   changes.

Return the weights at the end, their version, and the staleness of
every push, in order, also of those that are not taken. Each worker
pulls before its first push; it may push twice from one copy. There
may be no push at all. All numbers are finite.
"""


def parameter_server(weights, matrix, target, rate, bound, events):
    # your code here (about 12 lines)
    pass
