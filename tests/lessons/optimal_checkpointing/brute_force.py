"""The best schedule of a short chain, by trying everything: Dijkstra over what is in memory.

The oracle of `rotor` and of `exhaustive`, and as plain as it can be: sets for states, no bound on
what is left to pay, every drop tried everywhere. It shares no line with either.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator

from gpu_course.measure.schedules.chain import Chain

State = tuple[frozenset[int], frozenset[int], int, int]
"""Checkpointed inputs, stages that saved everything, the newest value, the gradient at hand."""


def best_cost(chain: Chain, memory: int, *, persistent: bool = True) -> float:
    """Returns the least cost within a memory, inf where nothing fits.

    Args:
        chain: a chain of at most about six stages.
        memory: in the chain's unit.
        persistent: a checkpoint stays until its backward pass; False lets any be dropped.
    """
    start: State = (frozenset({0}), frozenset(), 0, len(chain))
    number = itertools.count()
    best = {start: 0}
    queue = [(0, next(number), start)]
    while queue:
        cost, _, state = heapq.heappop(queue)
        if state[3] == 0:
            return cost
        if cost > best[state]:
            continue
        for price, peak, after in _moves(chain, state, persistent):
            if peak <= memory and cost + price < best.get(after, float("inf")):
                best[after] = cost + price
                heapq.heappush(queue, (cost + price, next(number), after))
    return float("inf")


def _bytes(chain: Chain, state: State) -> int:
    kept, saved, head, gradient = state
    outputs = [0] + [stage.output_bytes for stage in chain.stages]
    outputs[0] = 0  # the batch is not ours
    values = set(kept) | {stage + 1 for stage in saved} | {head}
    total = sum(outputs[value] for value in values)
    total += sum(chain.stages[stage].saved_bytes for stage in saved)
    return total + (chain.stages[gradient - 1].output_gradient_bytes if gradient else 0)


def _moves(chain: Chain, state: State, persistent: bool) -> Iterator[tuple[int, int, State]]:
    kept, saved, head, gradient = state
    sources = {*kept, head, *(stage + 1 for stage in saved)}
    for i in sorted(sources):
        if i >= gradient:
            continue
        stage = chain.stages[i]
        # Running on from i lets go of a newer value that nothing keeps.
        with_input = _bytes(chain, (kept, saved, i, gradient))
        yield (
            stage.forward_cost,
            with_input + stage.forward_bytes,
            (kept, saved, i + 1, gradient),
        )
        marked = kept | {i}
        yield (
            stage.forward_cost,
            with_input + stage.forward_bytes,
            (marked, saved, i + 1, gradient),
        )
        if i not in saved:
            yield (
                stage.forward_cost,
                with_input + stage.forward_saving_bytes,
                (marked, saved | {i}, i + 1, gradient),
            )
    last = gradient - 1
    if last in saved:
        stage = chain.stages[last]
        after = (kept - {last} | {0}, saved - {last}, 0, last)
        yield stage.backward_cost, _bytes(chain, state) + stage.backward_bytes, after
    if not persistent:
        for i in sorted(kept - {0} - saved):
            yield 0, 0, (kept - {i}, saved, head, gradient)
