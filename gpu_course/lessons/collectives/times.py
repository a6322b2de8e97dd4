"""Times over bytes: of ring, trees and levels by the model, and of rings on this computer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpu_course.lessons.collectives.pictures import (
    draw_times,
)
from gpu_course.measure import alpha_beta
from gpu_course.measure.alpha_beta import Link
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.runner import run_function
from gpu_course.units import GB, KIB, MIB, format_bandwidth, format_bytes, format_time_s
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = tuple(2.0**k for k in range(8, 34))


def compared_times(ranks: int = 64, alpha_us: float = 20, gb_per_s: float = 10) -> Figure:
    """Returns the times of ring, tree and double tree over the bytes, for one kind of link.

    Args:
        ranks: how many.
        alpha_us: microseconds of a message before its first byte.
        gb_per_s: of a port.
    """
    link = Link(alpha_us * 1e-6, gb_per_s * GB)
    curves = {
        name: [(size, seconds(ranks, size, link)) for size in SIZES]
        for name, seconds in alpha_beta.ALL_REDUCES.items()
    }
    meet = alpha_beta.ring_meets_tree_bytes(ranks, link)
    meets = []
    if SIZES[0] < meet < SIZES[-1]:
        seconds = alpha_beta.ring_all_reduce_s(ranks, meet, link)
        meets.append((meet, seconds, f"ring meets tree: {format_bytes(meet)}"))
    second = f"alpha {format_time_s(link.alpha_s)}, {format_bandwidth(link.bytes_per_s)}"
    return draw_times(curves, f"An all-reduce of {ranks} ranks, by the model", second, meets)


PIECES = tuple(2**k for k in range(15))


def compared_pieces(
    ranks: int = 64, mib: float = 64, alpha_us: float = 20, gb_per_s: float = 10
) -> Figure:
    """Returns the times of one tree and of two over the number of pieces, beside a ring's.

    Args:
        ranks: how many.
        mib: of the buffer.
        alpha_us: microseconds of a message before its first byte.
        gb_per_s: of a port.
    """
    link, size = Link(alpha_us * 1e-6, gb_per_s * GB), mib * MIB
    ring = alpha_beta.ring_all_reduce_s(ranks, size, link)
    curves = {
        "one tree": [(k, alpha_beta.tree_in_pieces_s(ranks, size, link, k)) for k in PIECES],
        "two trees": [
            (k, alpha_beta.double_tree_all_reduce_s(ranks, size, link, k)) for k in PIECES
        ],
        "a ring": [(k, ring) for k in PIECES],
    }
    best = alpha_beta.best_pieces(ranks, size, link)
    seconds = alpha_beta.double_tree_all_reduce_s(ranks, size, link)
    said = f"{count(best, 'piece')} {'is' if best == 1 else 'are'} best, {format_time_s(seconds)}"
    levels = count(alpha_beta.levels(ranks), "level")
    return draw_times(
        curves,
        f"{format_bytes(size)} on {ranks} ranks: {said}",
        f"by the model: {levels}, alpha {format_time_s(link.alpha_s)}, "
        f"{format_bandwidth(link.bytes_per_s)}",
        [(best, seconds, "")],
        across="pieces that a tree's part of the buffer is cut into",
        told=lambda pieces: f"{pieces:,.0f}",
        legend="upper center",
    )


def gathers_text(
    ranks: Sequence[int] = (8, 64, 1024), sizes: Sequence[int] = (64 * KIB, 64 * MIB)
) -> str:
    """Returns a table: an all-gather round a ring and over PAT's trees, over nodes with one GPU.

    Args:
        ranks: how many.
        sizes: bytes of the whole buffer.
    """
    link = Link(15e-6, 50 * GB)
    lines = [f"{'ranks':>5}{'buffer':>10}{'steps':>14}{'ring':>12}{'PAT':>12}"]
    for n in ranks:
        for size in sizes:
            ring = alpha_beta.ring_all_gather_s(n, size, link)
            trees = alpha_beta.pat_all_gather_s(n, size, link)
            steps = f"{n - 1:,} or {alpha_beta.levels(n)}"
            lines.append(
                f"{n:>5}{format_bytes(size):>10}{steps:>14}"
                f"{format_time_s(ring):>12}{format_time_s(trees):>12}"
            )
    return "\n".join(lines)


def compared_levels(
    nodes: int = 16, gb_per_s_inside: float = 450, gb_per_s: float = 50, oversubscribed: int = 1
) -> Figure:
    """Returns the times of one ring, a double tree and two levels, for nodes of 8.

    Args:
        nodes: how many.
        gb_per_s_inside: of a link within a node.
        gb_per_s: of each rank's port to other nodes.
        oversubscribed: how many ports share a cable of that rate between their switches.
    """
    inside, rate = Link(3e-6, gb_per_s_inside * GB), gb_per_s / oversubscribed
    between = Link(15e-6, rate * GB)
    ranks = 8 * nodes
    curves = {
        "one ring, as slow as its slowest link": [
            (size, alpha_beta.ring_all_reduce_s(ranks, size, between)) for size in SIZES
        ],
        "double tree over all ranks": [
            (size, alpha_beta.double_tree_all_reduce_s(ranks, size, between)) for size in SIZES
        ],
        "two levels": [
            (size, alpha_beta.two_level_all_reduce_s(nodes, 8, size, inside, between))
            for size in SIZES
        ],
    }
    second = f"nodes of 8; inside 3 µs, {gb_per_s_inside:g} GB/s; between 15 µs, {rate:.3g} GB/s"
    return draw_times(curves, f"An all-reduce on {nodes} nodes, by the model", second)


def measured_rings(
    ranks: Sequence[int] = (2, 4), sizes: Sequence[int] = (), repeats: int = 5
) -> list[tuple[int, int, float]]:
    """Returns (ranks, bytes, seconds) of rings on this computer, as `fit_alpha_beta` takes them.

    Args:
        ranks: how many, each in a run of its own.
        sizes: bytes of the buffer; default from 1 KiB to 4 MiB.
        repeats: how often each is timed; the median counts.

    Raises:
        CourseError: this system cannot start ranks.
    """
    from gpu_course.lessons.collectives import runs

    chosen = list(sizes) or [KIB, 16 * KIB, 128 * KIB, MIB, 4 * MIB]
    found: list[tuple[int, int, float]] = []
    for n in ranks:
        done = run_function(runs.ring_seconds, n, {"sizes": chosen, "repeats": repeats}).results
        # The slowest rank ends the collective.
        slowest = [max(times) for times in zip(*done, strict=True)]
        found += [(n, size, seconds) for size, seconds in zip(chosen, slowest, strict=True)]
    return found


def fitted(runs: Sequence[tuple[int, int, float]]) -> Link:
    """Returns the link that fits rings' times best.

    Args:
        runs: (ranks, bytes, seconds) of each.
    """
    # A ring's time over its steps is that of one message of S / n bytes.
    return alpha_beta.fit((size / n, seconds / (2 * (n - 1))) for n, size, seconds in runs)


def fit_text(runs: Sequence[tuple[int, int, float]], link: Link) -> str:
    """Returns a table: measured times beside the model's, and how far off it is.

    Args:
        runs: (ranks, bytes, seconds) of each.
        link: alpha and a rate.
    """
    lines = [
        f"alpha {format_time_s(link.alpha_s)}, {format_bandwidth(link.bytes_per_s)}",
        f"{'ranks':>5}{'buffer':>10}{'measured':>12}{'model':>12}{'off':>8}",
    ]
    for n, size, seconds in runs:
        mine = alpha_beta.ring_all_reduce_s(n, size, link)
        lines.append(
            f"{n:>5}{format_bytes(size):>10}{format_time_s(seconds):>12}"
            f"{format_time_s(mine):>12}{mine / seconds - 1:>+8.0%}"
        )
    return "\n".join(lines)


def drawn_times(runs: Sequence[tuple[int, int, float]], link: Link, ranks: int) -> Picture:
    """Returns measured rings of so many ranks beside the model's ring, tree and double tree.

    Args:
        runs: (ranks, bytes, seconds) of each.
        link: alpha and a rate.
        ranks: whose runs are drawn.
    """
    own = [(float(size), seconds) for n, size, seconds in runs if n == ranks]
    sizes = [2.0**k for k in range(8, 27)]
    curves = {
        name: [(size, seconds(ranks, size, link)) for size in sizes]
        for name, seconds in alpha_beta.ALL_REDUCES.items()
    }
    second = "lines: your alpha and your rate; points: what your ring took"
    heading = f"An all-reduce of {ranks} ranks on this computer"
    return Picture(draw_times(curves, heading, second, (), own))
