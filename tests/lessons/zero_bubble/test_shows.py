"""What lesson 27 shows: tables that fit a cell, pictures for every choice of a slider."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.zero_bubble import shows
from gpu_course.measure.pipelines.pytorch import SCHEDULES
from gpu_course.notebook.note import Note
from gpu_course.notebook.own.pipelines import own_schedule
from gpu_course.notebook.pictures import Picture
from tests.gpu_course.draw.readable import assert_readable
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def readable(shown: object) -> str:
    """Returns the alt text of a picture that can be read at half a window."""
    assert isinstance(shown, Picture), shown
    assert_readable(shown.figure)
    return alt_text(shown.figure)


def text(shown: object) -> str:
    """Returns a text that fits a cell."""
    assert isinstance(shown, str), shown
    assert max(map(len, shown.splitlines())) <= 76
    return shown


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))


def test_asking_twice_takes_the_products_between_layers_twice() -> None:
    x = torch.randn(4, 8, requires_grad=True)
    weights = [torch.randn(8, 8, requires_grad=True) for _ in range(3)]
    y = x
    for weight in weights:
        y = (y @ weight).relu()

    def asked(*wanted: torch.Tensor) -> object:
        return torch.autograd.grad(y.sum(), wanted, retain_graph=True)

    assert shows.matmuls(lambda: asked(x, *weights)) == 6
    assert shows.matmuls(lambda: asked(x), lambda: asked(*weights)) == 3 + 5


@pytest.mark.parametrize("order", [*shows.RULES, *SCHEDULES])
def test_every_order_can_be_drawn(order: str) -> None:
    assert "rank 3" in readable(shows.pipeline(order))


def test_an_order_and_a_pipeline_that_nobody_knows_are_named() -> None:
    assert isinstance(shows.pipeline("ZB-H3"), Note)
    with pytest.raises(CourseError, match="'ZB-H3'"):
        shows.schedule_of("ZB-H3", 4, 8)
    with pytest.raises(CourseError, match="'7B'"):
        shows.longer_percent("7B")


@pytest.mark.parametrize("ranks", [1, 2, 8])
@pytest.mark.parametrize("microbatches", [1, 24])
@pytest.mark.parametrize("weight", [0.2, 1.0])
@pytest.mark.parametrize("room", [1.0, 2.0])
def test_every_slider_of_the_search_can_be_drawn(
    ranks: int, microbatches: int, weight: float, room: float
) -> None:
    assert "searched" in readable(shows.filled(ranks, microbatches, weight, room))


def test_the_barrier_costs_what_the_pipeline_takes_to_fill() -> None:
    assert "a bubble of 0.0%" in readable(shows.two_steps(together=False))
    assert "waits for 3" in readable(shows.two_steps(together=True))
    assert 5 < shows.longer_percent("1.5B, m=24") < 10


def test_memory_counted_in_microbatches_and_in_bytes_says_different_things() -> None:
    kept, same_count, same_bytes = text(shows.without_scores()).splitlines()[1:]
    assert 0.1 < float(same_count.split()[-1].rstrip("%")) / 100 < 0.105
    assert kept.split()[-2] == same_bytes.split()[-2]
    assert float(same_bytes.split()[-1].rstrip("%")) < 5


def test_tables_of_schedules_and_formulas() -> None:
    found = text(shows.seven())
    assert all(name in found for name in SCHEDULES)
    assert "ZBVZeroBubble" in found and found.count("0.0%") == 2
    lines = [line.split() for line in text(shows.formulas(8)).splitlines()[2:]]
    assert [line[1] for line in lines] == [line[2] for line in lines] == ["21", "7", "6"]
    assert lines[-1] == ["DualPipe", "6", "6", "2", "9"]


def test_messages_that_keep_gpus_busy_explain_a_part() -> None:
    lines = text(shows.messages_at_work()).splitlines()[1:]
    for line in lines:
        free, busy = (float(word.rstrip("%")) for word in line.split()[-2:])
        assert 0 < busy < free


@NEEDS_RANKS
@pytest.mark.usefixtures("solved")
def test_ones_own_orders_are_drawn_ranked_and_run() -> None:
    assert readable(shows.own("zb_h1")).startswith("your zb_h1: a bubble of 11.1%")
    assert "your zb_h2: a bubble of 0.0%" in readable(shows.own("zb_h2"))
    assert "your dualpipe: a bubble of 7.7%" in readable(shows.own("dualpipe"))
    assert text(shows.own_on_ranks()).count("as in one process") == 2
    assert text(shows.leaderboard()).count("yours") == 2


def test_a_pipeline_without_a_printed_rate_has_a_leaderboard_too(solved: None) -> None:
    assert "published" not in text(shows.leaderboard("6.2B, m=24"))


def test_without_an_answer_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    for shown in (shows.own("zb_h1"), shows.own_on_ranks(), shows.leaderboard()):
        assert isinstance(shown, Note)


@NEEDS_RANKS
def test_orders_that_cannot_run_are_told_as_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "27_zero_bubble"
    folder.mkdir()
    (folder / "zb_h1.py").write_text(
        'def zb_h1(ranks, microbatches):\n    return [["0F0", "0W0", "0I0"]]\n'
    )
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    with pytest.raises(CourseError, match="0W0 at step 1, before the 0I0"):
        own_schedule("zb_h1", 1, ranks=1)
