"""What a learner reads about memory: how much an answer may have, what it asked for, what helps."""

from __future__ import annotations

import re

from gpu_course.grading.verdicts.messages import reason
from gpu_course.grading.verdicts.sections import Section, section
from gpu_course.puzzle import PythonPuzzle
from gpu_course.units import format_bytes

# PyTorch's allocator puts its place in C++ before what it says, and the system's words behind.
_ALLOCATOR = re.compile(
    r"(?:\[enforce fail [^\]]*\]\s*)?(?:err == 0\.\s*)?(.*?)(?:\. Error code.*)?$"
)
_COUNT = re.compile(r"\b(\d{4,19}) bytes\b")


def needs_too_much(puzzle: PythonPuzzle) -> str:
    """Returns the fact, with the limit."""
    limit = format_bytes(puzzle.memory_bytes)
    return f"your code needs more than the {limit} of memory it may have"


def asked_for(error: str, *more: str) -> list[Section]:
    """Returns an allocator's own words, large counts of bytes in a unit as well.

    >>> said = "RuntimeError: you tried to allocate 4294967296 bytes. Error code 12 (Cannot)"
    >>> asked_for(said)[0].lines
    ('RuntimeError: you tried to allocate 4,294,967,296 bytes (4 GiB)',)
    """
    kind, colon, text = error.partition(": ")
    found = _ALLOCATOR.fullmatch(text)
    words = _COUNT.sub(_with_unit, found[1] if found else text)
    return section("error", f"{kind}{colon}{words}", *more)


def what_helps(puzzle: PythonPuzzle) -> list[Section]:
    """Returns where to look, and that no larger machine would help."""
    step = (
        "keep only what is still needed, and work on one part at a time; the limit belongs to the "
        "puzzle, so a larger machine does not raise it"
    )
    return [*reason(puzzle, "memory"), *section("try", step)]


def _with_unit(found: re.Match[str]) -> str:
    count = int(found[1])
    return f"{count:,} bytes ({format_bytes(count)})"
