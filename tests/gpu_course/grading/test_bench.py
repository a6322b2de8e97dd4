"""`gpu-course bench` without a GPU: what is timed, kept and said, on a card that is none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gpu_course import commands
from gpu_course.errors import CourseError
from gpu_course.grading import bench, workspace
from gpu_course.hardware import records
from gpu_course.puzzle import index

SOLUTIONS = Path(__file__).parents[3] / "solutions"
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
    return lambda *arguments: CliRunner().invoke(commands.app, ["bench", *arguments])


def test_an_answer_is_timed_beside_a_copy_and_kept(run: Run, tmp_path: Path) -> None:
    result = run("blocks")
    assert result.exit_code == 0, result.output
    (row,) = (line for line in result.stdout.splitlines() if line.startswith("01_threads/blocks"))
    kept = records.timing("01_threads/blocks", root=tmp_path / ".gpu_course" / "bench")
    assert kept is not None
    assert kept.device == "Card of the tests"
    size = kept.sizes["size"]
    assert f"size {size:,}, block 256" in row and "3 ms" in row
    assert (kept.seconds, kept.least_bytes) == (pytest.approx(0.003), 2 * 4 * size)
    assert f"{kept.share_of_copy:.0%}" in row
    assert "A copy within this card's memory moves 2 MB/s" in result.stdout


def test_all_that_pass_are_timed_where_none_is_named(run: Run) -> None:
    result = run()
    assert result.exit_code == 0, result.output
    told = result.stdout.splitlines()
    assert any(line.startswith("01_threads/blocks ") for line in told)
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
