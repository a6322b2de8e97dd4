"""One launch in both places: on the GPU under Numba, and in the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.hardware.run import run_natively
from gpu_course.puzzle import Launch
from simt.simulator import simulate


def run_both(
    path: Path,
    values: Mapping[str, Any],
    *,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    shared_bytes: int = 0,
    hazards: bool = False,
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Returns what `kernel` in a file leaves in its arrays: (on the GPU, in the simulator).

    Args:
        path: the file, which defines `kernel`.
        values: the arguments by name, in the kernel's order.
        grid, block, shared_bytes: the launch.
        hazards: whether the simulator may report errors; a kernel with a race or an access out of
            bounds has nothing to compare.
    """
    launch = Launch("kernel", grid, block, tuple(values), shared_bytes)
    simulated = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}
    report = simulate(f"{path}:kernel")[grid, block, 0, shared_bytes](*simulated.values())
    assert report.ok or hazards, report
    return run_natively(path, (launch,), values), simulated


def assert_agree(native: dict[str, np.ndarray], simulated: dict[str, Any], rtol: float = 0) -> None:
    """Fails where an array differs by more than rtol, relative; NaN equals NaN."""
    for name, array in native.items():
        np.testing.assert_allclose(array, simulated[name], rtol=rtol, atol=0, err_msg=name)
