"""How much of the gradients' exchange a backward pass can hide: buckets, one link, and time.

The pass makes its gradients at an even pace, from the last layer to the first. A bucket is ready
when its last byte is there, and begins when the one before it is over. What is still on its way
when the pass ends is waited for.

Source: Li and others 2020, "PyTorch Distributed: Experiences on Accelerating Data Parallel
Training", section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.errors import CourseError
from gpu_course.measure.alpha_beta import Link, ring_all_reduce_s


@dataclass(frozen=True)
class Sent:
    """A bucket on its way.

    Attributes:
        size_bytes: of its gradients.
        ready_s: when its last gradient is there.
        begin_s, end_s: of its all-reduce.
    """

    size_bytes: float
    ready_s: float
    begin_s: float
    end_s: float


def bucket_sizes(total_bytes: float, bucket_bytes: float, first_bytes: float = 0) -> list[float]:
    """Returns the bytes of each bucket, in the order in which they are sent.

    Args:
        total_bytes: of all gradients.
        bucket_bytes: of a full bucket.
        first_bytes: of the first one; 0 for one like the others.

    Raises:
        CourseError: there would be no end of them.

    >>> bucket_sizes(100, 40, 10)
    [10, 40, 40, 10]
    """
    if total_bytes <= 0 or bucket_bytes <= 0:
        raise CourseError("a bucket holds no bytes", "give both sizes as more than 0")
    sizes: list[float] = []
    left = total_bytes
    while left > 0:
        full = first_bytes if first_bytes and not sizes else bucket_bytes
        sizes.append(min(full, left))
        left -= sizes[-1]
    return sizes


def sent_buckets(sizes: list[float], backward_s: float, ranks: int, link: Link) -> tuple[Sent, ...]:
    """Returns when each bucket is ready, begins and ends, counted from the start of the pass.

    Args:
        sizes: bytes of each bucket.
        backward_s: how long the pass takes.
        ranks: of the ring.
        link: between neighbours.

    >>> link = Link(0.0, 1e9)
    >>> [round(each.end_s, 3) for each in sent_buckets([1e8, 1e8], 0.5, 2, link)]
    [0.35, 0.6]
    """
    found: list[Sent] = []
    total, there, free = sum(sizes), 0.0, 0.0
    for size in sizes:
        there += size
        ready = backward_s * there / total
        begin = max(ready, free)
        free = begin + ring_all_reduce_s(ranks, size, link)
        found.append(Sent(size, ready, begin, free))
    return tuple(found)


def exposed_s(sent: tuple[Sent, ...], backward_s: float) -> float:
    """Returns how long a step waits for messages after its backward pass.

    >>> exposed_s(sent_buckets([2e8], 0.5, 2, Link(0.0, 1e9)), 0.5)
    0.2
    """
    return max(0.0, round(sent[-1].end_s - backward_s, 12))
