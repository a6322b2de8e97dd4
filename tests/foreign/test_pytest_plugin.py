"""A project's tests under the plugin, each run in a process of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """
import numpy as np
import pytest
from numba import cuda

needs_gpu = pytest.mark.skipif(not cuda.is_available(), reason="no GPU")


@cuda.jit
def add_ten(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + 10


@cuda.jit
def add_ten_unguarded(out, a):
    i = cuda.grid(1)
    out[i] = a[i] + 10


def run(kernel):
    a = np.arange(8, dtype=np.float32)
    out = np.zeros_like(a)
    kernel[1, 12](out, a)
    np.testing.assert_array_equal(out, a + 10)


@needs_gpu
def test_clean():
    run(add_ten)


@needs_gpu
def test_right_and_out_of_bounds():
    run(add_ten_unguarded)


def test_fails_by_itself():
    assert run(add_ten) == 3
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "test_kernels.py").write_text(TESTS)
    return tmp_path


def full_disk() -> None:
    """Has every file refuse its first byte, as a full disk does it."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def run(project: Path, *arguments: str, full: bool = False) -> tuple[dict[str, int], str]:
    command = [sys.executable, "-m", "pytest", "-p", "gpu_course.simt.pytest", *arguments]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "no:nbval", "-q", "--color=no"],
        capture_output=True,
        text=True,
        check=False,
        cwd=project,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=full_disk if full else None,
    )
    text = done.stdout + done.stderr
    last = text.strip().splitlines()[-1]
    return {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", last)}, text


def test_a_hazard_fails_its_test_alone(project: Path) -> None:
    counts, text = run(project)
    assert counts["passed"] == 1
    assert counts["failed"] == 2
    assert "OutOfBoundsError: a[8] is outside an array of shape (8,)" in text
    assert "in 1 of 1 launch of add_ten_unguarded" in text
    assert "skipped" not in counts


def test_a_baseline_lets_pass_what_was_there_whichever_worker_saw_it(project: Path) -> None:
    workers = ("-n", "2")
    chosen = ("-k", "not itself")
    counts, text = run(project, "--gpu-write-baseline", "known.json", *chosen, *workers)
    assert counts["passed"] == 2
    assert "GPU kernels: 1 found, written to known.json" in text
    (row,) = json.loads((project / "known.json").read_text())
    assert (row["kernel"], row["kind"]) == ("add_ten_unguarded", "out-of-bounds")
    counts, text = run(project, "--gpu-baseline", "known.json", *chosen)
    assert counts["passed"] == 2
    assert "GPU kernels: 1 known passed over" in text
    # A line that is new is no known finding, wherever it stands.
    worse = TESTS.replace(
        "    out[i] = a[i] + 10\n\n\ndef run", "    out[i] = a[i + 1]\n\n\ndef run"
    )
    (project / "test_kernels.py").write_text(worse.replace("assert_array_equal(out", "shape(out"))
    counts, text = run(project, "--gpu-baseline", "known.json", "-k", "bounds")
    assert counts.get("failed") == 1, text


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_baseline_of_yesterday_outlives_a_full_disk(project: Path) -> None:
    (project / "known.json").write_text("[]")
    before = sorted(project.iterdir())
    counts, text = run(
        project, "-s", "--gpu-write-baseline", "known.json", "-k", "bounds", full=True
    )
    assert counts["passed"] == 1
    assert "GPU kernels: known.json cannot be written: File too large" in text
    assert (project / "known.json").read_text() == "[]" and sorted(project.iterdir()) == before


def test_rules_hold_here_too(project: Path) -> None:
    counts, _ = run(project, "--gpu-severity", "out-of-bounds=advice", "-k", "bounds")
    assert counts["passed"] == 1
    (project / "rules.toml").write_text('[[suppress]]\nkernel = "add*"\nreason = "shown as it is"')
    counts, _ = run(project, "--gpu-rules", "rules.toml", "-k", "bounds")
    assert counts["passed"] == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--gpu-baseline", "none.json"), "none.json is no baseline"),
        (("--gpu-rules", "none.toml"), "none.toml cannot be read"),
        (("--gpu-severity", "race=of"), "race cannot be 'of'"),
    ],
)
def test_a_wrong_option_is_told_before_any_test(
    project: Path, arguments: tuple[str, str], complaint: str
) -> None:
    _, text = run(project, *arguments)
    assert complaint in text
    assert "passed" not in text
