"""Harness of `ledger`: builds a module, and asks the answer what it keeps."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from gpu_course.lessons.memory_ledger.samples import sample
from gpu_course.puzzle.harness import Unusable, name_of


def run(answer: ModuleType, kind: str, rows: int, width: int, seed: int) -> dict[str, Any]:
    """Returns {"kept_bytes": what the answer counts}."""
    module, x = sample(kind, rows, width, seed)
    counted = answer.ledger(module, x)
    if isinstance(counted, bool) or not isinstance(counted, int):
        raise Unusable(f"ledger returned {name_of(counted)} and not a whole number of bytes")
    return {"kept_bytes": counted}
