"""Measures how many of a project's own tests pass: `python benchmarks/suites.py FOLDER`.

Each file of tests runs under `pytest -p simt.pytest` in a process of its own. A test
that asks for what no simulator has (compiled code, an error of Numba's compiler in its own words)
is excluded, and each exclusion is printed with its reason. A test whose kernels showed a hazard is
told apart: the plugin fails it on purpose.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Annotated
from xml.etree import ElementTree

import typer

PASSED, FAILED, HAZARD, EXCLUDED, SKIPPED = "passed", "failed", "hazard", "excluded", "skipped"
_REASONS = (
    (r"runs kernels as they are written and compiles nothing", "it asks for compiled code"),
    (r"stands for foreign code", "it links foreign code"),
    (r"\w*Error not raised", "it asks for an error of Numba's compiler"),
    (r"lanes: a GPU runs that many", "its launch is too large for the simulator"),
    (r"No module named|does not know numba\.cuda\.", "it imports what is not there"),
    (r"the extension API", "it extends Numba's compiler"),
)

Outcome = tuple[str, str, str]
"""A test's name, what became of it, and why."""


def measured(files: list[Path], seconds: int) -> list[Outcome]:
    """Returns what became of each test of some files."""
    found = []
    for path in files:
        with tempfile.TemporaryDirectory() as scratch:
            report = Path(scratch, "report.xml")
            command = [sys.executable, "-m", "pytest", "-p", "simt.pytest", "-q"]
            command += ["-p", "no:cacheprovider", f"--junitxml={report}", str(path)]
            try:
                ended = subprocess.run(
                    command, capture_output=True, text=True, timeout=seconds, check=False
                )
            except subprocess.TimeoutExpired:
                found.append((str(path), FAILED, f"not at its end after {seconds} s"))
                continue
            if not report.exists():
                found.append((str(path), FAILED, ended.stderr.strip()[-200:]))
                continue
            found += [
                outcome(path.stem, case) for case in ElementTree.parse(report).iter("testcase")
            ]
    return found


def outcome(module: str, case: ElementTree.Element) -> Outcome:
    """Returns what became of one test."""
    name = f"{module}::{case.get('name')}"
    for tag in ("failure", "error"):
        told = case.find(tag)
        if told is None:
            continue
        text = f"{told.get('message') or ''} {told.text or ''}"
        first = re.sub(r"\s+", " ", told.get("message") or text)[:160]
        if first.startswith("The simulator found"):
            return name, HAZARD, first
        for pattern, reason in _REASONS:
            if re.search(pattern, text):
                return name, EXCLUDED, f"{reason}: {first}"
        return name, FAILED, first
    told = case.find("skipped")
    return (name, PASSED, "") if told is None else (name, SKIPPED, told.get("message") or "")


def summary(outcomes: list[Outcome]) -> str:
    """Returns the share that passed, and all others with their reasons."""
    by_what: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        by_what[each[1]].append(each)
    lines = []
    for what in (SKIPPED, EXCLUDED, HAZARD, FAILED):
        lines += ["", f"{what}: {len(by_what[what])}"]
        lines += [f"  {name}: {reason}" for name, _, reason in by_what[what]]
    tried = len(by_what[PASSED]) + len(by_what[FAILED])
    share = f"{100 * len(by_what[PASSED]) / tried:.0f} %" if tried else "nothing to measure"
    lines += ["", f"passed: {len(by_what[PASSED])} of {tried} ({share})"]
    return "\n".join(lines)


def main(
    paths: Annotated[list[Path], typer.Argument(exists=True)],
    seconds: Annotated[int, typer.Option(help="what a file of tests may take")] = 600,
) -> None:
    """Measures how much of a project's own tests pass on the simulator."""
    files = []
    for path in paths:
        files += sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    print(summary(measured(files, seconds)))


if __name__ == "__main__":
    typer.run(main)
