"""A lesson gives its reader something to do early: a guess first, then a puzzle."""

from __future__ import annotations

import re

import pytest

from tests.course.sources import SOURCES, Cell, cells_of

MOST_WORDS = {
    "10_roofline": (200, 360),
    "11_counting": (240, 275),
    "16_memory_ledger": (205, 415),
    "18_optimal_checkpointing": (180, 360),
    "20_smaller_states": (195, 245),
}
"""Lesson -> words of prose before its first guess, and before its first puzzle."""
GUESS = re.compile(r"= (?:predict|forecast)\(")
PUZZLE = re.compile(r"%%puzzle ")


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


@pytest.mark.parametrize("stem", MOST_WORDS)
def test_few_words_stand_before_the_first_guess_and_the_first_puzzle(stem: str) -> None:
    (path,) = [path for path in SOURCES if path.stem == stem]
    before = [words_before(cells_of(path), wanted) for wanted in (GUESS, PUZZLE)]
    for words, most in zip(before, MOST_WORDS[stem], strict=True):
        assert words <= most, f"words before the first guess and the first puzzle: {before}"


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
    with pytest.raises(ValueError, match="no cell holds"):
        words_before(cells[:2], GUESS)
