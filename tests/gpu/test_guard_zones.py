"""Writes outside an array are found on a GPU too, by the zones around it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.hardware.guard_zones import WriteOutside
from tests.gpu.both import run_both
from tests.simt.observe.test_hazards import FAULTS, HEAD


@pytest.mark.parametrize(
    ("body", "cells"),
    [
        (FAULTS["no guard"][0], 1),
        (FAULTS["guard off by one"][0], 1),
        (FAULTS["same index everywhere"][0], 80),
    ],
    ids=["no guard", "guard off by one", "same index everywhere"],
)
def test_a_write_past_the_end_is_found(body: str, cells: int, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.splitlines()))
    values = {"out": np.zeros(20, np.float32), "a": np.zeros(20, np.float32), "size": 20}
    with pytest.raises(WriteOutside) as caught:
        run_both(path, values, grid=2, block=16, hazards=True)
    assert (caught.value.array, caught.value.side) == ("out", "after")
    first = 4 * (cells - 1)
    assert first < caught.value.bytes_off <= first + 4


def test_a_write_before_the_start_is_found(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    # Numba counts a negative index from the end, so a store before the start takes two sizes.
    path.write_text(HEAD + "    if i == 0:\n        a[-size - 3] = 5\n")
    values = {"out": np.zeros(20, np.float32), "a": np.zeros(20, np.float32), "size": 20}
    with pytest.raises(WriteOutside) as caught:
        run_both(path, values, grid=1, block=16, hazards=True)
    assert (caught.value.array, caught.value.side) == ("a", "before")
