"""Bandwidth of kernels that hold too few bytes in flight: Little's law, and how it bends.

Each thread moves one element and ends; two blocks are resident on each SM. Then the bytes in flight
are known, and the bandwidth of small blocks gives the latency. As the memory gets busier it answers
later, and no kernel gets more than the memory reaches at best, its ceiling.
"""

from __future__ import annotations

from math import sqrt

from gpu_course.claims.models import model

RESIDENT_BLOCKS = 2
GIGA = 1e9
REACHED = {
    "V100": 790 / 898,
    "A100": 1700 / 2039,
    "H100 PCIe": 3010 / 3350,
    "H200": 3890 / 4800,
    "A40": 278.17 / 320,
}
"""What part of the data sheet's bandwidth kernels reach at best, by card.

Each comes from a kernel that has nothing to do with those here: the copy of NVIDIA's Best Practices
Guide; the most that the authors of gpt-fast saw; a softmax of quack on an H100 SXM; DRAM in
gpu-benches' gpu-l2-cache; and the copy of a T4, whose memory is GDDR6 as that of an A40.
"""


@model()
def little_gb_per_s(measured: float, at: float, threads: float) -> float:
    """Returns GB/s for `threads` in a block, from those measured at another number of them.

    The latency stays, so the bandwidth follows the bytes in flight.
    """
    return measured * threads / at


@model()
def more_bytes_gb_per_s(measured: float, of: float, thread_bytes: float) -> float:
    """Returns GB/s of a kernel whose threads move other bytes than the `of` of the measured one."""
    return measured * thread_bytes / of


@model()
def chased_gb_per_s(
    cycles: float, mhz: float, sms: float, threads: float, thread_bytes: float
) -> float:
    """Returns GB/s of blocks of so many threads, with the latency of one load alone.

    Args:
        cycles: from a load to the next of a chain of pointers in DRAM.
        mhz: the clock in which they were counted.
        sms: on each of which two blocks are resident.
        threads: of a block.
        thread_bytes: that each of them loads.

    >>> round(chased_gb_per_s(572, 1410, 108, 32, 8))
    136
    """
    in_flight = RESIDENT_BLOCKS * sms * threads * thread_bytes
    return in_flight / (cycles / (mhz * 1e6)) / GIGA


def growth(first: float, at: float, later: float, threads: float, ceiling: float) -> float:
    """Returns by what part the latency grows from an idle memory to a full one.

    It is found from two measurements of one kernel: GB/s `first` with blocks of `at` threads, and
    `later` with blocks of `threads`.

    >>> growth(10, 32, 20, 64, ceiling=100)
    0.0
    """
    longer = threads / at * first / later
    return (longer - 1) * ceiling / (later - longer * first)


@model()
def loaded_gb_per_s(
    measured: float, at: float, threads: float, ceiling: float, growth: float
) -> float:
    """Returns GB/s for `threads` in a block by Little's law with a latency that grows with load.

    At a part b of the ceiling the latency is 1 + growth * b times that of an idle memory.

    Args:
        measured: GB/s with blocks of `at` threads.
        at, threads: sizes of a block.
        ceiling: GB/s that this memory reaches at best.
        growth: 0 for a latency that stays.

    >>> loaded_gb_per_s(10, 32, 1024, ceiling=100, growth=0.3)
    100.0
    >>> round(loaded_gb_per_s(10, 32, 128, ceiling=100, growth=0.3), 1)
    37.1
    """
    asked = measured / ceiling * (1 + growth * measured / ceiling) * threads / at
    busy = (sqrt(1 + 4 * growth * asked) - 1) / (2 * growth) if growth else asked
    return ceiling * min(1.0, busy)


def queue_growth(first: float, at: float, later: float, threads: float, ceiling: float) -> float:
    """Returns the same for a latency that grows as a queue does: with b / (1 - b)."""
    longer = threads / at * first / later
    before, after = (each / (ceiling - each) for each in (first, later))
    return (longer - 1) / (after - longer * before)


@model()
def queued_gb_per_s(
    measured: float, at: float, threads: float, ceiling: float, growth: float
) -> float:
    """Returns GB/s where the latency grows as a queue does: growth * b / (1 - b), never full.

    Open rows do not tell this law from the straight one; where memory is nearly full the two part.

    >>> round(queued_gb_per_s(10, 32, 1024, ceiling=100, growth=0.3), 1)
    89.9
    """
    start = measured / ceiling
    asked = start * (1 + growth * start / (1 - start)) * threads / at
    # busy * (1 - busy) + growth * busy**2 = asked * (1 - busy)
    square, line = growth - 1, 1 + asked
    return ceiling * 2 * asked / (line + sqrt(line**2 + 4 * square * asked))


@model()
def third_gb_per_s(first: float, second: float, at: float, threads: float, ceiling: float) -> float:
    """Returns GB/s for `threads` in a block, from those with `at` and with twice as many.

    The two give the latency of an idle memory and by how much it grows.
    """
    return loaded_gb_per_s(first, at, threads, ceiling, growth(first, at, second, 2 * at, ceiling))
