"""Memory against cost over a whole range of budgets: the best schedules beside the usual plans."""

from __future__ import annotations

from gpu_course.training.schedules import plans
from gpu_course.training.schedules.chain import Chain
from gpu_course.training.schedules.operations import Schedule, account
from gpu_course.training.schedules.rotor import solve

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
    """Returns {plan: points}, the best schedules first: one point for each of their costs.

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
    points = {"best": sorted(best.values())}
    for name, schedules in usual_plans(length).items():
        found_ = [account(chain, schedule) for schedule in schedules]
        points[name] = sorted({(each.peak, each.cost / plain) for each in found_})
    return points


def gain_percent(chain: Chain, slots: int = 100) -> float:
    """Returns how much more the best schedules train than equal segments do, on average.

    For every number of segments, two or more, the best schedule gets the memory those segments take
    in the same slots; the gain is the ratio of the costs of a whole step, less 1, in percent.

    Args:
        chain: in bytes.
        slots: how finely memory is cut.
    """
    rounded = chain.in_slots(slot_bytes_of(chain, slots))
    others = [
        account(rounded, plans.periodic(len(chain), segments)) for segments in range(2, len(chain))
    ]
    table = solve(rounded, max(other.peak for other in others))
    gains = [other.cost / table.best_cost(other.peak) - 1 for other in others]
    return 100 * sum(gains) / len(gains)
