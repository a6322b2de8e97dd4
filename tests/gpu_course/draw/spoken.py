"""Whether an alt text can be listened to: what a voice that reads it out would stumble over."""

from __future__ import annotations

import re

STUMBLES = {
    "a sign that only parts what the eye sees": r"·|\s\|\s|\S  +\S",
    "a colon behind a colon": r": [^.:;\n]*(?:\.\d[^.:;\n]*)*: ",
    "many things, and one of them is named": (
        r"\b(?:banks|blocks|cells|chunks|groups|heads|lanes|lines|pages|ranks|steps|threads|warps)"
        r" \d+(?=[.;:\n]|$| (?:one|are|is|add|divergent|hold)\b)"
    ),
    "one thing, and many are named": (
        r"(?<![\d.,^])1 (?:times|actions|bytes|events|kernels|launches|layers|messages|microbatches"
        r"|misses|nodes|passes|rows|sectors|slots|stages|tiles|tokens)\b"
    ),
    "a number as a machine writes it": r"\d[eE]\+\d|\d(?:inf|nan)\b",
    "dots for what is left out": r"\.\.+",
    "a line without an end": r"(?m)(?<![.!?:;])[ \t]*$",
}
"""{what is wrong: how it looks}."""


def stumbles(text: str) -> list[str]:
    """Returns what is wrong with an alt text, each with the place."""
    return [
        f"{what}: {text[max(0, found.start() - 30) : found.end() + 20]!r}"
        for what, pattern in STUMBLES.items()
        for found in re.finditer(pattern, text)
    ]
