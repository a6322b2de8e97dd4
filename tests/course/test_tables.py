"""The tables of a lesson fit into half a window: a word that cannot break sets a column's width."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.course.sources import SOURCES, cells_of

MAX_PX = 640
"""What a table may ask for at least, in a panel of 700 px that has a margin and a prompt."""
CODE_PX, TEXT_PX, PADDING_PX = 8.0, 7.2, 16
"""Of a character in JupyterLab's two faces, and beside the text of a cell."""


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
