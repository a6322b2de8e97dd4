"""The process that has the card, under Numba's own simulator: every call is one that Numba knows.

The card of the tests runs kernels in the course's simulator; this one runs them in Numba's, which
shares no line with it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.hardware.trial import PlainLaunch, decoded, launch_job

ROOT = Path(__file__).parents[3]
KERNELS = """\
from numba import cuda


@cuda.jit
def double(out, a, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] * 2


@cuda.jit
def count_up(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] += 1


@cuda.jit
def broken(out):
    out[0] = no_such_name


open("mark", "w")
"""
PROGRAM = """
import json, sys
from gpu_course.hardware.trial import run
print(json.dumps([run(job) for job in json.load(sys.stdin)]))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each job came to."""
    folder = tmp_path_factory.mktemp("trial")
    path = folder / "answer.py"
    path.write_text(KERNELS)
    a, counts = np.arange(10, dtype=np.float32), np.arange(10)
    inputs = {"a": a, "size": 10, "counts": counts}
    both = [
        PlainLaunch("double", 2, 8, ("out", "a", "size")),
        PlainLaunch("count_up", 2, 8, ("counts",)),
    ]
    runs = [{**inputs, "out": np.full(10, mark, np.float32)} for mark in (np.nan, -1)]
    jobs = {
        "known": {"kind": "known"},
        "two launches": launch_job(path, both, runs, restored=["counts"], timed=True),
        "no such name": launch_job(path, [PlainLaunch("broken", 1, 1, ("counts",))], runs[:1]),
        "no such kernel": launch_job(path, [PlainLaunch("none", 1, 1, ("counts",))], runs[:1]),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=json.dumps(list(jobs.values())),
        env={
            **os.environ,
            "NUMBA_ENABLE_CUDASIM": "1",
            "GPU_COURSE_CUDA": "numba",
            "PYTHONPATH": str(ROOT),
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert not (folder / "mark").exists()
    return dict(zip(jobs, json.loads(done.stdout.splitlines()[-1]), strict=True))


def test_a_kernel_that_is_right_shows_that_the_card_computes(told: dict[str, Any]) -> None:
    assert told["known"] == {"state": "right"}


def test_each_run_begins_anew_and_leaves_its_arrays(told: dict[str, Any]) -> None:
    found = told["two launches"]
    assert found["state"] == "ran"
    assert isinstance(found["seconds"], float)  # Numba's simulator has no clock
    assert len(found["left"]) == 2
    for left in found["left"]:
        np.testing.assert_array_equal(decoded(left["out"]), 2 * np.arange(10, dtype=np.float32))
        np.testing.assert_array_equal(decoded(left["counts"]), np.arange(10) + 1)


def test_what_does_not_run_is_said_in_one_line(told: dict[str, Any]) -> None:
    assert told["no such name"]["state"] == "refused"
    assert "no_such_name" in told["no such name"]["said"]
    assert told["no such kernel"] == {
        "state": "refused",
        "said": "answer.py has no function none",
    }
