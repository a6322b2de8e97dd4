"""Examples of the pictures of lesson 32."""

from __future__ import annotations

from matplotlib.figure import Figure

from gpu_course.lessons.failures.cluster import DAY_S, HOUR_S, Cluster, Parts, Saving, run
from gpu_course.lessons.failures.pictures import (
    Contour,
    draw_contours,
    draw_goodputs,
    draw_longest,
    draw_spent,
)
from gpu_course.lessons.failures.shows import cluster_of, goodputs, longest_of, restart_for, spent
from tests.gpu_course.draw.examples import draws

ALL_KINDS = Cluster(
    1000,
    Parts(
        4000 * HOUR_S,
        link_mtbf_s=40_000 * HOUR_S,
        switch_mtbf_s=3000 * HOUR_S,
        flip_mtbf_s=300_000 * HOUR_S,
        straggler_mtbf_s=100_000 * HOUR_S,
        straggler_factor=1.5,
    ),
    Saving(120.0, 2.0, 400.0, lands_s=20.0, disk_every=15),
    spares=4,
)


@draws(draw_goodputs, True, False)
def over_the_interval(marked: bool) -> Figure:
    cluster = cluster_of(4096 if marked else 131_072)
    return draw_goodputs(goodputs(cluster, {"Young": 2000.0, "Daly": 1900.0} if marked else {}))


@draws(draw_spent, 1, 2, 6)
def where_time_went(jobs: int) -> Figure:
    names = ("all of it", "a name of a job", "short", "again", "and again", "the last")
    ledger = run(ALL_KINDS, 5 * DAY_S)
    return draw_spent([spent(name, ledger) for name in names[:jobs]])


@draws(draw_contours)
def pairs_that_give_a_goodput() -> Figure:
    stops = (1.0, 10.0, 100.0)
    lines = [
        Contour(f"goodput {share:.0%}", stops, tuple(restart_for(share, 9e4, s) for s in stops))
        for share in (0.7, 0.9)
    ]
    return draw_contours(lines, 9e4)


@draws(draw_longest, 3, 5)
def longest_runs(ranks: int) -> Figure:
    return draw_longest(longest_of(50, 0.5, (2.8, 2.0, 1.5, 1.4, 1.1)[:ranks]))
