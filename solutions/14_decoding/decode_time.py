"""decode_time: how long a step takes that makes one token each.

    decode_time(matrices, cache, lengths, peak, bandwidth, small, gap_s)
        -> (float, float)

    matrices   list of (inputs, outputs, bits): the matrices of weights
               that a token's vectors are multiplied with, and the bits
               of one weight, which may be 4.25 where a group of weights
               has a scale of its own
    cache      dict of whole numbers: "layers"; "heads" of the queries;
               "kv_heads" of keys and values, each of which serves
               heads / kv_heads of the queries; "head_size", numbers in
               a head; "bits" of each number
    lengths    list: the tokens in the cache, for each sequence of the
               batch
    peak       FLOP/s that the GPU can do
    bandwidth  bytes/s that its memory can move
    small      how many other kernels a step has, which compute and
               move next to nothing
    gap_s      seconds that pass before a kernel can begin, each time

A step makes one token for each sequence. Each matrix is one kernel for
the whole batch. The attention of a layer is one kernel for the whole
batch as well: each query head multiplies its query with all keys of
its sequence, and the weights that come out with all values. Kernels
run one after the other. Within a kernel arithmetic and memory are busy
at the same time. Of bytes count weights and cache alone, each as often
as it has to be read at least; the vectors of the batch are left out.

Return the seconds of the step, and the tokens per second of all
sequences together. A cache may hold no token yet. Without a sequence
nothing runs: return (0.0, 0.0).
"""


def decode_time(
    matrices,
    cache,
    lengths,
    peak,
    bandwidth,
    small,
    gap_s,
):
    # answer
    batch, tokens = len(lengths), sum(lengths)
    if not batch:
        return 0.0, 0.0
    busy = 0.0
    for inputs, outputs, bits in matrices:
        weights = inputs * outputs
        busy += max(2 * batch * weights / peak, weights * bits / 8 / bandwidth)
    flop = 4 * cache["heads"] * cache["head_size"] * tokens
    numbers = 2 * cache["kv_heads"] * cache["head_size"] * tokens
    attention = max(flop / peak, numbers * cache["bits"] / 8 / bandwidth)
    kernels = len(matrices) + cache["layers"] + small
    seconds = busy + cache["layers"] * attention + kernels * gap_s
    return seconds, batch / seconds
    # end answer
