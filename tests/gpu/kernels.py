"""The kernels the simulator is tested with that have no hazard, and those with a planted fault.

Each table stands in the test module of the simulator that it comes from. Here they get their launch
and their arguments, for a run on a GPU: by the tests beside this file, and by `make gpu`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tests.simt import test_functions_and_views as functions
from tests.simt import test_shared_memory as shared
from tests.simt import test_warps as warps
from tests.simt import waiting_kernels as waiting
from tests.simt.observe.test_hazards import FAULTS as HAZARD_FAULTS
from tests.simt.observe.test_hazards import HEAD as HAZARD_HEAD
from tests.simt.observe.test_hazards import TWINS as HAZARD_TWINS
from tests.simt.observe.test_order import FENCE, LAST_BLOCK, WARP
from tests.simt.test_interpreter import BODIES

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


class Faulty(NamedTuple):
    """A kernel with a planted fault, and the kinds of hazard that the simulator finds in it."""

    text: str
    grid: int
    block: int
    values: Callable[[np.random.Generator], dict[str, Any]]
    kinds: frozenset[str]

    @property
    def may_hang(self) -> bool:
        """True where a thread may wait on a GPU for ever."""
        return bool(self.kinds & {"endless-loop", "barrier-divergence", "inactive-lane"})


FAULTS = {
    **{
        f"fault: {k}": Faulty(HAZARD_HEAD + _lines(b), 2, 16, _hazards, frozenset(kinds))
        for k, (b, kinds) in HAZARD_FAULTS.items()
    },
    **{
        f"fault: {k}": Faulty(shared.HEAD + _lines(b), 3, 48, _single, frozenset(kinds))
        for k, (b, kinds) in shared.FAULTS.items()
    },
    **{
        f"waiting fault: {k}": Faulty(
            each.text, each.grid, each.block, _waiting, frozenset(kind for kind, _ in each.found)
        )
        for k, each in waiting.BROKEN.items()
    },
}
WAITING_WITHIN_A_WARP = {
    f"waiting: {k}": Faulty(each.text, each.grid, each.block, _waiting, frozenset({"endless-loop"}))
    for k, each in waiting.RIGHT.items()
    if not each.native
}
"""Right in the simulator, where lanes of a warp go their own way; a compiler may join them."""
RANDOM_HEAD = "from numba import cuda\n\n@cuda.jit\ndef kernel(out, b):\n"


def random_kernel(body: str, seed: int) -> Kernel:
    """Returns a kernel of the statements that `tests.simt.test_interpreter` draws."""
    text = (
        f"{RANDOM_HEAD}    i = cuda.grid(1)\n    x = 1\n    y = i\n{_lines(body)}"
        "    out[i] += x - y\n"
    )
    b = np.random.default_rng(seed).integers(-20, 20, 120)
    return Kernel(text, 3, 40, lambda _: {"out": np.zeros(120, np.int64), "b": b})
