"""Prints how long the best schedule of a long chain takes to find, beside the same loops in C.

Two tables: 300 stages in 500 slots, and in 30, where what is done once for each part of the chain
weighs most. The time it takes to compile is told apart. The C is rotor.c, compiled by gcc with -O3
for this processor; without gcc its column is left out.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gpu_course.lessons.optimal_checkpointing import dynamic_program
from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
from gpu_course.measure.schedules.chain import Chain, Stage
from gpu_course.measure.schedules.operations import account
from gpu_course.measure.schedules.plans import keep_everything


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


def in_c(folder: Path) -> Callable[[Chain, int], tuple[np.ndarray, float]] | None:
    """Returns (chain in slots, memory) -> (the table as C fills it, seconds); None without gcc."""
    if shutil.which("gcc") is None:
        return None
    library = folder / "rotor.so"
    source = Path(__file__).with_suffix(".c")
    options = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *options, str(source), "-o", str(library)], check=True)
    fill = ctypes.CDLL(str(library)).fill
    fill.restype = None

    def run(chain: Chain, memory: int) -> tuple[np.ndarray, float]:
        cost = np.empty((len(chain), len(chain), memory + 1))
        numbers = dynamic_program._numbers(chain)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (cost, *numbers)]
        start = time.perf_counter()
        fill(*pointers, ctypes.c_long(len(chain)), ctypes.c_long(memory))
        return cost, time.perf_counter() - start

    return run


def main() -> None:
    """Fills both tables and prints the seconds, and what the schedule takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    chain = random_chain(options.stages)
    plain = account(chain, keep_everything(len(chain)))
    start = time.perf_counter()
    dynamic_program._compiled()(np.empty((1, 1, 2)), *dynamic_program._numbers(random_chain(1)))
    print(f"compiling, or reading what was compiled before: {time.perf_counter() - start:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        c = in_c(Path(folder))
        for slots in (500, 30):
            # Half of the plain run's peak is all the memory there is, cut into these slots.
            cut = chain.in_slots(-(-plain.peak // (2 * slots)))
            seconds = []
            for _ in range(options.rounds):
                start = time.perf_counter()
                table = solve(cut, slots)
                seconds.append(time.perf_counter() - start)
            # The least of a few runs is the one the machine disturbed least.
            said = f"{options.stages} stages, {slots} slots: {min(seconds):.3f} s"
            if c is not None:
                theirs = [c(cut, slots) for _ in range(options.rounds)]
                for s, rows in enumerate(table.cost):
                    assert np.array_equal(rows, theirs[0][0][s, : len(rows)])
                base = min(each for _, each in theirs)
                said += f", {min(seconds) / base:.2f} times the {base:.3f} s of C"
            if np.isfinite(table.best_cost()):
                found = account(chain, table.schedule())
                said += (
                    f"; {found.peak / plain.peak:.0%} of the plain run's memory at "
                    f"{found.cost / plain.cost - 1:.1%} more cost"
                )
            print(said)


if __name__ == "__main__":
    main()
