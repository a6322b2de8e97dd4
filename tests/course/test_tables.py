"""Tables and printed programs of a lesson fit into half a window, where no word of them breaks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.course.sources import SOURCES, cells_of

MAX_PX = 640
"""What a table may ask for at least, in a panel of 700 px that has a margin and a prompt."""
CODE_PX, TEXT_PX, PADDING_PX = 8.0, 7.2, 16
"""Of a character in JupyterLab's two faces, and beside the text of a cell."""


PROGRAM_COLUMNS = 59
"""Of a program within prose, in the same panel: a longer line wraps, and Python is hard to read."""


def least_px(table: str) -> float:
    """Returns how wide a table of Markdown is, at the least, in pixels of JupyterLab."""
    rows = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in table.splitlines()]
    return sum(
        PADDING_PX + max(_widest_word(row[place]) for row in rows) for place in range(len(rows[0]))
    )


def _widest_word(cell: str) -> float:
    shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell)
    codes = re.findall(r"`([^`]*)`", shown)
    text = re.sub(r"`[^`]*`|\*", " ", shown)
    words = [TEXT_PX * len(word) for word in re.split(r"[\s-]+", text)]
    return max([0.0, *words, *(CODE_PX * len(w) for code in codes for w in code.split())])


def tables(path: Path) -> list[str]:
    """Returns the tables of a lesson's prose."""
    prose = "\n\n".join(cell.text for cell in cells_of(path) if cell.kind == "markdown")
    return re.findall(r"(?m)(?:^\|.*\|[ \t]*(?:\n|\Z)){3,}", prose)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_tables_fit_into_half_a_window(path: Path) -> None:
    wide = {each.splitlines()[0]: round(least_px(each)) for each in tables(path)}
    assert {head: px for head, px in wide.items() if px > MAX_PX} == {}


def test_a_table_with_long_names_in_many_columns_is_seen() -> None:
    names = ["`ZeroRedundancyOptimizer`", "`torch.distributed.checkpoint`", "`ShardedDataParallel`"]
    line = "|---|---|---|---|"
    wide = f"| | {' | '.join(names)} |\n{line}\n| precision | universal | yes | no |\n"
    assert least_px(wide) > MAX_PX
    words = wide.replace("`", "").replace(".", " ").replace("Redundancy", " redundancy ")
    assert least_px(words.replace("DataParallel", " data parallel")) < MAX_PX


def wide_lines(prose: str) -> list[str]:
    """Returns the lines of Python and shell within prose that wrap in half a window."""
    programs = re.findall(r"(?ms)^```(?:python|bash)\n(.*?)^```", prose)
    lines = [line for each in programs for line in each.splitlines()]
    return [line for line in lines if len(line) > PROGRAM_COLUMNS]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_programs_within_prose_fit_into_half_a_window(path: Path) -> None:
    prose = "\n\n".join(cell.text for cell in cells_of(path) if cell.kind == "markdown")
    assert wide_lines(prose) == []


def test_a_program_that_would_wrap_is_seen() -> None:
    short, long = "x" * PROGRAM_COLUMNS, "x" * (PROGRAM_COLUMNS + 1)
    assert wide_lines(f"words\n```python\n{short}\n{long}\n```\n{long}") == [long]
    assert wide_lines(f"```text\n{long}\n```\n") == []
