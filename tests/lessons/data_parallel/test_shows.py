"""What lesson 22 shows: hooks on real ranks, DDP's messages, overlap, batches and staleness."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest

from gpu_course.draw.paper.picture import alt_text
from gpu_course.errors import CourseError
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.data_parallel import batches, stale
from gpu_course.lessons.data_parallel import large_batch as lb
from gpu_course.lessons.data_parallel import shows as lesson
from gpu_course.lessons.data_parallel.pictures import Bucket
from gpu_course.measure.alpha_beta import Link
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
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
@pytest.mark.parametrize(("name", "messages"), [("ddp", 29), ("bucketed", 12)])
def test_ones_own_hooks_train_as_ddp_does(name: str, messages: int) -> None:
    said = str(lesson.own_steps(name, ranks=2, bucket_kib=32)).splitlines()
    assert [line.split(":")[1].strip() for line in said[1:3]] == ["the same weights"] * 2
    assert said[3].endswith(f"{3 * messages} of each rank, {messages} in a step")


def test_a_gpu_computes_for_less_of_a_step_unless_the_batch_grows() -> None:
    lines = [line.split() for line in lesson.computing_text().splitlines()[2:]]
    assert [line[:2] + line[3:4] for line in lines] == [
        [str(gpus), "256", f"{32 * gpus:,}"] for gpus in (16, 32, 64, 128, 256)
    ]
    same, grown = ([int(line[n].removesuffix("%")) for line in lines] for n in (2, 4))
    assert same == sorted(same, reverse=True) and same[-1] < 50
    assert min(grown) > 90


@NEEDS_RANKS
def test_weights_that_differ_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "22_data_parallel"
    folder.mkdir()
    text = (SOLUTIONS / "22_data_parallel/ddp.py").read_text()
    (folder / "ddp.py").write_text(text.replace("        parameter.grad /= n\n", ""))
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    said = str(lesson.own_steps("ddp")).splitlines()
    assert "weights differ by" in said[1] and "weights differ by" in said[2]


@NEEDS_RANKS
@pytest.mark.usefixtures("solved")
def test_ones_own_pass_is_drawn() -> None:
    picture = lesson.own_buckets(bucket_kib=32)
    assert isinstance(picture, Picture)
    assert "12 of 12 messages begin before the pass ends" in repr(picture)
    assert isinstance(lesson.own_buckets("no_such_puzzle"), Note)


def test_a_pass_is_read_from_what_a_rank_told() -> None:
    told = [
        ("begins", 0), ("mark", 1000), ("mark", 4), ("begins", 1), ("mark", 3), ("waits", 1),
        ("mark", 2), ("mark", 1001), ("begins", 2), ("waits", 2), ("mark", 1000), ("mark", 4),
        ("begins", 3),
    ]  # fmt: skip
    found = lesson.first_pass(told, [[4], [3, 2, 1]], {1: 80, 2: 240}, 1000, 1001)
    assert found == (Bucket((0,), 0, 1, 80), Bucket((1, 2, None), None, None, 240))


@NEEDS_RANKS
def test_ddp_has_one_bucket_first_and_a_small_one_first_from_then_on() -> None:
    own = lesson.ddp_messages()
    whole = own[0][0]
    assert [len(each) for each in own] == [1, 2, 2]
    assert all(sum(each) == whole for each in own)
    # Closed as soon as it is full: the first of its parameters that fill a MiB is in it.
    assert 2**20 <= own[1][0] < 2**20 + 4 * 128 * 512


@NEEDS_RANKS
def test_accelerate_comes_to_the_same_weights_or_says_that_it_is_missing() -> None:
    said = lesson.accelerate_text()
    if importlib.util.find_spec("accelerate") is None:
        assert "pip install accelerate" in said
    else:
        assert "DistributedDataParallel" in said and "the same weights" in said


def test_more_buckets_leave_less_to_wait_for() -> None:
    link = Link(0.0, 1e10)
    waits = [lesson.waited_s(6e8, many, 0.1, 2, link) for many in (1, 2, 6, 60)]
    assert waits == pytest.approx([0.06, 0.03, 0.01, 0.001])
    figure = lesson.overlapped(bucket_mib=2000)
    assert_readable(figure)
    assert "A step waits" in alt_text(figure)


def test_large_batches_need_a_rate_and_then_more_than_a_rate() -> None:
    base = batches.loss_after("same rate", lb.BASE_BATCH)
    said = {way: batches.loss_after(way, 512) for way in batches.WAYS[:3]}
    assert said["same rate"] > 1.2 * base > 1.2 * said["scaled, warmed up"] * 0.9
    further = {way: batches.loss_after(way, 1024) for way in batches.WAYS}
    assert max(further["lars"], further["lamb"]) < min(further[way] for way in batches.WAYS[:3])
    assert batches.batches_text(1024, ["lars"]).splitlines()[-1].startswith("lars")
    with pytest.raises(CourseError, match="no way of training"):
        batches.trained("adam", 512)


def test_the_same_rate_is_what_makes_a_large_batch_sharp() -> None:
    found = batches.minima()
    small, large, scaled = map(batches.sharpness_of, found.values())
    assert large > 2 * small and scaled < 1.2 * small
    assert all(run.losses[-1] <= batches.SHARP_GOAL for run in found.values())
    assert len(batches.sharpness_text(found).splitlines()) == 4


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_a_gradient_is_as_old_as_there_are_others(workers: int) -> None:
    assert stale.staleness(workers)[workers:] == [workers - 1] * (40 - workers)
    limit = 2 * math.sin(math.pi / (4 * (workers - 1) + 2))
    pushes = 400
    below = stale.stale_descent(workers, 0.9 * limit, pushes)
    above = stale.stale_descent(workers, 1.1 * limit, pushes)
    assert max(below[-50:]) < 0.1 < 1 < max(above[-50:])
