"""Wrong answers to lamb that people give."""

import numpy as np


def stepped(
    weights,
    gradients,
    firsts,
    seconds,
    step,
    rate,
    beta1,
    beta2,
    epsilon,
    decay,
    *,
    ratio=None,
    corrected=True,
    decays=True,
    root=True,
    outside=False,
):
    """A step of LAMB with one part of it as somebody else would have it."""
    new_weights, new_firsts, new_seconds = [], [], []
    for w, g, m, v in zip(weights, gradients, firsts, seconds):
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        first = m / (1 - beta1**step) if corrected else m
        second = v / (1 - beta2**step) if corrected else v
        u = first / (np.sqrt(second) + epsilon) if root else first / np.sqrt(second + epsilon)
        whole = u + decay * w if decays else u
        times = (ratio or guarded)(w, u if outside else whole)
        if outside:
            new_weights.append(w - rate * (times * u + decay * w))
        else:
            new_weights.append(w - rate * times * whole)
        new_firsts.append(m)
        new_seconds.append(v)
    return new_weights, new_firsts, new_seconds


def guarded(w, u):
    """The ratio of two norms, 1 where one is 0."""
    length, way = np.linalg.norm(w), np.linalg.norm(u)
    return length / way if length > 0 and way > 0 else 1.0


# wrong-result, no-ratio: Adam with decay.
def no_ratio(weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay):
    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        ratio=lambda w, u: 1.0,
    )


# wrong-result, zero-stays: Only what stands below may not be 0.
def zero_weights_stay(
    weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay
):
    def ratio(w, u):
        way = np.linalg.norm(u)
        return np.linalg.norm(w) / way if way > 0 else 1.0

    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        ratio=ratio,
    )


# wrong-result, zero-unguarded: 0 / 0 will not happen.
def divides_by_zero(weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay):
    def ratio(w, u):
        with np.errstate(all="ignore"):
            return np.linalg.norm(w) / np.linalg.norm(u)

    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        ratio=ratio,
    )


# wrong-result, upside-down: The other way round.
def upside_down(weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay):
    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        ratio=lambda w, u: guarded(u, w),
    )


# wrong-result, no-correction: The averages as they are.
def no_correction(weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay):
    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        corrected=False,
    )


# wrong-result, corrected-returned: m and v are these once they are corrected.
def returns_them_corrected(
    weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay
):
    given = (weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay)
    new_weights, new_firsts, new_seconds = stepped(*given)
    firsts = [m / (1 - beta1**step) for m in new_firsts]
    return new_weights, firsts, [v / (1 - beta2**step) for v in new_seconds]


# wrong-result, step-off: Steps begin at 0.
def one_step_behind(weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay):
    return stepped(
        weights, gradients, firsts, seconds, step + 1, rate, beta1, beta2, epsilon, decay
    )


# wrong-result, no-decay: The decay is somebody else's business.
def no_decay(weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay):
    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        decays=False,
    )


# wrong-result, decay-outside: As AdamW has it: the decay stands apart from the step.
def decay_outside_the_ratio(
    weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay
):
    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        outside=True,
    )


# wrong-result, epsilon-inside: epsilon keeps the root from 0.
def epsilon_in_the_root(
    weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay
):
    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        root=False,
    )


# wrong-result, norm-of-gradient: LARS divides by the norm of the gradient.
def norm_of_the_gradient(
    weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay
):
    slopes = iter(gradients)
    return stepped(
        weights,
        gradients,
        firsts,
        seconds,
        step,
        rate,
        beta1,
        beta2,
        epsilon,
        decay,
        ratio=lambda w, u: guarded(w, next(slopes)),
    )


# wrong-result, one-ratio: One length for the model.
def one_ratio_for_all(
    weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay
):
    ways = []

    def collected(w, u):
        ways.append((np.sum(w * w), np.sum(u * u)))
        return 1.0

    given = (weights, gradients, firsts, seconds, step, rate, beta1, beta2, epsilon, decay)
    stepped(*given, ratio=collected)
    length, way = np.sqrt(np.sum(ways, axis=0))
    return stepped(*given, ratio=lambda w, u: length / way)
