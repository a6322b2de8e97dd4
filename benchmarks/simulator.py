"""How fast the simulator is, next to Numba's own and to compiled code: part of `make bench`.

Each kernel runs here with every detector and counter on, interpreted and compiled; in Numba's CUDA
simulator, which runs one Python thread for each CUDA thread and detects nothing; and as compiled
loops on one core, in the kernel's own order. All results are compared with NumPy's. Times are those
of the processor, which other work on the machine changes least, and medians. What a first launch
takes is asked of new processes: as it comes, the simulator itself decides whether it compiles.
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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from simt.simulator import simulate

# As a script it finds only its own folder.
sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.simulated import compiled
from benchmarks.simulated.cases import CASES, EIGHT, KERNELS, Case
from benchmarks.simulated.first_launch import WAYS

HERE = Path(__file__).parent
RECORD = HERE / "records" / "simulator.json"
PAGE = HERE.parent / "docs" / "simulator.md"
ROUNDS = 5
PROCESSES = 3
LEAST_SECONDS = 2e-3
"""Shorter launches are timed several at once."""
MAX_AT_ONCE = 64
MAX_SECONDS = 600

TIMES_THE_LOOPS = {
    "map 2^22": 5,
    "matmul 512": 10,
    "block sums 2^20": 10,
    "histogram 2^20": 10,
}
MILLISECONDS = {"attention 128x64": 20.0, "map 64": 0.2}
TIMES_NUMBA = 20_000
FIRST_OVER_INTERPRETED = 1.1
LAUNCH_BYTES = 100 * 10**6
"""Goals; a goal that is missed changes no exit status, since a machine can be slow."""
MAX_BYTES = 10**9


class WrongResult(Exception):
    """A simulator computed something else than NumPy, or found a hazard where there is none."""


def median_milliseconds(case: Case, launch: Callable[[list[np.ndarray]], Any]) -> float:
    """Returns the median milliseconds of a launch, once warm.

    Raises:
        WrongResult: a launch said that something is wrong, or computed something wrong.
    """
    found, times = [], 1
    while len(found) < ROUNDS + 1:
        given = [case.arguments() for _ in range(times)]
        start = time.process_time()
        told = [launch(arguments) for arguments in given]
        seconds = time.process_time() - start
        mistake = case.mistake(given[-1])
        if any(each is not None and each.hazards for each in told) or mistake is not None:
            raise WrongResult(f"{case.kernel}: {mistake or told[-1]}")
        if found and seconds < LEAST_SECONDS and times < MAX_AT_ONCE:
            times *= 4
            continue
        found.append(seconds / times)
    return statistics.median(found[1:]) * 1e3


def time_here(case: Case, way: str) -> float:
    """Returns the milliseconds of a launch; the kernel has been read before.

    Numba's side is timed the same way: `kernel[grid, block](...)` without what `jit` did before.
    """
    ready = simulate(f"{KERNELS}:{case.kernel}", compiled=WAYS[way])[case.launch]
    return median_milliseconds(case, lambda arguments: ready(*arguments))


def time_loops(case: Case) -> float:
    """Returns the milliseconds of the same work in compiled loops."""
    function = getattr(compiled, case.kernel)
    return median_milliseconds(case, lambda arguments: function(*arguments))


def time_first(name: str, way: str) -> tuple[float, float]:
    """Returns the milliseconds of the first launch of a process, and of its second."""
    runs = [json.loads(_python("first_launch", name, way)) for _ in range(PROCESSES)]
    first, second = (statistics.median(each) for each in zip(*runs, strict=True))
    return first, second


def time_numba(name: str) -> float:
    """Returns the milliseconds of a case in Numba's simulator, in a process of its own."""
    found = json.loads(_python("numba_side", name, NUMBA_ENABLE_CUDASIM="1"))
    if found["mistake"] is not None:
        raise WrongResult(f"Numba's simulator: {found['mistake']}")
    return float(found["milliseconds"])


def _python(module: str, *arguments: str, **environment: str) -> str:
    paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.simulated.{module}", *arguments],
        env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=MAX_SECONDS,
        check=False,
    )
    if done.returncode:
        raise WrongResult(f"{module} {' '.join(arguments)}: {done.stderr.strip()[-500:]}")
    return done.stdout


def row(name: str, status: Callable[[str], Any]) -> dict[str, Any]:
    """Returns all milliseconds of a case."""
    case = CASES[name]
    found: dict[str, Any] = {"name": name, "numba": None}
    for way in ("interpreted", "compiled"):
        with status(way):
            found[way] = time_here(case, way)
    with status("loops"):
        found["loops"] = time_loops(case)
    first = {}
    for way in WAYS:
        with status(f"first launch, {way}"):
            first[way] = time_first(name, way)
    found["first"] = {way: both[0] for way, both in first.items()}
    # What the first launch takes longer than the second, and an interpreted one does not.
    more = {way: both[0] - both[1] for way, both in first.items()}
    found["compiling"] = more["compiled"] - more["interpreted"]
    if case.rounds:
        with status("Numba's simulator, which may take a minute"):
            found["numba"] = time_numba(name)
    return found


