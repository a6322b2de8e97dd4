"""A launch of a script in further orders of its threads: what only another order shows.

A kernel with atomics may take another path when others come first, and the simulator judges the
run it has made. Each further order begins with the same memory and leaves it as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from simt.errors import KernelRefused
from simt.kernel.lower import lower
from simt.machine import launch
from simt.machine.schedule import Kind, Ranked
from simt.report import Hazard
from simt.simulator import Simulation, simulate

MAX_THREADS_IN_TURNS = 4096
"""In a larger launch further orders are of blocks and atomics alone: those of warps take long."""
STEP_BUDGET = 250_000
"""A further order that comes to no end within it says nothing, unless it is proven to have none."""


def hazards_in_more_orders(
    simulation: Simulation,
    configuration: tuple[Any, ...],
    arguments: tuple[Any, ...],
    orders: int,
) -> list[Hazard]:
    """Returns what a launch shows in so many orders beside the first; memory stays as it is.

    Args:
        simulation: the kernel.
        configuration: grid, block, stream and bytes of shared memory.
        arguments: what it gets.
        orders: how many.
    """
    if not simulation.program.order_matters:
        return []  # nothing that an order could change
    grid = launch.dim3(configuration[0], "grid")
    blocks = int(np.prod(grid))
    threads = blocks * int(np.prod(launch.dim3(configuration[1], "block")))
    found: list[Hazard] = []
    memory = _memory(simulation, arguments)
    before = [array.copy() for array in memory]
    for number in range(orders):
        for how in _ways(number, blocks, small=threads <= MAX_THREADS_IN_TURNS):
            further = simulate(
                simulation.given, policy="foreign", counters=False, step_budget=STEP_BUDGET, **how
            )
            try:
                with suppress(KernelRefused):
                    hazards = further[configuration](*arguments).hazards
                    found += map(_weighed, filter(_is_sure, hazards))
                    break
            finally:
                for array, old in zip(memory, before, strict=True):
                    array[...] = old
    return found


def _ways(number: int, blocks: int, *, small: bool) -> Iterator[dict[str, Any]]:
    """An order in warps, and then in threads, should the lanes of a warp wait for each other."""
    if not small or number % 3 == 0:
        yield {"order_seed": 1 + number}
        return
    tasks: tuple[Kind, ...] = ("warps", "threads")
    for each in tasks:
        if number % 3 == 1:
            # One block after the other, as on a GPU with room for one: each time another is first.
            first = (blocks - 1 - number // 3) % blocks
            yield {"schedule": Ranked(each, seed=number, resident=1, first=first)}
        else:
            yield {"schedule": Ranked(each, "accesses", seed=number, turns=8)}


def _memory(simulation: Simulation, arguments: Sequence[Any]) -> list[np.ndarray]:
    """The memory that a launch may change: of its arguments, and of arrays beside the kernel."""
    values = launch.bind_arguments(simulation.program, arguments)
    types = tuple(launch.type_of(value) for value in values.values())
    captured = lower(simulation.program.written, types).captured
    given = [array for value in arguments for array in launch.arrays_in("", value).values()]
    return [*given, *(array.flat for array in captured)]


def _is_sure(hazard: Hazard) -> bool:
    """Whether it is no loop that was given up for its steps alone."""
    details = hazard.details
    proven = details.get("proven") or details.get("hopeless")
    return hazard.kind != "endless-loop" or bool(proven)


def _weighed(hazard: Hazard) -> Hazard:
    """A block that waits for one which finds no room is advice: a grid may be made to fit."""
    waits = hazard.kind == "endless-loop" and hazard.details.get("room")
    return replace(hazard, severity="advice") if waits else hazard
