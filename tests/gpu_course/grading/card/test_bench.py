"""`gpu-course bench` without a GPU: what is timed, kept and said, on a card that is none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gpu_course import commands
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.card import bench, targets
from gpu_course.hardware import records
from gpu_course.puzzle import index
from tests.benchmarks.stand_in import LIBRARY_MS, NO_TORCH, WRONG_LIBRARY

SOLUTIONS = Path(__file__).parents[4] / "solutions"
SIMULATED = "tests.benchmarks.stand_in:simulated"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command where `blocks` and `guard` are solved and a card stands ready."""
    folder = tmp_path / "puzzles"
    for name in ("blocks", "guard"):
        full = index.find(name).name
        text = (SOLUTIONS / f"{full}.py").read_text(encoding="utf-8")
        workspace.write_text(folder / f"{full}.py", text)
    stub = index.find("clip").name
    workspace.write_text(folder / f"{stub}.py", workspace.stub_text(stub))
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "why_no_gpu", lambda: "")
    monkeypatch.setattr(bench, "TARGET", SIMULATED)
    monkeypatch.setattr(records, "folder", lambda: tmp_path / "shipped")  # none
    return lambda *arguments: CliRunner().invoke(commands.app, ["bench", *arguments])


def test_an_answer_is_timed_beside_a_copy_and_kept(run: Run, tmp_path: Path) -> None:
    result = run("blocks")
    assert result.exit_code == 0, result.output
    (row,) = (line for line in result.stdout.splitlines() if line.startswith("blocks "))
    kept = records.timing("01_threads/blocks", root=tmp_path / ".gpu_course" / "bench")
    assert kept is not None
    assert kept.device == "Card of the tests"
    size = kept.sizes["size"]
    assert f"size {size:,}, block 256" in row and "3 ms" in row
    assert (kept.seconds, kept.least_bytes) == (pytest.approx(0.003), 2 * 4 * size)
    assert f"{kept.share_of_copy:.0%}" in row
    assert "A copy within this card's memory moves 2 MB/s" in result.stdout
    assert all(len(line) <= 100 for line in result.stdout.splitlines())


def test_the_library_and_the_cards_own_product_stand_beside_it(run: Run, tmp_path: Path) -> None:
    result = run("blocks")
    assert result.exit_code == 0, result.output
    root = tmp_path / ".gpu_course" / "bench"
    kept = records.timing("01_threads/blocks", root=root)
    assert kept is not None
    assert (kept.library, kept.library_seconds) == ("a * a", pytest.approx(LIBRARY_MS / 1000))
    assert kept.share_of_library == pytest.approx(0.5)
    assert kept.matmul_flop_per_s == pytest.approx(2 * 8**3 / (LIBRARY_MS / 1000))
    (row,) = (line for line in result.stdout.splitlines() if line.startswith("blocks "))
    assert row.split()[-5:] == [f"{kept.share_of_copy:.0%}", "50%", "90%", "copy", "reached"]
    assert "The library's calls: a * a." in result.stdout
    assert (
        "PyTorch multiplies matrices of float32, without TF32, at 682667 FLOP/s." in result.stdout
    )
    (record,) = records.records(root=root)
    assert {"name", "driver", "clocks", "l2_bytes"} <= set(record.device)
    assert record.items["matmul"]["call"] == "torch.mm, 8 x 8, float32 without TF32"


def test_without_a_library_the_answer_is_still_timed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NO_TORCH, "1")
    result = run("blocks")
    assert result.exit_code == 0, result.output
    kept = records.timing("01_threads/blocks", root=tmp_path / ".gpu_course" / "bench")
    assert kept is not None
    assert (kept.library_seconds, kept.share_of_library, kept.matmul_flop_per_s) == (None,) * 3
    assert "The library's calls" not in result.stdout


def test_a_library_that_computes_another_thing_is_no_measure(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(WRONG_LIBRARY, "a * a")
    assert run("blocks").exit_code == 0
    root = tmp_path / ".gpu_course" / "bench"
    kept = records.timing("01_threads/blocks", root=root)
    assert kept is not None and kept.share_of_library is None
    (record,) = records.records(root=root)
    assert record.items["01_threads/blocks"]["library"]["state"] == "differs"


def test_the_report_says_what_never_ran(run: Run) -> None:
    before = run("--report")
    assert before.exit_code == 0, before.output
    names = {line.split()[0] for line in before.stdout.splitlines() if line.endswith("never run")}
    assert {"blocks", "scan_lookback", "matmul_vectorized"} <= names
    run("blocks")
    after = run("--report")
    (row,) = (line for line in after.stdout.splitlines() if line.startswith("blocks "))
    assert row.split()[-1] == "reached"
    assert "Measured on Card of the tests" in after.stdout
    found = {
        each["puzzle"]: each
        for each in json.loads(run("--report", "--format", "json").stdout)["targets"]
    }
    assert found["01_threads/blocks"]["state"] == targets.REACHED
    assert found["01_threads/blocks"]["target"] == 0.9
    assert found["06_matmul/matmul_naive"] == {
        "puzzle": "06_matmul/matmul_naive",
        "kind": "matmul, a thread for each result",
        "of": "library",
        "target": 0.1,
        "reached": None,
        "state": "never run",
        "device": None,
        "date": None,
    }


def test_all_that_pass_are_timed_where_none_is_named(run: Run) -> None:
    result = run()
    assert result.exit_code == 0, result.output
    told = result.stdout.splitlines()
    assert any(line.startswith("blocks ") for line in told)
    assert "01_threads/guard: its launch stays as it is, however large the data" in told
    assert "clip" not in result.stdout


def test_what_does_not_pass_is_not_timed(run: Run) -> None:
    result = run("clip")
    assert result.exit_code == 1
    assert result.stdout == "01_threads/clip: it does not pass yet: check it first\n"


def test_what_asks_for_no_kernel_is_a_bad_call(run: Run) -> None:
    name = next(each.name for each in index.puzzles() if not hasattr(each, "launches"))
    result = run(name)
    assert result.exit_code == 2
    assert f"{name} asks for no kernel, so there is nothing to time" in result.output


def test_without_a_gpu_nothing_is_timed_or_kept(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "why_no_gpu", lambda: "switched off by GPU_COURSE_GPU")
    result = run("blocks")
    assert result.exit_code == 2
    assert "there is no GPU to time on: switched off by GPU_COURSE_GPU" in result.output
    assert not (tmp_path / ".gpu_course" / "bench").exists()


def test_a_gpu_that_does_not_answer_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "TARGET", "tests.gpu_course.hardware.no_such_jobs:run")
    with pytest.raises(CourseError, match="the GPU does not answer: the process did not start"):
        bench.bench(["blocks"])