def measure(names: list[str], console: Console) -> dict[str, Any]:
    """Returns the milliseconds of some cases, and the peak memory of a large launch."""
    rows = [
        row(name, lambda what, name=name: console.status(f"{name}: {what}"))  # type: ignore[misc]
        for name in names
    ]
    ratios = [each["numba"] / each["compiled"] for each in rows if each["name"] in EIGHT]
    with console.status("memory of 2^22 threads"):
        memory = {way: json.loads(_python("memory", way)) for way in WAYS}
    return {
        "cases": rows,
        "geometric_mean": math.exp(statistics.fmean(map(math.log, ratios))) if ratios else None,
        "least": min(ratios, default=None),
        "bytes": memory,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "processor": _processor(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()


def warm_table(found: dict[str, Any]) -> Table:
    """Returns what a launch takes once warm."""
    shown = Table(
        title="Milliseconds of the processor per launch, once warm",
        box=SIMPLE,
        padding=(0, 1, 0, 0),
    )
    shown.add_column("kernel", no_wrap=True)
    titles = ("interpreted", "compiled", "loops", "c/loops", "goal", "Numba's", "N/c")
    for title in titles:
        shown.add_column(title, justify="right", no_wrap=True)
    for each in found["cases"]:
        name = each["name"]
        goal = ""
        if name in TIMES_THE_LOOPS:
            goal = f"{TIMES_THE_LOOPS[name]}x"
        elif name in MILLISECONDS:
            goal = f"{MILLISECONDS[name]:g} ms"
        shown.add_row(
            name,
            f"{each['interpreted']:,.2f}",
            f"{each['compiled']:,.2f}",
            f"{each['loops']:,.4f}",
            f"{each['compiled'] / each['loops']:,.1f}x",
            goal,
            "" if each["numba"] is None else f"{each['numba']:,.0f}",
            "" if each["numba"] is None else f"{each['numba'] / each['compiled']:,.0f}x",
        )
    return shown


def first_table(found: dict[str, Any]) -> Table:
    """Returns what the first launch of a process takes."""
    shown = Table(
        title="Milliseconds of the processor, first launch of a process",
        box=SIMPLE,
        padding=(0, 1, 0, 0),
    )
    shown.add_column("kernel", no_wrap=True)
    for title in (*WAYS, "compiling", "came/inter."):
        shown.add_column(title, justify="right", no_wrap=True)
    for each in found["cases"]:
        first = each["first"]
        shown.add_row(
            each["name"],
            *(f"{first[way]:,.1f}" for way in WAYS),
            f"{each['compiling']:,.0f}",
            f"{first['as it comes'] / first['interpreted']:.2f}",
        )
    return shown


def page(found: dict[str, Any]) -> str:
    """Returns the part of docs/simulator.md that these numbers are."""
    lines = [
        "| launch | interpreted | compiled | loops | Numba's simulator | compiling |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for each in found["cases"]:
        numba = "" if each["numba"] is None else f"{each['numba']:,.0f}"
        lines.append(
            f"| {each['name']} | {each['interpreted']:,.2f} | {each['compiled']:,.2f}"
            f" | {each['loops']:,.4f} | {numba} | {each['compiling']:,.0f} |"
        )
    return "\n".join(lines)


def record(found: dict[str, Any]) -> None:
    """Writes the numbers into the record, and into the page."""
    RECORD.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    before, mark, rest = text.partition("<!-- speed -->\n")
    _, end, after = rest.partition("<!-- end speed -->")
    if not end:
        raise SystemExit(f"{PAGE} has no place for the table")
    PAGE.write_text(f"{before}{mark}{page(found)}\n{end}{after}", encoding="utf-8")


def main() -> int:
    """Runs the benchmark; 1 when a result is wrong or a large launch needs too much memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="only the kernels Numba runs in seconds"
    )
    parser.add_argument("--only", nargs="+", metavar="CASE", choices=CASES, help="these cases")
    parser.add_argument("--json", type=Path, metavar="PATH", help="also write the numbers here")
    parser.add_argument(
        "--record", action="store_true", help="also write them for docs/simulator.md"
    )
    options = parser.parse_args()
    # What is piped into a file has room.
    console = Console(width=None if sys.stdout.isatty() else 110)
    names = options.only or [n for n, case in CASES.items() if case.quick or not options.quick]
    try:
        found = measure(names, console)
    except WrongResult as error:
        console.print(f"[bold]wrong result[/]: {error}")
        return 1
    console.print(warm_table(found), first_table(found))
    if found["geometric_mean"] is not None:
        console.print(
            f"Numba's simulator over compiled: geometric mean {found['geometric_mean']:,.0f}x"
            f" (goal {TIMES_NUMBA:,}x), least {found['least']:,.0f}x"
        )
    console.print(
        f"goal of a first launch as it comes: at most {FIRST_OVER_INTERPRETED} of interpreted"
    )
    for way, needed in found["bytes"].items():
        console.print(
            f"memory of a map of 2^22 threads, {way}: launch {needed['launch'] / 1e6:,.0f} MB"
            f" (goal {LAUNCH_BYTES / 1e6:,.0f}), whole process {needed['process'] / 1e6:,.0f} MB"
            f" (at most {MAX_BYTES / 1e6:,.0f})"
        )
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if options.record:
        record(found)
    return 1 if max(each["process"] for each in found["bytes"].values()) > MAX_BYTES else 0


if __name__ == "__main__":
    sys.exit(main())
