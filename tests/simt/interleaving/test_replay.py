"""A planted race is replayed with a result that is truly wrong; a clean twin is left in peace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.interleaving import Replay, find_replay, launch_experiment, search
from simt.interleaving import experiment as experiment_module
from simt.interleaving.experiment import same
from simt.machine.schedule import RoundRobin
from simt.simulator import simulate
from tests.simt.interleaving.planted import TEXT, line_of


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kernels") / "planted_kernels.py"
    path.write_text(TEXT, encoding="utf-8")
    return path


def ones(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape), dtype=dtype).reshape(shape)


def zeros(size: int, dtype: Any = np.float32) -> np.ndarray:
    return np.zeros(size, dtype)


def blank() -> tuple[np.ndarray, ...]:
    return zeros(1, np.int64), zeros(3, np.int64), zeros(1, np.int64), ones(12, dtype=np.int64)


LAUNCHES: dict[str, tuple[tuple[int, int], tuple[Any, ...]]] = {
    "missing_before": ((1, 64), (zeros(64), ones(64))),
    "with_before": ((1, 64), (zeros(64), ones(64))),
    "missing_after": ((1, 64), (zeros(64), ones(3, 64), 3)),
    "with_after": ((1, 64), (zeros(64), ones(3, 64), 3)),
    "across_blocks": ((3, 32), (zeros(96), ones(96))),
    "within_blocks": ((3, 32), (zeros(96), ones(96))),
    "no_syncwarp": ((1, 32), (zeros(32), ones(32))),
    "with_syncwarp": ((1, 32), (zeros(32), ones(32))),
    "lost_update": ((2, 32), (zeros(1, np.int64), ones(64))),
    "atomic_update": ((2, 32), (zeros(1, np.int64), ones(64))),
    "no_fence": ((3, 4), blank()),
    "with_fence": ((3, 4), blank()),
    "last_one_wins": ((2, 32), (zeros(1, np.int64),)),
    "same_value": ((2, 32), (zeros(1, np.int64),)),
    "rounds_from_shared": ((1, 64), (zeros(64, np.int64),)),
    "slow_reader": ((1, 64), (zeros(64), ones(64))),
    "out_of_bounds": ((1, 64), (zeros(60), ones(60))),
    "float_sum": ((2, 32), (zeros(1), ones(64) / np.float32(3))),
}


def replayed(kernels: Path, name: str) -> Replay:
    configuration, arguments = LAUNCHES[name]
    return find_replay(launch_experiment(f"{kernels}:{name}", configuration, arguments))


# (kernel, kind, array, line of the culprit's access, line of the other one)
PLANTED = [
    ("missing_before", "early", "s", "read", "write"),
    ("missing_after", "late", "s", "read", "write"),
    ("across_blocks", "early", "a", "read", "write"),
    ("no_syncwarp", "early", "s", "read", "write"),
    ("lost_update", "early", "count", "read and write", "read and write"),
    ("no_fence", "unseen", "partial", "read", "write"),
    ("last_one_wins", "last", "out", "write", "write"),
    ("slow_reader", "late", "s", "read", "write"),
]


@pytest.mark.parametrize(("name", "kind", "array", "line", "other_line"), PLANTED)
def test_a_planted_race_is_replayed(
    kernels: Path, name: str, kind: str, array: str, line: str, other_line: str
) -> None:
    found = replayed(kernels, name)
    assert found.recording is not None and found.culprit is not None and found.damage is not None
    culprit, damage = found.culprit, found.damage
    assert (culprit.kind, culprit.array) == (kind, array)
    assert culprit.at.line == line_of(name, line)
    assert culprit.other is not None and culprit.other.line == line_of(name, other_line)
    assert culprit.at.thread != culprit.other.thread
    # The output is another one than a right run leaves.
    assert not bool(same(damage.got, damage.wanted))
    assert not bool(same(np.asarray(culprit.at.value), np.asarray(culprit.wanted)))
    # What the story says is what the recording holds.
    step = found.recording.steps[culprit.at.step]
    assert step.line == culprit.at.line and culprit.at.thread in step.threads
    access = step.accesses[culprit.at.turn]
    where = np.flatnonzero(access.threads == culprit.at.thread)
    assert culprit.cell in access.cells[where]
    assert f"line {culprit.at.line}" in found.story
    assert f"line {culprit.other.line}" in found.story
    track = found.recording.track(found.warps)
    assert track[found.start] == culprit.at.step
    assert set(found.recording.warps_of(np.array([culprit.at.thread]))) <= set(found.warps)


CLEAN = ["with_before", "with_after", "within_blocks", "with_syncwarp", "atomic_update"]
CLEAN += ["with_fence", "float_sum"]


@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_twin_is_left_in_peace(kernels: Path, name: str) -> None:
    found = replayed(kernels, name)
    assert not found.found
    assert f"No race was found in {name}: {found.tried} orders of the threads" in found.story
    assert found.tried > 10


def test_a_race_that_does_no_harm_is_told_as_such(kernels: Path) -> None:
    found = replayed(kernels, "same_value")
    assert not found.found and found.tried > 10
    line = line_of("same_value", "write")
    assert f"There is a race in line {line} that does no harm" in found.story
    assert "several threads write the same value" in found.story


def test_other_faults_are_named_where_there_is_no_race(kernels: Path) -> None:
    assert "It has other faults: out-of-bounds in line" in replayed(kernels, "out_of_bounds").story


# kernel -> lines of its story
STORIES = {
    "missing_before": """
The order: warp 0 runs ahead.
Thread 0 (warp 0) reads s[63] in line {r} before thread 63 (warp 1) has written it in line {w}.
It finds what lay in memory (nan), where 64 belongs.
The result: out[0] is nan; in another order of the same threads 64 (32 cells of out differ).
Orders tried: 2.""",
    "missing_after": """
