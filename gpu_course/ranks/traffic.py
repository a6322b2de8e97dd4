"""What calls come to: the bytes that are booked for them, and who sent how much to whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from gpu_course.ranks.calls import Call


def booked_bytes(calls: Iterable[Call]) -> Fraction:
    """Returns the bytes booked for calls: sends exactly, a collective at a ring's volume.

    >>> booked_bytes([Call(0, 0, "all_reduce", (0, 1, 2), 0, (8,), 64)])
    Fraction(256, 3)
    """
    return sum((call.booked_bytes for call in calls), Fraction(0))


def sent_between(calls: Iterable[Call]) -> dict[tuple[int, int], int]:
    """Returns {(from, to): payload bytes} of the sends of a run.

    >>> call = Call(0, 0, "send", (0, 1), 0, (4,), 32, peer=1)
    >>> sent_between([call, call])
    {(0, 1): 64}
    """
    found: Counter[tuple[int, int]] = Counter()
    for call in calls:
        if call.kind == "send" and call.peer is not None:
            found[call.rank, call.peer] += call.payload_bytes
    return dict(found)
