"""How long processes may take: by the clock, less the time in which no processor was free for them.

On a busy machine an answer is as slow as the others let it be. The kernel says how long the first
thread of a process was ready to run and had to wait, and that is not counted against it. Nor is a
time in which the one who watches could not look either: then a whole machine may have stood still.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

MAX_TIMES = 4.0
"""What has not ended in so many times its seconds is over, whatever it waited for."""

MAX_GAP_S = 1.0
"""Who watches looks many times a second. Of a longer time between two looks so much is counted."""


class WatchersClock:
    """A clock that goes on by so much at most from one look to the next.

    Args:
        clock: tells the time, in s.
        most: what is counted of a longer time between two looks, in s.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, most: float = MAX_GAP_S
    ) -> None:
        self._clock, self._most, self._last, self._counted = clock, most, clock(), 0.0

    def __call__(self) -> float:
        """Returns the seconds that are counted until now."""
        now = self._clock()
        self._counted += min(now - self._last, self._most)
        self._last = now
        return self._counted


def waited_s(pid: int) -> float:
    """Returns for how long the first thread of a process was ready and had no processor, in s.

    It is 0 where the system does not say, and for a process that is gone.
    """
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    return 0.0


class Deadline:
    """Says when the time of some processes is over; it begins with the object.

    Args:
        pids: of the processes; that which had to wait longest counts.
        seconds: they may take.
        clock, waited: tell the time, a watcher's if left out, and what `waited_s` does.
    """

    def __init__(
        self,
        pids: Sequence[int],
        seconds: float,
        *,
        clock: Callable[[], float] | None = None,
        waited: Callable[[int], float] = waited_s,
    ) -> None:
        self._clock, self._waited = clock or WatchersClock(), waited
        self._seconds, self._began = seconds, self._clock()
        self._before = {pid: waited(pid) for pid in pids}

    def is_over(self) -> bool:
        """Whether they have had their time."""
        passed = self._clock() - self._began
        if passed <= self._seconds or passed > MAX_TIMES * self._seconds:
            return passed > self._seconds
        # Asked for only now: most processes are at their end long before.
        longest = max((self._waited(p) - old for p, old in self._before.items()), default=0.0)
        return passed - longest > self._seconds
