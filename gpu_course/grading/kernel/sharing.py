"""Is the work shared: what the busiest thread does, beside what the puzzle gives each to do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpu_course.catalog import KernelPuzzle
from gpu_course.grading.kernel.trial import Trial, reference_trial
from gpu_course.observe.shares import Share

MOST_GROUPS = 4
SPARE_READS = 2


@dataclass(frozen=True)
class Unshared:
    """A launch whose busiest thread does more than its share.

    Attributes:
        key: "not-shared" where few threads do the work, "done-again" where most do it all.
        number: which launch of the case.
        array: the kernel's name for the array, or "" for all that is read.
        wrote: True for cells written, False for cells read.
        cells: int64 (threads,), how many different cells each thread touched.
        limit: the most that is still a share.
    """

    key: str
    number: int
    array: str
    wrote: bool
    cells: np.ndarray
    limit: int

    @property
    def most(self) -> int:
        """How many cells the busiest thread touched."""
        return int(self.cells.max())

    def groups(self) -> list[tuple[int, int]]:
        """Returns (cells, threads that touched so many), the busiest first; the last few as one."""
        values, threads = np.unique(self.cells, return_counts=True)
        pairs = list(zip(values.tolist(), threads.tolist(), strict=True))[::-1]
        if len(pairs) <= MOST_GROUPS:
            return pairs
        idle = pairs[MOST_GROUPS - 1 :]
        return [*pairs[: MOST_GROUPS - 1], (idle[0][0], sum(count for _, count in idle))]


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
                    yield Unshared("not-shared", number, each.array, True, each.cells, limit)


def unshared_work(puzzle: KernelPuzzle, tried: Trial) -> Iterator[Unshared]:
    """Yields what is shared worse than in the reference solution on the way to the results.

    Shared memory: at most twice what the reference's busiest thread writes, as with two tiles that
    are used in turn; where fewer threads write than in the reference, no more than its busiest one.
    Reading: at most twice as many different cells as its busiest thread reads, and SPARE_READS
    more.
    """
    if puzzle.share is None or not any(map(_worth_a_look, tried.shares)):
        return
    reference = reference_trial(puzzle, tried.given)
    for number, (shares, theirs) in enumerate(zip(tried.shares, reference.shares, strict=False)):
        filled = max((int(s.cells.max()) for s in theirs if _fills(s)), default=1)
        busy = max((np.count_nonzero(s.cells) for s in theirs if _fills(s)), default=0)
        for each in shares:
            limit = filled if np.count_nonzero(each.cells) < busy else 2 * filled
            if _fills(each) and each.cells.max() > limit:
                yield Unshared("not-shared", number, each.array, True, each.cells, limit)
        if not puzzle.share.reads:
            continue
        most = 2 * int(_read(theirs).max()) + SPARE_READS
        read = _read(shares)
        if read.max() > most:
            # The same work again, and not the work of all by few: more is read in all.
            busiest = np.count_nonzero(read > most) * 2 > np.count_nonzero(read)
            repeated = busiest and read.sum() > 2 * _read(theirs).sum()
            key = "done-again" if repeated else "not-shared"
            yield Unshared(key, number, "", False, read, most)


def _fills(share: Share) -> bool:
    return share.wrote and share.space == "shared"


def _read(shares: tuple[Share, ...]) -> np.ndarray:
    """How many different cells of all arrays together each thread reads."""
    counts = [share.cells for share in shares if not share.wrote]
    return np.asarray(np.sum(counts, axis=0)) if counts else np.zeros(1, np.int64)


def _worth_a_look(shares: tuple[Share, ...]) -> bool:
    """True where the reference has to be asked: a thread with one cell needs no comparison."""
    filled = any(_fills(share) and share.cells.max() > 1 for share in shares)
    return filled or _read(shares).max() > SPARE_READS
