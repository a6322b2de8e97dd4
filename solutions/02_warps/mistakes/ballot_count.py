"""Wrong answers to ballot_count that learners give."""

from numba import cuda, float32

TPB = 64
ALL = 0xFFFFFFFF


# hazard, inactive-lane: Keeps lanes without a number away from the vote.
@cuda.jit
def vote_inside_the_guard(out, a, limit, size):
    i = cuda.grid(1)
    if i < size:
        votes = cuda.ballot_sync(ALL, a[i] > limit)
        if cuda.laneid == 0:
            out[i // 32] = cuda.popc(votes)


# hazard, inactive-lane: Writes the mask with half as many digits as it takes.
@cuda.jit
def half_of_the_mask(out, a, limit, size):
    i = cuda.grid(1)
    above = i < size and a[i] > limit
    votes = cuda.ballot_sync(0xFFFF, above)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = cuda.popc(votes)


# wrong-result, bits: Takes the ballot for a count.
@cuda.jit
def wrote_the_votes(out, a, limit, size):
    i = cuda.grid(1)
    above = i < size and a[i] > limit
    votes = cuda.ballot_sync(ALL, above)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = votes


# wrong-result, missing-lanes: Lets a lane without a number vote with a 0.
@cuda.jit
def nothing_is_zero(out, a, limit, size):
    i = cuda.grid(1)
    number = a[i] if i < size else float32(0)
    votes = cuda.ballot_sync(ALL, number > limit)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = cuda.popc(votes)


# wrong-result, any: Takes another vote, which says yes or no.
@cuda.jit
def asked_whether_any(out, a, limit, size):
    i = cuda.grid(1)
    above = i < size and a[i] > limit
    found = cuda.any_sync(ALL, above)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = 1 if found else 0


# wrong-result, equal-too: Counts the limit itself.
@cuda.jit
def equal_too(out, a, limit, size):
    i = cuda.grid(1)
    above = i < size and a[i] >= limit
    votes = cuda.ballot_sync(ALL, above)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = cuda.popc(votes)


# wrong-result, the-others: Votes on the opposite.
@cuda.jit
def counted_the_others(out, a, limit, size):
    i = cuda.grid(1)
    above = i < size and a[i] < limit
    votes = cuda.ballot_sync(ALL, above)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = cuda.popc(votes)


# wrong-result, sign-bit: Takes away one bit after the other while the number is above 0.
@cuda.jit
def while_above_zero(out, a, limit, size):
    i = cuda.grid(1)
    above = i < size and a[i] > limit
    votes = cuda.ballot_sync(ALL, above)
    count = 0
    while votes > 0:
        votes &= votes - 1
        count += 1
    if cuda.laneid == 0 and i < size:
        out[i // 32] = count


# wrong-result, half-the-bits: Counts in a loop that ends with bit 15.
@cuda.jit
def half_of_the_bits(out, a, limit, size):
    i = cuda.grid(1)
    above = i < size and a[i] > limit
    votes = cuda.ballot_sync(ALL, above)
    count = 0
    for lane in range(16):
        count += (votes >> lane) & 1
    if cuda.laneid == 0 and i < size:
        out[i // 32] = count


# hazard, race: All lanes know the count, so all lanes write it.
@cuda.jit
def every_lane_writes(out, a, limit, size):
    i = cuda.grid(1)
    above = i < size and a[i] > limit
    votes = cuda.ballot_sync(ALL, above)
    if i < size:
        out[i // 32] = cuda.popc(votes)


# hazard, out-of-bounds: Guards the store and not the load.
@cuda.jit
def load_without_a_guard(out, a, limit, size):
    i = cuda.grid(1)
    votes = cuda.ballot_sync(ALL, a[i] > limit)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = cuda.popc(votes)


# over-budget, over-budget: Adds ones and zeros as in warp_sum.
@cuda.jit
def added_with_shuffles(out, a, limit, size):
    i = cuda.grid(1)
    count = 1 if i < size and a[i] > limit else 0
    for delta in (16, 8, 4, 2, 1):
        count += cuda.shfl_down_sync(ALL, count, delta)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = count


# over-budget, over-budget: Lets the memory count.
@cuda.jit
def atomics(out, a, limit, size):
    i = cuda.grid(1)
    if cuda.laneid == 0 and i < size:
        out[i // 32] = 0
    cuda.syncwarp()
    if i < size and a[i] > limit:
        cuda.atomic.add(out, i // 32, 1)


# over-budget, over-budget: Puts the votes where lane 0 can read them.
@cuda.jit
def through_a_tile(out, a, limit, size):
    i = cuda.grid(1)
    tile = cuda.shared.array(TPB, float32)
    t = cuda.threadIdx.x
    tile[t] = 1 if i < size and a[i] > limit else 0
    cuda.syncwarp()
    if cuda.laneid == 0 and i < size:
        count = 0
        for k in range(32):
            count += 1 if tile[t + k] > 0 else 0
        out[i // 32] = count


# over-budget, over-budget: Lane 0 looks at all numbers of its warp.
@cuda.jit
def one_lane_counts(out, a, limit, size):
    i = cuda.grid(1)
    if cuda.laneid == 0 and i < size:
        count = 0
        for k in range(i, min(i + 32, size)):
            count += 1 if a[k] > limit else 0
        out[i // 32] = count


# over-budget, not-shared: One thread does the warps of its block.
@cuda.jit
def one_thread_of_each_block(out, a, limit, size):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        for first in range(i, min(i + TPB, size), 32):
            count = 0
            for k in range(first, min(first + 32, size)):
                count += 1 if a[k] > limit else 0
            out[first // 32] = count
