"""What the engine alone costs: the disk it takes, and the seconds to a first finding.

`python benchmarks/engine.py` installs `simt/` by pip into an environment made for it, with NumPy
and greenlet and nothing else, and starts Python there again and again. pip must reach an index.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ENGINE = Path(__file__).parents[1] / "simt"
ROUNDS = 15
MB = 10**6

RACY = """
import numpy as np
from numba import cuda, float32


@cuda.jit
def turn_round(x):
    own = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    own[t] = x[t]
    x[t] = own[63 - t]


turn_round[1, 64](np.arange(64, dtype=np.float32))
"""
"""A kernel that lacks a barrier: its race is the first finding."""


class WrongResult(Exception):
    """A run did not find the race, or found Numba where none should be."""


def installed(folder: Path) -> tuple[Path, Path]:
    """Returns the Python and the packages of a new environment that has the engine alone."""
    # From a copy: a build leaves its folders beside the sources.
    copy = shutil.copytree(ENGINE, folder / "simt", ignore=shutil.ignore_patterns("__pycache__"))
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", copy], check=True)
    told = _output(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    return python, Path(told.strip())


def _output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def megabytes(packages: Path, *names: str) -> float:
    """Returns what packages take, Python's compiled files among it."""
    files = [file for name in names for file in packages.glob(f"{name}*/**/*") if file.is_file()]
    return sum(file.stat().st_size for file in files) / MB


def median_seconds(rounds: int, status: int, *command: str | Path) -> tuple[float, float]:
    """Returns how long a process takes from its start to its end, once its files are in memory.

    By the clock, and of the processor, which other work on the machine hardly changes.

    Raises:
        WrongResult: it ended with another status.
    """
    seconds = []
    for _ in range(rounds + 1):
        start, before = time.perf_counter(), os.times()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        after = os.times()
        processor = sum(after[2:4]) - sum(before[2:4])  # of children: in the program, in the system
        seconds.append((time.perf_counter() - start, processor))
        if done.returncode != status or ("RaceError" in done.stderr) != bool(status):
            raise WrongResult(f"{command} ended with {done.returncode}\n{done.stderr}")
    clock, processor = zip(*seconds[1:], strict=True)
    return statistics.median(clock), statistics.median(processor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is started")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        python, packages = installed(folder)
        if "None" not in _output(
            python, "-c", "import importlib.util as u; print(u.find_spec('numba'))"
        ):
            raise WrongResult("Numba is installed where the engine should be alone")
        script = folder / "racy.py"
        script.write_text(RACY, encoding="utf-8")
        engine = megabytes(packages, "simt")
        needs = megabytes(packages, "numpy", "greenlet")
        print(f"the engine           {engine:7.1f} MB")
        print(f"NumPy and greenlet   {needs:7.1f} MB")
        print(f"together             {engine + needs:7.1f} MB")
        for what, status, command in (
            ("Python that does nothing", 0, ("-c", "pass")),
            ("Python that imports NumPy", 0, ("-c", "import numpy")),
            ("python -m simt, to the end of a run that finds a race", 1, ("-m", "simt", script)),
        ):
            clock, processor = median_seconds(rounds, status, python, *command)
            print(f"{clock:6.2f} s, {processor:.2f} s of the processor: {what}", flush=True)
        print(
            f"medians of {rounds}; Python {sys.version.partition(' ')[0]}, {os.cpu_count()} cores"
        )


if __name__ == "__main__":
    main()
