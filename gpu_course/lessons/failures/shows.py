"""What lesson 32 shows of clusters that fail: shares of time, intervals, and runs by chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.lessons.failures.cluster import (
    DAY_S,
    HOUR_S,
    LLAMA_3_GPU_HOURS,
    NODE_GPUS,
    Cluster,
    Ledger,
    Parts,
    Saving,
    best_interval_s,
    expected_goodput,
    run,
)
from gpu_course.lessons.failures.pictures import (
    Contour,
    Goodputs,
    Longest,
    Spent,
    draw_contours,
    draw_goodputs,
    draw_longest,
    draw_spent,
    duration,
)
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.programs import called

JOB_S = 10 * DAY_S
SEEDS = 3
HOPELESS = 0.1
"""A goodput below which nobody waits for the end of a simulated job."""
FACTORS = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
"""Of the best interval, those that are simulated."""


def cluster_of(
    gpus: int = 16_384,
    gpu_hours: float = LLAMA_3_GPU_HOURS,
    interval_min: float = 30.0,
    stop_s: float = 60.0,
    restart_min: float = 10.0,
    spares: int = 64,
    **more: Any,
) -> Cluster:
    """Returns a cluster of nodes of eight GPUs that fail as often as GPU hours say.

    Args:
        gpus: of the job.
        gpu_hours: for each failure.
        interval_min: of training between two checkpoints.
        stop_s: that a checkpoint stops the job.
        restart_min: from a failure to the next step.
        spares: nodes.
        more: other fields of `Parts`.

    Raises:
        CourseError: a number is none, or `Parts` has no such field.
    """
    numbers = {
        "gpus": gpus, "gpu_hours": gpu_hours, "interval_min": interval_min, "stop_s": stop_s,
        "restart_min": restart_min, "spares": spares, **more,
    }  # fmt: skip
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise CourseError(f"{name} is {value!r:.40}", "give a number, without quotes")
    known = [each.name for each in fields(Parts)]
    if odd := [name for name in more if name not in known]:
        raise CourseError(f"a cluster has no {odd[0]}", f"it has {', '.join(known)}")
    node_s = gpu_hours / NODE_GPUS * HOUR_S
    saving = Saving(60 * interval_min, stop_s, 60 * restart_min)
    nodes = math.ceil(gpus / NODE_GPUS)
    return Cluster(nodes, Parts(node_s, **more), saving, spares)


def spent(name: str, ledger: Ledger) -> Spent:
    """Returns what a picture needs of a ledger."""
    return Spent(name, ledger.seconds, dict(Counter(e.kind for e in ledger.events).most_common()))


@telling
def one_job(
    gpus: int = 16_384,
    gpu_hours_a_failure: int = 50_000,
    interval_min: int = 30,
    stop_s: int = 60,
    restart_min: int = 10,
    spares: int = 64,
) -> list[Any]:
    """Returns where ten days of training went, and the goodput with other intervals.

    Args:
        gpu_hours_a_failure: hours of one GPU until it fails, on average.
        gpus, interval_min, stop_s, restart_min, spares: as for `cluster_of`.
    """
    cluster = cluster_of(gpus, gpu_hours_a_failure, interval_min, stop_s, restart_min, spares)
    if expected_goodput(cluster) < HOPELESS:
        raise CourseError(
            f"a failure every {duration(cluster.mtbf_s)}: this job fails faster than it gets on",
            "save more often, or come back sooner",
        )
    ledger = run(cluster, JOB_S)
    events = len(ledger.events)
    text = (
        f"a failure every {duration(cluster.mtbf_s)}; ten days of training took "
        f"{duration(ledger.wall_s)}, with {events} failures"
    )
    bars = draw_spent([spent(f"every {duration(60 * interval_min)}", ledger)])
    found = goodputs(cluster, {})
    own_s = cluster.saving.interval_s
    if found.intervals_s[0] <= own_s <= found.intervals_s[-1]:
        found = replace(found, marks={"yours": own_s})
    return [text, Picture(bars), Picture(draw_goodputs(found))]


def goodputs(cluster: Cluster, marks: dict[str, float]) -> Goodputs:
    """Returns simulated and expected goodput of a job over the interval.

    Args:
        cluster: the job; its interval is left aside.
        marks: {name: interval_s} to draw in.
    """
    best = best_interval_s(cluster)
    intervals = tuple(best * factor for factor in FACTORS)
    found = tuple(_found(cluster.saving_every(each)) for each in intervals)
    fine = np.geomspace(intervals[0] / 1.2, intervals[-1] * 1.2, 120)
    formula = tuple((float(s), expected_goodput(cluster.saving_every(float(s)))) for s in fine)
    name = f"{cluster.nodes:,} nodes, a failure every {duration(cluster.mtbf_s)}"
    return Goodputs(intervals, found, formula, marks, name)


@lru_cache(256)
def _found(cluster: Cluster) -> tuple[float, ...]:
    """Returns the goodput of a few jobs; 0 for one that gets nowhere."""
    if expected_goodput(cluster) < HOPELESS:
        return (0.0,) * SEEDS
    work_s = min(JOB_S / 2, 100 * cluster.mtbf_s)
    return tuple(run(cluster, work_s, seed).goodput for seed in range(SEEDS))


@telling
def intervals(cluster: Cluster, marks: dict[str, float] | None = None) -> Picture:
    """Returns a picture of a job's goodput over the interval.

    Args:
        cluster: the job.
        marks: {name: interval_s} to draw in.
    """
    return Picture(draw_goodputs(goodputs(cluster, marks or {})))


@asks_for_answers
@telling
def own_interval(cluster: Cluster) -> Picture:
    """Returns the same, with the two intervals that your answer gives.

    Args:
        cluster: the job.
    """
    asked = {
        "nodes": cluster.nodes,
        "node_mtbf_s": cluster.mtbf_s * cluster.nodes,
        "write_s": cluster.saving.stop_s,
        "recover_s": cluster.saving.restart_s,
    }
    found = own_result("optimal_interval", asked)
    try:
        young_s, daly_s = (float(each) for each in found[:2])
    except (TypeError, ValueError):
        raise CourseError("your optimal_interval returns no two intervals") from None
    return Picture(draw_goodputs(goodputs(cluster, {"Young": young_s, "Daly": daly_s})))


def own_result(puzzle: str, asked: dict[str, Any]) -> Any:
    """Returns what the learner's answer gives, run in a process of its own.

    Args:
        puzzle: its name.
        asked: what its function is called with.
    """
    return run_own(puzzle, called, 1, function=puzzle, asked=asked).results[0]


@telling
def jobs(named: dict[str, Cluster], days: float = 20.0) -> Picture:
    """Returns where the time of several jobs went.

    Args:
        named: {name: cluster}.
        days: of training.

    Raises:
        CourseError: it is no such dict.
    """
    odd = [named] if not isinstance(named, dict) else list(named.values())
    if odd := [each for each in odd if not isinstance(each, Cluster)]:
        fact = f"jobs are a dict from names to clusters, and here is {odd[0]!r:.40}"
        raise CourseError(fact, 'write {"disk": cluster_of(), ...}')
    found = [spent(name, run(each, days * DAY_S)) for name, each in named.items()]
    return Picture(draw_spent(found))


WAYS = {
    "a minute's stop, every 2 h": (7200, 60, True),
    "a minute's stop, every 20 min": (1200, 60, True),
    "in the background, every 20 min": (1200, 60, False),
    "in the background, every 2 min": (120, 60, False),
}
"""Ways to save: seconds between two checkpoints, seconds for one, whether training waits."""


@asks_for_answers
@telling
def own_goodput_text(days: int = 30) -> str:
    """Returns what your account says of Llama 3's cluster, with several ways to save.

    Args:
        days: of the run.
    """
    end = days * int(DAY_S)
    gaps = np.random.default_rng(32).exponential(LLAMA_3_GPU_HOURS / 16_384 * HOUR_S, 20 * days)
    failures = [int(each) for each in np.cumsum(gaps) if each < end - 1]
    lines = [f"{len(failures)} failures in {days} days, restarts of 10 minutes, 16 spares"]
    lines.append(f"{'':<33}{'useful':>8}{'writing':>9}{'lost':>8}{'down':>8}")
    for name, (interval, write, blocking) in WAYS.items():
        asked = {
            "failures": failures,
            "end": end,
            "interval": interval,
            "write": write,
            "blocking": blocking,
            "recover": 600,
            "spares": 16,
            "repair": int(DAY_S),
        }
        found = own_result("goodput", asked)
        try:
            shares = [found[use] / end for use in ("useful", "writing", "lost", "down")]
        except (TypeError, KeyError):
            raise CourseError("your goodput returns no account of the four") from None
        lines.append(f"{name:<33}" + "".join(f"{share:>8.1%} " for share in shares).rstrip())
    return "\n".join(lines)


def in_memory(disk: Cluster, every_s: float, disk_every: int) -> Cluster:
    """Returns a cluster whose nodes keep each other's state in memory as well.

    Args:
        disk: that writes all to disk.
        every_s: of training between two copies, each of which stops the job for a second.
        disk_every: each how-manieth goes to disk as well, behind the back of the job.
    """
    saving = replace(disk.saving, interval_s=every_s, stop_s=1.0, disk_every=disk_every)
    return replace(disk, saving=replace(saving, lands_s=min(30.0, every_s / 2)))


# What write and what restart are in a goodput that somebody printed?


def restart_for(goodput: float, mtbf_s: float, stop_s: float) -> float:
    """Returns the restart that gives a goodput at the best interval, in seconds; nan for none.

    Args:
        goodput: a share.
        mtbf_s: between failures of the job.
        stop_s: that a checkpoint stops the job.
    """
    cluster = Cluster(1, Parts(mtbf_s), Saving(1.0, stop_s, 0.0))
    best = expected_goodput(cluster.saving_every(best_interval_s(cluster)))
    # The restart is a factor of its own in Daly's expectation: e^(R/M).
    return mtbf_s * math.log(best / goodput) if best >= goodput else math.nan


@telling
def contours(shares: Sequence[float], mtbf_h: float, most_s: float = 120.0) -> Picture:
    """Returns which writes and restarts give each of some goodputs.

    Args:
        shares: one or two.
        mtbf_h: between failures of the job.
        most_s: the longest stop that is shown.
    """
    lines = []
    for share in shares:
        stops = np.geomspace(0.5, most_s, 60)
        pairs = [(float(s), restart_for(share, mtbf_h * HOUR_S, float(s))) for s in stops]
        real = [(s, r) for s, r in pairs if r == r]
        if not real:
            raise CourseError(f"no restart gives {share:.0%}", "take a larger MTBF")
        lines.append(Contour(f"goodput {share:.0%}", *map(tuple, zip(*real, strict=True))))
    return Picture(draw_contours(lines, mtbf_h * HOUR_S))


# How long are the longest of many runs?


def longest_of(runs: int, mean_days: float, seen_days: Sequence[float]) -> Longest:
    """Returns the longest runs as they were, and as chance has them.

    The k-th longest of n exponential times lies below x with the probability that fewer than k of
    n are longer than x, a sum of a binomial distribution.

    Args:
        runs: between restarts.
        mean_days: of one.
        seen_days: of the longest, the longest first.
    """
    ranks = range(1, len(seen_days) + 1)
    found = [[_quantile(runs, k, share) * mean_days for k in ranks] for share in (0.05, 0.5, 0.95)]
    low, middle, high = (tuple(each) for each in found)
    return Longest(runs, mean_days, tuple(seen_days), low, middle, high)


def _quantile(n: int, k: int, share: float) -> float:
    """Returns x, in means, below which the k-th longest of n exponential times lies so often."""
    low, high = 0.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        longer = math.exp(-middle)
        below = sum(
            math.comb(n, j) * longer**j * (1 - longer) ** (n - j) for j in range(min(k, n + 1))
        )
        low, high = (middle, high) if below < share else (low, middle)
    return (low + high) / 2


def chance_of_a_run(days: float, mean_hours: float) -> float:
    """Returns the probability that a run lasts so long, where failures come at a constant rate.

    Args:
        days: or longer.
        mean_hours: between failures.
    """
    return math.exp(-days * 24 / mean_hours)


@telling
def longest(
    runs: int = 50, mean_hours: float = 12.0, seen_days: Sequence[float] = (2.8, 2.0, 1.5)
) -> Picture:
    """Returns OPT-175B's longest runs beside what chance makes of as many.

    Args:
        runs: between restarts.
        mean_hours: of one.
        seen_days: the longest, the longest first.
    """
    return Picture(draw_longest(longest_of(runs, mean_hours / 24, seen_days)))
