"""Values against Numba's own CUDA simulator, on kernels that it runs truthfully.

It runs one Python thread for each of the GPU's, so it sees no race, has no warps, and computes with
Python's numbers. On kernels of 64-bit values without races or warp operations it is an oracle.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simt.simulator import simulate
from tests.simt import numba_simulator_kernels
from tests.simt.numba_simulator_kernels import launches

NAMES = list(launches())


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """What Numba's simulator leaves in every argument, from a process of its own."""
    path = tmp_path_factory.mktemp("numba") / "results.npz"
    script = Path(numba_simulator_kernels.__file__)
    subprocess.run(
        [sys.executable, str(script), str(path)],
        check=True,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        timeout=300,
    )
    with np.load(path) as results:
        return dict(results)


def test_there_are_kernels_of_every_kind() -> None:
    assert len(NAMES) >= 20


@pytest.mark.parametrize("name", NAMES)
def test_leaves_what_numbas_simulator_leaves(name: str, theirs: dict[str, np.ndarray]) -> None:
    kernel, grid, block, arguments = launches()[name]
    before = [a.copy() for a in arguments]
    report = simulate(kernel)[grid, block](*arguments)
    assert report.hazards == (), report
    changed = [not np.array_equal(a, b) for a, b in zip(arguments, before, strict=True)]
    assert any(changed)
    for k, array in enumerate(arguments):
        np.testing.assert_allclose(array, theirs[f"{name}/{k}"], rtol=1e-13, atol=0)
