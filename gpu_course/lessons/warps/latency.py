"""A scheduler that waits: how often it can issue when each instruction needs the one before it."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.errors import CourseError


@dataclass(frozen=True)
class Issued:
    """What one scheduler did, clock by clock.

    Attributes:
        warps, chains: resident warps, and instructions of each that do not need each other.
        latency: clocks from issuing an instruction to issuing one that needs its result.
        slots: for each clock the warp that issued, or None.
    """

    warps: int
    chains: int
    latency: int
    slots: tuple[int | None, ...]

    @property
    def busy(self) -> int:
        """Clocks in which an instruction was issued."""
        return sum(slot is not None for slot in self.slots)


def issue(warps: int, chains: int, latency: int, clocks: int) -> Issued:
    """Returns what a scheduler of one instruction per clock does with chains of instructions.

    Each warp has some chains; in a chain every instruction needs the result of the one before. A
    clock goes to a chain that is ready, the one that has been ready longest. It is a model: real
    latencies differ from instruction to instruction.

    Args:
        warps: resident on the scheduler.
        chains: of each warp.
        latency: clocks until a result can be used.
        clocks: how long to look.

    Raises:
        CourseError: a number is below 1.

    Source: Little's law: in flight = latency x throughput.

    >>> issue(warps=2, chains=1, latency=4, clocks=8).slots
    (0, 1, None, None, 0, 1, None, None)
    """
    if min(warps, chains, latency, clocks) < 1:
        raise CourseError("a scheduler needs something to do", "give numbers of 1 or more")
    ready = {(chain, warp): 0 for chain in range(chains) for warp in range(warps)}
    slots: list[int | None] = []
    for clock in range(clocks):
        first = min(ready, key=lambda each: (ready[each], each))
        if ready[first] > clock:
            slots.append(None)
            continue
        ready[first] = clock + latency
        slots.append(first[1])
    return Issued(warps, chains, latency, tuple(slots))
