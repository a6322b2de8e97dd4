"""Where a row of layers is cut into stages: the best cut, and torchgpipe's block partition.

    best_cut([4, 1, 1, 6], ranks=2)            # [3, 1]: layers of each stage
    stage_costs([4, 1, 1, 6], [3, 1])          # [6, 6]
    block_partition([4, 1, 1, 6], ranks=2)     # by moving single layers to a neighbour

A cut is a list with the number of layers of each stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from gpu_course.errors import CourseError


def stage_costs(costs: Sequence[float], cut: Sequence[int]) -> list[float]:
    """Returns what each stage of a cut costs.

    Args:
        costs: of each layer, in any unit.
        cut: how many layers each stage has.

    >>> stage_costs([4, 1, 1, 6], [3, 1])
    [6, 6]
    """
    ends = accumulate(cut, initial=0)
    return [sum(costs[start:end]) for start, end in pairwise(ends)]


def best_cut(costs: Sequence[float], ranks: int) -> list[int]:
    """Returns a cut whose most expensive stage is as cheap as can be, each with a layer at least.

    The best cut of the first n layers into s stages comes from those of fewer layers into s - 1.

    Args:
        costs: of each layer, in any unit, 0 or more.
        ranks: how many stages there are to be.

    Raises:
        CourseError: there are more ranks than layers, or no rank.

    >>> best_cut([4, 1, 1, 6], ranks=2)
    [3, 1]
    """
    _check(costs, ranks)
    layers = len(costs)
    total = list(accumulate(costs, initial=0))
    # best[n]: (cost of the slowest stage, where the last stage begins) for the first n layers
    best: list[tuple[float, int]] = [(total[n], 0) for n in range(layers + 1)]
    begins = []
    for stages in range(2, ranks + 1):
        # Fewer layers than stages: there is no cut, and nobody asks for one.
        best = best[:stages] + [
            min((max(best[cut][0], total[n] - total[cut]), cut) for cut in range(stages - 1, n))
            for n in range(stages, layers + 1)
        ]
        begins.append([begin for _, begin in best])
    cut, end = [], layers
    for table in reversed(begins):
        cut.append(end - table[end])
        end = table[end]
    return [end, *reversed(cut)]


def block_partition(costs: Sequence[float], ranks: int, *, shifted: bool = False) -> list[int]:
    """Returns the cut that ends when no stage costs more than another by a whole layer.

    It begins with as many layers for each stage, the last with what is left over. While the most
    expensive stage costs more than the cheapest by more than the most expensive layer, a layer
    moves to the cheapest stage from its neighbour on the side of the most expensive one. So the
    end is close to even, and need not be the best.

    Args:
        costs: of each layer, in any unit, 0 or more.
        ranks: how many stages there are to be.
        shifted: True to take the cheapest layer's cost from all first, as torchgpipe does.

    Raises:
        CourseError: there are more ranks than layers, or no rank.

    Source: Barany and Grinberg, "Block partitions of sequences" (arXiv 1308.2452); torchgpipe's
    balance/blockpartition.py is the same with `shifted`.

    >>> block_partition([4, 1, 1, 6], ranks=2)  # 5 and 7, where [3, 1] gives 6 and 6
    [2, 2]
    """
    _check(costs, ranks)
    least = min(costs) if shifted else 0.0
    sizes = [cost - least for cost in costs]
    most = max(sizes)
    cut = [len(costs) // ranks] * ranks
    cut[-1] += len(costs) % ranks

    def largest() -> int:
        return max(range(ranks), key=lambda stage: (stage_costs(sizes, cut)[stage], stage))

    high = largest()
    while True:
        sums = stage_costs(sizes, cut)
        low = sums.index(min(sums))
        if sums[high] <= sums[low] + most:
            return cut
        giver = low + (1 if high > low else -1)
        cut[giver] -= 1
        cut[low] += 1
        if giver == high:
            high = largest()


def _check(costs: Sequence[float], ranks: int) -> None:
    if ranks < 1:
        raise CourseError(f"a model cannot be cut into {ranks} stages", "give one rank or more")
    if ranks > len(costs):
        raise CourseError(
            f"{len(costs)} layers cannot be cut into {ranks} stages: a stage has one layer or more",
            f"take at most {len(costs)} ranks, or cut the layers themselves (tensor parallelism)",
        )
