"""An array that each thread has to itself, taken for the block's."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.grading import check
from gpu_course.grading.diagnoses.sentences import IN_ITS_OWN

REVERSE = """from numba import cuda, float32

TPB = 64


@cuda.jit
def block_reverse(out, a, size):
    tile = cuda.local.array(TPB, float32)
    t = cuda.threadIdx.x
    start = cuda.blockIdx.x * TPB
    length = min(TPB, size - start)
    if t < length:
        STORES
    cuda.syncthreads()
    if t < length:
        out[start + t] = tile[length - 1 - t]
"""


@pytest.mark.parametrize(
    ("stores", "taken_for_shared"),
    [
        ("tile[t] = a[start + t]", True),
        ("for k in range(1, length):\n            tile[k] = a[start + k]", False),
    ],
)
def test_what_others_store_in_theirs_is_not_here(
    stores: str, taken_for_shared: bool, tmp_path: Path
) -> None:
    file = tmp_path / "block_reverse.py"
    file.write_text(REVERSE.replace("STORES", stores))
    verdict = check("block_reverse", answer=file, seed=0)
    assert verdict.diagnosis == "uninitialised-read"
    assert (IN_ITS_OWN in " ".join(verdict.message.split())) == taken_for_shared
