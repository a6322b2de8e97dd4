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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.training.schedules.chain import Chain
from gpu_course.training.schedules.operations import Kind, Operation, Schedule

NEVER = np.inf


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

    >>> from gpu_course.training.schedules.chain import uniform
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
    cost = [np.full((length - s, memory + 1), NEVER) for s in range(length)]
    # after[t][c]: C(c, t, m) once the input of c is taken out of the memory m, with the cost of
    # running forward from stage 0 to c on top.
    after = [np.full((t, memory + 1), NEVER) for t in range(length + 1)]
    prefix = np.concatenate([[0], np.cumsum([stage.forward_cost for stage in chain.stages])])
    reaches = [np.array(_rises_on_the_way(chain, s, length), dtype=np.int64) for s in range(length)]
    room = np.empty((length, memory + 1))
    for t in range(1, length + 1):
        gradient = chain.stages[t - 1].output_gradient_bytes
        for s in range(t - 1, -1, -1):
            row = cost[s][t - s - 1]
            row[:] = _save_all(chain, cost, s, t, memory)
            if t - s > 1:
                # The left part s .. c-1 and the right part c .. t-1 for every c: (c, memory).
                both = room[: t - s - 1]
                np.add(cost[s][: t - s - 1], after[t][s + 1 : t], out=both)
                _rule_out(both, gradient + reaches[s][: t - s - 1], memory)
                np.minimum(row, both.min(axis=0) - prefix[s], out=row)
            taken = chain.input_bytes(s)
            if taken <= memory:
                after[t][s, taken:] = row[: memory + 1 - taken] + prefix[s]
    return Solved(chain, memory, tuple(cost))


def _save_all(chain: Chain, cost: list[np.ndarray], s: int, t: int, memory: int) -> np.ndarray:
    """Cost per memory of saving everything of s first."""
    stage = chain.stages[s]
    kept = stage.saved_bytes + stage.output_bytes
    found = np.full(memory + 1, NEVER)
    least = least_to_save(chain, s, t)
    if least > memory:
        return found
    own = stage.forward_cost + stage.backward_cost
    if t == s + 1:
        found[least:] = own
    else:
        rest = cost[s + 1][t - s - 2]
        found[least:] = rest[least - kept : memory + 1 - kept] + own
    return found


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


def _rule_out(both: np.ndarray, least: np.ndarray, memory: int) -> None:
    """Sets to NEVER what lies below the least memory of each row; `least` rises, in few steps."""
    edges = np.flatnonzero(np.diff(least)) + 1
    for first, stop in zip([0, *edges], [*edges, len(least)], strict=True):
        both[first:stop, : min(int(least[first]), memory + 1)] = NEVER


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
