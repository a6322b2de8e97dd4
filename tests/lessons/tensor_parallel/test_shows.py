"""What lesson 24 shows: counts of a layer, and the learner's own answers on real ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.claims.tables.korthikanti import TABLE_3, TECHNIQUES, layer_bytes
from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.tensor_parallel import shows as lesson
from gpu_course.notebook.latest_cell import times_called
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.console import console
from tests.gpu_course.draw.readable import assert_readable
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def test_what_is_kept_is_what_the_planner_counts() -> None:
    for run in TABLE_3.values():
        kept = lesson.kept_bytes(run.shape, run.tensor)
        for way, technique in (
            ("layers cut", "none"),
            ("tokens shared out, too", "sequence"),
            ("and scores made again", "sequence + selective"),
        ):
            assert sum(kept[way]) == pytest.approx(layer_bytes(run, TECHNIQUES[technique]))
        # 10 of 34 sbh bytes, by Table 2 of the paper.
        assert kept["layers cut"][0] == 10 * run.shape.sbh


def test_pictures_of_the_lesson_can_be_read() -> None:
    for figure in (
        lesson.cut_layer(8, 8192, 12288),
        lesson.cut_attention(8, 8, 8),
        lesson.kept_by_layer("1T", 16),
        lesson.zero_or_cut(31.0, 50, 400),
        lesson.zero_or_cut(1.0, 5, 153),
    ):
        assert_readable(figure)
    with pytest.raises(CourseError, match="no model is called '7B'"):
        lesson.kept_by_layer("7B")
    said = alt_text(lesson.zero_or_cut())
    assert said.count("Published") == 6
    # No more ranks than heads of keys, and no more of these than heads.
    assert "among 2 ranks" in alt_text(lesson.cut_attention(8, 8, 2))
    assert "4 heads of queries, 4 heads of keys" in alt_text(lesson.cut_attention(2, 4, 8))


def test_grids_are_compared() -> None:
    table = lesson.grids_text(64).splitlines()
    assert table[0].startswith("on 64 ranks") and len(table) == 6
    assert max(map(len, table)) <= 70


@NEEDS_RANKS
def test_what_a_cell_called_is_counted() -> None:
    console().start(2)
    console().run("dist.all_reduce(torch.ones(4))\n", None)
    assert times_called("all_reduce") == 1 and times_called("broadcast") == 0
    assert lesson.last_calls().splitlines()[1].split() == ["0", "all_reduce", "1", "16"]
    console().close()


@NEEDS_RANKS
def test_ones_own_answers_run_on_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))
    said = lesson.own_passes(ranks=3, tokens=4, hidden=6)
    assert isinstance(said, str) and said.endswith("gradients too: yes")
    # 2 (n - 1) / n of 4 x 6 float64, once in each pass.
    assert said.count("all_reduce          1            256") == 6
    layer = lesson.own_layer(ranks=2, tokens=4, hidden=8, heads=2)
    assert isinstance(layer, str) and layer.endswith("gradients too: yes")
    # Two sums in each pass, of 4 x 8 float64.
    assert layer.count("all_reduce          2            512") == 4
    grid = lesson.own_grid(m=4, k=4, n=6)
    assert isinstance(grid, Picture)
    assert "Rank 3 sends 48 bytes to 1, 32 bytes to 2." in repr(grid)


def test_without_an_answer_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    assert isinstance(lesson.own_passes(), Note)
    assert isinstance(lesson.own_layer(), Note)
    assert isinstance(lesson.own_grid(), Note)
