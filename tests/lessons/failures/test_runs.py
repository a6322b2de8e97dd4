"""Lesson 32 on real ranks: a kill and what comes back, a hang and its recorder, a slow disk."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from gpu_course.errors import CourseError
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.failures import recorder, runs
from gpu_course.lessons.failures.faulty import watched
from gpu_course.lessons.failures.recorder import Entry, first_difference
from gpu_course.notebook.note import Note
from gpu_course.ranks.runner import run_function
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

pytestmark = pytest.mark.long(30)
NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


@pytest.fixture(scope="module")
def killed() -> runs.Killed:
    return runs.killed(rank=1, step=8, ranks=3)


@NEEDS_RANKS
def test_a_rank_is_killed_and_leaves_whole_checkpoints(killed: runs.Killed) -> None:
    assert killed.newest == 6 and len(killed.whole) == runs.STEPS
    assert "rank 1 was ended by SIGKILL in step 8" in str(killed)
    assert "the last line of the logs: step 7" in str(killed)
    assert "whole checkpoints: step-000003, step-000006" in str(killed)


@NEEDS_RANKS
def test_on_as_many_ranks_it_comes_back_bit_for_bit(killed: runs.Killed) -> None:
    back = killed.back(3)
    assert back.began == 6 and back.losses == killed.whole[6:] and back.same == "bit for bit"
    assert back.counted == {1: 144} and back.again == 2


@NEEDS_RANKS
def test_on_fewer_ranks_it_comes_back_to_twelve_digits(killed: runs.Killed) -> None:
    back = killed.back(2)
    assert back.losses == pytest.approx(killed.whole[6:], rel=1e-12, abs=0)
    assert back.same in ("to 12 digits", "bit for bit") and back.counted == {1: 144}
    # What was left behind is as it was: another one can come back from it.
    assert killed.newest == 6


@NEEDS_RANKS
def test_a_checkpoint_without_its_table_of_contents_is_not_read(killed: runs.Killed) -> None:
    metadata = Path(killed.folder, "step-000006", ".metadata")
    text = metadata.read_bytes()
    metadata.unlink()
    try:
        back = killed.back(3)
    finally:
        metadata.write_bytes(text)
    assert back.began == 3 and back.losses == killed.whole[3:] and back.again == 5


def test_ranks_that_do_not_share_the_batch_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="rank 5 of 4"):
        runs.killed(rank=5, ranks=4)
    with pytest.raises(CourseError, match="step 99"):
        runs.killed(step=99)


@NEEDS_RANKS
def test_ranks_that_do_not_share_the_rows_are_told(killed: runs.Killed) -> None:
    said = killed.back(5)
    assert isinstance(said, Note) and "5 ranks do not share 12 rows" in repr(said)


@NEEDS_RANKS
@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("another call", "rank 1: broadcast of 4, hanging.py:"),
        ("another size", "rank 1: all_reduce of 3, hanging.py:"),
        ("skipped", "rank 1: has not come here"),
    ],
)
def test_a_hang_is_read_from_the_recorder(fault: str, says: str) -> None:
    said = runs.odd_one_text(fault)
    assert said.startswith("collective 3: look at rank 1\n") and says in said
    assert said.count("all_reduce of 4") == 2 and said.count("<--") == 1


@NEEDS_RANKS
def test_a_loop_without_a_fault_shows_no_difference() -> None:
    assert runs.odd_one_text("") == "all ranks called the same"


@NEEDS_RANKS
def test_on_gloo_no_entry_says_that_it_did_not_end() -> None:
    said = runs.hang_text("another call")
    assert said.count("scheduled") == 9 and "completed" not in said
    assert said.count("gave up waiting") == 3


@NEEDS_RANKS
@pytest.mark.parametrize(("copied", "holds"), [(True, 3), (False, 6)])
def test_what_was_copied_first_is_not_overtaken(copied: bool, holds: int) -> None:
    found = runs.behind(copied)
    assert found.holds == holds
    assert found.events == (
        *("step 1", "step 2", "step 3", "the call returns, not done"),
        *("step 4", "step 5", "step 6", "the disk begins to write", "the checkpoint is whole"),
    )


def entry(number: int, name: str = "all_reduce", size: int = 4, group: str = "0") -> Entry:
    return Entry(group, number, name, ((size,),), "scheduled", "train.py:1")


def test_the_first_difference_is_named_and_not_those_that_follow_from_it() -> None:
    right = [entry(n) for n in (1, 2, 3, 4)]
    wrong = [entry(1), entry(2, size=8), entry(3, "barrier"), entry(4)]
    found = first_difference([right, right, right, wrong])
    assert found is not None and (found.number, found.odd) == (2, (3,))
    assert first_difference([right, right]) is None and first_difference([]) is None


def test_where_no_most_agree_all_are_named() -> None:
    found = first_difference([[entry(1)], [entry(1, "broadcast")]])
    assert found is not None and found.odd == (0, 1)
    assert str(found).startswith("collective 1: look at ranks 0, 1\n")


def test_groups_are_not_mixed_up() -> None:
    one = [entry(1), entry(1, "broadcast", group="1"), entry(2)]
    other = [entry(1), entry(2), entry(1, "broadcast", group="1")]
    assert first_difference([one, other, other]) is None


def test_a_recorder_that_was_off_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import pickle

    with pytest.raises(CourseError, match="has recorded nothing"):
        recorder.entries(pickle.dumps({"version": "2.10"}))


@NEEDS_RANKS
def test_a_slow_rank_and_a_flipped_bit_show_in_what_is_measured() -> None:
    asked = {"steps": 6, "slow": 2, "flipped": [1, 3]}
    found = run_function(watched, 4, asked).results
    medians = [statistics.median(each["compute_ms"]) for each in found]
    # Processor time, not time of a clock: another program on this machine changes little of it.
    assert medians.index(max(medians)) == 2
    results = list(zip(*(each["result"] for each in found), strict=True))
    assert [len(set(step)) for step in results] == [1, 1, 1, 2, 1, 1]
    assert results[3][1] != results[3][0] == results[3][2]
    weights = list(zip(*(each["weights"] for each in found), strict=True))
    assert all(len(set(step)) == 1 for step in weights[:3])
    for step in weights[3:]:
        assert step[1] != step[0] and len({step[0], step[2], step[3]}) == 1


@NEEDS_RANKS
def test_replicas_without_a_fault_stay_equal() -> None:
    found = run_function(watched, 3, {"steps": 3, "slow": -1, "flipped": [-1, 0]}).results
    assert found[0]["weights"] == found[1]["weights"] == found[2]["weights"]
    assert all(len(each[key]) == 3 for each in found for key in each)


@NEEDS_RANKS
def test_the_log_of_a_killed_run_is_read(
    killed: runs.Killed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    back = killed.back(3)
    assert runs.log_of(back).count("successfully loaded") == 1
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))
    assert runs.own_parse_text(back) == (
        "restarts: 1\nrecords that were lost: 2\niterations that count: 1 2 3 4 5 6 7 8 9 10 11 12"
    )
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    assert isinstance(runs.own_parse_text(back), Note)


@NEEDS_RANKS
def test_ones_own_detector_finds_the_bit_in_a_real_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))
    found = runs.watched_run(slow=2, flipped=(1, 5))
    said = runs.own_faulty_text(found)
    assert isinstance(said, str) and said.startswith("slow: ")
    assert "corrupt: step 5, rank 1" in said.splitlines()
    assert said.endswith("at the end: rank 1")
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    assert isinstance(runs.own_faulty_text(found), Note)
