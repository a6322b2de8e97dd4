"""What a load that hits L1 costs an SM: the models beside counters that somebody read on real GPUs.

The kernel that was measured is one block of 1,024 threads. Each thread has a first element and
loads those that lie 0, 4, 8, ... 28 behind it, over and over, and adds up products of two. The
first element is `(t % 64) * stride`, or, in blocks of `width` columns, column x of row y in a table
with 4,098 columns. L1 and shared memory are one memory with the same banks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_course.claims.models import model
from simt.report import WARP
from simt.simulator import simulate

THREADS = 1024
BEHIND = tuple(range(0, 32, 4))
"""How far behind its first element a thread loads, in elements."""
PITCH = 4098
LOADS_OF_A_PRODUCT = 2

LINE_BYTES = 128
"""L1 has a tag for each line of 128 bytes."""
TAG_BANKS = 4
ALIGNED_LINES = 2
"""An array begins at a multiple of 256 bytes, two lines."""
PLACES = 256

TILE = 4224
TILE_PITCH = 66
"""In a tile that fits: as far from a multiple of 32 as 4,098 is, and no two rows overlap."""


@dataclass(frozen=True)
class Sm:
    """What an SM does in a clock.

    Attributes:
        l1_bytes: that L1 hands out at most.
        float64_fma: multiply-adds in float64.
    """

    l1_bytes: float
    float64_fma: float


# NVIDIA, CUDA C++ Programming Guide, "Arithmetic Instructions": results per clock and SM. The 64
# bytes of an A40 are what its row for stride 1 shows; that row is no test of the model.
SMS = {"A100": Sm(128, 32), "A40": Sm(64, 2)}


def first_elements(stride: int, width: int, pitch: int = PITCH) -> np.ndarray:
    """Returns each thread's first element, int64 (1024,).

    Args:
        stride: from one thread's to the next's; what counts where `width` is 0.
        width: columns of the block, whose threads then have a cell of a table each.
        pitch: columns of the table.

    >>> first_elements(stride=2, width=0)[[0, 1, 63, 64]].tolist()
    [0, 2, 126, 0]
    >>> first_elements(stride=0, width=4)[[0, 1, 4]].tolist()
    [4098, 4099, 8196]
    """
    thread = np.arange(THREADS)
    if not width:
        return thread % 64 * stride
    return thread % width % 64 + (thread // width % 32 + 1) * pitch


def _eight_loads(itemsize: int) -> Callable[..., None]:
    """Returns the kernel that was measured, with a tile of shared memory instead of L1."""
    from numba import cuda, float32, float64

    number = float32 if itemsize == 4 else float64

    @cuda.jit
    def eight_loads(out, source, first):
        tile = cuda.shared.array(TILE, number)
        t = cuda.threadIdx.x
        for i in range(t, TILE, cuda.blockDim.x):
            tile[i] = source[i]
        cuda.syncthreads()
        a = first[t]
        out[t] = (
            tile[a] * tile[a + 4]
            + tile[a + 8] * tile[a + 12]
            + tile[a + 20] * tile[a + 16]
            + tile[a + 24] * tile[a + 28]
        )

    return eight_loads


@model("count")
def data_wavefronts(itemsize: int, stride: int = 0, width: int = 0) -> float:
    """Returns the passes through the banks for each load of a warp, as the simulator counts them.

    >>> data_wavefronts(4, stride=32), data_wavefronts(4, stride=33)
    (32.0, 1.0)
    """
    source = np.arange(TILE, dtype=f"f{itemsize}")
    first = first_elements(stride, width, TILE_PITCH)
    report = simulate(_eight_loads(itemsize))[1, THREADS](np.zeros_like(source), source, first)
    load = report.counters.shared_load
    return load.wavefronts / load.requests


def lines(itemsize: int, stride: int, width: int) -> np.ndarray:
    """Returns the line of 128 bytes that each lane of each load touches, int64 (256, 32)."""
    warps = first_elements(stride, width).reshape(-1, 1, WARP)
    touched = warps + np.array(BEHIND)[:, None]
    return (touched * itemsize // LINE_BYTES).reshape(-1, WARP)


@model()
def mean_lines(itemsize: int, stride: int = 0, width: int = 0) -> float:
    """Returns the lines that a load of a warp touches, on average.

    >>> mean_lines(4, stride=1), mean_lines(4, stride=33)
    (1.875, 32.0)
    """
    touched = np.sort(lines(itemsize, stride, width))
    return 1 + float((np.diff(touched) != 0).sum(axis=1).mean())


def tag_bank(line: np.ndarray) -> np.ndarray:
    """Returns the bank of tags for each line: its digits in base four, exclusive or.

    Four lines in a row that begin at a multiple of four have four banks, and so do lines that lie
    2, 4 or 16 apart.

    >>> tag_bank(np.arange(12)).tolist()
    [0, 1, 2, 3, 1, 0, 3, 2, 2, 3, 0, 1]
    """
    bank, left = np.zeros_like(line), line
    while left.any():
        bank ^= left % TAG_BANKS
        left = left // TAG_BANKS
    return bank


@model("rate")
def tag_passes(itemsize: int, stride: int = 0, width: int = 0) -> float:
    """Returns the passes through the tags for each load of a warp, on average.

    L1 looks up a tag for each line that a warp touches, in four banks: a load takes as many passes
    as it has lines in one bank. Where in memory the array begins is not known, so this is the
    mean over all places of 64 KiB.

    NVIDIA publishes no such rule. It was found from 14 rows of strides on an A100.

    >>> tag_passes(4, stride=0), round(tag_passes(4, stride=33), 2)
    (1.0, 8.85)
    """
    # Most warps do what another one does.
    touched, times = np.unique(np.sort(lines(itemsize, stride, width)), axis=0, return_counts=True)
    new = np.diff(touched, prepend=-1) != 0
    load = np.broadcast_to(np.arange(len(touched))[:, None], touched.shape)[new]
    passes = 0
    for begins in range(0, PLACES * ALIGNED_LINES, ALIGNED_LINES):
        banks = load * TAG_BANKS + tag_bank(touched[new] + begins)
        in_bank = np.bincount(banks, minlength=len(touched) * TAG_BANKS)
        passes += int(times @ in_bank.reshape(-1, TAG_BANKS).max(axis=1))
    return passes / (PLACES * int(times.sum()))


def pipes(card: Sm, itemsize: int, stride: int = 0, width: int = 0) -> dict[str, float]:
    """Returns the clocks of an SM that each pipe takes for each load of a warp that hits L1.

    Returns:
        {pipe: clocks}: the banks, with what L1 may hand out in a clock; the tags; and in float64
        the multiply-adds, one for each two loads.
    """
    found = {
        "banks": max(data_wavefronts(itemsize, stride, width), WARP * itemsize / card.l1_bytes),
        "tags": tag_passes(itemsize, stride, width),
    }
    if itemsize == 8:
        found["multiply-adds"] = WARP / card.float64_fma / LOADS_OF_A_PRODUCT
    return found


@model("rate", card=SMS)
def l1_cycles(card: Sm, itemsize: int, stride: int = 0, width: int = 0) -> float:
    """Returns the clocks of an SM for each load of a warp that hits L1: those of the slowest pipe.

    >>> l1_cycles(SMS["A100"], 4, stride=2), l1_cycles(SMS["A40"], 8, stride=2)
    (2.0, 8.0)
    """
    return max(pipes(card, itemsize, stride, width).values())
