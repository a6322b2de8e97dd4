"""Verdicts for others to read: JSON, rows of a table, and HTML for a notebook."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gpu_course.draw.paper import palette
from gpu_course.grading.verdicts.sections import (
    INDENT,
    WIDTH,
    Section,
    command_section,
    section,
    text_of,
)

if TYPE_CHECKING:
    from gpu_course.grading.verdicts.facts import VerdictFacts
    from simt.report import Hazard

TABLE_HEAD = ("puzzle", "status", "points", "message")

# A colour always stands beside a sign and a word.
LOOKS = {
    "passed": (palette.FINE, "\u2713", "passed"),
    "failed": (palette.CONFLICT, "\u2717", "not yet"),
    "not-started": (palette.READ, "\u25cb", "not started"),
    "error": (palette.CONTRAST, "!", "grader error"),
    "timeout": (palette.WRITE, "\u29d6", "out of time"),
}

# JupyterLab gives text in an output its prose font and breaks lines within words. In the size of
# code 70 columns fit into half a window. Where there is less, as beside an editor, lines go on
# below; a word is broken only where it would not fit on a line of its own.
PRE_STYLE = (
    "white-space:pre-wrap;background:transparent;word-break:normal;overflow-wrap:anywhere;"
    "font-family:var(--jp-code-font-family,monospace);"
    "font-size:var(--jp-code-font-size,13px);max-width:72ch"
)


def to_json(verdicts: Iterable[VerdictFacts]) -> dict[str, Any]:
    """Returns verdicts as dicts, lists, strings and finite numbers, ready for `json.dumps`."""
    return {"puzzles": [_record(verdict) for verdict in verdicts]}


def verdict_table_rows(verdicts: Iterable[VerdictFacts]) -> list[tuple[str, ...]]:
    """Returns one row per verdict: name, status with its reason, points, what is the matter.

    Where a card was asked, what it found stands behind the status (`table_head`).
    """
    shown = list(verdicts)
    with_card = any(verdict.card for verdict in shown)
    return [
        (
            verdict.name,
            f"{verdict.status} ({verdict.reason})" if verdict.reason else verdict.status,
            *((_card_cell(verdict),) if with_card else ()),
            f"{verdict.points}/{verdict.max_points}",
            "" if verdict.passed else verdict.fact,
        )
        for verdict in shown
    ]


def table_head(verdicts: Iterable[VerdictFacts]) -> tuple[str, ...]:
    """Returns the titles of the columns of `verdict_table_rows`."""
    name, status, *rest = TABLE_HEAD
    with_card = any(verdict.card for verdict in verdicts)
    return (name, status, *(("card",) if with_card else ()), *rest)


def _card_cell(verdict: VerdictFacts) -> str:
    if verdict.card is None:
        return ""
    return f"{verdict.card.state}: differs" if verdict.card.agrees is False else verdict.card.state


def verdict_text(verdict: VerdictFacts, width: int = 100) -> str:
    """Returns a verdict as text of at most `width` columns: name and status, then what is said."""
    lines = [f"{verdict.name}: {verdict.status}", text_of(verdict.sections, min(width, WIDTH))]
    if verdict.passed:
        lines.append(text_of(_onward(verdict), width))
    return "\n".join(lines)


def verdict_html(verdict: VerdictFacts) -> str:
    """Returns a verdict as a piece of HTML that needs nothing from outside.

    Where the launch is small enough, a picture of who touched what stands behind the reason, and
    before the numbers; after a pass comes what is next.
    """
    picture = verdict_picture(verdict)
    at = _behind_the_reason(verdict.sections) if picture else len(verdict.sections)
    first, rest = (
        sections_html(part, WIDTH) for part in (verdict.sections[:at], verdict.sections[at:])
    )
    below = f'<pre style="margin:0.4em 0 0 0;{PRE_STYLE}">{rest}</pre>' if rest else ""
    colour, sign, word = LOOKS[verdict.status]
    title = f"{_breakable(verdict.name)}: {word}"
    return (
        f'<div class="gpu-course-verdict" style="border-left:4px solid {colour};'
        'padding:0.4em 0 0.4em 0.6em;margin:0.4em 0">'
        '<div style="font-weight:600;line-height:1.4">'
        f'<span aria-hidden="true">{sign}</span> {title}</div>'
        f'<pre style="margin:0.4em 0 0 0;{PRE_STYLE}">'
        f"{first}</pre>{picture}{below}{_links(verdict)}</div>"
    )


def _behind_the_reason(sections: Sequence[Section]) -> int:
    """Returns where the sections end that say what is wrong and why; the rest are numbers."""
    reasons = [number for number, each in enumerate(sections, 1) if each.kind == "reason"]
    return reasons[-1] if reasons else len(sections)


def _record(verdict: VerdictFacts) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "status": verdict.status,
        "reason": verdict.reason,
        "points": verdict.points,
        "max_points": verdict.max_points,
        "message": verdict.message,
        "hazards": [_hazard(hazard) for hazard in verdict.hazards],
        "counters": None if verdict.counters is None else verdict.counters.as_dict(),
        "seconds": round(verdict.seconds, 6),
        # The form that programs rely on has no card: it is there where one was asked.
        **({} if verdict.card is None else {"gpu": vars(verdict.card)}),
    }


def _hazard(hazard: Hazard) -> dict[str, Any]:
    return {
        "kind": hazard.kind,
        "severity": hazard.severity,
        "message": hazard.message,
        "file": hazard.file,
        "line": int(hazard.line),
        "threads": [[[int(axis) for axis in part] for part in pair] for pair in hazard.threads],
        "text": hazard.text(),
    }


def sections_html(sections: Iterable[Section], width: int | None = None, mark: str = "") -> str:
    """Returns sections for a pre element, escaped; a long line goes on below its own beginning.

    Args:
        sections: what is said.
        width: columns at which lines break that keep theirs; None for nowhere.
        mark: HTML that stands before the first line.
    """
    spans: list[str] = []
    for each in sections:
        lines = each.text_lines(width)
        if each.flows:
            # The window says where prose breaks.
            lines = replace(each, lines=(" ".join(each.lines),)).text_lines(None)
        for number, line in enumerate(lines):
            spans.append(_span(each, number, line, "" if spans else mark))
    return "".join(spans)


def _span(said: Section, number: int, line: str, mark: str) -> str:
    style, text = "display:block", line
    if not number and said.label:
        style += f";padding-left:{INDENT}ch;text-indent:-{INDENT}ch"
    elif said.kind != "heading" and (number or not said.at_margin):
        style, text = f"{style};padding-left:{INDENT}ch", line[INDENT:]
    return f'<span style="{style}">{mark}{_breakable(text)}\n</span>'


def _breakable(text: str) -> str:
    """Returns a text as HTML in which a path may be broken behind its slashes."""
    return re.sub(r"(?<=\w)/(?=\w)", "/<wbr>", html.escape(text))


def _onward(verdict: VerdictFacts) -> list[Section]:
    """Returns where to go after a pass, for a notebook or a Python prompt."""
    from gpu_course.grading.verdicts.onward import DISCUSSED, effort, next_puzzles

    short = verdict.name.rpartition("/")[2]
    following = [f"{p.short_name} ({effort(p)})" for p in next_puzzles(verdict.name)]
    return [
        *command_section("more", f'diff("{short}")', DISCUSSED),
        *section("next", ", then ".join(following)),
    ]


def _links(verdict: VerdictFacts) -> str:
    """Returns what follows a pass: the discussion, and the next puzzle as a link to its cell."""
    if not verdict.passed:
        return ""
    from gpu_course.grading.verdicts.onward import effort, next_puzzles

    short = html.escape(verdict.name.rpartition("/")[2])
    parts = [f'<code>diff("{short}")</code> shows the solution and discusses it']
    following = next_puzzles(verdict.name)
    for puzzle in following[:-1]:
        parts.append(
            f"<code>gpu-course watch {puzzle.short_name}</code> in a terminal: "
            f"{html.escape(puzzle.title)} ({effort(puzzle)}; no notebook yet)"
        )
    for puzzle in following[-1:]:
        # JupyterLab finds a heading by its text, blanks turned into hyphens, in the notebook that
        # is open; in another one the extension of `gpu-course lab` finds it by the puzzle's name.
        file = f"{puzzle.lesson}.ipynb"
        link = f"{file}#Puzzle:-{puzzle.short_name}"
        parts.append(
            f'<a href="{link}" data-gpu-course="go" data-gpu-course-notebook="{file}"'
            f' data-gpu-course-puzzle="{puzzle.short_name}">Next puzzle: {puzzle.short_name}</a>, '
            f"{html.escape(puzzle.title)} ({effort(puzzle)})"
        )
    lines = "".join(f'<div style="margin-top:0.3em">{part}</div>' for part in parts)
    return f'<div class="gpu-course-onward" style="line-height:1.5">{lines}</div>'


def verdict_picture(verdict: VerdictFacts) -> str:
    """Returns the picture below a verdict as HTML, "" where it has none."""
    from gpu_course.grading.verdicts.pictures import verdict_figure

    try:
        figure = verdict_figure(verdict)
        if figure is None:
            return ""
        from gpu_course.draw.paper.picture import quick_html

        return f'<div style="margin-top:0.4em">{quick_html(figure)}</div>'
    except Exception:
        # The verdict is what matters: a picture that cannot be drawn is left out.
        return ""
