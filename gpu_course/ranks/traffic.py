"""What a run sent: from whom to whom, how much, and which messages waited for which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gpu_course.ranks.calls import Call


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
