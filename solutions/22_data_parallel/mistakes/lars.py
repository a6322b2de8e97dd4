"""Wrong answers to lars that people give."""

import numpy as np


def ratio(w, g, decay, trust):
    """The local rate of a parameter of two dimensions or more."""
    length, slope = np.linalg.norm(w), np.linalg.norm(g)
    if length > 0 and slope > 0:
        return trust * length / (slope + decay * length)
    return 1.0


def stepped(weights, gradients, velocities, rate, momentum, decay, local_of, decay_of=None):
    """A step with a local rate and a decay for each parameter."""
    new_weights, new_velocities = [], []
    for w, g, v in zip(weights, gradients, velocities):
        own = (decay if w.ndim > 1 else 0.0) if decay_of is None else decay_of(w)
        v = momentum * v + rate * local_of(w, g) * (g + own * w)
        new_velocities.append(v)
        new_weights.append(w - v)
    return new_weights, new_velocities


# wrong-result, no-ratio: SGD with momentum, as it was before.
def one_rate_for_all(weights, gradients, velocities, rate, momentum, decay, trust):
    return stepped(weights, gradients, velocities, rate, momentum, decay, lambda w, g: 1.0)


# wrong-result, zero-stays: Guards the denominator alone: weights of 0 never move.
def zero_weights_stay(weights, gradients, velocities, rate, momentum, decay, trust):
    def local(w, g):
        if w.ndim < 2 or np.linalg.norm(g) == 0:
            return 1.0
        length, slope = np.linalg.norm(w), np.linalg.norm(g)
        return trust * length / (slope + decay * length)

    return stepped(weights, gradients, velocities, rate, momentum, decay, local)


# wrong-result, zero-unguarded: The formula as it stands, for 0 as well.
def divides_by_zero(weights, gradients, velocities, rate, momentum, decay, trust):
    def local(w, g):
        if w.ndim < 2:
            return 1.0
        length, slope = np.linalg.norm(w), np.linalg.norm(g)
        with np.errstate(all="ignore"):
            return trust * length / (slope + decay * length)

    return stepped(weights, gradients, velocities, rate, momentum, decay, local)


# wrong-result, epsilon: A small number in the denominator, as in Adam.
def epsilon_for_zero(weights, gradients, velocities, rate, momentum, decay, trust):
    def local(w, g):
        if w.ndim < 2:
            return 1.0
        length, slope = np.linalg.norm(w), np.linalg.norm(g)
        return trust * length / (slope + decay * length + 1e-9)

    return stepped(weights, gradients, velocities, rate, momentum, decay, local)


# wrong-result, upside-down: The other way round: steep layers take large steps.
def upside_down(weights, gradients, velocities, rate, momentum, decay, trust):
    def local(w, g):
        if w.ndim < 2:
            return 1.0
        length, slope = np.linalg.norm(w), np.linalg.norm(g)
        return trust * slope / (length + decay * slope) if length > 0 and slope > 0 else 1.0

    return stepped(weights, gradients, velocities, rate, momentum, decay, local)


# wrong-result, decay-left-out: The decay is not in the denominator.
def decay_not_in_the_norm(weights, gradients, velocities, rate, momentum, decay, trust):
    def local(w, g):
        return ratio(w, g, 0.0, trust) if w.ndim > 1 else 1.0

    return stepped(weights, gradients, velocities, rate, momentum, decay, local)


# wrong-result, norm-of-the-sum: The norm of what is stepped along.
def norm_of_the_sum(weights, gradients, velocities, rate, momentum, decay, trust):
    def local(w, g):
        return ratio(w, g + decay * w, 0.0, trust) if w.ndim > 1 else 1.0

    return stepped(weights, gradients, velocities, rate, momentum, decay, local)


# wrong-result, biases: A bias is a parameter like any other.
def biases_too(weights, gradients, velocities, rate, momentum, decay, trust):
    def local(w, g):
        return ratio(w, g, decay, trust)

    return stepped(weights, gradients, velocities, rate, momentum, decay, local, lambda w: decay)


# wrong-result, biases-decay: No rate of its own for a bias, but the decay of all.
def decays_the_biases(weights, gradients, velocities, rate, momentum, decay, trust):
    def local(w, g):
        return ratio(w, g, decay, trust) if w.ndim > 1 else 1.0

    return stepped(weights, gradients, velocities, rate, momentum, decay, local, lambda w: decay)


# wrong-result, one-ratio: One ratio for the whole model.
def one_ratio_for_all(weights, gradients, velocities, rate, momentum, decay, trust):
    length = np.sqrt(sum(np.sum(w * w) for w in weights))
    slope = np.sqrt(sum(np.sum(g * g) for g in gradients))

    def local(w, g):
        return trust * length / (slope + decay * length) if w.ndim > 1 else 1.0

    return stepped(weights, gradients, velocities, rate, momentum, decay, local)


# wrong-result, rate-outside: The rate outside, as PyTorch's SGD has it.
def rate_outside(weights, gradients, velocities, rate, momentum, decay, trust):
    new_weights, new_velocities = [], []
    for w, g, v in zip(weights, gradients, velocities):
        wide = w.ndim > 1
        local = ratio(w, g, decay, trust) if wide else 1.0
        v = momentum * v + local * (g + (decay * w if wide else 0.0))
        new_velocities.append(v)
        new_weights.append(w - rate * v)
    return new_weights, new_velocities


# input-changed, input-changed: Updates what it was given.
def in_place(weights, gradients, velocities, rate, momentum, decay, trust):
    for w, g, v in zip(weights, gradients, velocities):
        wide = w.ndim > 1
        local = ratio(w, g, decay, trust) if wide else 1.0
        v *= momentum
        v += rate * local * (g + (decay * w if wide else 0.0))
        w -= v
    return weights, velocities
