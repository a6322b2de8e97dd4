"""Without a browser the browser tests are skipped and counted, and CI does not let that pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(tmp_path: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if name != "CI"}
    environment.update(variables, GPU_COURSE_CHROMIUM=str(tmp_path / "missing"))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
        + ["--color=no", "tests/browser/test_lesson.py"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_they_are_skipped_with_a_printed_count(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout
    count = re.search(r"^browser tests skipped: (\d+) \(no Chromium found", done.stdout, re.M)
    assert count and int(count[1]) >= 2, done.stdout
    assert re.search(rf"^{count[1]} skipped", done.stdout, re.M), done.stdout


def test_the_count_is_printed_by_parallel_runs_too(tmp_path: Path) -> None:
    done = run(tmp_path, "-n", "1")
    assert re.search(r"^browser tests skipped: \d+ \(", done.stdout, re.M), done.stdout


def test_ci_makes_it_a_failure(tmp_path: Path) -> None:
    done = run(tmp_path, CI="true")
    assert done.returncode == 1, done.stdout
    assert "CI=true asks for the browser tests" in done.stdout
