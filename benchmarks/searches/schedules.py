"""Prints what planning with persistent checkpoints alone costs, on random short chains."""

from __future__ import annotations

import argparse
import time

from gpu_course.lessons.optimal_checkpointing.comparison import (
    ScheduleComparison,
    compare,
    random_chain,
    tightest,
)


def main() -> None:
    """Compares random chains of each length in their least memory, and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages", type=int, nargs="+", default=[4, 5, 6, 7, 8])
    parser.add_argument("--chains", type=int, default=60, help="of each length")
    parser.add_argument("--more", type=int, default=0, help="slots above the least memory")
    options = parser.parse_args()
    print("stages  chains  table right  with a gap   mean gap   largest   states at most    s")
    for stages in options.stages:
        start = time.perf_counter()
        found = [_compared(stages, seed, options.more) for seed in range(options.chains)]
        seconds = time.perf_counter() - start
        right = sum(each.table == each.persistent.cost for each in found)
        gaps = [each.gap_percent for each in found if each.gap_percent > 0]
        mean = sum(gaps) / len(gaps) if gaps else 0.0
        states = max(each.unrestricted.states for each in found)
        print(
            f"{stages:>6}{len(found):>8}{right:>13}{len(gaps):>12}{mean:>9.1f} %"
            f"{max(gaps, default=0.0):>8.1f} %{states:>17,}{seconds:>6.1f}"
        )


def _compared(stages: int, seed: int, more: int) -> ScheduleComparison:
    chain = random_chain(stages, seed)
    return compare(chain, tightest(chain) + more)


if __name__ == "__main__":
    main()
