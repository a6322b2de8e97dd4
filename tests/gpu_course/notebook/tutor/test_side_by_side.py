"""The diff of a notebook: both programs, line beside line, each difference with a sign."""

from __future__ import annotations

import re

from gpu_course.grading.learner.solution import SolutionDiff
from gpu_course.notebook.tutor.side_by_side import SideBySide, paired, shortened

LONG = "    total = cuda.shfl_down_sync(mask_of_all_lanes, total, distance) + b[i]  # <- here"


def table(answer: list[str], solution: list[str]) -> str:
    return SideBySide(SolutionDiff(tuple(answer), tuple(solution), "-a\n+b", ""))._repr_html_()


def words(html: str) -> list[str]:
    """What stands in the cells of a table, one text each."""
    return [
        re.sub(r"<[^>]+>", "", cell).strip()
        for cell in re.findall(r'role="cell"[^>]*>(.*?)</div>', html, re.DOTALL)
    ]


def test_lines_that_differ_carry_a_sign_and_a_colour() -> None:
    html = table(["same", "mine"], ["same", "ours", "more"])
    assert words(html) == ["same", "same", "\u2212 mine", "+ ours", "", "+ more"]
    marked = [cell for cell in re.findall(r'role="cell" style="([^"]*)"', html) if "#" in cell]
    assert len(marked) == 3
    # A ground with an alpha channel darkens a light page and lightens a dark one.
    assert all(re.search(r"background:#\w{6}2e;", cell) for cell in marked)
    assert "color:" not in re.sub(r"ground-color|border", "", marked[0])


def test_a_long_line_may_break_at_words_and_behind_brackets_alone() -> None:
    html = table([LONG], ["x"])
    assert "word-break:normal" in html and "break-all" not in html
    assert "&lt;- here" in html
    broken = re.search(r"total =.*?</div>", html)
    assert broken and "shfl_down_sync(<wbr>mask_of_all_lanes, total" in broken[0]


def test_equal_lines_far_from_a_difference_are_counted() -> None:
    same = [f"line {n}" for n in range(20)]
    html = table([*same, "mine"], [*same, "ours"])
    assert "17 lines are the same" in html and "line 16" not in html and "line 17" in html


def test_pairs_are_whole() -> None:
    answer, solution = ["a", "b", "c"], ["b", "c", "d", "e"]
    rows = list(paired(answer, solution))
    assert [left for left, _, _ in rows if left is not None] == answer
    assert [right for _, right, _ in rows if right is not None] == solution
    assert all(differs or left == right for left, right, differs in rows)
    assert list(shortened(iter(rows), around=9)) == rows


def test_the_same_program_is_said_in_a_sentence() -> None:
    said = "Your answer and the solution are the same program."
    shown = SideBySide(SolutionDiff(("a",), ("a",), said, ""))
    assert repr(shown) == said and "role" not in shown._repr_html_() and said in shown._repr_html_()
