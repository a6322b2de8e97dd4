"""A note of one line with paragraphs below it, such as an answer and what was seen."""

from __future__ import annotations

import html
import re
import textwrap
from dataclasses import dataclass

from gpu_course.notebook.note import Note

_WIDTH = 70
_NO_BREAK = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class ProseNote(Note):
    """A line, such as a guess beside the answer, and paragraphs below it.

    Args:
        text: one line.
        kind: as for a Note.
        seen: paragraphs, with `code`, *stress* and **terms** as in Markdown; may be empty.
    """

    seen: str = ""

    def __repr__(self) -> str:
        paragraphs = [textwrap.fill(each, _WIDTH) for each in _paragraphs(self.seen)]
        return "\n\n".join([self.text, *paragraphs]).replace(_NO_BREAK, " ")

    def _repr_html_(self) -> str:
        told = "".join(
            f'<p style="margin:0.4em 0 0 0">{_inline(each)}</p>' for each in _paragraphs(self.seen)
        )
        return self.framed(f"<b>{html.escape(self.text)}</b>{told}", prose=True)


def _paragraphs(text: str) -> list[str]:
    # A space that holds a number and its sign together is no place to split at.
    return [re.sub(r"[ \t\r\n]+", " ", each.strip()) for each in text.split("\n\n") if each.strip()]


def _inline(text: str) -> str:
    """Markdown's code, stress and strong words as HTML; whatever stands in code stays as it is.

    As in Markdown, a star beside a space is a star: 4 * (1 + 4) + 32 * 4 stresses nothing.
    """
    pieces = re.split(r"(`[^`]+`)", text)
    for number, piece in enumerate(pieces):
        escaped = html.escape(piece, quote=False)
        if number % 2:
            pieces[number] = f"<code>{escaped[1:-1]}</code>"
        else:
            strong = re.sub(r"\*\*(?=\S)(.+?)(?<=\S)\*\*", r"<b>\1</b>", escaped)
            pieces[number] = re.sub(r"\*(?=\S)(.+?)(?<=\S)\*", r"<i>\1</i>", strong)
    return "".join(pieces)
