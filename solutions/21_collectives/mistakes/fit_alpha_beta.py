"""Wrong answers to fit_alpha_beta that learners give."""


def _solve(rows):
    pp = sum(p * p for p, _, _ in rows)
    pq = sum(p * q for p, q, _ in rows)
    qq = sum(q * q for _, q, _ in rows)
    pt = sum(p * t for p, _, t in rows)
    qt = sum(q * t for _, q, t in rows)
    determinant = pp * qq - pq * pq
    return (pt * qq - qt * pq) / determinant, determinant / (qt * pp - pt * pq)


def _fit(runs, terms, power=1):
    rows = []
    for n, size, t in runs:
        p, q = terms(n, size)
        rows.append((p / t**power, q / t**power, t / t**power))
    return _solve(rows)


def _ring(n, size):
    return 2 * (n - 1), 2 * (n - 1) * size / n


# wrong-result, absolute: Least squares, as in any book.
def squares_of_seconds(runs):
    return _fit(runs, _ring, 0)


# wrong-result, square-root: Divides the squares by the time, not the errors.
def squares_over_the_time(runs):
    return _fit(runs, _ring, 0.5)


# wrong-result, one-way: A ring goes round.
def once_round(runs):
    return _fit(runs, lambda n, size: (n - 1, (n - 1) * size / n))


# wrong-result, whole-buffer: Forgets that the buffer is cut.
def whole_buffer_each_step(runs):
    return _fit(runs, lambda n, size: (2 * (n - 1), 2 * (n - 1) * size))


# wrong-result, buffer-twice: "A ring sends the buffer twice", as one reads.
def two_buffers_for_each_rank(runs):
    return _fit(runs, lambda n, size: (2 * (n - 1), 2 * size))


# wrong-result, n-steps: n ranks, so n steps.
def n_steps_each_way(runs):
    return _fit(runs, lambda n, size: (2 * n, 2 * size))


# wrong-result, one-message: Knows nothing of the ring.
def one_large_message(runs):
    return _fit(runs, lambda n, size: (1, size))


# wrong-result, one-alpha: Alpha as the cost of a call.
def alpha_once(runs):
    return _fit(runs, lambda n, size: (1, _ring(n, size)[1]))


# wrong-result, two-points: The ends of the curve.
def first_and_last(runs):
    ordered = sorted(runs, key=lambda run: run[1])
    return _fit([ordered[0], ordered[-1]], _ring)


# wrong-result, smallest: A tiny message takes alpha, a large one shows the rate.
def smallest_is_alpha(runs):
    n, _, t = min(runs, key=lambda run: run[1])
    alpha = t / (2 * (n - 1))
    n, size, t = max(runs, key=lambda run: run[1])
    return alpha, 2 * (n - 1) * size / n / (t - 2 * (n - 1) * alpha)


# wrong-result, rate-alone: Bandwidth is all that counts.
def no_alpha(runs):
    shares = [_ring(n, size)[1] / t for n, size, t in runs]
    return 0.0, sum(q * q for q in shares) / sum(shares)


# wrong-result, seconds-per-byte: Alpha and beta, as the model is called.
def beta_itself(runs):
    alpha, rate = _fit(runs, _ring)
    return alpha, 1 / rate


# wrong-result, swapped: The other order.
def rate_first(runs):
    alpha, rate = _fit(runs, _ring)
    return rate, alpha


# wrong-result, units: Times as a table prints them.
def in_microseconds(runs):
    alpha, rate = _fit(runs, _ring)
    return alpha * 1e6, rate


# wrong-result, two-numbers: Asked for the bandwidth.
def rate_only(runs):
    return _fit(runs, _ring)[1]
