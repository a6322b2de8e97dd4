"""A puzzle says nothing in words that a later lesson brings.

The glossary knows in which lesson a term is met first. What a learner reads of a puzzle before that
(its statement, hints, diagnoses, budgets and debrief) does without it, or names the lesson.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from gpu_course.grading.kernel.passing import COUNTED
from gpu_course.puzzle import index
from gpu_course.puzzle.specification import KernelPuzzle, Puzzle, Term

PUZZLES = [puzzle for lesson in index.lessons() for puzzle in lesson.puzzles]

PLAIN = {
    "bucket",
    "chunk",  # of an array
    "f",
    "fold",
    "g",
    "in flight",  # of requests that are served
    "node",
    "rank",  # of a matrix
    "resharding",
    "ring",
    "root",  # of a number
    "shard",
    "slice",  # of a tensor, in Python
    "stage",  # of a chain
    "two levels",
    "unit",
}
"""Terms of a later lesson that are plain words, or another field's, before it."""

EXPLAINED = {
    # The lesson says what it is, and that lesson 04 is about it, right before the puzzle.
    ("02_warps/occupancy", "shared memory"),
}


def texts(puzzle: Puzzle) -> Iterator[tuple[str, str]]:
    """Yields (where it stands, what a puzzle says)."""
    yield "statement", puzzle.statement
    yield from (("hint", each) for each in puzzle.hints)
    yield from puzzle.diagnoses.items()
    told = puzzle.debrief
    assert told is not None
    yield from (("debrief", each) for each in (told.why, told.alternative, told.goal))
    if isinstance(puzzle, KernelPuzzle):
        yield from (("debrief", COUNTED[path]) for path in told.shows)
        for budget in puzzle.budgets:
            # What a puzzle has none of only an answer that brought it hears about.
            if budget.limit != 0:
                yield budget.counter, f"{budget.lesson} {budget.words} {budget.fact}"


def later_words(text: str, lesson: str, terms: tuple[Term, ...]) -> list[str]:
    """Returns the terms of lessons after this one that stand in a text without their lesson."""
    found = []
    for sentence in re.split(r"(?<=[.?!:])\s+", " ".join(text.split())):
        for term in terms:
            named = f"lesson {term.lesson[:2]}" in sentence
            if term.lesson <= lesson or named:
                continue
            names = {term.name, *term.also} - PLAIN
            found += [name for name in sorted(names) if _stands(name, sentence)]
    return found


def _stands(name: str, sentence: str) -> bool:
    """Whether a name is in a sentence, as a word: not in code, and not in a name like TILE_X."""
    plain = re.sub(r"`[^`]*`", " ", sentence)
    first = f"[{name[0]}{name[0].upper()}]"
    return bool(re.search(rf"(?<!\w){first}{re.escape(name[1:])}(?:s|es)?(?!\w)", plain))


@pytest.mark.parametrize("puzzle", PUZZLES, ids=lambda puzzle: puzzle.name)
def test_a_puzzle_speaks_in_words_of_its_lesson_and_those_before(puzzle: Puzzle) -> None:
    found = {
        (where, word)
        for where, text in texts(puzzle)
        for word in later_words(text, puzzle.lesson, index.terms())
        if (puzzle.name, word) not in EXPLAINED
    }
    assert not found


def test_a_word_of_a_later_lesson_is_seen_and_one_beside_its_lesson_is_not() -> None:
    terms = index.terms()
    assert later_words("Fill the tile, then wait.", "02_warps", terms) == ["tile"]
    assert later_words("Barriers come later.", "02_warps", terms) == ["barrier"]
    assert later_words("Fill the tile, then wait.", "04_shared_memory", terms) == []
    assert later_words("A tile (lesson 04) would do.", "02_warps", terms) == []
    assert later_words("Blocks of TILE_X threads read `tile[t]`.", "02_warps", terms) == []


def test_a_word_is_met_first_in_one_lesson() -> None:
    names = [term.name for term in index.terms()]
    assert sorted(names) == sorted(set(names))


def test_each_exception_is_still_needed() -> None:
    assert {name for term in index.terms() for name in (term.name, *term.also)} >= PLAIN
    for name, word in EXPLAINED:
        puzzle = index.find(name)
        said = [later_words(text, puzzle.lesson, index.terms()) for _, text in texts(puzzle)]
        assert any(word in each for each in said), name
