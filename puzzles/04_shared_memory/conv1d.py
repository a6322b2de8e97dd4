"""conv1d: a row of weights moved along the array.

    conv1d(out, a, w, size, taps)

    out   float32 (size,)   to write: w[0] * a[i] + w[1] * a[i + 1] ...,
                            with one product for each weight whose
                            cell exists
    a     float32 (size,)   to read
    w     float32 (taps,)   to read: the weights
    size  int               how many cells there are
    taps  int               how many weights there are, at most MAX_TAPS

Each thread writes at most one cell. A block needs its own TPB cells and
the first taps - 1 of the block after it. Cells and weights come from
global memory once per block. a may hold NaN and infinities; the weights
are finite.
"""

from numba import cuda, float32

TPB = 64
MAX_TAPS = 16
SPAN = TPB + MAX_TAPS


@cuda.jit
def conv1d(out, a, w, size, taps):
    tile = cuda.shared.array(SPAN, float32)
    weights = cuda.shared.array(MAX_TAPS, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    i = start + t
    # your code here (about 10 lines)
