"""What few people hand in: right answers of another kind pass, wrong ones that hide are refused.

The answers of a lesson stand in `tests/lessons/TOPIC/rare.md`. They are a long series, of which
`make test` draws a part.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpu_course.grading import check
from gpu_course.puzzle import index
from tests.course.puzzles.rules import SOLUTIONS

FILES = sorted((Path(__file__).parents[2] / "lessons").glob("*/rare.md"))
_ANSWER = re.compile(
    r"^## (\w+): ([^\n]+)\n\n([\w-]+)\n\n```diff\n(.*?)```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Answer:
    """One answer.

    Attributes:
        puzzle: the last part of the puzzle's name.
        name: what it does.
        ends: "passes", or the reason or the diagnosis of its verdict.
        hunks: pairs of lines of the solution and of what stands in their place.
    """

    puzzle: str
    name: str
    ends: str
    hunks: tuple[tuple[str, str], ...]

    def source(self) -> str:
        """Returns the whole file."""
        file = SOLUTIONS / f"{index.find(self.puzzle).name}.py"
        text = found = f"\n{file.read_text(encoding='utf-8')}"
        before = len(text)
        for old, new in reversed(self.hunks):  # they stand in the order of the solution's lines
            assert text.count(f"\n{old}") == 1, f"{self.puzzle}: {self.name}: {old}"
            at = text.index(f"\n{old}") + 1
            assert at + len(old) <= before, f"{self.puzzle}: {self.name}: out of order: {old}"
            before = at
            found = found[:at] + new + found[at + len(old) :]
        return found[1:]


def _hunk(text: str) -> tuple[str, str]:
    old, new = (
        "".join(f"{line[1:]}\n" for line in text.splitlines() if line[0] == sign) for sign in "-+"
    )
    return old, new


def answers() -> list[Answer]:
    """Returns all of them."""
    found = []
    for file in FILES:
        for puzzle, name, ends, text in _ANSWER.findall(file.read_text(encoding="utf-8")):
            found.append(Answer(puzzle, name, ends, tuple(map(_hunk, text.split("\n\n")))))
    return found


ANSWERS = answers()


def test_every_answer_is_read_and_every_puzzle_has_wrong_ones_and_right_ones() -> None:
    headings = sum(file.read_text(encoding="utf-8").count("\n## ") for file in FILES)
    assert len(ANSWERS) == headings > 200
    assert len({(each.puzzle, each.name) for each in ANSWERS}) == len(ANSWERS)
    for each in ANSWERS:
        assert ast.parse(each.source()).body, (each.puzzle, each.name)
    for file in FILES:
        for puzzle in index.lesson(file.parent.name).puzzles:
            ends = {each.ends for each in ANSWERS if each.puzzle == puzzle.short_name}
            assert ends > {"passes"}, puzzle.name


@pytest.mark.series(1 / 3)
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda each: f"{each.puzzle}: {each.name}")
def test_an_answer_passes_or_is_refused_for_what_is_wrong_with_it(
    answer: Answer, tmp_path: Path
) -> None:
    file = tmp_path / f"{answer.puzzle}.py"
    file.write_text(answer.source(), encoding="utf-8")
    verdict = check(answer.puzzle, answer=file, seed=0)
    if answer.ends == "passes":
        assert verdict.passed, verdict.message
    else:
        assert answer.ends in (verdict.reason, verdict.diagnosis), verdict.message
