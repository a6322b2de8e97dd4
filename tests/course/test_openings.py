"""A lesson gives its reader something to do early: a guess first, then a puzzle."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.course.sources import SOURCES, Cell, cells_of

MOST_WORDS = 450
"""Before the first puzzle of a lesson: two minutes of reading are 300 to 400 words."""
MOST_WORDS_AT_FIRST = 400
"""Before the first guess or puzzle, whichever comes earlier."""
FEW_WORDS = 200
"""Who has written no kernel yet writes one before anything else."""
GUESS = re.compile(r"= (?:predict|forecast)\(")
PUZZLE = re.compile(r"%%puzzle ")
GUESS_OR_PUZZLE = re.compile(f"{GUESS.pattern}|{PUZZLE.pattern}")


def words_before(cells: list[Cell], wanted: re.Pattern[str]) -> int:
    """Returns the words of prose before the first code cell that holds something.

    Raises:
        ValueError: no cell does.
    """
    words = 0
    for cell in cells:
        if cell.kind == "markdown":
            words += sum(bool(re.search(r"\w", word)) for word in cell.text.split())
        elif wanted.search(cell.text):
            return words
    raise ValueError(f"no cell holds {wanted.pattern}")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_few_words_stand_before_the_first_guess_and_the_first_puzzle(path: Path) -> None:
    cells = cells_of(path)
    puzzle, either = words_before(cells, PUZZLE), words_before(cells, GUESS_OR_PUZZLE)
    assert puzzle <= MOST_WORDS and either <= MOST_WORDS_AT_FIRST, (either, puzzle)


def test_the_first_puzzle_of_all_comes_after_a_few_words() -> None:
    assert SOURCES[0].stem == "00_start_here"
    assert words_before(cells_of(SOURCES[0]), PUZZLE) <= FEW_WORDS


def test_words_are_counted_up_to_the_cell_and_marks_are_none() -> None:
    cells = [
        Cell("markdown", "# One two\n\n| | |\n|---|---|\n| three | *four* |"),
        Cell("code", "five = six"),
        Cell("code", 'guess = predict("seven")'),
        Cell("markdown", "eight"),
        Cell("code", "%%puzzle nine"),
    ]
    assert words_before(cells, GUESS) == 4
    assert words_before(cells, PUZZLE) == 5
    assert words_before(cells, GUESS_OR_PUZZLE) == 4
    with pytest.raises(ValueError, match="no cell holds"):
        words_before(cells[:2], GUESS)
