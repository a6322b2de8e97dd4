"""How fast the simulator is, next to Numba's own and to compiled code: part of `make bench`.

Each kernel runs here with every detector and counter on; in Numba's CUDA simulator, which runs one
Python thread for each CUDA thread and detects nothing; and as compiled loops on one core, in the
kernel's own order. All results are compared with NumPy's.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import compiled
import numba
import numpy as np
from cases import CASES, KERNELS, Case
from rich.console import Console
from rich.table import Table

from simt.simulator import simulate

HERE = Path(__file__).parent
ROUNDS = 9
MAX_SECONDS = 600
MAX_BYTES = 10**9


class WrongResult(Exception):
    """A simulator computed something else than NumPy, or found a hazard where there is none."""


def time_here(case: Case) -> float:
    """Returns the median milliseconds of a launch, once warm; the kernel has been read before.

    Numba's side is timed the same way: `kernel[grid, block](...)` without what `jit` did before.
    """
    simulation = simulate(f"{KERNELS}:{case.kernel}")
    seconds = []
    for _ in range(ROUNDS + 1):
        arguments = case.arguments()
        start = time.perf_counter()
        report = simulation[case.launch](*arguments)
        seconds.append(time.perf_counter() - start)
        if report.hazards:
            raise WrongResult(str(report))
        mistake = case.mistake(arguments)
        if mistake is not None:
            raise WrongResult(mistake)
    return statistics.median(seconds[1:]) * 1e3


def time_compiled(case: Case) -> float:
    """Returns the median milliseconds of the same work in compiled code, once compiled."""
    function = getattr(compiled, case.kernel)
    seconds = []
    for _ in range(ROUNDS + 1):
        arguments = case.arguments()
        start = time.perf_counter()
        function(*arguments)
        seconds.append(time.perf_counter() - start)
        mistake = case.mistake(arguments)
        if mistake is not None:
            raise WrongResult(f"compiled: {mistake}")
    return statistics.median(seconds[1:]) * 1e3


def time_numba(name: str) -> float:
    """Returns the milliseconds of a case in Numba's simulator, in a process of its own."""
    found = json.loads(_python("numba_side.py", name, NUMBA_ENABLE_CUDASIM="1"))
    if found["mistake"] is not None:
        raise WrongResult(f"Numba's simulator: {found['mistake']}")
    return float(found["milliseconds"])


def _python(script: str, *arguments: str, **environment: str) -> str:
    paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, str(HERE / script), *arguments],
        env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.PIPE,
        text=True,
        timeout=MAX_SECONDS,
        check=True,
    )
    return done.stdout


def measure(names: list[str], console: Console) -> dict[str, Any]:
    """Returns the milliseconds and ratios of some cases, and the peak memory of a large launch."""
    rows = []
    for name in names:
        with console.status(f"{name}: here"):
            ours = time_here(CASES[name])
        with console.status(f"{name}: compiled"):
            loops = time_compiled(CASES[name])
        theirs = None
        if CASES[name].rounds:
            with console.status(f"{name}: Numba's simulator, which may take a minute"):
                theirs = time_numba(name)
        rows.append(
            {
                "name": name,
                "milliseconds": ours,
                "compiled_milliseconds": loops,
                "slower_than_compiled": ours / loops,
                "numba_milliseconds": theirs,
                "ratio": None if theirs is None else theirs / ours,
            }
        )
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    with console.status("memory of 2^20 threads"):
        peak = int(_python("memory.py"))
    return {
        "cases": rows,
        "geometric_mean": math.exp(statistics.fmean(map(math.log, ratios))),
        "least": min(ratios),
        "peak_bytes": peak,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def table(found: dict[str, Any]) -> Table:
    """Returns the cases as a table."""
    shown = Table("kernel", title="Milliseconds per launch")
    for title in ("here", "compiled", "times slower", "Numba's simulator", "times faster"):
        shown.add_column(title, justify="right")
    for row in found["cases"]:
        shown.add_row(
            row["name"],
            f"{row['milliseconds']:.2f}",
            f"{row['compiled_milliseconds']:.3f}",
            f"{row['slower_than_compiled']:,.0f}x",
            "" if row["ratio"] is None else f"{row['numba_milliseconds']:,.0f}",
            "" if row["ratio"] is None else f"{row['ratio']:,.0f}x",
        )
    return shown


def main() -> int:
    """Runs the benchmark; 1 when a result is wrong or a large launch needs too much memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="only the kernels Numba runs in seconds"
    )
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the numbers here")
    options = parser.parse_args()
    console = Console()
    names = [name for name, case in CASES.items() if case.quick or not options.quick]
    try:
        found = measure(names, console)
    except WrongResult as error:
        console.print(f"[bold]wrong result[/]: {error}")
        return 1
    console.print(table(found))
    console.print(f"geometric mean {found['geometric_mean']:,.0f}x, least {found['least']:,.0f}x")
    console.print(
        f"peak memory of a map of 2^20 threads: {found['peak_bytes'] / 1e6:,.0f} MB"
        f" (at most {MAX_BYTES / 1e6:,.0f})"
    )
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return 1 if found["peak_bytes"] > MAX_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
