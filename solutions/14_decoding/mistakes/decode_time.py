"""Wrong answers to decode_time that learners give."""


def _kernels(matrices, cache, lengths):
    """(FLOP, bytes) of each matrix and each attention."""
    batch, tokens = len(lengths), sum(lengths)
    found = [(2 * batch * i * o, i * o * bits / 8) for i, o, bits in matrices]
    flop = 4 * cache["heads"] * cache["head_size"] * tokens
    moved = 2 * cache["kv_heads"] * cache["head_size"] * cache["bits"] / 8 * tokens
    return found + [(flop, moved)] * cache["layers"]


def _busy(kernels, peak, bandwidth):
    return sum(max(flop / peak, moved / bandwidth) for flop, moved in kernels)


def _told(kernels, lengths, peak, bandwidth, small, gap_s):
    if not lengths:
        return 0.0, 0.0
    seconds = _busy(kernels, peak, bandwidth) + (len(kernels) + small) * gap_s
    return seconds, (len(lengths) / seconds if seconds else 0.0)


# wrong-result, weights-for-each: Each sequence needs the weights.
def reads_weights_for_each_sequence(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    own = [(i, o, bits * len(lengths)) for i, o, bits in matrices]
    return _told(_kernels(own, cache, lengths), lengths, peak, bandwidth, small, gap_s)


# wrong-result, one-row: A token is multiplied with each weight.
def flop_of_one_sequence(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    one = [(2 * i * o, i * o * bits / 8) for i, o, bits in matrices]
    return _told(one + kernels[len(matrices) :], lengths, peak, bandwidth, small, gap_s)


# wrong-result, one-row: Decoding waits for memory, so arithmetic takes no time.
def bytes_alone(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = [(0, moved) for _, moved in _kernels(matrices, cache, lengths)]
    return _told(kernels, lengths, peak, bandwidth, small, gap_s)


# wrong-result, half-flop: A fused multiply-add is one operation.
def one_flop_for_each_weight(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    halves = [(flop / 2, moved) for flop, moved in _kernels(matrices, cache, lengths)]
    return _told(halves, lengths, peak, bandwidth, small, gap_s)


# wrong-result, bits-as-bytes: The width is the width.
def bits_are_bytes(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    wide = [(flop, 8 * moved) for flop, moved in _kernels(matrices, cache, lengths)]
    return _told(wide, lengths, peak, bandwidth, small, gap_s)


# wrong-result, longest: The batch reads the cache once.
def the_longest_cache_once(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)[: len(matrices)]
    attention = _kernels([], cache, [max(lengths, default=0)])
    return _told(kernels + attention, lengths, peak, bandwidth, small, gap_s)


# wrong-result, padded: A batch is a rectangle.
def as_long_as_the_longest(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    padded = [max(lengths, default=0)] * len(lengths)
    return _told(_kernels(matrices, cache, padded), lengths, peak, bandwidth, small, gap_s)


# wrong-result, heads: Each head reads its keys and values.
def reads_for_each_query_head(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    many = cache | {"kv_heads": cache["heads"]}
    return _told(_kernels(matrices, many, lengths), lengths, peak, bandwidth, small, gap_s)


# wrong-result, kv-flop: As many heads as are in the cache.
def computes_for_each_kv_head(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    few = cache | {"heads": cache["kv_heads"]}
    return _told(_kernels(matrices, few, lengths), lengths, peak, bandwidth, small, gap_s)


# wrong-result, keys-alone: Scores are what takes the time.
def keys_alone(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    count = len(matrices)
    halves = kernels[:count] + [(flop / 2, moved / 2) for flop, moved in kernels[count:]]
    return _told(halves, lengths, peak, bandwidth, small, gap_s)


# wrong-result, one-layer: One attention.
def one_attention(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)[: len(matrices) + 1]
    small += cache["layers"] - 1
    return _told(kernels, lengths, peak, bandwidth, small, gap_s)


# wrong-result, sum-in-a-kernel: First load, then compute.
def computes_and_then_moves(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    if not lengths:
        return 0.0, 0.0
    busy = sum(flop / peak + moved / bandwidth for flop, moved in kernels)
    seconds = busy + (len(kernels) + small) * gap_s
    return seconds, (len(lengths) / seconds if seconds else 0.0)


# wrong-result, one-roof: The roofline of the whole step.
def everything_in_one_kernel(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    if not lengths:
        return 0.0, 0.0
    flop, moved = (sum(each[part] for each in kernels) for part in (0, 1))
    seconds = max(flop / peak, moved / bandwidth) + (len(kernels) + small) * gap_s
    return seconds, (len(lengths) / seconds if seconds else 0.0)


# wrong-result, no-gaps: Launches are asynchronous.
def without_gaps(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    return _told(kernels, lengths, peak, bandwidth, small, 0.0)


# wrong-result, one-gap: A step is launched once.
def one_gap(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    return _told(kernels, lengths, peak, bandwidth, 1 - len(kernels), gap_s)


# wrong-result, one-gap-less: A gap lies between two kernels.
def gaps_between(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    return _told(kernels, lengths, peak, bandwidth, small - 1, gap_s)


# wrong-result, small-forgotten: The small kernels cost nothing.
def large_kernels_alone(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    return _told(kernels, lengths, peak, bandwidth, 0, gap_s)


# wrong-result, small-forgotten: Only the small ones are short enough to have a gap.
def small_kernels_alone(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    return _told(kernels, lengths, peak, bandwidth, small - len(kernels), gap_s)


# wrong-result, one-token: A step makes a token.
def one_token_a_step(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    seconds, _ = _told(kernels, lengths, peak, bandwidth, small, gap_s)
    return seconds, (1 / seconds if seconds else 0.0)


# wrong-result, no-batch: The weights are read all the same.
def an_empty_batch_takes_time(matrices, cache, lengths, peak, bandwidth, small, gap_s):
    kernels = _kernels(matrices, cache, lengths)
    seconds = _busy(kernels, peak, bandwidth) + (len(kernels) + small) * gap_s
    return seconds, len(lengths) / seconds
