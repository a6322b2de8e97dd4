"""The whole course: its five parts and 34 lessons, those that are here and those to come."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_course.puzzle import index
from gpu_course.puzzle.specification import Lesson

PARTS = (
    "Start",
    "Execution",
    "Bandwidth",
    "Memory and checkpointing",
    "Parallelism",
    "Judgement",
)
"""The way in, and the five parts after it."""

_TITLES = {
    0: ("Start here",),
    1: (
        "Threads, blocks, grids",
        "Warps",
        "Coalescing",
        "Shared memory",
        "Reductions and scans",
        "Matrix multiplication",
        "Under the hood",
        "Host and device",
        "Profiling",
    ),
    2: (
        "The roofline",
        "Counting",
        "Data movement",
        "From softmax to FlashAttention",
        "Decoding",
        "Number formats",
    ),
    3: (
        "The memory ledger",
        "Checkpointing",
        "Optimal checkpointing",
        "Forward gradients",
        "Smaller states",
    ),
    4: (
        "Collectives",
        "Data parallelism",
        "ZeRO and FSDP",
        "Tensor parallelism",
        "Context parallelism",
        "Pipelines",
        "Zero bubble",
        "Experts",
        "Meshes",
    ),
    5: ("Plan my run", "The referee", "Failures", "Across oceans"),
}


@dataclass(frozen=True)
class Planned:
    """One lesson's place in the course.

    Attributes:
        number: two digits.
        title: as it stands in the map.
        part: 0 to 5.
    """

    number: str
    title: str
    part: int

    def __str__(self) -> str:
        return f"{self.number} {self.title}"


COURSE = tuple(
    Planned(f"{number:02}", title, part)
    for number, (part, title) in enumerate(
        (part, title) for part, titles in _TITLES.items() for title in titles
    )
)
"""The 34 lessons, in course order."""


def part_title(part: int) -> str:
    """Returns how the map calls a part.

    >>> part_title(2)
    'Part 2. Bandwidth'
    """
    return f"Part {part}. {PARTS[part]}"


def lessons_of(part: int) -> tuple[Lesson, ...]:
    """Returns the lessons of a part that are here, in course order."""
    return tuple(lesson for lesson in index.lessons() if lesson.part == part)


def to_come(part: int) -> tuple[Planned, ...]:
    """Returns the lessons of a part that are not here yet, in course order."""
    here = {lesson.name[:2] for lesson in index.lessons()}
    return tuple(each for each in COURSE if each.part == part and each.number not in here)


def to_come_text(part: int) -> str:
    """Returns the lessons of a part that are not here yet in one line, or "" where all are."""
    names = ", ".join(map(str, to_come(part)))
    return f"to come: {names}" if names else ""
