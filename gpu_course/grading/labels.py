"""The labelled lines of a message, such as "  why:    ...", and how long ones are wrapped."""

from __future__ import annotations

import textwrap

INDENT = 10
"""Where the text of a labelled line begins, as in "  why:    "."""


def line(label: str, text: str) -> list[str]:
    """Returns one labelled line, or none where there is nothing to say."""
    return [f"  {label + ':':<7} {text}"] if text else []


def message_lines(message: str, width: int) -> list[str]:
    """Returns the lines of a message, the long ones wrapped at `width` columns."""
    lines = []
    for each in message.split("\n"):
        indent = " " * INDENT if is_labelled(each) or each.startswith(" " * INDENT) else ""
        fits = len(each) <= width or len(indent) + 20 > width
        wrapped = textwrap.wrap(each, width, subsequent_indent=indent, break_on_hyphens=False)
        lines += [each] if fits else wrapped
    return lines


def is_labelled(line: str) -> bool:
    """True for "  why:    ...", whose text begins at column INDENT."""
    return line.startswith("  ") and line[:INDENT].rstrip().endswith(":")
