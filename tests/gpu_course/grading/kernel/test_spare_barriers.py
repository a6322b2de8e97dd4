"""Right, but with a barrier too many: the verdict names that barrier."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.grading.check import check
from gpu_course.grading.kernel.budgets import MAX_LINES

PUZZLE = "04_shared_memory/fix_the_race"
ROOT = Path(__file__).parents[4]
TPB = 64
TURN = "        left = tile[t - 1] if t > 0 else float32(0)\n"
ONE = "Without this barrier every case is still right, and nothing races."
ALL = "Without these barriers every case is still right, and nothing races."
SOME = "Not all of these are needed: without any one of them every case is still right"
NONE = "As your kernel stands, it goes wrong without any one of its barriers."


@pytest.fixture
def solution() -> str:
    return (ROOT / "solutions" / f"{PUZZLE}.py").read_text()


def told(text: str, folder: Path) -> tuple[str, list[int]]:
    """Returns the verdict's message in one line, and the lines of the answer that it names."""
    path = folder / "fix_the_race.py"
    path.write_text(text)
    verdict = check(PUZZLE, answer=path, seed=0)
    assert verdict.reason == "over-budget", verdict.message
    costs = [line for line in verdict.message.splitlines() if line.startswith("  cost:")]
    return " ".join(verdict.message.split()), [int(line.rpartition(":")[2]) for line in costs]


def with_line(text: str, before: str, more: str) -> tuple[str, int]:
    """Returns a text with a line put before the first that begins so, and that line's number."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(before))
    return "\n".join([*lines[:at], more, *lines[at:], ""]), at + 1


@pytest.mark.parametrize(
    "before",
    [
        "    length = min(TPB",  # the first kernel: before anything is in the tile
        "    for row in range(",  # before a loop
        "        left = tile[t - 1]",  # the first statement of a loop
    ],
)
def test_the_barrier_that_can_go_is_named(solution: str, tmp_path: Path, before: str) -> None:
    indent = before[: len(before) - len(before.lstrip())]
    text, line = with_line(solution, before, f"{indent}cuda.syncthreads()")
    message, lines = told(text, tmp_path)
    assert line in lines
    assert ONE in message if lines == [line] else SOME in message


def test_of_two_in_a_row_either_can_go(solution: str, tmp_path: Path) -> None:
    text, line = with_line(solution, "        cuda.syncthreads()", "        cuda.syncthreads()")
    message, lines = told(text, tmp_path)
    assert SOME in message
    assert lines == [line, line + 1]


def test_of_two_in_one_line_it_is_not_said_that_both_can_go(solution: str, tmp_path: Path) -> None:
    text = solution.replace(
        "    cuda.syncthreads()\n", "    cuda.syncthreads(); cuda.syncthreads()\n", 1
    )
    message, lines = told(text, tmp_path)
    assert SOME in message
    assert len(lines) == 1


def test_several_that_can_all_go_are_all_named(solution: str, tmp_path: Path) -> None:
    text, first = with_line(solution, "    for row in range(", "    cuda.syncthreads()")
    text, second = with_line(text, "    for row in range(", "    cuda.syncthreads()")
    message, lines = told(text, tmp_path)
    assert ALL in message
    assert lines == [first, second]


def test_where_each_is_needed_as_it_stands_none_is_blamed(solution: str, tmp_path: Path) -> None:
    """Each cell goes one place to the right and comes back: every barrier orders something."""
    assert TURN in solution
    there, back = (
        f"        mine = tile[(t + {step}) % TPB]\n        cuda.syncthreads()\n"
        "        tile[t] = mine\n        cuda.syncthreads()\n"
        for step in (TPB - 1, 1)
    )
    message, lines = told(solution.replace(TURN, there + back + TURN), tmp_path)
    assert NONE in message
    assert len(lines) == MAX_LINES
