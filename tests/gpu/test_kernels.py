"""The kernels the simulator is tested with that have no hazard, natively: they agree.

Each table stands in the test module of the simulator that it comes from.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gpu.both import assert_agree, run_both
from tests.observe.test_hazards import HEAD as HAZARD_HEAD
from tests.observe.test_hazards import TWINS as HAZARD_TWINS
from tests.observe.test_order import FENCE, LAST_BLOCK, WARP
from tests.sampling import examples
from tests.simt import test_functions_and_views as functions
from tests.simt import test_shared_memory as shared
from tests.simt import test_warps as warps
from tests.simt import waiting_kernels as waiting
from tests.simt.test_interpreter import BODIES, _blocks

CLOSE = 1e-12
"""Relative difference in float64: the GPU fuses products into sums, and has its own cosine."""


class Kernel(NamedTuple):
    """A source text, its launch, and its arguments from a random generator."""

    text: str
    grid: int
    block: int
    values: Callable[[np.random.Generator], dict[str, Any]]
    rtol: float = 0


def _lines(body: str) -> str:
    return textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"


IMPORTS = "import math\nimport operator\nimport numpy as np\nfrom numba import cuda\n\n"
PLAIN = f"{IMPORTS}@cuda.jit\ndef kernel(out, a):\n    i = cuda.grid(1)\n"
WARP_HEAD = f"{PLAIN}    lane = cuda.laneid\n"
ORDER_HEAD = "from numba import cuda, float32, int32\n@cuda.jit\ndef kernel(out, part, count, a):\n"
SUM_BY_SHUFFLES = """
    s = a[i]
    k = 16
    while k > 0:
        s += cuda.shfl_xor_sync(0xFFFFFFFF, s, k)
        k //= 2
    out[i] = s
"""
ACROSS_THE_GRID = """
    g = cuda.cg.this_grid()
    i = cuda.grid(1)
    if i < 6:
        part[i] = a[i]
    g.sync()
    if i < 6:
        out[i] = part[5 - i]
"""


def _plain(rng: np.random.Generator) -> dict[str, Any]:
    return {"out": np.full(120, -3.0), "a": rng.normal(size=120)}


def _functions(rng: np.random.Generator) -> dict[str, Any]:
    return {**_plain(rng), "counts": np.zeros(8, np.int64)}


def _shared(rng: np.random.Generator) -> dict[str, Any]:
    return {"out": np.zeros(144), "a": rng.normal(size=144)}


def _single(rng: np.random.Generator) -> dict[str, Any]:
    return {name: array.astype(np.float32) for name, array in _shared(rng).items()}


def _hazards(rng: np.random.Generator) -> dict[str, Any]:
    a = rng.normal(size=20).astype(np.float32)
    return {"out": np.zeros(20, np.float32), "a": a, "size": 20}


def _warps(rng: np.random.Generator) -> dict[str, Any]:
    return {"out": np.full(64, -99), "a": rng.integers(-9, 9, 64).astype(np.int32)}


def _order(rng: np.random.Generator) -> dict[str, Any]:
    return {
        "out": np.zeros(64),
        "part": np.zeros(6),
        "count": np.zeros(1, np.int64),
        "a": rng.normal(size=600),
    }


def _waiting(rng: np.random.Generator) -> dict[str, Any]:
    return waiting.values()


KERNELS = {
    **{f"body: {k}": Kernel(PLAIN + _lines(b), 3, 40, _plain, CLOSE) for k, b in BODIES.items()},
    **{
        f"function: {k}": Kernel(IMPORTS + functions.HEAD + _lines(b), 3, 40, _functions, CLOSE)
        for k, b in functions.KERNELS.items()
    },
    **{
        f"shared: {k}": Kernel(shared.HEAD + _lines(b), 3, 48, _shared, CLOSE)
        for k, b in shared.KERNELS.items()
    },
    **{
        f"twin: {k}": Kernel(shared.HEAD + _lines(b), 3, 48, _single)
        for k, b in shared.TWINS.items()
    },
    **{
        f"twin: {k}": Kernel(HAZARD_HEAD + _lines(b), 2, 16, _hazards)
        for k, b in HAZARD_TWINS.items()
    },
    **{
        f"warp: {operation}": Kernel(f"{WARP_HEAD}    out[i] = {operation}\n", 1, 64, _warps)
        for operation in warps.OPERATIONS
    },
    "warp: sum by shuffles": Kernel(WARP_HEAD + SUM_BY_SHUFFLES, 1, 64, _warps),
    **{
        f"last block: fence {where}": Kernel(
            ORDER_HEAD + _lines(LAST_BLOCK.format(before=FENCE, after=after, in_block=in_block)),
            6,
            64,
            _order,
            CLOSE,
        )
        for where, after, in_block in (
            ("after the atomic", FENCE, "pass"),
            ("in the block", "pass", FENCE),
        )
    },
    **{
        f"warp barrier over {partner}": Kernel(
            ORDER_HEAD
            + _lines(WARP.format(sync="cuda.syncwarp()", partner=partner) + "    out[t] = x\n"),
            1,
            64,
            _order,
        )
        for partner in (1, 16)
    },
    **{
        f"waiting: {name}": Kernel(kernel.text, kernel.grid, kernel.block, _waiting)
        for name, kernel in waiting.RIGHT.items()
        if kernel.native
    },
    "grid barrier": Kernel(ORDER_HEAD + _lines(ACROSS_THE_GRID), 3, 32, _order),
}


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
    path.write_text(
        "from numba import cuda\n\n@cuda.jit\ndef kernel(out, b):\n"
        f"    i = cuda.grid(1)\n    x = 1\n    y = i\n{_lines(body)}    out[i] += x - y\n"
    )
    b = np.random.default_rng(seed).integers(-20, 20, 120)
    native, simulated = run_both(path, {"out": np.zeros(120, np.int64), "b": b}, grid=3, block=40)
    assert_agree(native, simulated)
