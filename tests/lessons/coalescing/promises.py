"""What the stubs of lesson 03 promise of their input, and what holds it."""

from __future__ import annotations

from tests.course.puzzles.promises import Promise, everywhere

PROMISES: dict[str, tuple[Promise, ...]] = {
    "sectors": (
        Promise("may be 0 or negative", lambda given: given["stride"] == 0),
        Promise("may be 0 or negative", lambda given: given["stride"] < 0),
        Promise("or beyond 32 bits", lambda given: given["stride"] >= 1 << 32),
        Promise("may be beyond 32 bits, too", lambda given: given["offset"] >= 1 << 32),
        everywhere(
            "no lane reads before the array",
            lambda given: min(given["offset"], given["offset"] + 31 * given["stride"]) >= 0,
        ),
        *(
            Promise("1, 2, 4, 8 or 16", lambda given, size=size: given["itemsize"] == size)
            for size in (1, 2, 4, 8, 16)
        ),
    ),
}
