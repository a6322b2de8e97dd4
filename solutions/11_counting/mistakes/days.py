"""Wrong answers to days that people give."""


def _days(flop, tokens, gpus, rate):
    return flop * tokens / (gpus * rate) / 86_400


def _parts(layers, hidden, vocabulary, sequence):
    return 24 * layers * hidden**2, 4 * layers * sequence * hidden, 2 * vocabulary * hidden


def _parameters(layers, hidden, vocabulary):
    return 12 * layers * hidden**2 + vocabulary * hidden


def _flop(weights, pairs, head, counts):
    if counts == "machine":
        return 4 * (weights + pairs) + 3 * head
    return 3 * (weights + pairs + head)


# wrong-result, eight-p: 8TP / nX, as the paper writes.
def eight_for_each_parameter(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    each = 8 if counts == "machine" else 6
    return _days(each * _parameters(layers, hidden, vocabulary), tokens, gpus, rate)


# wrong-result, six-p: 6ND over the rate.
def six_for_each_parameter(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    return _days(6 * _parameters(layers, hidden, vocabulary), tokens, gpus, rate)


# wrong-result, no-pairs: Attention is small.
def leaves_out_the_pairs(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    weights, _, head = _parts(layers, hidden, vocabulary, sequence)
    return _days(_flop(weights, 0, head, counts), tokens, gpus, rate)


# wrong-result, no-head: The head is small.
def leaves_out_the_head(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    weights, pairs, _ = _parts(layers, hidden, vocabulary, sequence)
    return _days(_flop(weights, pairs, 0, counts), tokens, gpus, rate)


# wrong-result, head-again: Everything runs again.
def the_head_runs_again(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    times = 4 if counts == "machine" else 3
    flop = times * sum(_parts(layers, hidden, vocabulary, sequence))
    return _days(flop, tokens, gpus, rate)


# wrong-result, always-again: The run recomputes, so it counts.
def always_counts_what_runs(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    parts = _parts(layers, hidden, vocabulary, sequence)
    return _days(_flop(*parts, "machine"), tokens, gpus, rate)


# wrong-result, never-again: A step is a forward and a backward pass.
def never_counts_what_runs(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    parts = _parts(layers, hidden, vocabulary, sequence)
    return _days(_flop(*parts, "model"), tokens, gpus, rate)


# wrong-result, one-gpu: The rate is that of the cluster.
def one_gpu_does_it(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    parts = _parts(layers, hidden, vocabulary, sequence)
    return _days(_flop(*parts, counts), tokens, 1, rate)


# wrong-result, hours: 3,600 seconds.
def in_hours(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    parts = _parts(layers, hidden, vocabulary, sequence)
    return 24 * _days(_flop(*parts, counts), tokens, gpus, rate)


# wrong-result, seconds: A rate is for each second.
def in_seconds(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    parts = _parts(layers, hidden, vocabulary, sequence)
    return 86_400 * _days(_flop(*parts, counts), tokens, gpus, rate)


# wrong-result, half-flop: A multiply-add is one operation.
def one_flop_for_a_product_and_its_sum(
    layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts
):
    parts = _parts(layers, hidden, vocabulary, sequence)
    return _days(_flop(*parts, counts) / 2, tokens, gpus, rate)


# wrong-result, forward-alone: What a model costs is what it takes to run it.
def a_forward_pass(layers, hidden, vocabulary, sequence, tokens, gpus, rate, counts):
    flop = sum(_parts(layers, hidden, vocabulary, sequence))
    return _days(flop, tokens, gpus, rate)
