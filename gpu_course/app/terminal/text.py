"""What the commands print: verdicts, tables and progress as text that fits the terminal."""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_course.units import format_bandwidth, format_flops, format_time_s
from simt.text import clean, one_line

if TYPE_CHECKING:
    from gpu_course.grading.card.bench import Timed
    from gpu_course.grading.card.targets import Standing
    from gpu_course.grading.learner.progress import LessonProgress
    from gpu_course.grading.verdicts.verdict import Verdict

WIDEST = 100
"""Columns; prose in longer lines is hard to follow."""


def outcome(verdict: Verdict) -> str:
    """Returns a verdict in a few words: "failed (hazard), 0 of 10 points"."""
    why = f" ({verdict.reason})" if verdict.reason else ""
    return f"{verdict.status}{why}, {verdict.points} of {verdict.max_points} points"


def summary(verdicts: Sequence[Verdict]) -> str:
    """Returns how many passed and what they earned, as one sentence."""
    passed = sum(verdict.passed for verdict in verdicts)
    points = sum(verdict.points for verdict in verdicts)
    possible = sum(verdict.max_points for verdict in verdicts)
    return f"{passed} of {len(verdicts)} passed, {points} of {possible} points."


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    """Returns one row per verdict, and the summary below."""
    from gpu_course.grading.verdicts.exports import table_head, verdict_table_rows

    rows = _table(table_head(verdicts), verdict_table_rows(verdicts))
    parts = [rows, summary(verdicts), card_text(verdicts), isolation_text(verdicts)]
    return "\n\n".join(filter(None, parts))


def card_text(verdicts: Sequence[Verdict]) -> str:
    """Returns what a real GPU said beside the simulator, in all; "" where none was asked."""
    cards = {verdict.name: verdict.card for verdict in verdicts if verdict.card is not None}
    if not cards:
        return ""
    right = sum(card.state == "right" for card in cards.values())
    device = next((card.device for card in cards.values() if card.device), "the card")
    lines = [f"On {device} {right} of {len(cards)} are right."]
    for name, card in cards.items():
        if card.agrees is False:
            lines.append(f"{name} differs from the simulator: {card.said}")
        elif card.state == "no-answer":
            lines.append(f"{name} has no verdict of the card: {card.said}")
    if any(card.agrees is False for card in cards.values()):
        lines.append(
            "What differs is ours to explain: please report it with the answer and what "
            "`gpu-course doctor` prints."
        )
    return "\n".join(clean(line) for line in lines)


def bench_table(found: Sequence[Timed]) -> str:
    """Returns one row per answer that was timed, and a line for each that was not."""
    from gpu_course.grading.card.targets import standing

    timed = [(each, each.timing) for each in found if each.timing is not None]
    rows = []
    for each, timing in timed:
        stands, share = standing(each.puzzle, timing), timing.share_of_library
        rows.append((
            each.puzzle.rpartition("/")[2],
            ", ".join(f"{name} {size:,}" for name, size in timing.sizes.items()),
            format_time_s(timing.seconds),
            format_bandwidth(timing.bytes_per_s),
            f"{timing.share_of_copy:.0%}",
            "" if share is None else f"{share:.0%}",
            "" if stands is None else f"{stands.kind.share:.0%} {stands.kind.of}",
            "" if stands is None else stands.state,
        ))  # fmt: skip
    lines = [clean(f"{each.puzzle}: {each.said}") for each in found if each.timing is None]
    if timed:
        first = timed[0][1]
        head = (
            "puzzle", "sizes", "time", "needed", "copy", "library", "target", "",
        )  # fmt: skip
        copy = format_bandwidth(first.copy_bytes_per_s)
        about = [
            f"A copy within this card's memory moves {copy}, read and written.",
            "Needed are each input once and each output once, over the time; a kernel may move",
            "more. Beside it, as shares: of what a copy moves, and of the library's speed.",
        ]
        if first.matmul_flop_per_s is not None:
            rate = format_flops(first.matmul_flop_per_s)
            about.append(f"PyTorch multiplies matrices of float32, without TF32, at {rate}/s.")
        calls = {timing.library: None for _, timing in timed if timing.library_seconds is not None}
        if calls:
            about.append(f"The library's calls: {', '.join(map(str, calls))}.")
        lines = [_table(head, rows), "", *about, *lines]
    return "\n".join(lines)


def targets_table(found: Sequence[Standing]) -> str:
    """Returns what each kernel should reach on a card and what a record says, and a summary."""
    from gpu_course.grading.card import targets

    counts = Counter(each.state for each in found)
    told = ", ".join(f"{number} {state}" for state, number in counts.items())
    cards = {f"{each.timing.device} ({each.timing.date})" for each in found if each.timing}
    where = f" Measured on {', '.join(sorted(cards))}." if cards else ""
    table = _table(targets.HEAD, targets.rows(found))
    return f"{table}\n\nOf {len(found)} targets: {told}.{where}"


def isolation_text(verdicts: Sequence[Verdict]) -> str:
    """Returns how the answers that ran were held, one line for each level; "" where none ran."""
    levels = Counter(level for verdict in verdicts if (level := verdict.evidence.get("isolation")))
    lines = [
        f"Isolation of {number} {'answer' if number == 1 else 'answers'} in Python: {level}."
        for level, number in levels.items()
    ]
    return "\n".join(lines)


