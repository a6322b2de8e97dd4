"""`--gpu` on a real card: both verdicts of each solution agree; what goes wrong hurts nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gpu_course.grading.card import bench
from gpu_course.grading.check import check
from gpu_course.grading.kernel import on_card
from gpu_course.hardware.run import run_natively
from gpu_course.puzzle import KernelPuzzle, Launch, index

SOLUTIONS = Path(__file__).parents[2] / "solutions"
KERNELS = [puzzle.name for puzzle in index.puzzles() if isinstance(puzzle, KernelPuzzle)]
GUARD = (SOLUTIONS / "01_threads" / "guard.py").read_text(encoding="utf-8")
ADD_ONE = """\
from numba import cuda


@cuda.jit
def add_one(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 1
"""


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    on_card.stop()


@pytest.mark.parametrize("name", KERNELS)
def test_both_verdicts_on_a_solution_agree(name: str) -> None:
    verdict = check(name, answer=SOLUTIONS / f"{name}.py", gpu=True)
    assert verdict.passed
    assert verdict.card is not None
    assert (verdict.card.state, verdict.card.agrees) == ("right", True), verdict.card.said
    assert verdict.card.seconds is not None and verdict.card.seconds > 0


def test_a_missing_guard_is_found_by_the_zones(tmp_path: Path) -> None:
    path = tmp_path / "guard.py"
    path.write_text(GUARD.replace("if i < size:", "if i >= 0:"))
    card = check("guard", answer=path, gpu=True).card
    assert card is not None
    assert (card.state, card.agrees) == ("outside", True), card.said


def test_a_kernel_that_hangs_is_ended_and_the_next_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "guard.py"
    path.write_text(GUARD.replace("if i < size:", "while a[0] == a[0]:\n        out[0] = i"))
    monkeypatch.setattr(on_card, "_why_not", lambda verdict: "")  # the simulator would not let it
    monkeypatch.setattr(on_card, "FIRST_S", 20.0)
    card = check("guard", answer=path, gpu=True).card
    assert card is not None and card.state == "hang", card
    path.write_text(GUARD)
    card = check("guard", answer=path, gpu=True).card
    assert card is not None and card.state == "right", card.said


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_an_array_on_the_gpu_is_changed_in_place(library: str, tmp_path: Path) -> None:
    module = pytest.importorskip(library)
    if library == "torch":
        if not module.cuda.is_available():
            pytest.skip("this build of PyTorch uses no GPU")
        out, a = module.zeros(40, device="cuda"), module.arange(40.0, device="cuda")
    else:
        out, a = module.zeros(40, np.float32), module.arange(40, dtype=np.float32)
    path = tmp_path / "answer.py"
    path.write_text(ADD_ONE)
    launch = Launch("add_one", 2, 32, ("out", "a"))
    assert run_natively(path, [launch], {"out": out, "a": a}) == {}
    assert out.tolist() == [k + 1.0 for k in range(40)]


def test_a_product_and_a_librarys_call_are_timed() -> None:
    if bench.torch_on_gpu()[0] is None:
        pytest.skip(bench.torch_on_gpu()[1])
    product = bench.run({"kind": "matmul"})
    assert product["state"] == "timed" and product["seconds"] > 0
    name = "01_threads/blocks"
    job = {"kind": "answer", "puzzle": name, "path": str(SOLUTIONS / f"{name}.py")}
    found = bench.run(job)
    assert found["state"] == "timed"
    assert found["library"]["state"] == "timed" and found["library"]["seconds"] > 0
