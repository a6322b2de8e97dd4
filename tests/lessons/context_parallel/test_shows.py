"""What lesson 25 shows: runs of one's own ring, and pictures for every choice of a slider."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.context_parallel import compared_costs, document_lengths
from gpu_course.lessons.context_parallel import shows as lesson
from gpu_course.lessons.context_parallel.sequence_costs import Attention
from gpu_course.lessons.context_parallel.sequence_layouts import LAYOUTS
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.calls import Call
from gpu_course.ranks.runner import Run
from tests.gpu_course.draw.readable import assert_readable
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))


@NEEDS_RANKS
@pytest.mark.usefixtures("solved")
def test_ones_own_ring_is_exact_and_its_rounds_are_drawn() -> None:
    assert lesson.own_exact(ranks=3, tokens=20).count("the same to 12 digits") == len(LAYOUTS)
    step = lesson.own_step(ranks=2, layout="striped")
    assert step.count("the same to 12 digits") == 2
    drawn = lesson.own_rounds("plain", ranks=3)
    assert isinstance(drawn, Picture)
    assert_readable(drawn.figure)
    assert "Rank 2: 0.50 of 0.50 with the keys of 2, 1.00 of 1.00 with the keys of 1" in repr(drawn)


def test_without_an_answer_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    for shown in (lesson.own_exact(), lesson.own_step(), lesson.own_rounds()):
        assert isinstance(shown, Note)


def calls(*sizes: tuple[int, int]) -> Run:
    """A run of two ranks that received messages of so many numbers."""
    told = [Call(r, k, "recv", (0, 1), k, (size,), 8 * size, 1 - r)
            for k, (r, size) in enumerate(sizes)]  # fmt: skip
    return Run((None, None), ("", ""), tuple(told), None)


def test_whose_block_came_is_known_by_its_length() -> None:
    # Keys and values one by one on rank 0, in one message on rank 1.
    run = calls((0, 10), (0, 10), (1, 24))
    assert lesson.held_in_rounds(run, [6, 5], 2) == [[0, 1], [1, 0]]
    with pytest.raises(CourseError, match="7 numbers"):
        lesson.held_in_rounds(calls((0, 7)), [6, 5], 2)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_every_order_of_every_number_of_ranks_can_be_drawn(layout: str, ranks: int) -> None:
    for figure in (lesson.triangle(ranks, layout), lesson.rounds(ranks, layout)):
        assert_readable(figure)
        assert layout in alt_text(figure)


def test_an_unknown_order_is_named() -> None:
    with pytest.raises(CourseError, match="'random'"):
        lesson.triangle(4, "random")


@pytest.mark.parametrize("ranks", [2, 8, 64])
@pytest.mark.parametrize(("heads", "kv_heads"), [(16, 1), (32, 8), (128, 32), (16, 32)])
def test_every_choice_can_be_drawn(ranks: int, heads: int, kv_heads: int) -> None:
    for figure in (
        compared_costs.choose(ranks, heads, kv_heads),
        compared_costs.memory(ranks, heads, kv_heads),
    ):
        assert_readable(figure)


def test_the_verdict_goes_by_bytes_and_heads() -> None:
    assert compared_costs.verdict(Attention(1024, 32, 32), 8).startswith("8 ranks: Ulysses")
    assert compared_costs.verdict(Attention(1024, 64, 8), 8).startswith("8 ranks: ring")
    assert "do not divide 8 heads" in compared_costs.verdict(Attention(1024, 64, 8), 16)
    assert "both send" in compared_costs.verdict(Attention(1024, 32, 32), 2)


def test_texts_fit_a_cell_and_hold_the_bound() -> None:
    for text in (lesson.bounds(8), compared_costs.bytes_table(), compared_costs.lived_in_llama_3()):
        assert max(map(len, text.splitlines())) <= 70
    assert "53.3" in lesson.bounds(8)
    assert_readable(compared_costs.attention_share(1024))


def test_lengths_are_those_of_files(tmp_path: Path) -> None:
    for name, size in (("a.py", 400), ("b.py", 40_000), ("c.txt", 9_000), ("d.py", 1)):
        (tmp_path / name).write_bytes(b"x" * size)
    found = document_lengths.lengths_of(tmp_path, "*.py")
    assert sorted(found) == [100, 10_000]
    bins = document_lengths.binned(found)
    assert sum(b[1] for b in bins) == pytest.approx(1) == sum(b[2] for b in bins)
    assert_readable(document_lengths.own_lengths().figure)
