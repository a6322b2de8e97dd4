"""Wrong answers to vanishing_updates that learners give."""

import math


def _steps(x, mantissa_bits):
    step = 2.0 ** (math.frexp(x)[1] - 1 - mantissa_bits)
    return x / step, step


def _nearest(x, mantissa_bits):
    steps, step = _steps(x, mantissa_bits)
    return round(steps) * step


def _away(x, mantissa_bits):
    steps, step = _steps(x, mantissa_bits)
    return math.copysign(math.floor(abs(steps) + 0.5), steps) * step


def _drawn(x, draw, mantissa_bits):
    steps, step = _steps(x, mantissa_bits)
    below = math.floor(steps)
    return (below + (draw < steps - below)) * step


def _run(w, updates, draws, bits, near=_nearest, draws_to=_drawn, master_each=False):
    vanished, plain, master, drawn = 0, w, w, w
    for update, draw in zip(updates, draws):
        before = plain
        plain = near(before + update, bits)
        vanished += update != 0 and plain == before
        master += update
        if master_each:
            master = near(master, bits)
        drawn = draws_to(drawn + update, draw, bits)
    return vanished, plain, near(master, bits), drawn


# wrong-result, zeros-count: Counts updates of 0 as vanished.
def counts_zeros(w, updates, draws, mantissa_bits):
    vanished, *rest = _run(w, updates, draws, mantissa_bits)
    return (vanished + sum(update == 0 for update in updates), *rest)


# wrong-result, half-up: Rounds ties away from 0.
def ties_away(w, updates, draws, mantissa_bits):
    return _run(w, updates, draws, mantissa_bits, near=_away)


# wrong-result, one-step: Takes the step of the first weight for all.
def one_step(w, updates, draws, mantissa_bits):
    step = _steps(w, mantissa_bits)[1] if w else 1.0

    def near(x, bits):
        return round(x / step) * step

    def draws_to(x, draw, bits):
        below = math.floor(x / step)
        return (below + (draw < x / step - below)) * step

    return _run(w, updates, draws, mantissa_bits, near, draws_to)


# wrong-result, no-master: Rounds the master weight at every step.
def no_master(w, updates, draws, mantissa_bits):
    return _run(w, updates, draws, mantissa_bits, master_each=True)


# wrong-result, not-rounded: Leaves the master weight in float64.
def master_not_rounded(w, updates, draws, mantissa_bits):
    vanished, plain, _, drawn = _run(w, updates, draws, mantissa_bits)
    return vanished, plain, w + sum(updates), drawn


# wrong-result, other-draw: Goes up where the draw is larger.
def other_draw(w, updates, draws, mantissa_bits):
    def down(x, draw, bits):
        steps, step = _steps(x, bits)
        below = math.floor(steps)
        return (below + (steps != below and draw >= steps - below)) * step

    return _run(w, updates, draws, mantissa_bits, draws_to=down)


# wrong-result, towards-zero: Takes the next number below for the one nearer to 0.
def towards_zero(w, updates, draws, mantissa_bits):
    def draws_to(x, draw, bits):
        return math.copysign(_drawn(abs(x), draw, bits), x)

    return _run(w, updates, draws, mantissa_bits, draws_to=draws_to)


# wrong-result, threshold: Takes for vanished what is less than half a step of the first weight.
def threshold(w, updates, draws, mantissa_bits):
    _, *rest = _run(w, updates, draws, mantissa_bits)
    half = _steps(w, mantissa_bits)[1] / 2
    return (sum(0 < abs(update) < half for update in updates), *rest)
