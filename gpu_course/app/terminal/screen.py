"""What `gpu-course watch` shows: a Session becomes lines of text with colours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from rich.text import Text

from gpu_course.app.terminal.session import Session
from gpu_course.app.terminal.text import WIDEST, discussion_lines, statement_lines
from gpu_course.draw.paper import palette
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.verdicts.exports import LOOKS
from gpu_course.grading.verdicts.onward import effort
from gpu_course.grading.verdicts.sections import INDENT, WIDTH, Section, heading, of_error
from gpu_course.puzzle import Lesson, Puzzle, index, outline
from simt.kernel.source import show_path

NARROWEST = 20
_QUIET = "bright_black"
_UNKNOWN = (_QUIET, "\u00b7", "not looked at")
_AFTER_A_PASS = "Press n for the next puzzle, d for the solution and its discussion."
_DIFF_STYLES = {"+": palette.FINE, "-": palette.CONFLICT, "@": _QUIET}


def screen(session: Session, width: int = 80) -> Text:
    """Returns everything there is to see now.

    Args:
        session: what to show.
        width: the columns of the terminal; at most 100 are used.
    """
    width = max(NARROWEST, min(width, WIDEST))
    parts = {"puzzle": _puzzle, "list": _list, "solution": _solution}[session.view]
    lines = [*_head(session, width), Text()]
    lines += [*parts(session, width), Text()]
    lines += _foot(session, width)
    return Text("\n").join(lines)


def _head(session: Session, width: int) -> Iterator[Text]:
    puzzle = session.puzzle
    if puzzle is None:
        yield Text("gpu-course watch", "bold")
    else:
        yield _cut(Text.assemble((puzzle.short_name, "bold"), f"  {puzzle.title}"), width)
        place = show_path(workspace.answer_path(puzzle))
        yield _cut(Text(f"{effort(puzzle)}, {puzzle.points} points", _QUIET), width)
        yield _cut(Text(place, _QUIET), width)
    yield Text("\u2500" * width, _QUIET)


def _puzzle(session: Session, width: int) -> Iterator[Text]:
    if session.puzzle is None:
        yield Text("Looking for the first puzzle that is not passed.")
        return
    for line in statement_lines(session.puzzle.statement, width):
        yield Text(line)
    yield Text()
    if session.stopped:
        yield _status("timeout")
        yield from _told(session.stopped, width)
    elif session.verdict is not None:
        yield _status(session.verdict.status)
        yield from _told(session.verdict.sections, min(width, WIDTH))
        if session.passed:
            yield Text()
            yield from _wrapped(_AFTER_A_PASS, width, "")
    if session.hint is not None:
        yield Text()
        yield from _wrapped(str(session.hint), width, "italic")


def _status(status: str) -> Text:
    colour, sign, word = LOOKS[status]
    return Text(f"{sign} {word}", f"bold {colour}")


def _told(sections: Iterable[Section], width: int, style: str = "") -> Iterator[Text]:
    for each in sections:
        for number, line in enumerate(each.text_lines(width)):
            text = Text(line, style)
            if each.label and not number:
                text.stylize(_QUIET, 0, INDENT)
            yield text


def _list(session: Session, width: int) -> Iterator[Text]:
    """The whole course; the part of the current puzzle with all its lessons, a line each."""
    current = 0 if session.puzzle is None else index.lesson(session.puzzle.lesson).part
    for part in range(len(outline.PARTS)):
        lessons = outline.lessons_of(part)
        yield _cut(Text(outline.part_title(part), "bold"), width)
        if part == current:
            for lesson in lessons:
                yield _lesson(session, lesson, width)
                if session.puzzle is None or lesson.name == session.puzzle.lesson:
                    for puzzle in lesson.puzzles:
                        yield _cut(_row(session, puzzle), width)
        elif lessons:
            here = (f"{each.name[:2]} {each.title} ({_count(session, each)})" for each in lessons)
            yield from _hanging("  here:   " + ", ".join(here), width, "")
        if coming := outline.to_come_text(part):
            yield from _hanging(f"  {coming}", width, _QUIET)


def _count(session: Session, lesson: Lesson) -> str:
    passed = sum(_has_passed(session, puzzle) for puzzle in lesson.puzzles)
    return f"{passed} of {len(lesson.puzzles)}"


def _has_passed(session: Session, puzzle: Puzzle) -> bool:
    return session.statuses.get(puzzle.name) == "passed" or puzzle.name in session.won


def _lesson(session: Session, lesson: Lesson, width: int) -> Text:
    count = _count(session, lesson)
    title = _cut(Text(f"{lesson.name}  {lesson.title}"), width - len(count) - 2)
    title.pad_right(width - title.cell_len - len(count))
    return title + Text(count)


def _row(session: Session, puzzle: Puzzle) -> Text:
    colour, sign, word = LOOKS.get(session.statuses.get(puzzle.name, ""), _UNKNOWN)
    if word != LOOKS["passed"][2] and puzzle.name in session.won:
        colour, sign, _ = LOOKS["passed"]
        word = "passed before"
    here = "\u2192" if puzzle == session.puzzle else " "
    return Text.assemble(
        f" {here} ",
        (f"{sign} ", colour),
        f"{puzzle.short_name:<24} ",
        (f"{word:<15}{effort(puzzle)}", _QUIET),
    )


def _hanging(text: str, width: int, style: str) -> Iterator[Text]:
    """A line such as "  to come: 10 ...", which goes on below its own text."""
    for line in textwrap.wrap(text, width, subsequent_indent=" " * INDENT):
        yield Text(line, style)


def _solution(session: Session, width: int) -> Iterator[Text]:
    assert session.solution is not None
    for line in session.solution.difference.split("\n"):
        yield _cut(Text(line, _DIFF_STYLES.get(line[:1], "")), width)
    yield Text()
    for line in discussion_lines(session.solution.discussion, width):
        yield _cut(Text(line, "bold" if line.startswith("# ") else ""), width)


def _foot(session: Session, width: int) -> Iterator[Text]:
    yield Text("\u2500" * width, _QUIET)
    if session.question:
        yield from _wrapped(session.question, width, "bold")
    elif isinstance(session.notice, CourseError):
        yield from _told(of_error(session.notice), width)
    elif session.notice:
        yield from _wrapped(session.notice, width, "")
    elif session.surveyed is not None:
        checked, total = session.surveyed
        yield Text(f"checked {checked} of {total}", _QUIET)
    elif session.checking:
        yield Text("checking ...", _QUIET)
    else:
        yield Text("watching: save the file and it is checked", _QUIET)
    yield from _keys(session, width)


def _keys(session: Session, width: int) -> Iterator[Text]:
    if session.question:
        keys = {"y": "yes", "n": "no"}
    else:
        keys = {"n": "next", "h": "hint", "l": "list", "c": "check all", "x": "reset"}
        if session.passed:
            keys["d"] = "solution"
    keys["q"] = "quit"
    line = Text()
    for key, word in keys.items():
        entry = Text.assemble((key, "bold"), f" {word}")
        if line and line.cell_len + 3 + entry.cell_len > width:
            yield line
            line = Text()
        line = Text.assemble(line, "   ", entry) if line else entry
    yield line


def _wrapped(text: str, width: int, style: str) -> Iterator[Text]:
    yield from _told(heading(*text.split("\n")), width, style)


def _cut(text: Text, width: int) -> Text:
    text.truncate(max(width, 1), overflow="ellipsis")
    return text
