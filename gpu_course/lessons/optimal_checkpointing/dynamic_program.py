"""The best persistent schedule of a chain under a memory budget, by dynamic programming.

For the stages s .. t-1 and a memory of m, with the input of s and the gradient of the output of
t-1 in memory (the input is not counted in m, the gradient is), the least cost C(s, t, m) is that of
the better of two beginnings:

* keep the input of s, run forward to some stage c without saving, solve c .. t-1 with the input of
  c taken out of m, then solve s .. c-1 with all of m;
* save everything of s, solve s+1 .. t-1 with that taken out of m, then go backward through s.

*Persistent* says that a checkpoint stays until its own backward pass. Sizes are whole slots, so the
table has length^2 / 2 rows of one entry per slot.

Source: Beaumont, Eyraud-Dubois, Herrmann, Joly, Shilova, "Optimal checkpointing for heterogeneous
chains: how to train deep neural networks with limited memory", arXiv 1911.13214, section 4. The
peaks of operations may be measured ones, temporaries of operators included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.measure.schedules.chain import Chain
from gpu_course.measure.schedules.operations import Kind, Operation, Schedule

NEVER = np.inf
WORTH_COMPILING = 200_000
"""Steps of the innermost loop from which on compiling it pays: a tenth of a second of Python."""


class BudgetTooSmall(CourseError):
    """No persistent schedule fits.

    Attributes:
        least: the smallest memory, in the chain's unit, in which one fits, or None where it is
            more than was looked at.
    """

    def __init__(self, memory: int, least: int | None) -> None:
        self.least = least
        super().__init__(
            f"no schedule of this chain fits in a memory of {memory:,}",
            f"give it {least:,} or more" if least is not None else "give it more",
        )


@dataclass(frozen=True)
class Solved:
    """The table of a chain: the best cost for every part of it and every memory up to a limit.

    Attributes:
        chain: the chain, its sizes whole numbers.
        memory: the largest memory in the table.
        cost: cost[s][t - s - 1, m] is C(s, t, m) above, inf where nothing fits.
    """

    chain: Chain
    memory: int
    cost: tuple[np.ndarray, ...]

    def best_cost(self, memory: int | None = None) -> float:
        """Returns the least cost of the whole chain, inf where nothing fits.

        Args:
            memory: default the largest of the table.
        """
        return float(self.cost[0][-1, self.memory if memory is None else memory])

    def least_memory(self) -> int | None:
        """Returns the smallest memory in which some schedule fits, or None."""
        fits = np.flatnonzero(np.isfinite(self.cost[0][-1]))
        return int(fits[0]) if fits.size else None

    def schedule(self, memory: int | None = None) -> Schedule:
        """Returns a schedule of the least cost.

        Args:
            memory: default the largest of the table.

        Raises:
            BudgetTooSmall: nothing fits.
        """
        memory = self.memory if memory is None else min(memory, self.memory)
        if memory < 0 or self.best_cost(memory) == NEVER:
            raise BudgetTooSmall(memory, self.least_memory())
        return tuple(_rebuild(self, memory))


def solve(chain: Chain, memory: int) -> Solved:
    """Returns the table of a chain for all memories from 0 to `memory`.

    Time grows with length^3 times memory, and the table holds length^2 * memory numbers.

    Args:
        chain: sizes in whole units; take `Chain.in_slots` for sizes in bytes.
        memory: the largest memory, in the chain's unit.

    Raises:
        CourseError: an empty chain, or no memory at all.

    >>> from gpu_course.measure.schedules.chain import uniform
    >>> table = solve(uniform(4), 4)
    >>> [table.best_cost(m) for m in (2, 3, 4)]  # forward passes, 4 of them needed anyway
    [9.0, 6.0, 4.0]
    """
    if not len(chain) or memory < 1:
        raise CourseError(
            f"there is nothing to plan with {len(chain)} stages and a memory of {memory}",
            "give a chain of one stage or more, and a memory of one or more",
        )
    length = len(chain)
    # Only the part below the diagonal is written, and only what is written takes memory.
    cost = np.empty((length, length, memory + 1))
    work = length**3 // 6 * memory
    fill = _compiled() if work > WORTH_COMPILING else _fill
    fill(cost, *_numbers(chain))
    return Solved(chain, memory, tuple(cost[s, : length - s] for s in range(length)))


def _fill(
    cost: np.ndarray,
    least: np.ndarray,
    kept: np.ndarray,
    own: np.ndarray,
    taken: np.ndarray,
    forward: np.ndarray,
    gradient: np.ndarray,
    ahead: np.ndarray,
) -> None:
    """Writes C(s, t, m) into cost[s, t - s - 1, m], short parts before the longer ones they are in.

    Plain loops over numbers, so that Numba can compile them; small tables take them as they are.

    Args:
        cost: (length, length, memory + 1).
        least: least[s, t - 1] is `least_to_save` of s and t; kept, own: what saving s keeps and
            costs, both ways.
        taken: of the input of each stage; 0 for the batch.
        forward, gradient: rise of a forward pass, and gradient of the output.
        ahead: cost of a forward pass.
    """
    length, memory = cost.shape[0], cost.shape[2] - 1
    for t in range(1, length + 1):
        for s in range(t - 1, -1, -1):
            row = cost[s, t - s - 1]
            for m in range(len(row)):
                row[m] = NEVER
            first = least[s, t - 1]
            if first <= memory:
                here = row[first:]
                if t == s + 1:
                    for m in range(len(here)):
                        here[m] = own[s]
                else:
                    rest = cost[s + 1, t - s - 2, first - kept[s] :]
                    for m in range(len(here)):
                        here[m] = rest[m] + own[s]
            rise, run = 0, 0.0
            for c in range(s + 1, t):
                held = taken[c - 1] if c - 1 > s else 0
                rise = max(rise, held + forward[c - 1])
                run += ahead[c - 1]
                first = max(gradient[t - 1] + rise, taken[c])
                if first > memory:
                    continue
                here, left = row[first:], cost[s, c - s - 1, first:]
                right = cost[c, t - c - 1, first - taken[c] :]
                for m in range(len(here)):
                    both = run + right[m] + left[m]
                    here[m] = both if both < here[m] else here[m]


def _numbers(chain: Chain) -> tuple[np.ndarray, ...]:
    """What `_fill` needs to know of a chain."""
    stages = chain.stages
    kept, forward, saving, back, gradient = (
        np.array(size, np.int64)
        for size in zip(
            *(
                (
                    stage.saved_bytes + stage.output_bytes,
                    stage.forward_bytes,
                    stage.forward_saving_bytes,
                    stage.backward_bytes,
                    stage.output_gradient_bytes,
                )
                for stage in stages
            ),
            strict=True,
        )
    )
    taken = np.array([chain.input_bytes(s) for s in range(len(chain))], np.int64)
    # least_to_save, for every s and t at once.
    alone = np.maximum(gradient + kept + back, kept)
    least = np.maximum(gradient + saving[:, None], alone[:, None])
    own = np.array([stage.forward_cost + stage.backward_cost for stage in stages], np.float64)
    ahead = np.array([stage.forward_cost for stage in stages], np.float64)
    return least, kept, own, taken, forward, gradient, ahead


@cache
def _compiled() -> Callable[..., None]:
    """Returns `_fill`, compiled; it is kept on disk where there is a place for it."""
    import numba

    try:
        return numba.njit(cache=True)(_fill)  # type: ignore[no-any-return]
    except RuntimeError:  # no place to keep it: compiled anew in every process
        return numba.njit(_fill)  # type: ignore[no-any-return]


def least_to_save(chain: Chain, s: int, t: int) -> int:
    """Returns what saving everything of s, and going back through it, takes at least.

    The forward pass meets the gradient of t's input; the backward pass meets that of its own
    output.
    """
    stage = chain.stages[s]
    forward = chain.stages[t - 1].output_gradient_bytes + stage.forward_saving_bytes
    backward = (
        stage.output_gradient_bytes + stage.saved_bytes + stage.output_bytes + stage.backward_bytes
    )
    return max(forward, backward, stage.saved_bytes + stage.output_bytes)


def _rises_on_the_way(chain: Chain, s: int, t: int) -> list[int]:
    """For each c from s+1 to t-1: how far running forward from s to c without saving rises."""
    most, found = 0, []
    for stage in range(s, t - 1):
        transient = chain.input_bytes(stage) if stage > s else 0
        most = max(most, transient + chain.stages[stage].forward_bytes)
        found.append(most)
    return found


def _rebuild(table: Solved, memory: int) -> Iterator[Operation]:
    """Follows the table's choices; a stack of what is left to do takes the place of recursion."""
    chain = table.chain
    left: list[tuple[int, int, int] | Operation] = [(0, len(chain), memory)]
    while left:
        now = left.pop()
        if isinstance(now, Operation):
            yield now
            continue
        s, t, m = now
        checkpoint = _choice(table, s, t, m)
        if checkpoint is None:
            stage = chain.stages[s]
            yield Operation(Kind.save_all, s)
            left.append(Operation(Kind.backward, s))
            if t > s + 1:
                left.append((s + 1, t, m - stage.saved_bytes - stage.output_bytes))
            continue
        yield Operation(Kind.keep_input, s)
        yield from (Operation(Kind.forward, stage) for stage in range(s + 1, checkpoint))
        left.append((s, checkpoint, m))
        left.append((checkpoint, t, m - chain.input_bytes(checkpoint)))


def _choice(table: Solved, s: int, t: int, m: int) -> int | None:
    """Returns where the next checkpoint stands, or None where saving everything is as good."""
    chain, cost = table.chain, table.cost
    stage, best = chain.stages[s], cost[s][t - s - 1, m]
    if m >= least_to_save(chain, s, t):
        kept = stage.saved_bytes + stage.output_bytes
        rest = cost[s + 1][t - s - 2, m - kept] if t > s + 1 else 0
        if rest + stage.forward_cost + stage.backward_cost == best:
            return None
    forward, gradient = 0, chain.stages[t - 1].output_gradient_bytes
    for checkpoint, rise in zip(range(s + 1, t), _rises_on_the_way(chain, s, t), strict=True):
        forward += chain.stages[checkpoint - 1].forward_cost
        room = m - chain.input_bytes(checkpoint)
        if room < 0 or m < gradient + rise:
            continue
        right = cost[checkpoint][t - checkpoint - 1, room]
        if forward + right + cost[s][checkpoint - s - 1, m] == best:
            return checkpoint
    raise AssertionError("the table holds a cost that no choice explains")
