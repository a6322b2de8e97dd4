"""Wrong answers to warp_and_lane that learners give."""

from numba import cuda

TPB = 40


# wrong-result, across-blocks: Cuts the whole grid into warps, as if blocks did not matter.
@cuda.jit
def cut_the_grid(warp, lane, size):
    i = cuda.grid(1)
    if i < size:
        warp[i] = i // 32
        lane[i] = i % 32


# wrong-result, across-blocks: The lane comes from the GPU; the warp is cut from the whole grid.
@cuda.jit
def warp_of_the_grid(warp, lane, size):
    i = cuda.grid(1)
    if i < size:
        warp[i] = i // 32
        lane[i] = cuda.laneid


# wrong-result, across-blocks: Takes the right number for the warp and the other one for the lane.
@cuda.jit
def lane_of_the_grid(warp, lane, size):
    i = cuda.grid(1)
    if i < size:
        warp[i] = cuda.threadIdx.x // 32
        lane[i] = i % 32


# wrong-result, counted-on: Gives each warp of the launch a number of its own.
@cuda.jit
def counted_on(warp, lane, size):
    i = cuda.grid(1)
    if i < size:
        warp[i] = cuda.blockIdx.x * 2 + cuda.threadIdx.x // 32
        lane[i] = cuda.laneid


# wrong-result, exchanged: Has both numbers, in each other's place.
@cuda.jit
def exchanged(warp, lane, size):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < size:
        warp[i] = t % 32
        lane[i] = t // 32


# wrong-result, not-cut: Takes the thread's number in its block for its lane.
@cuda.jit
def thread_for_lane(warp, lane, size):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < size:
        warp[i] = t // 32
        lane[i] = t


# wrong-result, shifted-lane: Counts the lanes from 1.
@cuda.jit
def lanes_from_one(warp, lane, size):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i < size:
        warp[i] = t // 32
        lane[i] = t % 32 + 1


# hazard, out-of-bounds: Forgets that the last block has threads to spare.
@cuda.jit
def no_guard(warp, lane, size):
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    warp[i] = t // 32
    lane[i] = t % 32


# hazard, race: Writes where the number in the block says, so blocks write over each other.
@cuda.jit
def cell_of_the_block(warp, lane, size):
    t = cuda.threadIdx.x
    if t < size:
        warp[t] = t // 32
        lane[t] = t % 32


# over-budget, not-shared: One thread of each block counts for all.
@cuda.jit
def one_thread_of_each_block(warp, lane, size):
    start = cuda.blockIdx.x * TPB
    if cuda.threadIdx.x == 0:
        for t in range(min(TPB, size - start)):
            warp[start + t] = t // 32
            lane[start + t] = t % 32
