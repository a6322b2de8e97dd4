"""Which part of a long series `make test` runs; `make test-all` runs all of it.

A series is many tests of one kind: a mutant each, a random kernel each. Which are drawn, and every
other number that a test draws, hangs on one number that the tree keeps. So what fails after a
change is what the change broke, and a mended test is one test mended. `make test DRAW=7` tries
another part; raise `DRAW` below to keep one.
"""

from __future__ import annotations

import functools
import hashlib
import os

EVERYTHING = os.environ.get("GPU_COURSE_TESTS") == "all"
DRAW = os.environ.get("GPU_COURSE_DRAW") or "1"


@functools.cache
def draw_seed() -> int:
    """Returns the number from which everything is drawn."""
    return _number(DRAW)


def drawn(name: str, part: float, *, always_the_same: bool = False) -> bool:
    """True for a share of all names, each draw another one; for all in `test-all`.

    Args:
        name: of one test of a series.
        part: the share, from 0 to 1.
        always_the_same: True for the same share in all draws: for a series of which not every test
            has been looked at once.
    """
    seed = 0 if always_the_same else draw_seed()
    return EVERYTHING or _number(f"{seed} {name}") < part * 2**64


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def share(few: int, of: int) -> float:
    """Returns the share of a series that comes to `few` of its tests, however many it has.

    A series with a test for each puzzle or each lesson grows with the course; what is run of it
    does not have to.

    >>> share(10, of=40), share(10, of=80), share(10, of=5)
    (0.25, 0.125, 1.0)
    """
    return min(1.0, few / of) if of else 1.0


def examples(many: int, *, few: int) -> int:
    """How many examples Hypothesis tries of a property: `many` in `test-all`, otherwise `few`."""
    return many if EVERYTHING else few
