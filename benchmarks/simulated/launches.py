"""What one small launch costs in a loop of many: part of `make bench`.

A relaxation on a small grid is a thousand launches of one kernel. Here the kernel is simulated with
every detector on, once from a simulation that is kept and once by `simulate(kernel)` anew for each
launch; beside it stands Numba's own simulator, which runs a Python thread per CUDA thread.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import cuda
from rich.console import Console
from rich.table import Table

SIDE = 8
LAUNCHES = 1000
NUMBA_LAUNCHES = 50
ROUNDS = 5
NUMBA = "--numba"


@cuda.jit
def jacobi(out, a):
    i, j = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def reference(a: np.ndarray, steps: int) -> np.ndarray:
    """Returns the grid after some steps, in NumPy."""
    now, new = a.copy(), a.copy()
    for _ in range(steps):
        new[1:-1, 1:-1] = 0.25 * (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:])
        now, new = new, now
    return now


def milliseconds(launch: Callable[[Any, Any], Any], launches: int) -> float:
    """Returns the milliseconds of one launch, the median of some loops, each checked.

    Args:
        launch: takes the output and the input, both (SIDE, SIDE) float64.
        launches: of one loop.
    """
    start = np.random.default_rng(0).standard_normal((SIDE, SIDE))
    expected = reference(start, launches)
    seconds = []
    for _ in range(ROUNDS + 1):
        now, new = start.copy(), start.copy()
        begun = time.perf_counter()
        for _ in range(launches):
            launch(new, now)
            now, new = new, now
        seconds.append(time.perf_counter() - begun)
        if not np.allclose(now, expected):
            raise SystemExit("wrong result")
    return statistics.median(seconds[1:]) / launches * 1e3


def in_numba() -> float:
    """Returns the same for Numba's simulator, which a process chooses before its first import."""
    done = subprocess.run(
        [sys.executable, __file__, NUMBA],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    """Prints the milliseconds of a launch in each form, and Numba's over ours."""
    from simt.simulator import simulate

    kept = simulate(jacobi)[1, (SIDE, SIDE)]
    console = Console()
    with console.status("Numba's simulator"):
        numba = in_numba()
    table = Table("form", title=f"Milliseconds per launch of {SIDE} x {SIDE} threads")
    table.add_column("milliseconds", justify="right")
    table.add_column("Numba's simulator over it", justify="right")
    for name, launch in (
        ("kept: ready(out, a)", kept),
        (
            "anew: simulate(k)[grid, block](out, a)",
            lambda o, a: simulate(jacobi)[1, (SIDE, SIDE)](o, a),
        ),
    ):
        with console.status(name):
            found = milliseconds(launch, LAUNCHES)
        table.add_row(name, f"{found:.2f}", f"{numba / found:.1f}x")
    table.add_row("Numba's simulator", f"{numba:.2f}", "1.0x")
    console.print(table)


if __name__ == "__main__":
    if NUMBA in sys.argv:
        block = (SIDE, SIDE)
        print(milliseconds(lambda out, a: jacobi[1, block](out, a), NUMBA_LAUNCHES))
    else:
        main()
