"""Budgets of kernels that wait for memory, which the lessons from 12 on share."""

from __future__ import annotations

from gpu_course.puzzle.specification import Budget, Case
from simt.report import Counters


def looked_up_again(counters: Counters) -> int:
    """Returns the bytes that warps may load besides: one number with each load of the reference.

    A position or a page that all lanes want is often written out where it is used, twice in a row.
    The compiler makes one load of it, and a simulator, which compiles nothing, counts two.
    """
    return 4 * counters.global_load.requests


def bytes_loaded(lesson: str) -> Budget:
    """Returns the budget of a puzzle in which it is known how often a number has to be read.

    Args:
        lesson: what the excess shows, and where to look.
    """
    return Budget(
        "global_load.bytes",
        lambda case, counters: counters.global_load.bytes,
        lesson,
        "bytes loaded",
        spare=looked_up_again,
    )


def bytes_stored(lesson: str) -> Budget:
    """Returns the same for what is written."""
    return Budget(
        "global_store.bytes",
        lambda case, counters: counters.global_store.bytes,
        lesson,
        "bytes stored",
    )


def _in_order(kind: str, word: str) -> Budget:
    def limit(case: Case, counters: Counters) -> int:
        traffic = getattr(counters, kind)
        # Half as many sectors again leave room for rows that begin within a sector.
        return int(traffic.excess_sectors + traffic.sectors // 2)

    return Budget(
        f"{kind}.excess_sectors",
        limit,
        "Neighbouring lanes should be neighbours in memory. In one request, how far apart are the "
        "cells of two neighbouring lanes?",
        f"sectors {word} beyond those that the numbers need",
    )


IN_ORDER = (_in_order("global_load", "loaded"), _in_order("global_store", "stored"))
NO_FLOAT64 = Budget(
    "float64_operations",
    0,
    "With a number that is not said to be float32, be it 0.5 or 1, Numba computes in float64, and "
    "goes on so. Which line brings it in?",
    "float64 operations",
)
NO_ATOMICS = Budget(
    "atomic_updates + shared_updates",
    0,
    "Atomics on one cell are carried out one after the other, in an order that is another one each "
    "time. Which thread can hold the whole sum of what it adds up?",
    "atomics, counted thread by thread",
)


def barriers(times: int) -> Budget:
    """Returns a budget of so many times the reference's barriers; 0 of none at all.

    A tree in shared memory takes one for each halving.
    """
    return Budget(
        "barriers",
        lambda case, counters: times * counters.barriers,
        "At a barrier all warps of the block wait for the slowest. The lanes of one warp need "
        "none: they exchange what they know by shuffles.",
        "barriers, counted warp by warp",
    )


NO_BARRIERS = barriers(0)
IN_REGISTERS = Budget(
    "indexed_bytes",
    0,
    "A register has no address: an array of a thread lies in local memory, which is global memory "
    "by another name, where an index is known only as the kernel runs. Which index is it?",
    fact="an array has an index that only the run knows",
)
