"""Wrong answers to mfu that people give."""

import math


def _checked(tokens_per_s, gpus, peak):
    good = math.isfinite(tokens_per_s) and tokens_per_s >= 0
    if not good or not all(math.isfinite(n) and n > 0 for n in (gpus, peak)):
        raise ValueError


# wrong-result, no-pairs: Six for each parameter, as everybody says.
def six_for_each_parameter(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    model = 6 * parameters * tokens_per_s / (gpus * peak)
    return model, model * (1 + again[0] / 3)


# wrong-result, one-gpu: The peak is that of the run.
def over_the_peak_of_one(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    weights, pairs = 6 * parameters, 12 * layers * width * sequence
    more = (again[0] * weights + again[1] * pairs) / 3
    rate = tokens_per_s / peak
    return (weights + pairs) * rate, (weights + pairs + more) * rate


# wrong-result, per-gpu: Tokens for each GPU, over the peak of all.
def divides_by_the_gpus_twice(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    weights, pairs = 6 * parameters, 12 * layers * width * sequence
    more = (again[0] * weights + again[1] * pairs) / 3
    rate = tokens_per_s / gpus / (gpus * peak)
    return (weights + pairs) * rate, (weights + pairs + more) * rate


# wrong-result, percent: Papers print per cent.
def in_per_cent(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    weights, pairs = 6 * parameters, 12 * layers * width * sequence
    more = (again[0] * weights + again[1] * pairs) / 3
    rate = 100 * tokens_per_s / (gpus * peak)
    return (weights + pairs) * rate, (weights + pairs + more) * rate


# wrong-result, whole-pass: What runs again is the step.
def adds_a_whole_step(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    weights, pairs = 6 * parameters, 12 * layers * width * sequence
    more = again[0] * weights + again[1] * pairs
    rate = tokens_per_s / (gpus * peak)
    return (weights + pairs) * rate, (weights + pairs + more) * rate


# wrong-result, weights-again: Eight for each parameter instead of six.
def only_weights_run_again(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    weights, pairs = 6 * parameters, 12 * layers * width * sequence
    rate = tokens_per_s / (gpus * peak)
    return (weights + pairs) * rate, (weights + pairs + again[0] * weights / 3) * rate


# wrong-result, one-share: Layers run again as a whole.
def the_first_share_for_both(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    model = 6 * parameters + 12 * layers * width * sequence
    rate = tokens_per_s / (gpus * peak)
    return model * rate, model * (1 + again[0] / 3) * rate


# wrong-result, no-hfu: The hardware does what the model asks for.
def both_alike(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    model = 6 * parameters + 12 * layers * width * sequence
    share = model * tokens_per_s / (gpus * peak)
    return share, share


# wrong-result, hfu-first: The larger one first.
def in_the_wrong_order(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    weights, pairs = 6 * parameters, 12 * layers * width * sequence
    more = (again[0] * weights + again[1] * pairs) / 3
    rate = tokens_per_s / (gpus * peak)
    return (weights + pairs + more) * rate, (weights + pairs) * rate


# wrong-result, backward: Two FLOP for each parameter.
def a_forward_pass(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    weights, pairs = 2 * parameters, 4 * layers * width * sequence
    more = again[0] * weights + again[1] * pairs
    rate = tokens_per_s / (gpus * peak)
    return (weights + pairs) * rate, (weights + pairs + more) * rate


# wrong-result, layers-missing: 12 * width * sequence, of a model.
def pairs_of_one_layer(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s, gpus, peak)
    weights, pairs = 6 * parameters, 12 * width * sequence
    more = (again[0] * weights + again[1] * pairs) / 3
    rate = tokens_per_s / (gpus * peak)
    return (weights + pairs) * rate, (weights + pairs + more) * rate


# wrong-result, not-refused: A number that is too small is a number.
def takes_what_is_below_zero(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    if math.isnan(tokens_per_s + gpus + peak) or 0 in (gpus, peak):
        raise ValueError
    weights, pairs = 6 * parameters, 12 * layers * width * sequence
    more = (again[0] * weights + again[1] * pairs) / 3
    rate = tokens_per_s / (gpus * peak)
    return (weights + pairs) * rate, (weights + pairs + more) * rate


# wrong-result, refused: A run that does nothing has no share.
def refuses_a_run_that_waits(parameters, layers, width, sequence, tokens_per_s, gpus, peak, again):
    _checked(tokens_per_s or -1, gpus, peak)
    weights, pairs = 6 * parameters, 12 * layers * width * sequence
    more = (again[0] * weights + again[1] * pairs) / 3
    rate = tokens_per_s / (gpus * peak)
    return (weights + pairs) * rate, (weights + pairs + more) * rate
