"""What the stubs of lesson 16 promise of their input, and what holds it."""

from __future__ import annotations

from typing import Any

from gpu_course.lessons.memory_ledger.samples import sample
from gpu_course.puzzle.specification import Values
from tests.course.puzzles.promises import Promise, everywhere, one_of


def _sampled(given: Values) -> Any:
    return sample(**given)


PROMISES: dict[str, tuple[Promise, ...]] = {
    "adam_bytes": (
        Promise("() is one number", lambda given: () in given["shapes"]),
        Promise("a side of 0 leaves none", lambda given: any(0 in s for s in given["shapes"])),
    ),
    "ledger": (
        Promise("of one row or more", one_of("rows", 1)),
        Promise("whole numbers", lambda given: not _sampled(given)[1].is_floating_point()),
        Promise("A layer may have none", lambda given: not list(_sampled(given)[0].parameters())),
    ),
    "explain_the_gap": (
        everywhere("each 1 or more", lambda given: min(given.values()) >= 1),
        Promise("each 1 or more", lambda given: sorted(given.values())[:4] == [1] * 4),
        everywhere("heads divides hidden", lambda given: given["hidden"] % given["heads"] == 0),
    ),
    "accumulate": (
        Promise("from 1 to as many", one_of("parts", 1)),
        Promise("as there are rows", lambda given: given["parts"] == given["rows"]),
        Promise("need not divide them", lambda given: bool(given["rows"] % given["parts"])),
    ),
}
