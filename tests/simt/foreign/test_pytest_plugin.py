"""A project's tests under the plugin, each run in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
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
    done = pytest_process(project, *arguments, full=full)
    text = done.stdout + done.stderr
    last = text.strip().splitlines()[-1]
    return {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", last)}, text


def pytest_process(
    project: Path, *arguments: str, full: bool = False
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "simt.pytest", *arguments]
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "no:nbval", "-q", "--color=no"],
        capture_output=True,
        text=True,
        check=False,
        cwd=project,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=full_disk if full else None,
    )


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
    rows = json.loads((project / "known.json").read_text())
    assert {(row["kernel"], row["kind"]) for row in rows} == {
        ("add_ten_unguarded", "out-of-bounds")
    }
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


EVERYWHERE = """
import atexit
import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import cuda


@cuda.jit
def pile_up(x):
    x[0] = cuda.grid(1)


@cuda.jit
def fine(x):
    x[cuda.grid(1)] = 1


def launch(kernel=RACY):
    kernel[1, 32](np.zeros(32))


@pytest.fixture(params=["before", "after"])
def around(request):
    if request.param == "before":
        launch()
    yield
    if request.param == "after":
        launch()


@pytest.fixture(scope="session")
def last():
    yield
    launch()


def test_fixture(around):
    pass


def test_skips():
    launch()
    pytest.skip("for want of time")


@pytest.mark.xfail
def test_said_to_fail():
    launch()


def test_fork():
    if (child := os.fork()) == 0:
        launch()
        os._exit(0)
    os.waitpid(child, 0)


def test_fresh_process():
    process = multiprocessing.get_context("spawn").Process(target=launch)
    process.start()
    process.join()


def test_another_python():
    subprocess.run([sys.executable, "-c", "import test_everywhere as t; t.launch()"], check=True)


def test_last(last):
    launch(fine)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kernel", ["pile_up", "fine"])
def test_launches_in_fixtures_skipped_tests_and_other_processes_are_seen(
    tmp_path: Path, kernel: str
) -> None:
    (tmp_path / "test_everywhere.py").write_text(EVERYWHERE.replace("RACY", kernel))
    counts, text = run(tmp_path)
    if kernel == "fine":
        assert counts == {"passed": 6, "skipped": 1, "xpassed": 1}, text
        return
    # One call of the fixture fails its test, the other one its end; and so does the session's.
    assert counts == {"passed": 2, "failed": 5, "errors": 2, "xfailed": 1}, text


OUTSIDE = {
    "import of test_outside.py": ("launch()", 1),
    "at the end of the interpreter": ("atexit.register(launch)", 1),
    "not all was seen": ("slow()", 1),
    "nothing": ("", 0),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("where", OUTSIDE)
def test_launches_outside_any_test_fail_the_run(tmp_path: Path, where: str) -> None:
    start = EVERYWHERE.partition("@pytest.fixture(params")[0].replace("RACY", "pile_up")
    slow = """
def slow():
    (ready, done), (ends, alive) = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.close(alive)
        launch(fine)
        os.write(done, b".")
        os.read(ends, 1)  # until its parent has ended
        os._exit(0)
    os.read(ready, 1)


def test_it():
    pass


"""
    call, status = OUTSIDE[where]
    (tmp_path / "test_outside.py").write_text(start + slow + call)
    done = pytest_process(tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert (where in done.stdout + done.stderr) == bool(status)


def test_a_baseline_knows_arrays_and_lines_that_read_alike(tmp_path: Path) -> None:
    text = EVERYWHERE.partition("@pytest.fixture(params")[0].replace("RACY", "pile_up")
    text = text.replace("def pile_up(x):\n    x[0]", "def pile_up(x, y):\n    A[0]")
    text = text.replace("(np.zeros(32))", "(np.zeros(32), np.zeros(32))")
    text += "def test_it():\n    launch()\n"
    file, known = tmp_path / "test_it.py", "--gpu-baseline=known.json"
    file.write_text(text.replace("A[0]", "x[0]"))
    assert run(tmp_path, "--gpu-write-baseline=known.json")[0] == {"passed": 1}
    assert run(tmp_path, known)[0] == {"passed": 1}
    twice = "x[0] = cuda.grid(1)\n    cuda.syncthreads()\n    x[0]"
    for worse in ("x, y = y, x\n    x[0]", twice):
        file.write_text(text.replace("A[0]", worse))
        assert run(tmp_path, known)[0] == {"failed": 1}, worse
