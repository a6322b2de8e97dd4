"""What lesson 33 shows: the tiny GPT on two real ranks, links, and the learner's own answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.across_oceans import letters, runs
from gpu_course.lessons.across_oceans import shows as lesson
from gpu_course.lessons.across_oceans.capstone import draft, grade_of
from gpu_course.notebook.note import Note
from gpu_course.ranks.runner import run_function
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)
pytestmark = pytest.mark.long(30)


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))


def test_islands_read_texts_of_their_own_and_are_tested_on_another() -> None:
    one, other = (letters.own_batches(rank, 4) for rank in (0, 1))
    assert all(each.shape == (letters.BATCH, letters.SHAPE.sequence) for each in one + other)
    assert not any((a == b).all() for a, b in zip(one, other, strict=True))
    assert all((a == b).all() for a, b in zip(one, letters.own_batches(0, 4), strict=True))
    assert letters.tested_loss(letters.tiny_gpt()) == pytest.approx(
        letters.guessing_loss(), rel=0.1
    )


@NEEDS_RANKS
@pytest.mark.usefixtures("solved")
def test_ones_own_rounds_are_the_courses() -> None:
    settings = [(4, 0.7, 0.9), (1, 1.0, 0.0), (8, 0.5, 0.5)]
    given = {"settings": settings, "steps": 16}
    own = lesson.run_own("diloco", runs.own_rounds, 2, **given).results[0]
    ours = run_function(runs.course_rounds, 2, given).results[0]
    for mine, right in zip(own, ours, strict=True):
        assert mine["moved"] == pytest.approx(right["moved"], rel=1e-9)
        assert mine["losses"] == right["losses"] or all(
            a == pytest.approx(b, rel=1e-9)
            for a, b in zip(mine["losses"], right["losses"], strict=True)
        )


@NEEDS_RANKS
def test_rarer_exchanges_cost_bytes_and_little_loss() -> None:
    often, rare = lesson.ran([lesson.EVERY_STEP, (32, *lesson.NESTEROV)])
    (small,) = lesson.ran([(32, *lesson.NESTEROV)], bits=8)
    (one,) = lesson.ran([(1, *lesson.NESTEROV)])
    # Two ranks in a ring: each sends as much as all parameters have.
    whole = 8 * sum(each.numel() for each in letters.tiny_gpt().parameters())
    assert often.sent_bytes == 256 * whole and rare.sent_bytes == 8 * whole
    # A byte for each number, where a float64 has eight, and a scale for each block.
    assert whole < small.sent_bytes < 1.1 * whole
    assert often.loss < rare.loss < 1.3 * often.loss
    assert small.loss == pytest.approx(rare.loss, abs=0.01)
    assert lesson.how_well(one.loss, often.loss) == "no better than guessing"
    assert lesson.loss_words(one.loss) == "as by guessing"
    assert lesson.how_well(rare.loss, often.loss) == "a little worse"
    assert lesson.how_well(small.loss, rare.loss) == "as good"
    assert one.moved[31] > 4 * often.moved[31]


def test_outer_steps_come_to_their_limit() -> None:
    ways = lesson.outer_ways(0.7, 0.9, 200)
    assert ways[0] == pytest.approx(0.7 * 1.9) and ways[-1] == pytest.approx(7.0)
    assert lesson.outer_ways(1.0, 0.0, 3) == [1.0, 1.0, 1.0]


@NEEDS_RANKS
@pytest.mark.usefixtures("solved")
def test_ones_own_functions_say_what_the_lesson_shows() -> None:
    assert "alpha 0.336, beta 0.283 gives both" in str(lesson.own_exponents())
    cost = str(lesson.own_cost()).splitlines()
    assert cost[1].split()[2] == "2,788" and cost[-1].split()[2] == "5.576"
    shares = str(lesson.own_shares([8])).splitlines()
    assert shares[2].split()[0] == "LLaMA-7B" and shares[2].split()[1] == "14.2%"
    told = str(lesson.own_links())
    assert "data parallel 74.3 GB" in told
    for text in (told, "\n".join(cost), "\n".join(shares)):
        assert max(map(len, text.splitlines())) <= 72


@NEEDS_RANKS
def test_an_answer_that_trains_nothing_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    assert isinstance(lesson.own_runs(), Note) and isinstance(lesson.own_cost(), Note)
    folder = tmp_path / "33_across_oceans"
    folder.mkdir()
    (folder / "diloco.py").write_text(
        "def diloco(model, batches, loss_of, h, inner, rate, momentum):\n    return None\n"
    )
    told = lesson.own_runs([128])
    assert isinstance(told, Note) and "solve the puzzle diloco first" in repr(told)


def test_tables_fit_the_half_window() -> None:
    for text in (
        lesson.forty_minutes(), lesson.cells_text(0.32, 0.28), lesson.windows_text(4096),
    ):  # fmt: skip
        assert max(map(len, text.splitlines())) <= 72


def cells_of_the_plan() -> str:
    """Returns the code of the section on the plan, without what shows it."""
    text = (SOLUTIONS.parent / "notebooks/source/33_across_oceans.md").read_text(encoding="utf-8")
    section = text.partition("\n## Your plan\n")[2].partition("\n### Yours\n")[0]
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", section, re.DOTALL)
    return "\n".join(
        line
        for cell in cells
        for line in cell.splitlines()
        if not line.startswith(("print(", "page_of("))
    )


def test_the_plan_that_the_lesson_works_out_meets_every_criterion() -> None:
    known: dict[str, Any] = {"draft": draft, "planned": lesson.planned}
    exec(cells_of_the_plan(), known)
    grade = grade_of(known["example"])
    assert grade.passed, grade
    page = lesson.page_of(known["example"])
    assert isinstance(page, lesson.Page) and repr(page) == repr(grade)
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "1.3B parameters on 64 GPUs" in shown
    assert "<script" not in shown
