"""Seconds from a killed rank to the next step under torchrun, and of a write in the background.

Run it with: python -m benchmarks.restart
It prints what each rank told and when, once with a store whose keys hang on the attempt. With
--plain also without: the second attempt may then die in connectFullMesh, or come through by luck.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Annotated

import torch
import typer

from gpu_course.lessons.failures.restart import launched
from gpu_course.lessons.failures.saving import timed
from gpu_course.lessons.failures.training import logs
from gpu_course.ranks.runner import run_function

NUMBERS = 8_000_000


def main(
    ranks: Annotated[int, typer.Option(help="processes")] = 2,
    plain: Annotated[bool, typer.Option(help="also with the store as it is")] = False,
) -> None:
    """Kills a rank, lets torchrun start all again, and prints how long that took."""
    print(f"torch {torch.__version__}, {ranks} ranks, {sys.platform}")
    with tempfile.TemporaryDirectory() as folder:
        told = launched(folder, ranks=ranks)
        print(f"{told}\nfrom the kill to the end of a step: {told.back_s:.2f} s")
        steps = [each.step for each in logs(folder) if each.rank == 0]
        print(f"steps of rank 0: {' '.join(map(str, steps))}")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("first", "second"):
            asked = {"path": str(Path(folder, name)), "numbers": NUMBERS}
            slowest = max(run_function(timed, ranks, asked).results, key=lambda r: r["returned_s"])
            print(
                f"async_save of {4e-6 * NUMBERS:.0f} MB a rank, {name} time: "
                f"returned after {slowest['returned_s']:.3f} s, whole after "
                f"{slowest['whole_s']:.3f} s"
            )
    if plain:
        with tempfile.TemporaryDirectory() as folder:
            told = launched(folder, ranks=ranks, plain=True)
            print(f"\nwithout a prefix, exit status {told.status}")
            for each in told.events:
                if each.attempt:
                    print(f"  attempt {each.attempt}  rank {each.rank} {each.what}")


if __name__ == "__main__":
    typer.run(main)
