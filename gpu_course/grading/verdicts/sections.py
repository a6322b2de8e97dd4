"""The sections that a verdict is made of, and the text that they become.

What finds something out says it in sections. A terminal, a notebook and a file each render them;
nothing reads a rendered text again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from simt.errors import UserError
from simt.report import Hazard
from simt.text import clean

WIDTH = 70
"""Columns of a verdict: half a window of JupyterLab holds them."""

INDENT = 10
"""Where the text of a labelled section begins, as in "  why:    "."""

_NARROWEST = INDENT + 20
"""Columns below which nothing is broken: what came of it could not be read."""

_KINDS = {
    **dict.fromkeys(("why", "try", "think"), "reason"),
    **dict.fromkeys(("who", "case", "also", "replay", "spare", "yours", "other", "bonus"), "prose"),
    "differ": "prose",
}
"""Label -> kind, where it is not "lines"."""


@dataclass(frozen=True)
class Section:
    """One thing that a reader is told.

    Attributes:
        label: what introduces it, such as "why"; "" where nothing does.
        lines: its text. None of it moves a cursor, and none holds the end of a line.
        kind: "fact": what is the matter, which breaks behind a clause. "heading": lines at the
            margin. "reason": why it is so, or what to do. "prose": any other sentences. "lines":
            what keeps its lines, such as a place with its code, or a table.
    """

    label: str
    lines: tuple[str, ...]
    kind: str

    def __post_init__(self) -> None:
        # Wherever it is shown, what an answer contains or says reaches nobody's terminal raw.
        lines = (part for each in self.lines for part in clean(each).splitlines() or [""])
        object.__setattr__(self, "lines", tuple(lines))

    @property
    def flows(self) -> bool:
        """True where the window may say at which word a line ends."""
        return self.kind in ("reason", "prose")

    @property
    def at_margin(self) -> bool:
        """True where its first line begins at the margin, and no label stands there."""
        return self.kind in ("fact", "heading")

    def text_lines(self, width: int | None) -> list[str]:
        """Returns its lines; what is longer than `width` goes on below its own beginning."""
        shown = list(self._placed())
        if width is None or width < _NARROWEST:
            return shown
        if self.kind == "fact":
            head, *rest = shown
            return [*_by_clauses(head, width), *_wrapped(rest, width, INDENT)]
        return _wrapped(shown, width, 0 if self.at_margin else INDENT)

    def _placed(self) -> Iterator[str]:
        """Yields its lines where they stand: at the margin, behind the label, or below it."""
        first, *rest = self.lines
        label = f"  {self.label + ':':<7} " if self.label else " " * INDENT
        yield first if self.at_margin else label + first
        for each in rest:
            yield each if self.kind == "heading" else " " * INDENT + each


def fact(text: str, *more: str) -> list[Section]:
    """Returns what is the matter; `more` stands below it."""
    return [Section("", (text, *more), "fact")]


def heading(*lines: str) -> list[Section]:
    """Returns lines at the margin, which say what the sections below them are about."""
    return [Section("", lines, "heading")]


def section(label: str, *lines: str) -> list[Section]:
    """Returns one labelled section, or none where there is nothing to say."""
    return [Section(label, lines, _KINDS.get(label, "lines"))] if any(lines) else []


def command_section(label: str, command: str, what: str) -> list[Section]:
    """Returns a section of a command and what is said of it: one line where both fit, else two.

    >>> [len(command_section("more", "diff()", "x" * n)[0].lines) for n in (53, 54)]
    [1, 2]
    """
    both = f"{command} {what}"
    return section(label, *([both] if INDENT + len(both) <= WIDTH else [command, what]))


def below(text: str) -> list[Section]:
    """Returns a line that stands where texts stand, without a label."""
    return [Section("", (text,), "lines")]


def of_error(error: UserError) -> list[Section]:
    """Returns what an error says: the fact, the place where it knows one, and what to try."""
    return [
        *heading(*error.fact.splitlines()),
        *section("where", *error.places),
        *section("try", error.hint),
    ]


def of_hazard(hazard: Hazard) -> list[Section]:
    """Returns what a hazard says: the fact, where with the line's text, who, why, try."""
    details = hazard.details
    code = filter(None, [details.get("code")])
    found = [*heading(hazard.message), *section("where", details.get("where", ""), *code)]
    for label in ("who", "why", "try"):
        found += section(label, details.get(label, ""))
    return found


def code_line(text: str) -> list[str]:
    """Returns a line of somebody's file as it stands below its place; what is too long is cut."""
    room = WIDTH - INDENT
    text = text.strip()
    if not text:
        return []
    return [text if len(text) <= room else text[: room - 4] + " ..."]


def text_of(sections: Iterable[Section], width: int | None = None) -> str:
    """Returns sections as text.

    Args:
        sections: what is said.
        width: columns at which lines break; None for nowhere.
    """
    return "\n".join(line for each in sections for line in each.text_lines(width))


def _wrapped(lines: Iterable[str], width: int, indent: int) -> list[str]:
    found = []
    for each in lines:
        wrapped = textwrap.wrap(each, width, subsequent_indent=" " * indent, break_on_hyphens=False)
        found += [each] if len(each) <= width else wrapped
    return found


def _by_clauses(text: str, width: int) -> list[str]:
    """Returns the fact broken behind a clause, where there is one that is not too near."""
    indent = ""
    shown = []
    while len(indent + text) > width:
        room = width - len(indent)
        ends = [text.rfind(mark, 0, room) for mark in ("; ", ": ", ", ", " ")]
        end = next((at + 1 for at in ends if at > room // 4), room)
        shown.append(indent + text[:end].rstrip())
        text, indent = text[end:].lstrip(), " " * INDENT
    return [*shown, indent + text]
