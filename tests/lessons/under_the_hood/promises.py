"""What the stubs of lesson 07 promise of their input, and what holds it."""

from __future__ import annotations

from tests.course.puzzles.promises import Promise, everywhere


def _none_fits(puzzle, case, given) -> bool:
    return puzzle.reference(given, case)["result"][0] == 0


PROMISES: dict[str, tuple[Promise, ...]] = {
    "occupancy_used": (
        Promise("may be 0", lambda given: given["shared_bytes"] == 0),
        everywhere("1 to 255", lambda given: 1 <= given["registers"] <= 255),
        everywhere("1 to 1024", lambda given: 1 <= given["threads"] <= 1024),
        Promise("0 where not even one fits", by=_none_fits),
    ),
}
