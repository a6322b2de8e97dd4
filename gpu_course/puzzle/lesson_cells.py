"""The ids of a lesson's cells: made of what they hold, so that a changed cell is told from them."""

from __future__ import annotations

import hashlib

from gpu_course.puzzle import index

_MOST_ALIKE = 20
"""How often one text may come as a cell of a lesson."""


def cell_id(lesson: str, kind: str, text: str, times: int) -> str:
    """Returns the id of a lesson's cell.

    Args:
        lesson: its name, such as "01_threads".
        kind: "code", "markdown" or "raw".
        text: the cell's own text in the source.
        times: how often that text has come by then in the lesson, this cell included.

    >>> cell_id("01_threads", "code", "guess.compare()", 1)
    '23ed13ed07a5'
    """
    key = f"{lesson}\0{kind}\0{text}\0{times}"
    return hashlib.sha256(key.encode()).hexdigest()[:12]


def is_of_a_lesson(identity: str | None, text: str) -> bool:
    """Returns whether a code cell is one of a lesson, unchanged.

    Args:
        identity: its id, None where the front end tells none.
        text: what it holds.
    """
    return identity is not None and any(
        cell_id(lesson.name, "code", text, times) == identity
        for lesson in index.lessons()
        for times in range(1, _MOST_ALIKE + 1)
    )
