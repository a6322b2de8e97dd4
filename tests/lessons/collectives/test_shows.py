"""What lesson 21 shows: schedules, runs of one's own on real ranks, and times."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.collectives import networks, times
from gpu_course.lessons.collectives import shows as lesson
from gpu_course.measure.alpha_beta import (
    Link,
    best_pieces,
    double_tree_all_reduce_s,
    ring_all_reduce_s,
)
from gpu_course.notebook.interactive.explore import Explorer
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from gpu_course.units import MIB, format_time_s
from tests.gpu_course.draw.readable import assert_readable
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)
LINK = Link(2e-5, 1e9)
RUNS = [
    (n, size, ring_all_reduce_s(n, size, LINK))
    for n in (2, 4)
    for size in (1024, 65_536, 4_194_304)
]


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))


@pytest.mark.parametrize("name", lesson.SCHEDULES)
@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_every_step_of_every_schedule_can_be_shown(name: str, ranks: int) -> None:
    figure = lesson.chunks_at(name, ranks, 1)
    assert_readable(figure)
    end = alt_text(lesson.chunks_at(name, ranks, 99)).splitlines()
    assert all(
        set(line.partition(": ")[2].rstrip(".").split(", ")) == {"all"} for line in end[-ranks:]
    )


def test_a_schedule_is_stepped_through() -> None:
    shown = lesson.play_chunks("tree", ranks=4)
    assert isinstance(shown, Explorer) and shown.controls["step"].max == 4
    wrong = lesson.play_chunks("star")
    assert isinstance(wrong, Note) and "no all-reduce is called 'star'" in repr(wrong)


@NEEDS_RANKS
@pytest.mark.usefixtures("solved")
def test_ones_own_run_is_counted_and_drawn() -> None:
    own = lesson.own_run("all_reduce", ranks=3, length=3000)
    assert isinstance(own, lesson.OwnRun)
    assert own.sent_bytes == (32_000,) * 3
    assert "rank 2:   4 messages      32,000 bytes" in repr(own)
    matrix = lesson.own_traffic(own)
    assert isinstance(matrix, Picture) and "Rank 2 sends 31.25 KiB to 0." in repr(matrix)
    shown = lesson.play_own("all_reduce", ranks=3)
    assert isinstance(shown, Explorer) and shown.controls["step"].max == 4
    price = lesson.own_supersteps("all_reduce", 4, 64, LINK)
    formula = format_time_s(ring_all_reduce_s(4, 64 * MIB, LINK))
    assert isinstance(price, str) and price.endswith(f"without w, says {formula}")
    steps = [line.split() for line in price.splitlines()[1:-1]]
    assert [step[3:5] for step in steps] == [["16", "MiB"]] * 6
    assert [step[1] == "0" for step in steps] == [False] * 3 + [True] * 3
    timeline = lesson.own_timeline("hierarchical", ranks=4, per_node=2)
    assert isinstance(timeline, Picture) and "4 steps that wait" in repr(timeline)


def test_without_an_answer_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    run = lesson.own_run("all_reduce")
    assert isinstance(run, Note)
    assert "solve the puzzle above first" in repr(lesson.own_traffic(run))
    assert isinstance(lesson.play_own("all_reduce"), Note)
    assert "does not run on ranks" in repr(lesson.own_run("fit_alpha_beta"))


@NEEDS_RANKS
def test_the_library_is_counted_at_its_sockets() -> None:
    found = lesson.library_bytes("all_gather", ranks=2, length=1 << 14)
    if found is None:
        pytest.skip("this kernel does not tell what its sockets carried")
    assert found["ring"] == 0.5
    assert 0.5 <= found["mean"] <= found["most"] < 0.6


@NEEDS_RANKS
def test_rings_are_timed_on_this_computer() -> None:
    found = times.measured_rings(ranks=(2,), sizes=(1024, 8192), repeats=2)
    assert [(n, size) for n, size, _ in found] == [(2, 1024), (2, 8192)]
    assert all(seconds > 0 for _, _, seconds in found)


def test_a_fit_of_the_models_own_times_gives_the_link_back() -> None:
    made = times.fitted(RUNS)
    assert made.alpha_s == pytest.approx(LINK.alpha_s)
    assert made.bytes_per_s == pytest.approx(LINK.bytes_per_s)
    text = times.fit_text(RUNS, LINK)
    assert text.splitlines()[0] == "alpha 20 µs, 1 GB/s"
    assert all(line.endswith("+0%") for line in text.splitlines()[2:])
    assert max(map(len, text.splitlines())) <= 70


def test_times_say_where_ring_and_tree_meet() -> None:
    assert "ring meets tree" in alt_text(times.compared_times(64))
    assert "ring meets tree" not in alt_text(times.compared_times(2))
    for figure in (
        times.compared_times(512, 200, 1),
        times.compared_levels(64, oversubscribed=7),
        times.drawn_times(RUNS, LINK, 4).figure,
    ):
        assert_readable(figure)
    assert "Measured: " in alt_text(times.drawn_times(RUNS, LINK, 4).figure)


@pytest.mark.parametrize(
    ("ranks", "mib", "alpha_us"), [(4, 0.001, 200), (64, 64, 20), (512, 4096, 2)]
)
def test_pieces_say_which_number_is_best_and_what_it_takes(
    ranks: int, mib: float, alpha_us: float
) -> None:
    figure = times.compared_pieces(ranks, mib, alpha_us)
    assert_readable(figure)
    link = Link(alpha_us * 1e-6, 1e10)
    best = best_pieces(ranks, mib * MIB, link)
    seconds = double_tree_all_reduce_s(ranks, mib * MIB, link)
    said = "1 piece is best" if best == 1 else f"{best:,} pieces are best"
    assert f"{said}, {format_time_s(seconds)}." in alt_text(figure)
    assert f"Marked at {best:,}: {format_time_s(seconds)}." in alt_text(figure)


def test_gathers_are_laid_side_by_side() -> None:
    rows = [line.split() for line in times.gathers_text((8, 64), (65_536,)).splitlines()]
    assert [row[3:6] for row in rows[1:]] == [["7", "or", "3"], ["63", "or", "6"]]
    assert max(map(len, times.gathers_text().splitlines())) <= 70


def test_levels_are_named_with_both_links() -> None:
    said = alt_text(times.compared_levels(16))
    assert "two levels: " in said and "one ring, as slow as its slowest link: " in said


def test_a_picture_that_is_not_known_is_told() -> None:
    with pytest.raises(CourseError, match="no all-reduce is called"):
        lesson.chunks_at("star", 4, 0)


def test_a_network_says_who_has_the_full_rate_and_what_fails_when() -> None:
    full, narrow = (alt_text(networks.network(24_576, 64, rate)) for rate in (1, 7))
    assert "All GPUs reach each other at full rate." in full
    assert "Full rate among 1,792 GPUs; beyond, 1/7 if all send" in narrow
    # 5 years over 3 cables for each of 24,576 GPUs.
    assert "A cable fails every 36 minutes, if each lasts 5 years" in full
    assert "1 switch, 1.5 kW" in alt_text(networks.network(8, 64))
    assert "every 228 days" in alt_text(networks.network(8, 64))
