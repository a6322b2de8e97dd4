"""Simple models of launches, copies, graphs and caches, for what was measured of them."""

from __future__ import annotations

import math

from gpu_course.claims.models import model
from gpu_course.hardware.datasheet import device

MICRO, MILLI, GIGA = 1e-6, 1e-3, 1e9
LAUNCH_US = 2.5
"""What a small kernel costs beyond its work, by FreeToken's pull request 338."""
NODE_US = 0.8
FORWARD_FLOP = 2
"""FLOP for each parameter and token of a forward pass."""
WIDTH = 2
ADAMW_BYTES = 28
"""Bytes that AdamW moves for each parameter: weight, gradient and two states in float32."""


@model()
def calls_ms_per_token(calls: float, tokens: float, each_us: float) -> float:
    """Returns the milliseconds of the host in one kind of call, for each token."""
    return calls / tokens * each_us * MICRO / MILLI


@model()
def added(first: float, second: float) -> float:
    """Returns two parts one after the other."""
    return first + second


@model()
def gap(wall: float, busy: float) -> float:
    """Returns the part of a time in which the GPU has nothing to do."""
    return wall - busy


@model()
def each_launch_us(wall_us: float, busy_us: float, launches: float) -> float:
    """Returns what each launch costs beyond its kernel's work."""
    return (wall_us - busy_us) / launches


@model("rate")
def launches_ms(launches: float) -> float:
    """Returns the milliseconds of launches at what one cost elsewhere."""
    return launches * LAUNCH_US * MICRO / MILLI


@model("rate")
def launches_us(launches: float) -> float:
    """Returns the microseconds of launches at what one cost elsewhere."""
    return launches * LAUNCH_US


@model()
def launched_us(kernel_us: float) -> float:
    """Returns the microseconds of one launch and its kernel."""
    return LAUNCH_US + kernel_us


@model()
def ratio(one: float, other: float) -> float:
    """Returns how many times one is the other."""
    return one / other


@model()
def share_of(peak: float, percent: float) -> float:
    """Returns so many per cent of a peak."""
    return peak * percent / 100


@model()
def in_proportion(measured: float, of: float, to: float) -> float:
    """Returns what was measured once, changed as something else was."""
    return measured * to / of


@model()
def the_same(measured: float) -> float:
    """Returns what was measured before a change that should change nothing."""
    return measured


@model()
def less_the_copy(blocking: float, pinned_blocking: float, pinned: float) -> float:
    """Returns a time without the copy that asynchronous copies hid elsewhere."""
    return blocking - (pinned_blocking - pinned)


@model()
def forward_floor_ms(parameters: float, tokens: float) -> float:
    """Returns the roofline's milliseconds of a forward pass in 16 bits on a B200."""
    card = device("B200")
    flop_per_s, bytes_per_s = card.tensor_flop_per_s, card.bandwidth_bytes_per_s
    assert flop_per_s is not None and bytes_per_s is not None
    flop = FORWARD_FLOP * parameters * tokens
    return max(flop / flop_per_s, WIDTH * parameters / bytes_per_s) / MILLI


@model()
def adamw_floor_ms(parameters: float) -> float:
    """Returns the milliseconds in which a B200's memory moves what AdamW needs at least."""
    bytes_per_s = device("B200").bandwidth_bytes_per_s
    assert bytes_per_s is not None
    return ADAMW_BYTES * parameters / bytes_per_s / MILLI


@model()
def waves_ratio(blocks: float, few: float, many: float) -> float:
    """Returns how much sooner blocks of one length are through with more SMs."""
    return math.ceil(blocks / few) / math.ceil(blocks / many)


def launch_gap_s(bytes_one: float, gb_one: float, bytes_two: float, gb_two: float) -> tuple[
    float, float
]:  # fmt: skip
    """Returns the fixed time of a launch and the bytes/s beyond it, from two bandwidths."""
    one, two = (b / (g * GIGA) for b, g in ((bytes_one, gb_one), (bytes_two, gb_two)))
    bytes_per_s = (bytes_two - bytes_one) / (two - one)
    return one - bytes_one / bytes_per_s, bytes_per_s


@model()
def back_to_back_gb_per_s(
    moved: float, bytes_one: float, gb_one: float, bytes_two: float, gb_two: float
) -> float:
    """Returns GB/s of launches one after the other: a fixed gap, then bytes at one rate.

    The two constants come from the launches of two other sizes.
    """
    gap_s, bytes_per_s = launch_gap_s(bytes_one, gb_one, bytes_two, gb_two)
    return moved / (gap_s + moved / bytes_per_s) / GIGA


@model("rate")
def resident_gb_per_s(
    sms: float, blocks: float, threads: float, thread_bytes: float, latency_ns: float
) -> float:
    """Returns GB/s of SMs full of blocks by Little's law."""
    return sms * blocks * threads * thread_bytes / latency_ns


@model()
def block_rate_gb_per_s(measured: float, at: float, threads: float, ceiling: float) -> float:
    """Returns GB/s for `threads` in a block where the GPU gives out blocks at one rate.

    Args:
        measured: GB/s with blocks of `at` threads, which are given out as fast as can be.
        at, threads: sizes of a block, each thread moving as many bytes.
        ceiling: GB/s that the memory reaches at best.

    >>> block_rate_gb_per_s(844, 32, 64, 3890), block_rate_gb_per_s(844, 32, 256, 3890)
    (1688.0, 3890)
    """
    return min(ceiling, measured * threads / at)


@model()
def graph_gb_per_s(
    moved: float, stream_gap_us: float, graph_gap_us: float, bytes_per_s: float
) -> float:
    """Returns GB/s of launches in a graph, whose gap is known from above and from below.

    The gap is taken as the geometric mean of that in a stream, which it cannot be longer than, and
    of what a small kernel took in a graph elsewhere.
    """
    gap_s = math.sqrt(stream_gap_us * graph_gap_us) * MICRO
    return moved / (gap_s + moved / bytes_per_s) / GIGA