def list_text() -> str:
    """Returns the whole course: parts, lessons, puzzles, lessons to come, and what is hard."""
    from gpu_course.grading.workspace import has_notebook
    from gpu_course.puzzle import DIFFICULTIES, outline

    lines = []
    for part in range(len(outline.PARTS)):
        lines.append(outline.part_title(part))
        for lesson in outline.lessons_of(part):
            time = f"{lesson.minutes} minutes" if has_notebook(lesson) else "no notebook yet"
            lines.append(f"{lesson.name}  {lesson.title} ({time})")
            rows = [
                (f"  {each.short_name}", each.title, f"{each.difficulty}, {each.minutes} minutes")
                for each in lesson.puzzles
            ]
            lines.append(_table(None, rows))
        lines += _to_come(part)
    lines += ["", *(f"{word}: {meaning}" for word, meaning in DIFFICULTIES.items())]
    return "\n".join(lines)


def progress_text(lessons: Sequence[LessonProgress]) -> str:
    """Returns every lesson with its puzzles, the lessons to come, and what is next."""
    from gpu_course.grading.learner.progress import next_puzzle
    from gpu_course.puzzle import outline

    parts = []
    for part in range(len(outline.PARTS)):
        lines = [outline.part_title(part)]
        for each in lessons:
            if each.lesson.part == part:
                lines += [_lesson_text(each), ""]
        parts.append("\n".join([*lines, *_to_come(part)]).rstrip())
    following = next_puzzle(tuple(lessons))
    parts.append(f"Next: {following}" if following else "Every puzzle is passed.")
    return "\n\n".join(parts)


def _lesson_text(lesson: LessonProgress) -> str:
    from gpu_course.grading.verdicts.onward import effort

    efforts = {puzzle.name: effort(puzzle) for puzzle in lesson.lesson.puzzles}
    rows = [
        (
            f"  {verdict.name.rpartition('/')[2]}",
            verdict.status
            if verdict.passed or not lesson.has_passed(verdict)
            else f"{verdict.status} (passed before)",
            f"{verdict.points}/{verdict.max_points}",
            efforts.get(verdict.name, ""),
        )
        for verdict in lesson.verdicts
    ]
    head = f"{lesson.name}  {lesson.title}: {lesson.passed} of {len(lesson.verdicts)} passed"
    return f"{head}\n{_table(None, rows)}"


def _to_come(part: int) -> list[str]:
    """The lessons of a part that are not here yet, in lines that fit."""
    from gpu_course.puzzle import outline

    return textwrap.wrap(outline.to_come_text(part), columns(), subsequent_indent=" " * 9)


def _table(head: Sequence[str] | None, rows: Sequence[Sequence[str]]) -> str:
    """Returns a table as text, as wide as the terminal and 100 columns where there is none."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=head is not None, padding=(0, 2, 0, 0))
    for title in head or [""] * max(map(len, rows), default=0):
        table.add_column(title, overflow="fold", no_wrap=title not in ("message", "sizes"))
    for row in rows:
        # Text, not markup: a message may hold a[8].
        table.add_row(*(Text(cell) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 100, color_system=None)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def fitting(message: str) -> str:
    """Returns a message with its long lines broken as the terminal needs it; as it is in a pipe."""
    if not sys.stdout.isatty():
        return message
    from gpu_course.grading.verdicts.sections import heading, text_of

    return text_of(heading(*message.split("\n")), columns())


def told(verdict: Verdict) -> str:
    """Returns what a verdict says, and after a pass where to go; it fits the terminal."""
    from gpu_course.grading.verdicts.onward import onward
    from gpu_course.grading.verdicts.sections import WIDTH, text_of

    text = text_of(verdict.sections, min(columns(), WIDTH))
    if not verdict.passed:
        return text
    return f"{text}\n{text_of(onward(verdict.name), columns() if sys.stdout.isatty() else None)}"


def columns() -> int:
    """Returns how wide a line may be here: WIDEST, or less in a narrow terminal."""
    return min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else WIDEST


def statement_lines(text: str, width: int) -> list[str]:
    """Returns what a puzzle asks, prose broken anew at `width` columns, tables line by line.

    A line that is indented or has columns belongs to a table, and so does what stands beside it
    without an empty line between. Where a table is too wide, its last column is broken anew.
    """
    lines: list[str] = []
    for block in text.split("\n\n"):
        rows = block.split("\n")
        if not any("  " in row for row in rows):
            rows = [" ".join(rows)]
        elif max(map(len, rows)) > width:
            rows = _whole_rows(rows)
        for row in rows:
            below = " " * min(_last_column(row), width // 3)
            lines += textwrap.wrap(row, width, subsequent_indent=below, break_on_hyphens=False)
        lines.append("")
    return lines[:-1]


def _whole_rows(rows: Sequence[str]) -> list[str]:
    """The rows of a table, each with the lines that go on below its last column."""
    whole: list[str] = []
    for row in rows:
        text = row.lstrip()
        if whole and len(row) - len(text) == _last_column(whole[-1]) > len(whole[-1]) - len(
            whole[-1].lstrip()
        ):
            whole[-1] += f" {text}"
        else:
            whole.append(row)
    return whole


def _last_column(row: str) -> int:
    """Where the text behind the last gap of a row begins."""
    return max((gap.end() for gap in re.finditer(r"\s{2,}", row)), default=0)


def discussion_lines(text: str, width: int) -> list[str]:
    """Returns Markdown with its prose broken at `width` columns; code and tables stay whole."""
    lines: list[str] = []
    in_code = False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        if in_code or not line or line.startswith(("```", "|", "    ")):
            lines.append(line)
        else:
            lines += textwrap.wrap(line, width, subsequent_indent="  " * line.startswith("* "))
    return lines


def path_here(path: Path) -> str:
    r"""Returns a path as a reader in this folder would write it, on one line.

    >>> path_here(Path("two\nlines", "guard.py"))
    'two?lines/guard.py'
    """
    with suppress(ValueError):
        path = path.relative_to(Path.cwd())
    return one_line(str(path))
