"""The well-known plans for a chain: keep all, periodic, square root, logarithmic, revolve.

Each returns a Schedule; `operations.account` says what it takes on any chain.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from gpu_course.errors import CourseError
from gpu_course.measure.schedules.operations import Kind, Operation, Schedule


def keep_everything(length: int) -> Schedule:
    """Returns the plain run: every forward pass saves everything, nothing is run twice.

    >>> [str(operation) for operation in keep_everything(2)]
    ['save all 0', 'save all 1', 'backward 1', 'backward 0']
    """
    _check_length(length)
    return tuple(_straight(0, length))


def segmented(length: int, starts: Sequence[int]) -> Schedule:
    """Returns the plan that keeps the inputs of some stages and runs each segment twice.

    The last segment saves everything at once, since its backward pass comes first.

    Args:
        length: how many stages.
        starts: the stages at which segments begin, rising, the first of them 0.

    Raises:
        CourseError: starts that are no such thing.
    """
    _check_length(length)
    bounds = [*starts, length]
    if bounds[0] != 0 or any(a >= b for a, b in itertools.pairwise(bounds)):
        raise CourseError(
            f"segments cannot begin at {list(starts)} in a chain of {length} stages",
            "give rising stage numbers below the length, the first of them 0",
        )
    return tuple(_segmented(bounds))


def periodic(length: int, segments: int) -> Schedule:
    """Returns the plan of torch.utils.checkpoint.checkpoint_sequential: segments of one length.

    As there, each has length // segments stages, and the last one what is left as well.

    Args:
        length: how many stages.
        segments: how many segments, 1 to length.

    Source: https://docs.pytorch.org/docs/stable/checkpoint.html
    """
    _check_length(length)
    if not 1 <= segments <= length:
        raise CourseError(
            f"a chain of {length} stages cannot be cut into {segments} segments",
            f"ask for 1 to {length}",
        )
    each = length // segments
    return segmented(length, [number * each for number in range(segments)])


def square_root(length: int) -> Schedule:
    """Returns the plan with about sqrt(length) segments: memory of order sqrt(n), one extra pass.

    Source: Chen, Xu, Zhang, Guestrin, arXiv 1604.06174, section 4.2.
    """
    _check_length(length)
    segments = math.ceil(math.sqrt(length))
    each = math.ceil(length / segments)
    return segmented(length, range(0, length, each))


def logarithmic(length: int) -> Schedule:
    """Returns the plan that halves the chain again and again: memory of order log n.

    Forward passes are of order n log n.

    Source: Chen, Xu, Zhang, Guestrin, arXiv 1604.06174, section 4.4.
    """
    _check_length(length)
    return tuple(_halved(0, length))


def advances(length: int, checkpoints: int) -> int:
    """Returns the least number of forward passes that save nothing, for a uniform chain.

    Each stage also has one forward pass that saves everything, right before its backward pass.

    With r such that C(c+r-1, r-1) < l <= C(c+r, r) it is r l - C(c+r, r-1), for l stages and c
    checkpoints.

    Args:
        length: l, one or more.
        checkpoints: c, the inputs that may be kept at one time, the chain's own among them.

    Source: Griewank, Walther, "Algorithm 799: revolve", ACM TOMS 26(1), 2000.

    >>> advances(10, 3), advances(4, 1)
    (15, 6)
    """
    _check_length(length)
    _check_checkpoints(checkpoints)
    r = 0
    while math.comb(checkpoints + r, r) < length:
        r += 1
    return r * length - (math.comb(checkpoints + r, r - 1) if r else 0)


def revolve(length: int, checkpoints: int) -> Schedule:
    """Returns a plan of `advances(length, checkpoints)`: the best for a uniform chain.

    Args:
        length: how many stages.
        checkpoints: how many inputs may be kept at one time, that of stage 0 among them.
    """
    _check_length(length)
    _check_checkpoints(checkpoints)
    return tuple(_revolved(0, length, checkpoints))


def _straight(start: int, stop: int) -> Iterator[Operation]:
    yield from (Operation(Kind.save_all, stage) for stage in range(start, stop))
    yield from (Operation(Kind.backward, stage) for stage in reversed(range(start, stop)))


def _run_on(start: int, stop: int) -> Iterator[Operation]:
    """Keeps the input of `start` and runs forward to the input of `stop`."""
    yield Operation(Kind.keep_input, start)
    yield from (Operation(Kind.forward, stage) for stage in range(start + 1, stop))


def _segmented(bounds: Sequence[int]) -> Iterator[Operation]:
    segments = list(itertools.pairwise(bounds))
    for start, stop in segments[:-1]:
        yield from _run_on(start, stop)
    for start, stop in reversed(segments):
        yield from _straight(start, stop)


def _halved(start: int, stop: int) -> Iterator[Operation]:
    if stop - start == 1:
        yield from _straight(start, stop)
        return
    middle = (start + stop) // 2
    yield from _run_on(start, middle)
    yield from _halved(middle, stop)
    yield from _halved(start, middle)


def _revolved(start: int, stop: int, checkpoints: int) -> Iterator[Operation]:
    while stop - start > 1:
        ahead = _first_leap(stop - start, checkpoints)
        yield from _run_on(start, start + ahead)
        if checkpoints > 1:
            yield from _revolved(start + ahead, stop, checkpoints - 1)
        else:
            yield from _straight(stop - 1, stop)
        stop = start + ahead
    yield from _straight(start, stop)


def _first_leap(length: int, checkpoints: int) -> int:
    """Returns how far to run before the next checkpoint; with the last one, to the end."""
    if checkpoints == 1:
        return length - 1
    least = advances(length, checkpoints)
    return next(
        ahead
        for ahead in range(1, length)
        if ahead + advances(length - ahead, checkpoints - 1) + advances(ahead, checkpoints) == least
    )


def _check_length(length: int) -> None:
    if length < 1:
        raise CourseError(f"a chain of {length} stages has no plan", "give it one stage or more")


def _check_checkpoints(checkpoints: int) -> None:
    if checkpoints < 1:
        raise CourseError(
            f"no plan works with {checkpoints} checkpoints",
            "the chain's own input is the first one: allow 1 or more",
        )
