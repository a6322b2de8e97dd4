"""Wrong answers to bias_gelu that learners give."""

import math

from numba import cuda, float32, uint32

TPB = 64
ROWS = 4
HALF = float32(0.5)
ONE = float32(1)
ROOT_HALF = float32(0.7071067811865476)


# over-budget, over-budget: The sum goes to memory first, as the two operations did.
@cuda.jit
def sum_through_memory(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if col < cols:
        shift = bias[col]
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                out[row, col] = kept[k] + shift
                v = out[row, col]
                out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# over-budget, over-budget: Reads the bias anew for each cell.
@cuda.jit
def bias_for_each_cell(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if col < cols:
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                v = kept[k] + bias[col]
                out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# wrong-result, tanh-formula: Takes the approximation by tanh.
@cuda.jit
def by_tanh(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if col < cols:
        shift = bias[col]
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                v = kept[k] + shift
                inner = float32(0.7978845608) * (v + float32(0.044715) * v * v * v)
                out[row, col] = HALF * v * (ONE + math.tanh(inner))


# wrong-result, bias-of-the-row: Takes the bias by the row.
@cuda.jit
def bias_by_row(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if col < cols:
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                v = kept[k] + bias[row % cols]
                out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# wrong-result, no-root: Forgets the root of two.
@cuda.jit
def no_root(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if col < cols:
        shift = bias[col]
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                v = kept[k] + shift
                out[row, col] = HALF * v * (ONE + math.erf(v))


# wrong-result, no-bias: Forgets the bias.
@cuda.jit
def no_bias(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if col < cols:
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                v = kept[k]
                out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# hazard, out-of-bounds: Takes ROWS rows in every block.
@cuda.jit
def no_guard_of_rows(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if col < cols:
        shift = bias[col]
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            v = kept[k] + shift
            out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# hazard, race: Lets every block begin with row 0.
@cuda.jit
def rows_of_block_0(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = 0
    if col < cols:
        shift = bias[col]
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                v = kept[k] + shift
                out[row, col] = HALF * v * (ONE + math.erf(v * ROOT_HALF))


# over-budget, over-budget: Writes plain numbers, which are float64.
@cuda.jit
def in_float64(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if col < cols:
        shift = bias[col]
        kept = cuda.local.array(ROWS, float32)
        for k in range(ROWS):
            row = first + k
            if row < rows:
                kept[k] = x[row, col]
        for k in range(ROWS):
            row = first + k
            if row < rows:
                v = kept[k] + shift
                out[row, col] = 0.5 * v * (1.0 + math.erf(v / math.sqrt(2.0)))


# over-budget, not-shared: The first thread of a block goes over all its columns.
@cuda.jit
def one_thread_of_a_block(out, x, bias, rows, cols):
    col = uint32(cuda.blockIdx.x * TPB + cuda.threadIdx.x)
    first = uint32(cuda.blockIdx.y * ROWS)
    if cuda.threadIdx.x == 0:
        for each in range(col, min(col + TPB, cols)):
            shift = bias[each]
            for row in range(first, min(first + ROWS, rows)):
                v = x[row, each] + shift
                out[row, each] = HALF * v * (ONE + math.erf(v * ROOT_HALF))