The order: warp 0 runs ahead.
Thread 32 (warp 1) reads s[31] in line {r} after thread 31 (warp 0) has written it anew in line {w}.
It finds 96, where 32 belongs.""",
    "across_blocks": """
Thread 0 of block 0 reads a[32] in line {r} before thread 0 of block 1 has written it in line {w}.
It finds 33, where 66 belongs.""",
    "no_syncwarp": """
Lanes of a warp need not run in step: from compute capability 7.0 on, each may run ahead.""",
    "no_fence": """
The order: what block 0 writes in line {w} reaches the other blocks late.
Thread 0 of block 2 reads partial[0] in line {r}.
Thread 0 of block 0 has written it in line {w}, but no fence makes it seen before what follows.
It finds 0, where 10 belongs.
The result: out[0] is 68; in another order of the same threads 78.""",
}  # fmt: skip


@pytest.mark.parametrize("name", STORIES)
def test_the_story_in_full(kernels: Path, name: str) -> None:
    told = replayed(kernels, name).story.splitlines()
    for line in STORIES[name].strip().splitlines():
        assert line.format(r=line_of(name, "read"), w=line_of(name, "write")) in told


def test_a_launch_with_thousands_of_races_is_compared_at_its_end(kernels: Path) -> None:
    """Long before their end these runs have been at fault so often that a check would stop them."""
    rounds, out = 800, zeros(1, np.int64)
    experiment = launch_experiment(f"{kernels}:last_round_wins", (2, 32), (out, rounds))
    found = find_replay(experiment)
    assert found.damage is not None and found.culprit is not None
    # Whichever warp comes last, its last lane writes last, in its last round.
    last = {31 * 1000 + rounds - 1, 63 * 1000 + rounds - 1}
    assert {int(found.damage.got), int(found.damage.wanted)} == last
    assert int(found.culprit.at.value) == int(found.damage.got)


def test_an_order_that_comes_to_no_end_is_not_compared(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it would have written is unknown, and no damage."""
    monkeypatch.setattr(experiment_module, "STEP_BUDGET", 2000)
    found = replayed(kernels, "rounds_from_shared")
    assert found.damage is None and not found.found
    assert re.search(r"\nIn \d+ of them the launch did not come to its end", found.story)


def test_where_no_order_comes_to_an_end_that_is_said(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiment_module, "STEP_BUDGET", 2)
    story = replayed(kernels, "rounds_from_shared").story
    assert story.startswith("The launch of rounds_from_shared was given up before its end")


def test_what_lies_beyond_the_recording_is_not_told_of(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last write that was kept is not the last write."""
    monkeypatch.setattr(search, "MAX_STEPS", 6)
    experiment = launch_experiment(f"{kernels}:last_round_wins", (2, 32), (zeros(1, np.int64), 20))
    found = find_replay(experiment)
    assert found.recording is not None and found.recording.steps_taken > 6
    assert found.damage is not None and found.culprit is None
    assert {int(found.damage.got), int(found.damage.wanted)} == {31_019, 63_019}
    assert "The last one to write wins" not in found.story
    assert (
        f"Only the first 6 of its {found.recording.steps_taken} steps are kept, and where it goes "
        "wrong is not among them" in found.story
    )


def test_a_recording_may_end_before_the_racing_warps_begin(
    kernels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_STEPS", 1)
    found = replayed(kernels, "missing_before")
    assert found.recording is not None and len(found.recording.steps) == 1
    assert found.recording.track(found.warps)


def test_the_arguments_stay_as_they_are(kernels: Path) -> None:
    arguments = LAUNCHES["across_blocks"][1]
    before = [a.copy() for a in arguments]
    replayed(kernels, "across_blocks")
    assert all(np.array_equal(a, b) for a, b in zip(arguments, before, strict=True))


def test_the_same_race_is_told_the_same_way_twice(kernels: Path) -> None:
    assert replayed(kernels, "missing_after").story == replayed(kernels, "missing_after").story


def test_the_wrong_result_is_one_that_the_launch_can_have(kernels: Path) -> None:
    """What the recording leaves in the output is what the order it follows computes."""
    found = replayed(kernels, "missing_before")
    assert found.recording is not None and found.damage is not None
    values, known = found.recording.contents("out", len(found.recording.steps) - 1, 0)
    assert known.all() and np.isnan(values[found.damage.cell])
    # In step, nothing of it is to be seen.
    out = zeros(64)
    simulate(f"{kernels}:missing_before")[1, 64](out, ones(64))
    assert np.array_equal(out, ones(64)[::-1])


@pytest.mark.parametrize("tasks", ["warps", "threads"])
def test_a_recording_of_tasks_keeps_each_statement_whole_or_in_pieces(
    kernels: Path, tasks: Any
) -> None:
    """Every access of every thread stands in some step once, whoever came in between."""
    from simt.observe.recorder import Recorder

    recorder = Recorder((), range(64))
    schedule = RoundRobin(tasks, "accesses", seed=4)
    out = zeros(64)
    ready = simulate(f"{kernels}:with_before", schedule=schedule, observers=(recorder,))
    recording = recorder.recording(ready[1, 64](out, ones(64)))
    assert np.array_equal(out, ones(64)[::-1])
    done: dict[tuple[str, str], list[int]] = {}
    for step in recording.steps:
        for access in step.accesses:
            done.setdefault((access.kind, access.array), []).extend(access.threads.tolist())
    assert set(done) == {("read", "a"), ("write", "s"), ("read", "s"), ("write", "out")}
    assert all(sorted(threads) == list(range(64)) for threads in done.values())
    held = recording.steps[-1].held["t"]
    assert held.known.all() and np.array_equal(held.values, np.arange(64))
