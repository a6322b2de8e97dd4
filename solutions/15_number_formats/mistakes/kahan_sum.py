"""Wrong answers to kahan_sum that learners give."""

from numba import cuda, float32, float64

TPB = 64
AHEAD = 4


# wrong-result, plain-sum: Adds them up as they come.
@cuda.jit
def plain_sum(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        for row in range(rows):
            total += a[row, i]
        out[i] = total


# wrong-result, sums-of-sums: Makes a sum of each sixteen, and a sum of those.
@cuda.jit
def sums_of_sums(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        for first in range(0, rows, 16):
            part = float32(0)
            for row in range(first, min(first + 16, rows)):
                part += a[row, i]
            total += part
        out[i] = total


# wrong-result, wrong-way: Takes away once more what was lost.
@cuda.jit
def wrong_way(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        lost = float32(0)
        for row in range(rows):
            x = a[row, i] - lost
            new = total + x
            lost = x - (new - total)
            if new - new != float32(0):
                lost = float32(0)
            total = new
        out[i] = total


# wrong-result, nothing-lost: Works out what was lost when the sum is already the new one.
@cuda.jit
def after_the_fact(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        lost = float32(0)
        for row in range(rows):
            x = a[row, i] + lost
            total = total + x
            lost = x - (total - total)
            if total - total != float32(0):
                lost = float32(0)
        out[i] = total


# wrong-result, plain-sum: Keeps all that was lost, and adds it where it is lost again.
@cuda.jit
def carried_in_a_sum(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        for row in range(rows):
            new = total + a[row, i]
            lost = a[row, i] - (new - total)
            total = new + lost if new - new == float32(0) else new
        out[i] = total


# wrong-result, begins-anew: Forgets what was lost after every four rows.
@cuda.jit
def begins_anew(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        for first in range(0, rows, AHEAD):
            lost = float32(0)
            for row in range(first, min(first + AHEAD, rows)):
                x = a[row, i] + lost
                new = total + x
                lost = x - (new - total)
                if new - new != float32(0):
                    lost = float32(0)
                total = new
        out[i] = total


# wrong-result, infinity-lost: Compensates an infinite sum too.
@cuda.jit
def infinity_lost(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        lost = float32(0)
        for row in range(rows):
            x = a[row, i] + lost
            new = total + x
            lost = x - (new - total)
            total = new
        out[i] = total


# over-budget, over-budget: Adds up in float64.
@cuda.jit
def in_float64(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float64(0)
        for row in range(rows):
            total += a[row, i]
        out[i] = total


# hazard, out-of-bounds: Reads four rows where fewer are left.
@cuda.jit
def rows_by_fours(out, a, rows, size):
    i = cuda.grid(1)
    if i < size:
        total = float32(0)
        lost = float32(0)
        for first in range(0, rows, AHEAD):
            for k in range(AHEAD):
                x = a[first + k, i] + lost
                new = total + x
                lost = x - (new - total)
                if new - new != float32(0):
                    lost = float32(0)
                total = new
        out[i] = total


# over-budget, not-shared: The first thread of a block goes over all its columns.
@cuda.jit
def one_thread_of_a_block(out, a, rows, size):
    begin = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        for i in range(begin, min(begin + TPB, size)):
            total = float32(0)
            lost = float32(0)
            for row in range(rows):
                x = a[row, i] + lost
                new = total + x
                lost = x - (new - total)
                if new - new != float32(0):
                    lost = float32(0)
                total = new
            out[i] = total
