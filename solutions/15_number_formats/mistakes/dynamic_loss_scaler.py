"""Wrong answers to dynamic_loss_scaler that learners give."""

import numpy as np

LARGEST = 3.4028234663852886e38


def _fine(gradients):
    return all(np.isfinite(gradient).all() for gradient in gradients)


def _next(scale, streak, growth, interval):
    streak += 1
    if streak == interval:
        return (scale * growth if scale * growth <= LARGEST else scale), 0
    return scale, streak


def _step(gradients, scale):
    return [gradient.astype(np.float32) / np.float32(scale) for gradient in gradients]


# wrong-result, nan-unseen: Looks for infinities alone.
def infinities_alone(gradients, scale, streak, growth, backoff, interval):
    if any(np.isinf(gradient).any() for gradient in gradients):
        return None, scale * backoff, 0
    return (_step(gradients, scale), *_next(scale, streak, growth, interval))


# wrong-result, first-tensor: Looks at the first tensor.
def first_tensor(gradients, scale, streak, growth, backoff, interval):
    if not _fine(gradients[:1]):
        return None, scale * backoff, 0
    return (_step(gradients, scale), *_next(scale, streak, growth, interval))


# wrong-result, streak-goes-on: An overflow does not end the streak.
def streak_goes_on(gradients, scale, streak, growth, backoff, interval):
    if not _fine(gradients):
        return None, scale * backoff, streak
    return (_step(gradients, scale), *_next(scale, streak, growth, interval))


# wrong-result, never-grows: The scale only ever goes down.
def never_grows(gradients, scale, streak, growth, backoff, interval):
    if not _fine(gradients):
        return None, scale * backoff, 0
    return _step(gradients, scale), scale, streak + 1


# wrong-result, grows-on: Once the interval is over, the scale grows at every step.
def grows_on(gradients, scale, streak, growth, backoff, interval):
    if not _fine(gradients):
        return None, scale * backoff, 0
    streak += 1
    if streak >= interval and scale * growth <= LARGEST:
        scale_after = scale * growth
    else:
        scale_after = scale
    return _step(gradients, scale), scale_after, streak


# wrong-result, next-scale: Divides by the scale of the next step.
def divides_by_the_next(gradients, scale, streak, growth, backoff, interval):
    if not _fine(gradients):
        return None, scale * backoff, 0
    after, streak = _next(scale, streak, growth, interval)
    return _step(gradients, after), after, streak


# wrong-result, in-fp16: Divides in fp16, where small numbers have no room.
def divides_in_fp16(gradients, scale, streak, growth, backoff, interval):
    if not _fine(gradients):
        return None, scale * backoff, 0
    with np.errstate(all="ignore"):
        step = [(g / np.float32(scale)).astype(np.float16) for g in gradients]
    return (step, *_next(scale, streak, growth, interval))


# wrong-result, past-float32: Lets the scale grow for ever.
def grows_for_ever(gradients, scale, streak, growth, backoff, interval):
    if not _fine(gradients):
        return None, scale * backoff, 0
    streak += 1
    if streak == interval:
        return _step(gradients, scale), scale * growth, 0
    return _step(gradients, scale), scale, streak


# wrong-result, takes-zeros: Takes a step of zeros where it should take none.
def zeros_for_none(gradients, scale, streak, growth, backoff, interval):
    if not _fine(gradients):
        return [np.zeros(g.shape, np.float32) for g in gradients], scale * backoff, 0
    return (_step(gradients, scale), *_next(scale, streak, growth, interval))
