"""Prints how long the best schedule of a long chain takes to find: 300 stages, 500 memory slots."""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from gpu_course.training.schedules.chain import Chain, Stage
from gpu_course.training.schedules.operations import account
from gpu_course.training.schedules.plans import keep_everything
from gpu_course.training.schedules.rotor import solve


def random_chain(length: int, seed: int = 0) -> Chain:
    """Returns a chain whose stages differ in sizes, in bytes, and in cost."""
    rng = np.random.default_rng(seed)

    def stage() -> Stage:
        output, saved = (int(size) for size in rng.integers(1_000, 50_000, 2))
        room = int(rng.integers(0, 20_000))
        return Stage(
            output_bytes=output,
            saved_bytes=saved,
            forward_bytes=output + room,
            forward_saving_bytes=output + saved + room,
            backward_bytes=output + room,
            output_gradient_bytes=output,
            forward_cost=int(rng.integers(1, 1_000)),
            backward_cost=int(rng.integers(1, 2_000)),
        )

    return Chain(tuple(stage() for _ in range(length)))


def main() -> None:
    """Solves the chain a few times and prints the seconds, and what the schedule takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages", type=int, default=300)
    parser.add_argument("--slots", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    chain = random_chain(options.stages)
    plain = account(chain, keep_everything(len(chain)))
    # Half of the plain run's peak is all the memory there is, cut into the slots asked for.
    slot = -(-plain.peak // (2 * options.slots))
    seconds = []
    for _ in range(options.rounds):
        start = time.perf_counter()
        table = solve(chain.in_slots(slot), options.slots)
        schedule = table.schedule()
        seconds.append(time.perf_counter() - start)
    found = account(chain, schedule)
    print(
        f"{options.stages} stages, {options.slots} slots: {statistics.median(seconds):.2f} s at "
        f"the median of {options.rounds}; {found.peak / plain.peak:.0%} of the plain run's memory "
        f"at {found.cost / plain.cost - 1:.1%} more cost"
    )


if __name__ == "__main__":
    main()
