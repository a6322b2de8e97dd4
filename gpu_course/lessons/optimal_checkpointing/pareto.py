"""Memory against cost over a whole range of budgets: the best schedules beside the usual plans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.chain import Chain
from gpu_course.measure.schedules.operations import Schedule, account

Point = tuple[float, float]
"""(peak in bytes, cost over that of the plain run)."""


def usual_plans(length: int) -> dict[str, list[Schedule]]:
    """Returns the plans for a chain that need no measuring, by name."""
    return {
        "equal segments": [plans.periodic(length, k) for k in range(1, length)],
        "square root": [plans.square_root(length)],
        "halves": [plans.logarithmic(length)],
        "revolve": [plans.revolve(length, c) for c in range(1, length)],
    }


def slot_bytes_of(chain: Chain, slots: int) -> int:
    """Returns the size of a slot of which the plain run takes at most so many."""
    return -(-account(chain, plans.keep_everything(len(chain))).peak // slots)


def curves(chain: Chain, slots: int = 500) -> dict[str, list[Point]]:
    """Returns {plan: points}, the best schedules first: those of which none takes less of both.

    Args:
        chain: in bytes.
        slots: how finely memory is cut for the best ones.
    """
    length = len(chain)
    slot = slot_bytes_of(chain, slots)
    plain = account(chain, plans.keep_everything(length)).cost
    # Rounding up may take a few slots more than the plain run's bytes.
    table = solve(chain.in_slots(slot), slots + 6 * length)
    best: dict[float, Point] = {}
    for memory in range(table.least_memory() or 0, table.memory + 1):
        cost = table.best_cost(memory)
        if cost not in best:
            found = account(chain, table.schedule(memory))
            best[cost] = found.peak, found.cost / plain
    points = {"best": _front(best.values())}
    for name, schedules in usual_plans(length).items():
        found_ = [account(chain, schedule) for schedule in schedules]
        points[name] = sorted({(each.peak, each.cost / plain) for each in found_})
    return points


def _front(points: Iterable[Point]) -> list[Point]:
    """Returns the points that no other one beats, by rising memory.

    What fits in fewer slots may take more bytes: each size is rounded up by itself.
    """
    front: list[Point] = []
    for memory, cost in sorted(points):
        if not front or cost < front[-1][1]:
            front.append((memory, cost))
    return front


@dataclass(frozen=True)
class Against:
    """Equal segments beside the best schedule in the memory they take.

    Attributes:
        segments: how many.
        memory: what they take, in slots.
        cost: of a step with them.
        best: of a step with the best schedule in that memory.
        beaten: True where some other number of segments takes no more memory and costs no more.
    """

    segments: int
    memory: int
    cost: int
    best: float
    beaten: bool

    @property
    def gain_percent(self) -> float:
        """How many more steps the best schedule trains in the same FLOP, in percent."""
        return 100 * (self.cost / self.best - 1)


@lru_cache(maxsize=16)
def against_segments(chain: Chain, slots: int = 300) -> tuple[Against, ...]:
    """Returns each number of equal segments, two or more, beside the best schedule.

    Both are planned in the same slots, so that rounding favours neither.

    Args:
        chain: in bytes.
        slots: how finely memory is cut.
    """
    rounded = chain.in_slots(slot_bytes_of(chain, slots))
    taken = {k: account(rounded, plans.periodic(len(chain), k)) for k in range(2, len(chain))}
    table = solve(rounded, max(each.peak for each in taken.values()))
    places = {k: (each.peak, each.cost) for k, each in taken.items()}
    return tuple(
        Against(k, memory, cost, table.best_cost(memory), _beaten((memory, cost), places.values()))
        for k, (memory, cost) in places.items()
    )


def gain_percent(chain: Chain, slots: int = 300, *, unbeaten: bool = False) -> float:
    """Returns how much more the best schedules train than equal segments do, on average.

    Args:
        chain: in bytes.
        slots: how finely memory is cut.
        unbeaten: count only those numbers of segments that no other one beats in memory and cost.
    """
    chosen = [a for a in against_segments(chain, slots) if not (unbeaten and a.beaten)]
    return sum(a.gain_percent for a in chosen) / len(chosen)


def _beaten(place: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(o != place and o[0] <= place[0] and o[1] <= place[1] for o in others)
