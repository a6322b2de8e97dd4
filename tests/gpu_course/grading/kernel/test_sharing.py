"""A right result that few threads wrote does not pass, however the work is hidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gpu_course.grading import check
from gpu_course.grading.kernel import messages
from gpu_course.grading.kernel.sharing import Unshared
from gpu_course.puzzle import Case, Launch, Share, index
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.toy import HEAD

SHARED = replace(toy.TOY, share=Share("Each thread writes at most one cell."))
SOLUTIONS = Path(__file__).parents[4] / "solutions"


def verdict_on(puzzle, text: str, tmp_path: Path):
    file = tmp_path / "answer.py"
    file.write_text(text)
    return check(puzzle, answer=file, seed=0)


HIDDEN = {
    "one thread of the grid": """
    if cuda.grid(1) == 0:
        for i in range(size):
            out[i] = a[i] + 10
""",
    "the last thread": """
    if cuda.grid(1) == cuda.gridsize(1) - 1:
        i = 0
        while i < size:
            out[i] = a[i] + 10
            i += 1
""",
    "one thread of each block": """
    start = cuda.blockIdx.x * cuda.blockDim.x
    if cuda.threadIdx.x == 0:
        for i in range(start, min(start + cuda.blockDim.x, size)):
            out[i] = a[i] + 10
""",
    "every second thread": """
    i = cuda.grid(1)
    if i % 2 == 0:
        for k in range(i, min(i + 2, size)):
            out[k] = a[k] + 10
""",
    "a first guess by all, then one thread": """
    i = cuda.grid(1)
    if i < size:
        out[i] = 0
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        for k in range(i, min(i + cuda.blockDim.x, size)):
            out[k] = a[k] + 10
""",
    "a device function": """
    if cuda.grid(1) == 0:
        fill(out, a, size)


@cuda.jit(device=True)
def fill(out, a, size):
    for i in range(size):
        out[i] = a[i] + 10
""",
    "atomics": """
    if cuda.grid(1) == 0:
        for i in range(size):
            out[i] = 0
            cuda.atomic.add(out, i, a[i] + 10)
""",
    "a slice": """
    if cuda.grid(1) == 0:
        for i in range(0, size):
            part = out[i:]
            part[0] = a[i] + 10
""",
}


@pytest.mark.parametrize("body", HIDDEN.values(), ids=HIDDEN)
def test_a_thread_with_more_than_its_share_is_found(body: str, tmp_path: Path) -> None:
    verdict = verdict_on(SHARED, HEAD + body.lstrip("\n"), tmp_path)
    assert (verdict.reason, verdict.diagnosis) == ("over-budget", "not-shared"), verdict.message
    first, *rest = verdict.message.splitlines()
    assert first.startswith("right, but not shared out: one thread writes ")
    assert "each thread writes at most one cell." in " ".join(verdict.message.split())
    assert any(line.startswith("  work:   ") and "#" * 20 in line for line in rest)


SHARED_WELL = {
    "a cell each": """
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] + 10
""",
    "a guess first, in one's own cell": """
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i]
        out[i] += 10
""",
    "from the other end": """
    i = size - 1 - cuda.grid(1)
    if i >= 0:
        out[i] = a[i] + 10
""",
    "through shared memory": """
    tile = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    if i < size:
        tile[cuda.threadIdx.x] = a[i]
        out[i] = tile[cuda.threadIdx.x] + 10
