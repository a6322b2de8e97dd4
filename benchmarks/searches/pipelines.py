"""Prints bubble rates of measured pipelines beside the paper's, what a search finds, and how fast.

    python -m benchmarks.searches.pipelines

Three tables. Orders made by hand, by simulation, and the interleaved order by its formula, each
beside the printed rate where there is one. The course's search in the memory of ZB-1p and of ZB-2p,
with the bound that no order goes below, and its seconds of processor time. The seven schedules that
PyTorch brings.

Source of what is printed: arXiv 2401.10241, by the rows of lessons 26 and 27's claims.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Iterator

from gpu_course.claims.published import rows
from gpu_course.errors import CourseError
from gpu_course.lessons.zero_bubble.leaderboard import (
    BY_HAND,
    LIMITS,
    by_hand,
    interleaved_rate,
    rate_bound,
    searched,
)
from gpu_course.measure.pipelines.profiles import PROFILES
from gpu_course.measure.pipelines.pytorch import SCHEDULES, pytorch_schedule
from gpu_course.measure.pipelines.rules import faults
from gpu_course.measure.pipelines.timing import Costs, simulate

LESSON = "27_zero_bubble"
FIRST_LESSON = "26_pipelines"
PLACES = {"Bubble rates, 1F1B": "1F1B", "Bubble rates, 1F1B interleaved": "1F1B-I"}
"""Of its claims -> the order whose rates stand there."""


def main() -> None:
    """Prints the three tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ranks", type=int, default=4, help="of PyTorch's schedules")
    parser.add_argument("--microbatches", type=int, default=12, help="of PyTorch's schedules")
    options = parser.parse_args()
    for lines in (
        _made_by_hand(),
        _searches(),
        _of_pytorch(options.ranks, options.microbatches),
    ):
        for line in lines:
            print(line, flush=True)
        print()


def _printed() -> dict[tuple[str, str], float]:
    """Returns the printed bubble rates: (pipeline, order) -> rate."""
    places = ("bubble rates of orders made by hand", "bubble rates of the paper's search")
    found: dict[tuple[str, str], float] = {}
    for place, order in PLACES.items():
        for row in rows(FIRST_LESSON, place):
            size, microbatches = re.match(r"(\S+), (\d+) microbatches", row.what).groups()  # type: ignore[union-attr]
            found[f"{size}, m={microbatches}", order] = row.published
    for place in places:
        for row in rows(LESSON, place):
            found[row.arguments["pipeline"], row.arguments["order"]] = row.published
    return found


def _made_by_hand() -> Iterator[str]:
    orders = [*BY_HAND, "1F1B-I"]
    yield "bubble rate: simulated (1F1B-I: formula), and printed where it is"
    yield f"{'':<14}" + "".join(f"{name:>18}" for name in orders) + f"{'s':>8}"
    printed = _printed()
    for name in PROFILES:
        start = time.process_time()
        rates = [by_hand(name, order).bubble_rate for order in BY_HAND]
        rates.append(interleaved_rate(name))
        seconds = time.process_time() - start
        cells = (
            f"{rate:>10.4f}{_shown(printed.get((name, order))):>8}"
            for order, rate in zip(orders, rates, strict=True)
        )
        yield f"{name:<14}" + "".join(cells) + f"{seconds:>8.2f}"


def _shown(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.4f}"


def _searches() -> Iterator[str]:
    yield "bubble rate: found, printed, and a bound below which no order goes"
    head = "".join(f"{name:>11}{'printed':>9}{'bound':>8}{'s':>7}" for name in LIMITS)
    yield f"{'':<14}{head}"
    printed = _printed()
    for name in PROFILES:
        cells = ""
        for order, share in LIMITS.items():
            start = time.process_time()
            rate = searched(name, share).run.bubble_rate
            seconds = time.process_time() - start
            cells += (
                f"{rate:>11.4f}{_shown(printed.get((name, order))):>9}"
                f"{rate_bound(name, share):>8.4f}{seconds:>7.2f}"
            )
        yield f"{name:<14}{cells}"


def _of_pytorch(ranks: int, microbatches: int) -> Iterator[str]:
    yield (
        f"PyTorch's schedules, {ranks} ranks, {microbatches} microbatches; F, I and W of a rank "
        "take 1 each"
    )
    yield f"{'':<24}{'stages':>8}{'bubble':>9}{'held':>7}"
    for name in SCHEDULES:
        try:
            schedule = pytorch_schedule(name, ranks, microbatches)
        except CourseError as refused:
            yield f"{name:<24}{refused.fact}"
            continue
        if found := faults(schedule):
            yield f"{name:<24}its table cannot run: {found[0].sentence}"
            continue
        part = schedule.stages // schedule.ranks
        costs = Costs(1 / part, 1 / part, 1 / part, 0.0, 1 / part, 0.5 / part)
        run = simulate(schedule, costs)
        yield f"{name:<24}{part:>8}{run.bubble_rate:>9.4f}{max(run.peaks):>7.3g}"


if __name__ == "__main__":
    main()
