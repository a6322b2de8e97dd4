"""The best schedule of a short chain by trying everything: a search over what is in memory.

The dynamic programme of `rotor` finds the best *persistent* schedule: a checkpoint stays until its
own backward pass. This search knows no parts of a chain and no such rule. A state is what is in
memory: the checkpoints, the stages that saved everything, the newest value, and the gradient at
hand. From each, every operation that fits leads to another; the states are taken in the order of
what they cost so far and must cost at least from there on (A*), so the first one without a gradient
left to compute is the end of a best schedule.

The number of states grows as 3^n for a chain of n stages, so it is for chains of up to `LONGEST`.

Source: Hart, Nilsson, Raphael, "A formal basis for the heuristic determination of minimum cost
paths", IEEE Transactions on Systems Science and Cybernetics 4(2), 1968.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass

from gpu_course.errors import CourseError
from gpu_course.measure.schedules.chain import Chain
from gpu_course.measure.schedules.operations import Kind, Operation, Schedule

LONGEST = 10
"""Stages; a chain of so many takes a second, and ten or twenty where nothing fits."""

# Among schedules of one cost, the one with the fewest drops, then with the fewest checkpoints: a
# cost is multiplied by _COST, so that these never outweigh it.
_COST, _DROP, _KEEP = 1 << 24, 1 << 12, 1

_State = tuple[int, int, int, int]
"""Checkpoints and saved stages as sets of bits, the newest value, the gradient at hand."""
_Move = tuple[int, Operation, _State]
"""What an operation adds to the weight of a schedule, the operation, and what it leaves."""


@dataclass(frozen=True)
class Searched:
    """What trying everything found.

    Attributes:
        cost: the least cost, inf where no schedule fits.
        schedule: one of that cost with the fewest drops, None where no schedule fits.
        states: how many states were looked at.
    """

    cost: float
    schedule: Schedule | None
    states: int


def search(chain: Chain, memory: float, *, persistent: bool = True) -> Searched:
    """Returns the cheapest schedule of a chain within a memory, whatever order it takes.

    Args:
        chain: of at most LONGEST stages.
        memory: what may be in use at one time, in the chain's unit.
        persistent: a checkpoint stays until its own backward pass. False lets any be dropped
            earlier, and made again.

    Raises:
        CourseError: a chain of no stage, or of too many.

    >>> from gpu_course.measure.schedules.chain import uniform
    >>> found = search(uniform(4), 3)
    >>> found.cost, len(found.schedule)
    (6, 10)
    """
    if not 1 <= len(chain) <= LONGEST:
        raise CourseError(
            f"trying everything on a chain of {len(chain)} stages is out of reach",
            f"take a piece of 1 to {LONGEST} stages; `rotor.solve` plans longer ones",
        )
    moves = _Moves(chain, memory, persistent)
    start: _State = (1, 0, 0, len(chain))
    weights, ways = {start: 0}, dict[_State, tuple[_State, Operation]]()
    done = set[_State]()
    queue = [(moves.at_least(start), start)]
    while queue:
        _, state = heapq.heappop(queue)
        if state in done:
            continue
        done.add(state)
        if state[3] == 0:
            return Searched(weights[state] // _COST, _way_to(state, ways), len(done))
        for weight, operation, after in moves.of(state):
            total = weights[state] + weight
            if total < weights.get(after, math.inf):
                weights[after], ways[after] = total, (state, operation)
                heapq.heappush(queue, (total + moves.at_least(after), after))
    return Searched(math.inf, None, len(done))


class _Moves:
    """The operations of one chain that fit in one memory."""

    def __init__(self, chain: Chain, memory: float, persistent: bool) -> None:
        self.stages, self.memory, self.persistent = chain.stages, memory, persistent
        outputs = [chain.input_bytes(stage) for stage in range(len(chain))]
        outputs.append(chain.stages[-1].output_bytes)
        # Bytes of every set of values, and of what every set of stages saved.
        self.values = _sums(outputs)
        self.saved = _sums([stage.saved_bytes for stage in chain.stages])
        self.forward = _sums([stage.forward_cost for stage in chain.stages])
        self.backward = _sums([stage.backward_cost for stage in chain.stages])

    def at_least(self, state: _State) -> int:
        """What is still to pay: each backward pass, and a saving pass of each unsaved stage."""
        _, saved, _, gradient = state
        left = (1 << gradient) - 1
        return _COST * (self.backward[left] + self.forward[left & ~saved])

    def of(self, state: _State) -> Iterator[_Move]:
        kept, saved, head, gradient = state
        blocked = False
        for move, rise in self._operations(state):
            if rise <= self.memory:
                yield move
            else:
                blocked = True
        # A drop can wait until it makes room for something: where all fits, none is tried.
        if blocked and not self.persistent:
            for stage in range(1, gradient):
                bit = 1 << stage
                if kept & bit and not saved & bit:
                    yield _DROP, Operation(Kind.drop, stage), (kept & ~bit, saved, head, gradient)

    def _operations(self, state: _State) -> Iterator[tuple[_Move, int]]:
        """Each operation and the memory it rises to."""
        kept, saved, head, gradient = state
        there = kept | saved << 1 | 1 << head
        for stage in range(gradient):
            bit = 1 << stage
            if not there & bit:
                continue
            here = self.stages[stage]
            cost, held = _COST * here.forward_cost, self._held(kept, saved, stage, gradient)
            for kind, weight, marked in (
                (Kind.forward, 0, kept),
                (Kind.keep_input, _KEEP, kept | bit),
            ):
                move = cost + weight, Operation(kind, stage), (marked, saved, stage + 1, gradient)
                yield move, held + here.forward_bytes
            if not saved & bit:
                after = kept | bit, saved | bit, stage + 1, gradient
                move = cost, Operation(Kind.save_all, stage), after
                yield move, held + here.forward_saving_bytes
        last = gradient - 1
        if saved >> last & 1:
            bit, here = 1 << last, self.stages[last]
            after = kept & ~bit | 1, saved & ~bit, 0, last
            move = _COST * here.backward_cost, Operation(Kind.backward, last), after
            yield move, self._held(kept, saved, head, gradient) + here.backward_bytes

    def _held(self, kept: int, saved: int, head: int, gradient: int) -> int:
        values = self.values[kept | saved << 1 | 1 << head]
        return values + self.saved[saved] + self.stages[gradient - 1].output_gradient_bytes


def _sums(sizes: list[int]) -> list[int]:
    """The sum of the sizes in every set of places, by the set's bits."""
    sums = [0]
    for size in sizes:
        sums += [size + before for before in sums]
    return sums


def _way_to(state: _State, ways: dict[_State, tuple[_State, Operation]]) -> Schedule:
    back = []
    while state in ways:
        state, operation = ways[state]
        back.append(operation)
    return tuple(reversed(back))
