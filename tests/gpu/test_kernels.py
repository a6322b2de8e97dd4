"""The kernels the simulator is tested with that have no hazard, natively: they agree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gpu.both import assert_agree, run_both
from tests.gpu.kernels import KERNELS, WARP_HEAD, random_kernel
from tests.sampling import examples
from tests.simt import test_warps as warps
from tests.simt.test_interpreter import _blocks


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_agrees(name: str, tmp_path: Path) -> None:
    kernel = KERNELS[name]
    path = tmp_path / "kernel.py"
    path.write_text(kernel.text)
    values = kernel.values(np.random.default_rng(7))
    native, simulated = run_both(path, values, grid=kernel.grid, block=kernel.block)
    assert_agree(native, simulated, kernel.rtol)


@pytest.mark.parametrize("operation", warps.OPERATIONS)
def test_a_warp_operation_gives_its_table(operation: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(f"{WARP_HEAD}    out[i] = {operation}\n")
    values = {"out": np.full(64, -99), "a": warps.A}
    native, _ = run_both(path, values, grid=1, block=64)
    np.testing.assert_array_equal(native["out"], warps.OPERATIONS[operation])


@settings(max_examples=examples(60, few=15), deadline=None)
@given(body=_blocks, seed=st.integers(0, 2**16))
def test_random_kernels_agree(
    body: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("random") / "kernel.py"
    kernel = random_kernel(body, seed)
    path.write_text(kernel.text)
    values = kernel.values(np.random.default_rng(seed))
    native, simulated = run_both(path, values, grid=kernel.grid, block=kernel.block)
    assert_agree(native, simulated)
