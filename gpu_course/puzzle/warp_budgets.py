"""What the lanes of a warp may spend on coming to one result, as several lessons teach it."""

from __future__ import annotations

from collections.abc import Callable

from gpu_course.puzzle.specification import Budget, Case

STEPS = 5
"""Doublings from one lane to a whole warp."""

FIVE_STEPS = (
    "The numbers of 32 lanes become one in five steps, since what a lane holds after a step stands "
    "for twice as many lanes. Which distances do your shuffles go over?"
)
NO_ATOMICS = tuple(
    Budget(
        counter,
        0,
        "An atomic makes the lanes of a warp take turns at one cell. They can come to one result "
        "without memory.",
        "atomic operations",
    )
    for counter in ("red.requests", "atom.requests")
)
READ_IN_ORDER = Budget(
    "global_load.excess_sectors",
    # Half as many sectors again leave room for other ways to lay a warp over rows that begin in the
    # middle of a sector.
    lambda case, counters: counters.global_load.excess_sectors + counters.global_load.sectors // 2,
    "A warp goes to memory with 32 lanes at once, and fastest where they read neighbouring cells. "
    "In one request, how far apart are the cells of two neighbouring lanes?",
    "sectors beyond those that the numbers need",
)


def ten_shuffles_a_warp(warps: Callable[[Case], int]) -> Budget:
    """Returns a budget of twice five shuffles for each of so many warps.

    Where a warp has a row, those of a block that have none may come along.
    """
    return Budget(
        "shuffles",
        lambda case, counters: 10 * warps(case),
        FIVE_STEPS,
        "shuffles, counted warp by warp",
    )


def an_atomic_a_warp(warps: Callable[[Case], int]) -> Budget:
    """Returns a budget of one atomic for each of so many warps, on whatever memory.

    The lanes of a warp become one number without any, and the warps may meet at one.
    """
    return Budget(
        "atomic_updates + shared_updates",
        lambda case, counters: warps(case),
        "Atomics on one cell are carried out one after the other, as one thread would do it. Let "
        "the threads bring their numbers together first, many at the same time.",
        "atomics, counted thread by thread",
    )
