"""The simulator's counters beside those of a real GPU, as Nsight Compute reads them.

    python -m benchmarks.card.nsight

It runs the kernels of nsight_kernels.py under `ncu` and prints what both sides counted. Without ncu
or without a GPU it says what is missing and prints the simulator's column alone. `make gpu` keeps
the same numbers in a record.

A difference need not be a mistake: the simulator counts the kernel as written, the GPU what the
compiler made of it. Branches differ most, since Nsight Compute counts the targets of every branch
instruction, and the compiler turns some into selects and unrolls loops.
"""

from __future__ import annotations

import argparse
import csv
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.card.nsight_cases import KERNELS, METRICS, cases, simulated
from gpu_course.hardware.run import run_natively, why_no_gpu

ROOT = Path(__file__).parents[2]
MAX_SECONDS = 600.0
NO_NCU = "no ncu found: it comes with the CUDA toolkit and with NVIDIA Nsight Compute"
# Where NVIDIA's installers put it beside PATH.
_ELSEWHERE = ("/usr/local/cuda/bin/ncu", "/opt/nvidia/nsight-compute/*/ncu")

Counts = dict[str, int | None]


class NoCounters(Exception):
    """Nsight Compute ran and gave no counters; the text says what it said."""


def parse(text: str) -> list[Counts]:
    """Returns the counters of each launch, in order, from what `ncu --csv` printed.

    Args:
        text: one row per launch and metric, after any lines of ncu and of the program; a number
            may have commas between its thousands.

    Returns:
        For each launch {counter of the simulator: number}; None where this GPU lacks the metric.

    Raises:
        NoCounters: there is no row; the text ncu gave for it.
    """
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID",')), None)
    rows = list(csv.DictReader(lines[start:])) if start is not None else []
    launches: dict[int, dict[str, str]] = {}
    for row in rows:
        # ncu adds lines of its own at the end, which have no number in front.
        if (row["ID"] or "").isdigit() and row.get("Metric Value") is not None:
            launches.setdefault(int(row["ID"]), {})[row["Metric Name"]] = row["Metric Value"]
    if not launches:
        said = [line for line in lines if line.startswith(("==ERROR==", "==WARNING=="))]
        raise NoCounters(" ".join(said) or "ncu printed no counters")
    return [
        {name: _number(launches[k].get(metric)) for name, metric in METRICS.items()}
        for k in sorted(launches)
    ]


def _number(text: str | None) -> int | None:
    try:
        return round(float((text or "").replace(",", "")))
    except ValueError:  # "n/a"
        return None


def find_ncu() -> str | None:
    """Returns the path of ncu, the newest where there are several, or None."""
    found = shutil.which("ncu")
    others = (str(path) for each in _ELSEWHERE for path in sorted(Path("/").glob(each[1:]))[::-1])
    return found or next(others, None)


def profile(ncu: str, program: Sequence[str], seconds: float = MAX_SECONDS) -> list[Counts]:
    """Returns what the GPU counted for each launch of a program, in order.

    The clocks stay as they are: a count does not depend on them.

    Args:
        ncu: its path.
        program: what Python runs, such as ["-m", "benchmarks.card.nsight", "--only-launch"].
        seconds: the limit of the whole run.

    Raises:
        NoCounters: ncu failed or took too long.
    """
    options = ["--csv", "--print-units", "base", "--target-processes", "all"]
    options += ["--clock-control", "none"]
    try:
        done = subprocess.run(
            [ncu, *options, "--metrics", ",".join(METRICS.values()), sys.executable, *program],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise NoCounters(f"ncu took longer than {seconds:g} s") from error
    if done.returncode:
        raise NoCounters(f"ncu ended with {done.returncode}: {_end(done.stdout + done.stderr)}")
    return parse(done.stdout)


def measure(ncu: str, seconds: float = MAX_SECONDS) -> dict[str, Counts]:
    """Returns what the GPU counted for each case.

    Raises:
        NoCounters: ncu failed, took too long, or saw another number of launches than there are
            cases.
    """
    found = profile(ncu, ["-m", "benchmarks.card.nsight", "--only-launch"], seconds)
    names = list(cases())
    if len(found) != len(names):
        raise NoCounters(f"ncu saw {len(found)} launches of {len(names)}")
    return dict(zip(names, found, strict=True))


def _end(text: str) -> str:
    return " ".join(text.split()[-60:])


def launch_all() -> None:
    """Launches every case once on the GPU: what ncu looks at."""
    for case in cases().values():
        run_natively(KERNELS, (case.launch,), case.values)


def missing() -> str:
    """Returns what keeps the GPU's column from being filled, or ""."""
    reason = why_no_gpu()
    if reason:
        return f"no GPU to measure on: {reason}"
    return "" if find_ncu() else NO_NCU


def both(ncu: str, seconds: float = MAX_SECONDS) -> dict[str, dict[str, Counts]]:
    """Returns for each case {"simulator": its counters, "gpu": those of the GPU}.

    Raises:
        NoCounters: see `measure`.
    """
    gpu = measure(ncu, seconds)
    return {
        name: {"simulator": {**simulated(case)}, "gpu": gpu[name]} for name, case in cases().items()
    }


def ncu_version(ncu: str) -> str | None:
    """Returns the version of ncu, or None."""
    done = subprocess.run([ncu, "--version"], capture_output=True, text=True, timeout=60)
    found = re.search(r"^Version (\S+)", done.stdout, re.MULTILINE)
    return found.group(1) if found else None


def table(ours: dict[str, Counts], gpu: dict[str, Counts] | None) -> Table:
    """Returns the counters side by side, those left out that are 0 on every side."""
    shown = Table("kernel", "counter", title="Counters of a launch")
    for title in ("simulator", *(("GPU", "difference") if gpu else ())):
        shown.add_column(title, justify="right")
    for kernel, counts in ours.items():
        label = kernel
        for name, mine in counts.items():
            theirs = gpu[kernel][name] if gpu else 0
            if not mine and theirs == 0:
                continue
            shown.add_row(label, name, *_cells(mine or 0, theirs)[: 3 if gpu else 1])
            label = ""
    return shown


def _cells(mine: int, theirs: int | None) -> tuple[str, str, str]:
    if theirs is None:
        return f"{mine:,}", "not known here", ""
    return f"{mine:,}", f"{theirs:,}", f"{mine - theirs:+,}" if mine != theirs else "0"


def main() -> int:
    """Prints the table; 1 when ncu is there and gives no counters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only-launch", action="store_true", help=argparse.SUPPRESS)
    if parser.parse_args().only_launch:
        launch_all()
        return 0
    console = Console()
    ours: dict[str, Counts] = {name: {**simulated(case)} for name, case in cases().items()}
    reason = missing()
    if reason:
        console.print(table(ours, None))
        console.print(f"The simulator's column alone: {reason}.")
        return 0
    try:
        gpu = measure(str(find_ncu()))
    except NoCounters as error:
        console.print(table(ours, None))
        console.print(f"Nsight Compute gave no counters: {error}", markup=False)
        return 1
    console.print(table(ours, gpu))
    return 0


if __name__ == "__main__":
    sys.exit(main())
