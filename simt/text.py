"""Text that somebody else wrote: its lines as Python counts them, and nothing that moves a cursor.

What a kernel contains or prints ends up in a terminal, in a notebook and in a teacher's table.
"""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n|\r|\n")


def source_lines(text: str) -> list[str]:
    """Returns the lines of a program's text, numbered as Python's errors and syntax trees do.

    A form feed, U+0085 and U+2028 end a line for `str.splitlines`, and not for Python.

    >>> source_lines("a = 1\\x0c\\nb = 2\\r\\n")
    ['a = 1\\x0c', 'b = 2']
    """
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def clean(text: str) -> str:
    """Returns a text of several lines without what would move a cursor or turn the reading order.

    >>> clean("a\\x1b[2Jb\\tc\\u202e\\r\\n")
    'a[2Jb\\tc\\n'
    """
    return "".join(c for c in text if c in "\n\t" or c.isprintable())


def one_line(text: str) -> str:
    """Returns a text as one line: whatever would begin another, or move a cursor, is a ?.

    >>> one_line("x = 1\\t# \\x1b[2J")
    'x = 1 # ?[2J'
    """
    return "".join(c if c.isprintable() else " " if c == "\t" else "?" for c in text)


def count(number: int, noun: str) -> str:
    """Returns a number with its noun, in the singular where it is one.

    Examples:
        >>> count(1, "forward pass"), count(2, "forward pass"), count(1024, "thread")
        ('1 forward pass', '2 forward passes', '1,024 threads')
        >>> count(3, "switch")
        '3 switches'
    """
    plural = "" if number == 1 else "es" if noun.endswith(("s", "ch")) else "s"
    return f"{number:,} {noun}{plural}"
