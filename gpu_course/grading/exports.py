"""Verdicts for others to read: JSON, rows of a table, and HTML for a notebook."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_course.grading.verdict import Verdict
    from gpu_course.simt.report import Hazard

TABLE_HEAD = ("puzzle", "status", "points", "message")
MOST_CELLS_DRAWN = 64
MOST_OPERATIONS_DRAWN = 400
INDENT = 10
"""Where the text of a labelled line begins, as in "  why:    "."""

# Okabe-Ito colours, always beside a sign and a word.
LOOKS = {
    "passed": ("#009E73", "\u2713", "passed"),
    "failed": ("#D55E00", "\u2717", "not yet"),
    "not-started": ("#56B4E9", "\u25cb", "not started"),
    "error": ("#CC79A7", "!", "grader error"),
    "timeout": ("#E69F00", "\u29d6", "out of time"),
}

# JupyterLab gives text in an output its prose font and breaks lines within words.
PRE_STYLE = (
    "white-space:pre-wrap;background:transparent;word-break:normal;"
    "font-family:var(--jp-code-font-family,monospace)"
)


def to_json(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """Returns verdicts as dicts, lists, strings and finite numbers, ready for `json.dumps`."""
    return {"puzzles": [_record(verdict) for verdict in verdicts]}


def verdict_table_rows(verdicts: Iterable[Verdict]) -> list[tuple[str, str, str, str]]:
    """Returns one row per verdict: name, status with its reason, points, what is the matter."""
    return [
        (
            verdict.name,
            f"{verdict.status} ({verdict.reason})" if verdict.reason else verdict.status,
            f"{verdict.points}/{verdict.max_points}",
            "" if verdict.passed else verdict.message.partition("\n")[0],
        )
        for verdict in verdicts
    ]


def verdict_text(verdict: Verdict, width: int = 100) -> str:
    """Returns a verdict as text: name and status, then the message, wrapped at `width` columns.

    What does not fit goes on below its own beginning, so that the labels stay easy to find.
    """
    return "\n".join([f"{verdict.name}: {verdict.status}", *message_lines(verdict.message, width)])


def message_lines(message: str, width: int) -> list[str]:
    """Returns the lines of a message, the long ones wrapped at `width` columns."""
    lines = []
    for line in message.splitlines():
        indent = " " * INDENT if is_labelled(line) else ""
        fits = len(line) <= width or len(indent) + 20 > width
        lines += [line] if fits else textwrap.wrap(line, width, subsequent_indent=indent)
    return lines


def verdict_html(verdict: Verdict) -> str:
    """Returns a verdict as a piece of HTML that needs nothing from outside.

    With the visible example small enough, a picture of who touched what comes after the message.
    """
    colour, sign, word = LOOKS[verdict.status]
    title = f"{html.escape(verdict.name)}: {word}"
    return (
        f'<div class="gpu-course-verdict" style="border-left:4px solid {colour};'
        'padding:0.4em 0.8em;margin:0.4em 0">'
        f'<div style="font-weight:600"><span aria-hidden="true">{sign}</span> {title}</div>'
        f'<pre style="margin:0.4em 0 0 0;{PRE_STYLE}">'
        f"{_hanging(verdict.message)}</pre>{_picture(verdict)}</div>"
    )


def _record(verdict: Verdict) -> dict[str, Any]:
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


def _hanging(message: str, mark: str = "") -> str:
    """Returns the lines of a message, escaped; a long one goes on below its own beginning."""
    lines = "".join(
        f'<span style="display:block;padding-left:{INDENT}ch;text-indent:-{INDENT}ch">'
        f"{html.escape(line)}\n</span>"
        if is_labelled(line)
        else f'<span style="display:block">{html.escape(line)}\n</span>'
        for line in message.splitlines()
    )
    head, tag, rest = lines.partition(">")
    return head + tag + mark + rest


def text_html(text: str, mark: str = "") -> str:
    """Returns a text for a pre element, escaped; lines such as "  why:    ..." hang.

    Args:
        text: one or more lines.
        mark: HTML that stands before the first of them.
    """
    if any(map(is_labelled, text.splitlines())):
        return _hanging(text, mark)
    return mark + html.escape(text)


def is_labelled(line: str) -> bool:
    """True for "  why:    ...", whose text begins at column INDENT."""
    return line.startswith("  ") and line[:INDENT].rstrip().endswith(":")


def _picture(verdict: Verdict) -> str:
    report = verdict.report
    if verdict.status != "failed":
        return ""
    if report is None or not report.touches:
        return _schedule(verdict.evidence.get("got"))
    if any(_cells(touch.shape) > MOST_CELLS_DRAWN for touch in report.touches):
        return ""
    try:
        from gpu_course.draw.picture import QUICK, figure_html
        from gpu_course.draw.touches import draw_touches

        figure = draw_touches(report)
        return f'<div style="margin-top:0.4em">{figure_html(figure, QUICK)}</div>'
    except Exception:
        # The verdict is what matters: a picture that cannot be drawn is left out.
        return ""


def _schedule(got: Any) -> str:
    """Returns the picture of a schedule that an answer planned, with the place where it breaks."""
    if not isinstance(got, dict) or not {"schedule", "rises"} <= got.keys():
        return ""
    try:
        from gpu_course.draw.picture import QUICK, figure_html
        from gpu_course.draw.schedules import draw_schedule

        if not 0 < len(got["schedule"]) <= MOST_OPERATIONS_DRAWN:
            return ""
        figure = draw_schedule(
            [(str(word), int(stage)) for word, stage in got["schedule"]],
            [int(rise) for rise in got["rises"]],
            broken=str(got.get("broken", "")),
        )
        return f'<div style="margin-top:0.4em">{figure_html(figure, QUICK)}</div>'
    except Exception:
        # What comes from an answer may be anything; the verdict is what matters.
        return ""


def _cells(shape: tuple[int, ...]) -> int:
    cells = 1
    for side in shape:
        cells *= side
    return cells
