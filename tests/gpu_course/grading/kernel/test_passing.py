"""What a pass of kernels says beyond its points."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_course import check
from gpu_course.grading.kernel import passing
from gpu_course.puzzle import Bonus, Debrief
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.toy import RIGHT, guarded

TOLD = Debrief(
    shows=("global_load.bytes", "branches", "divergent_branches", "barriers"),
    why="Each thread has a cell. No two of them share one.",
    alternative="There is hardly another way to say it.",
)
TIGHT = replace(TOLD, goal="Split no warp."), Bonus("divergent_branches", lambda case: 0)
# The visible example has three warps, and so three branches; the case at random has more.
LATER = replace(TOLD, goal="Branch little."), Bonus("branches", lambda case: 3)


def messages(
    debrief: Debrief, path: Path, text: str = RIGHT, *, bonus: Bonus | None = None
) -> list[str]:
    """Returns the message on a toy's answer, at 70 columns."""
    path.write_text(text)
    verdict = check(replace(toy.TOY, debrief=debrief, bonus=bonus), answer=path, seed=0)
    assert verdict.passed, verdict.message
    return verdict.message.splitlines()


def test_a_pass_says_what_the_answer_did_why_it_works_and_another_way(file: Path) -> None:
    assert messages(TOLD, file) == [
        "right in all 4 cases: 10 of 10 points",
        "  yours:  visible example (size 10, block 4): 40 bytes read, warps met",
        "          a branch 3 times, split once, warps never waited at a",
        "          barrier",
        "  why:    Each thread has a cell. No two of them share one.",
        "  other:  There is hardly another way to say it.",
    ]


def test_the_counters_are_the_learners_own(file: Path) -> None:
    extra = guarded("out[i] = a[i] + a[size - 1] - a[size - 1] + 10")
    assert "40 bytes read" in messages(TOLD, file)[1]
    # Two loads more in each of three warps, all lanes at one cell of four bytes.
    assert f"{40 + 2 * 3 * 4} bytes read" in messages(TOLD, file, extra)[1]


def test_a_bonus_that_is_met_in_every_case_is_met(file: Path) -> None:
    free, bonus = replace(TOLD, goal="Split few."), Bonus("divergent_branches", lambda case: 99)
    assert (
        messages(free, file, bonus=bonus)[-1]
        == "  bonus:  met: Split few. Yours: split once; the goal is 99."
    )


def test_a_bonus_that_is_missed_says_by_how_much_and_in_which_case(file: Path) -> None:
    text = " ".join(" ".join(messages(TIGHT[0], file, bonus=TIGHT[1])).split())
    assert text.endswith("bonus: not met yet: Split no warp. Yours: split once; the goal is 0.")
    text = " ".join(" ".join(messages(LATER[0], file, bonus=LATER[1])).split())
    assert re.search(
        r"bonus: not met yet: Branch little. Yours: warps met a branch \d times in the case at "
        r"random \(size \d+, block 32\); the goal is 3\.$",
        text,
    )


def test_a_puzzle_without_a_debrief_says_the_points(file: Path) -> None:
    file.write_text(RIGHT)
    assert check("plus_ten", seed=0).message == "right in all 4 cases: 10 of 10 points"


TIMES = [path for path, words in passing.COUNTED.items() if "{times}" in words]


@pytest.mark.parametrize("path", TIMES)
def test_a_count_reads_as_a_sentence(path: str) -> None:
    none, one, many = (passing.counted_text(path, number) for number in (0, 1, 2000))
    assert one.endswith(" once") and many.endswith(" 2,000 times")
    verb = one.removesuffix(" once").removeprefix("warps ")
    assert none in (f"warps never {verb}", f"never {verb}")
    assert none.startswith("warps") == one.startswith("warps")