""",
}


@pytest.mark.parametrize("body", SHARED_WELL.values(), ids=SHARED_WELL)
def test_every_way_to_do_ones_own_cell_passes(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The reference of the toy, which no folder of solutions holds.
    (tmp_path / "90_toys").mkdir()
    (tmp_path / "90_toys" / "plus_ten.py").write_text(toy.RIGHT)
    monkeypatch.setattr("gpu_course.grading.kernel.trial.solutions_folder", lambda: tmp_path)
    text = HEAD.replace("import cuda", "import cuda, float32") + body.lstrip("\n")
    verdict = verdict_on(SHARED, text, tmp_path)
    assert verdict.passed, verdict.message


WORK_AT_THE_TILE = {
    "one thread computes for the block, the others copy": (
        "not-shared",
        """
    i = cuda.grid(1)
    start = cuda.blockIdx.x * TPB
    if cuda.threadIdx.x == 0:
        for k in range(min(TPB, size - start)):
            tile[k] = a[start + min(TPB, size - start) - 1 - k]
    cuda.syncthreads()
    if i < size:
        out[i] = tile[cuda.threadIdx.x]
""",
    ),
    "every thread looks through the whole tile": (
        "done-again",
        """
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    length = min(TPB, size - start)
    if i < size:
        tile[t] = a[i]
    cuda.syncthreads()
    if i < size:
        for k in range(length):
            value = tile[k]
            if k == length - 1 - t:
                out[i] = value
""",
    ),
}


@pytest.mark.parametrize(("diagnosis", "body"), WORK_AT_THE_TILE.values(), ids=WORK_AT_THE_TILE)
def test_work_on_the_way_to_the_result_is_shared_too(
    diagnosis: str, body: str, tmp_path: Path
) -> None:
    head = "from numba import cuda, float32\n\nTPB = 64\n\n\n@cuda.jit\n"
    head += "def block_reverse(out, a, size):\n    tile = cuda.shared.array(TPB, float32)\n"
    verdict = verdict_on(index.find("block_reverse"), head + body.lstrip("\n"), tmp_path)
    assert (verdict.reason, verdict.diagnosis) == ("over-budget", diagnosis), verdict.message


def test_a_race_of_threads_that_all_do_everything_is_told_to_share(tmp_path: Path) -> None:
    body = "    for i in range(size):\n        out[i] = a[i] + 10\n"
    verdict = verdict_on(SHARED, HEAD + body, tmp_path)
    assert verdict.diagnosis == "race"
    text = " ".join(verdict.message.split())
    assert (
        "think: One thread writes 10 cells of out. The puzzle says: each thread writes at" in text
    )
    assert "try: let each thread write cells that are its own" in text


def test_a_race_of_threads_that_do_everything_is_not_one_of_two_equal_indices(
    tmp_path: Path,
) -> None:
    head = "from numba import cuda\n\n\n@cuda.jit\ndef zip_add(out, a, b):\n"
    every = "    for i in range(a.shape[0]):\n        out[i] = a[i] + b[i]\n"
    same = "    i = cuda.blockIdx.x\n    out[i] = a[i] + b[i]\n"
    said = {}
    for name, body in {"every": every, "same": same}.items():
        verdict = verdict_on(index.find("zip_add"), head + body, tmp_path)
        assert verdict.diagnosis == "race"
        said[name] = " ".join(verdict.message.split())
    assert "they have the same index" in said["same"]
    assert "they have the same index" not in said["every"]
    assert "think: One thread writes 8 cells of out. The puzzle says" in said["every"]


def test_threads_that_are_told_as_one_group_are_not_said_to_do_the_same() -> None:
    counts = np.array([40, 30, 20, 10, 1, 0, 0, 0])
    found = Unshared("not-shared", 0, "writes", "out", counts, 1)
    assert found.groups() == [(40, 1), (30, 1), (20, 1), (10, 5)]
    report = SimpleNamespace(launch=SimpleNamespace(block=(8, 1, 1), grid=(1, 1, 1)))
    case = Case("a case", {})
    given = SimpleNamespace(case=case, launches=(Launch("plus_ten", 1, 8, ("out",)),))
    tried = SimpleNamespace(given=given, reports=(report,))
    said = " ".join(str(each) for each in messages.not_shared(SHARED, tried, found))
    assert "at most 10 cells each" in said
    assert "at most 40" not in said and "at most 20" not in said
