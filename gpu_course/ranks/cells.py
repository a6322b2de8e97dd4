"""What both sides of a console know of a cell: its name, and where its output begins."""

from __future__ import annotations

CELL = "cell"
"""What tracebacks call the text of a cell."""


def beginning(number: int) -> str:
    """Returns the line that stands in a rank's own output in front of what a cell prints.

    >>> beginning(3)
    '-- cell 3 --\\n'
    """
    return f"-- cell {number} --\n"
