"""The simulated cluster, beside Daly's formula and a walk from checkpoint to checkpoint."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from gpu_course.errors import CourseError
from gpu_course.lessons.failures import cluster as simulated
from gpu_course.lessons.failures.cluster import (
    DAY_S,
    HOUR_S,
    USES,
    Cluster,
    Parts,
    Saving,
    best_interval_s,
    expected_goodput,
    run,
)

WORK_S = 20 * DAY_S
PLAIN = Cluster(1000, Parts(5000 * HOUR_S), Saving(1800.0, 60.0, 600.0), spares=200)


def walked(cluster: Cluster, work_s: float, seed: int) -> tuple[float, float]:
    """Returns (wall, lost) seconds, one checkpoint at a time: nodes alone fail, and all wait."""
    failures = simulated._times(cluster, "node", seed)
    saving = cluster.saving
    now = saved = lost = 0.0
    broken = next(failures)
    restarting = 0.0
    while True:
        if restarting:
            if broken < now + restarting:
                now, broken = broken, next(failures)
                restarting = saving.restart_s
                continue
            now, restarting = now + restarting, 0.0
        piece = min(saving.interval_s, work_s - saved)
        whole = piece + (saving.stop_s if saved + piece < work_s else 0.0)
        if broken < now + whole:
            lost += min(broken - now, piece)
            now, broken = broken, next(failures)
            restarting = saving.restart_s
            continue
        now, saved = now + whole, saved + piece
        if saved >= work_s:
            return now, lost


@pytest.mark.parametrize("interval_s", [97.0, 600.0, 1800.0, 9000.0])
@pytest.mark.parametrize("restart_s", [1.0, 600.0, 9000.0])
def test_jumps_come_to_the_same_as_a_walk(interval_s: float, restart_s: float) -> None:
    cluster = replace(PLAIN, saving=Saving(interval_s, 31.0, restart_s))
    wall, lost = walked(cluster, WORK_S, seed=7)
    ledger = run(cluster, WORK_S, seed=7)
    assert ledger.wall_s == pytest.approx(wall, rel=1e-9)
    assert ledger.seconds["lost"] == pytest.approx(lost, rel=1e-9)
    assert ledger.seconds["training"] == pytest.approx(WORK_S, rel=1e-12)


@pytest.mark.parametrize("interval_s", [300.0, 1800.0, 7200.0])
def test_on_average_it_is_daly_s_formula(interval_s: float) -> None:
    cluster = PLAIN.saving_every(interval_s)
    found = [run(cluster, 60 * DAY_S, seed).goodput for seed in range(24)]
    mean = sum(found) / len(found)
    spread = math.sqrt(sum((each - mean) ** 2 for each in found) / len(found) / (len(found) - 1))
    assert mean == pytest.approx(expected_goodput(cluster), abs=4 * spread)


def test_the_best_interval_is_the_lowest_point_of_the_formula() -> None:
    best = best_interval_s(PLAIN)
    top = expected_goodput(PLAIN.saving_every(best))
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert expected_goodput(PLAIN.saving_every(best * factor)) < top
    # Young's rule is near it where a write is short beside the time between failures.
    assert best == pytest.approx(math.sqrt(2 * 60.0 * PLAIN.mtbf_s), rel=0.06)


def test_without_failures_nothing_but_writing_costs() -> None:
    ledger = run(replace(PLAIN, parts=Parts(math.inf)), 100_000.0)
    assert ledger.events == () and ledger.checkpoints == 55
    assert ledger.wall_s == pytest.approx(100_000 + 55 * 60)
    assert math.isinf(replace(PLAIN, parts=Parts(math.inf)).mtbf_s)


def test_a_write_in_the_background_stops_nobody_and_can_come_too_late() -> None:
    waits = replace(PLAIN, saving=Saving(1800.0, 60.0, 600.0))
    behind = replace(PLAIN, saving=Saving(1800.0, 1.0, 600.0, lands_s=59.0))
    late = replace(PLAIN, saving=Saving(1800.0, 1.0, 600.0, lands_s=1700.0))
    stopped, hidden, lost = (run(each, WORK_S, 3) for each in (waits, behind, late))
    assert hidden.goodput > stopped.goodput
    assert lost.seconds["lost"] > 1.5 * hidden.seconds["lost"]


def test_a_switch_takes_the_copies_in_memory_with_it() -> None:
    parts = Parts(math.inf, switch_mtbf_s=32 * 10 * HOUR_S)
    memory = Cluster(1024, parts, Saving(60.0, 0.5, 300.0, disk_every=60))
    disk = replace(memory, saving=replace(memory.saving, disk_every=1))
    far, near = run(memory, WORK_S, 1), run(disk, WORK_S, 1)
    assert far.failures("switch") == far.failures() > 20
    # From disk it goes back half an hour on average, and half a minute where each is on disk.
    assert far.seconds["lost"] / far.failures() == pytest.approx(1800, rel=0.35)
    assert near.seconds["lost"] / near.failures() == pytest.approx(30, rel=0.35)
    links = replace(memory, parts=Parts(math.inf, link_mtbf_s=1024 * 10 * HOUR_S))
    assert run(links, WORK_S, 1).seconds["lost"] < far.seconds["lost"] / 20


def test_a_flip_costs_what_it_took_to_notice_it() -> None:
    parts = Parts(math.inf, flip_mtbf_s=1000 * 100 * HOUR_S, flip_noticed_s=6 * HOUR_S)
    ledger = run(replace(PLAIN, parts=parts), WORK_S, 2)
    flips = [event for event in ledger.events if event.kind == "flip"]
    assert flips and ledger.failures() == len(flips)
    for event in flips:
        # Six hours of the job's time, of which some were not training, and up to one interval.
        assert 5 * HOUR_S < event.lost_s <= 6 * HOUR_S + 1800


def test_a_straggler_makes_all_wait_until_it_is_found() -> None:
    parts = Parts(
        math.inf,
        straggler_mtbf_s=1000 * 200 * HOUR_S,
        straggler_factor=1.25,
        straggler_noticed_s=8 * HOUR_S,
    )
    ledger = run(replace(PLAIN, parts=parts), WORK_S, 4)
    slow = ledger.failures("straggler")
    assert slow and ledger.seconds["lost"] == 0
    share = 1800 / (1800 + 60 / 1.25)
    at_most = slow * 8 * HOUR_S * 0.25 / 1.25
    assert 0.9 * share * at_most <= ledger.seconds["slowed"] <= 1.02 * at_most


def test_without_spares_a_job_waits_for_the_repair() -> None:
    few = run(replace(PLAIN, spares=0), WORK_S, 5)
    many = run(PLAIN, WORK_S, 5)
    assert many.seconds["waiting for a node"] == 0
    assert few.seconds["waiting for a node"] == pytest.approx(few.failures() * DAY_S)
    goodputs = [run(replace(PLAIN, spares=n), WORK_S, 5).goodput for n in (0, 2, 4, 8, 16)]
    assert all(one <= two for one, two in itertools.pairwise(goodputs))


def test_a_ledger_has_all_of_the_time() -> None:
    parts = Parts(
        4000 * HOUR_S,
        link_mtbf_s=40_000 * HOUR_S,
        switch_mtbf_s=3000 * HOUR_S,
        flip_mtbf_s=300_000 * HOUR_S,
        straggler_mtbf_s=100_000 * HOUR_S,
    )
    cluster = Cluster(1000, parts, Saving(120.0, 2.0, 400.0, lands_s=20.0, disk_every=15), 8)
    ledger = run(cluster, WORK_S, 6)
    assert tuple(ledger.seconds) == USES and min(ledger.seconds.values()) >= 0
    assert ledger.seconds["training"] == pytest.approx(WORK_S)
    assert {event.kind for event in ledger.events} == set(simulated._KINDS)
    lost = sum(event.lost_s for event in ledger.events)
    assert ledger.seconds["lost"] == pytest.approx(lost)
    assert ledger == run(cluster, WORK_S, 6) != run(cluster, WORK_S, 7)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"nodes": 0}, "nodes is 0"),
        ({"spares": -1}, "spares is -1"),
        ({"saving": Saving(0.0, 1.0, 1.0)}, "interval_s is 0.0"),
        ({"saving": Saving(math.nan, 1.0, 1.0)}, "interval_s is nan"),
        ({"saving": Saving(60.0, 1.0, math.inf)}, "restart_s is inf"),
        ({"saving": Saving(math.inf, 1.0, 1.0)}, "never saves"),
        ({"parts": Parts(1.0, straggler_factor=0.5)}, "straggler_factor is 0.5"),
    ],
)
def test_numbers_out_of_range_are_named(broken: dict[str, object], says: str) -> None:
    with pytest.raises(CourseError, match=says):
        run(replace(PLAIN, **broken), 1000.0)  # type: ignore[arg-type]


def test_a_job_that_gets_nowhere_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulated, "MAX_EVENTS", 500)
    hopeless = replace(PLAIN, parts=Parts(1000 * 30.0), spares=10_000)
    with pytest.raises(CourseError, match="fails faster than it gets on"):
        run(hopeless, WORK_S)
    assert expected_goodput(hopeless) < 1e-10
