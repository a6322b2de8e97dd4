"""Is the work shared: what the busiest thread does, beside what the puzzle gives each to do.

The statement of a puzzle speaks of cells of its outputs. What lies on the way to them is the
learner's to arrange: a tile of any size, a tree of any shape, a table for each warp. So the way is
measured in steps, and refused only where few threads take the steps of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpu_course.grading.kernel.trial import Trial, reference_trial
from gpu_course.puzzle import KernelPuzzle
from simt.observe.shares import Steps, ThreadWork

MAX_GROUPS = 4
SPARE = 2
"""Cells, or steps at global memory, that a thread may have beyond twice the reference's."""

SPARE_STEPS = 16
"""Steps of all kinds that a thread may take beyond twice the reference's: where the reference goes
up a tree by shuffles, others go through a tile, and up and down again."""

CROWD = 8
"""A thread with more than one in so many of its block's steps works while the others wait."""


@dataclass(frozen=True)
class Unshared:
    """A launch whose busiest thread does more than its share.

    Attributes:
        key: "not-shared" where few threads do the work, "done-again" where most do it all.
        number: which launch of the case.
        what: what was counted: cells that a thread "writes" or "reads", or its "steps".
        place: the kernel's name for the array, or "" for all arrays; of steps "global memory", or
            "" for steps of all kinds.
        counts: int64 (threads,), how many of them are each thread's.
        limit: the most that is still a share.
    """

    key: str
    number: int
    what: str
    place: str
    counts: np.ndarray
    limit: int

    @property
    def most(self) -> int:
        """How many are the busiest thread's."""
        return int(self.counts.max())

    def groups(self) -> list[tuple[int, int]]:
        """Returns (count, threads that have so many), the busiest first; the last few as one."""
        values, threads = np.unique(self.counts, return_counts=True)
        pairs = list(zip(values.tolist(), threads.tolist(), strict=True))[::-1]
        if len(pairs) <= MAX_GROUPS:
            return pairs
        idle = pairs[MAX_GROUPS - 1 :]
        return [*pairs[: MAX_GROUPS - 1], (idle[0][0], sum(count for _, count in idle))]


def unshared_results(puzzle: KernelPuzzle, tried: Trial) -> Iterator[Unshared]:
    """Yields the outputs that some thread wrote more cells of than the puzzle gives it."""
    if puzzle.share is None:
        return
    launches = zip(tried.given.launches, tried.shares, strict=False)
    for number, (launch, shares) in enumerate(launches):
        for output in tried.given.expected:
            own = tried.own_names(launch, output)
            limit = puzzle.share.most(tried.given.case, output)
            for each in shares:
                if each.wrote and each.array in own and each.cells.max() > limit:
                    yield Unshared("not-shared", number, "writes", each.array, each.cells, limit)


def unshared_work(puzzle: KernelPuzzle, tried: Trial) -> Iterator[Unshared]:
    """Yields what is shared worse than in the reference solution on the way to the results.

    Work done again: most threads read more than twice as many different cells as the reference's
    busiest one, and each cell has more than twice as many readers. Work not shared: few threads
    take many more steps than the reference's busiest one, at global memory or of all kinds, while
    the others wait.
    """
    if puzzle.share is None or not any(map(_worth_a_look, tried.steps)):
        return
    reference = reference_trial(puzzle, tried.given)
    launches = zip(tried.shares, reference.shares, tried.steps, reference.steps, strict=False)
    for number, (shares, its_shares, steps, its_steps) in enumerate(launches):
        if puzzle.share.reads:
            read, its_read = _read(shares), _read(its_shares)
            limit = 2 * int(its_read.max()) + SPARE
            most_do = np.count_nonzero(read > limit) * 2 > np.count_nonzero(read)
            # Where there is work for a few, the others may come along: they find only zeros.
            most_do &= np.count_nonzero(its_read) * 2 >= np.count_nonzero(read)
            if most_do and _readers_of_a_cell(shares) > 2 * _readers_of_a_cell(its_shares):
                yield Unshared("done-again", number, "reads", "", read, limit)
            mine, its = steps.at_global, its_steps.at_global
            limit = 2 * int(its.max()) + SPARE
            if _few_do_the_work(tried, number, mine, its, limit):
                yield Unshared("not-shared", number, "steps", "global memory", mine, limit)
        taken, its_taken = (_taken(each, all_of=puzzle.share.reads) for each in (steps, its_steps))
        limit = 2 * int(its_taken.max()) + SPARE_STEPS
        if _few_do_the_work(tried, number, taken, its_taken, limit, idle=True):
            yield Unshared("not-shared", number, "steps", "", taken, limit)


def _few_do_the_work(
    tried: Trial,
    number: int,
    steps: np.ndarray,
    reference: np.ndarray,
    limit: int,
    *,
    idle: bool = False,
) -> bool:
    """Whether some thread goes past a limit, and does so with steps that others should take.

    Either all threads together take no more steps than there are to take: then what the busy ones
    have too much, others have too little. Or one thread has a good part of its block's steps, and
    the reference has work there for many. Who goes past the limit as one of many has chosen another
    way, which budgets judge; so has the one thread of a block that has a cell at all.

    Steps of all kinds (`idle`) are too many of the busy ones only where most of the others have
    next to none of what the reference gives them. For up a tree in shared memory half of the
    threads drop out at each level, and the first goes all the way: the steps that it has more than
    the others are nobody else's.
    """
    if steps.max() <= limit:
        return False
    threads = int(np.prod(tried.reports[number].launch.block))
    blocks, its_blocks = steps.reshape(-1, threads), reference.reshape(-1, threads)
    most = blocks.max(axis=1)
    alone = (most > limit) & (most * CROWD > blocks.sum(axis=1))
    work_for_many = np.count_nonzero(its_blocks, axis=1) >= 2 * CROWD
    no_more = steps.sum() <= 2 * reference.sum()
    if idle:
        worked = reference > 0
        no_more &= np.count_nonzero(steps[worked] * CROWD < reference[worked]) * 2 > worked.sum()
    return bool(no_more or (alone & work_for_many).any())


def _taken(steps: Steps, *, all_of: bool) -> np.ndarray:
    """The steps of all kinds; or those within the block, where one thread looks out for all."""
    within: np.ndarray = steps.at_shared + steps.shuffles
    return within + steps.at_global if all_of else within


def _read(shares: tuple[ThreadWork, ...]) -> np.ndarray:
    """How many different cells of all arrays together each thread reads."""
    counts = [share.cells for share in shares if not share.wrote]
    return np.asarray(np.sum(counts, axis=0)) if counts else np.zeros(1, np.int64)


def _readers_of_a_cell(shares: tuple[ThreadWork, ...]) -> float:
    """How many threads read a cell that is read, on average."""
    read = [share for share in shares if not share.wrote]
    pairs = sum(int(share.cells.sum()) for share in read)
    return pairs / max(1, sum(share.touched for share in read))


def _worth_a_look(steps: Steps) -> bool:
    """True where the reference has to be asked: of two steps at global memory no thread is idle."""
    return bool(max(steps.at_global.max(), steps.at_shared.max()) > SPARE)
