"""Arguments that no template of Numba takes: refused, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simt.errors import KernelRefused
from simt.simulator import simulate

REFUSED = {
    "cuda.atomic.cas(d, 0, 1.0, 2.0)": "cuda.atomic.cas: exchanges whole numbers, and this array",
    "cuda.atomic.cas(f, 0, 1.0, 2.0)": "cuda.atomic.cas: exchanges whole numbers, and this array",
    "cuda.atomic.exch(f, 0, 1.0)": "cuda.atomic.exch: exchanges whole numbers, and this array is",
    "cuda.atomic.compare_and_swap(d, 0.0, 1.0)": "exchanges whole numbers, and this array is",
    "cuda.atomic.add(f, (0,), 1.0)": "cuda.atomic.add: takes a number as the index of",
    "cuda.atomic.cas(n, (0,), 1, 2)": "cuda.atomic.cas: takes a number as the index of",
    "cuda.selp(True, n[0], d[0])": "cuda.selp: chooses between two of one type, not int32",
    "cuda.selp(True, f[0], d[0])": "cuda.selp: chooses between two of one type, not float32 and",
    "cuda.selp(True, True, False)": "cuda.selp: chooses between numbers of 2, 4 or 8 bytes",
    "print(c)": "print: shows no complex number, and c is one",
}
TAKEN = (
    "cuda.atomic.cas(n, 0, 1, 2)", "cuda.atomic.exch(n, 0, 1)", "cuda.atomic.add(f, 0, 1.0)",
    "cuda.atomic.add(m, (0, 1), 1.0)", "cuda.selp(True, n[0], n[1])", "cuda.selp(n[0], 1, 2)",
    "cuda.atomic.compare_and_swap(n, 0, 1)", "cuda.atomic.max(d, 0, 1.0)", "print(n[0] > 0)",
    "print(c.real, c.imag)",
)  # fmt: skip


def launch(statement: str, folder: Path) -> None:
    path = folder / "kernel.py"
    path.write_text(f"from numba import cuda\ndef kernel(f, d, n, m, c):\n    {statement}\n")
    simulate(f"{path}:kernel")[1, 1](
        np.zeros(4, np.float32), np.zeros(4), np.zeros(4, np.int32), np.zeros((2, 2)), 1j
    )


@pytest.mark.parametrize("statement", REFUSED)
def test_what_numba_refuses_is_refused(statement: str, tmp_path: Path) -> None:
    with pytest.raises(KernelRefused) as caught:
        launch(statement, tmp_path)
    assert REFUSED[statement] in caught.value.fact
    assert caught.value.line == 3 and caught.value.hint


@pytest.mark.parametrize("statement", TAKEN)
def test_what_numba_takes_is_taken(statement: str, tmp_path: Path) -> None:
    launch(statement, tmp_path)
