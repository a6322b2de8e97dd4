"""The small kernels of `telling.md`, each of which tells one thing that may go wrong compiled."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simt.machine import unwritten
from simt.simulator import simulate

HEAD = """\
import math
from numba import cuda
from numba import float32, float64, int8, int16, int32, int64, uint8, uint16, uint32


@cuda.jit(device=True)
def halved(x, y):
    if y > 2:
        return x - y
    while x > 9:
        x = x // 2
        if x == 7:
            break
    return x + y


@cuda.jit(device=True)
def filled(tile, t, x):
    tile[t] = x


@cuda.jit(device=True)
def sometimes(x):
    if x > 0:
        y = 1
    return y


@cuda.jit
def kernel(out, o, f, g, a, b, u, c, d, m, cnt, part, n):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
"""
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 0.5, -2.5, 1e-42]


@dataclass(frozen=True)
class Telling:
    """A kernel and its launch.

    Attributes:
        body: its statements, after `t` and `i`.
        block, grid: of the launch.
        budget: steps that it may take; None for the usual ones.
    """

    body: str
    block: tuple[int, ...]
    grid: tuple[int, ...]
    budget: int | None

    def launch(self, folder: Path, name: str) -> Any:
        """Runs it; returns the report."""
        path = folder / f"{name.replace(' ', '_')}.py"
        path.write_text(HEAD + textwrap.indent(self.body, "    "), encoding="utf-8")
        options = {} if self.budget is None else {"step_budget": self.budget}
        return simulate(f"{path}:kernel", **options)[self.grid, self.block](*arguments())


def arguments() -> list[Any]:
    """Returns fresh arguments."""
    rng = np.random.default_rng(5)
    integers = []
    for dtype in (np.int64, np.int32, np.uint32):
        limits = np.iinfo(dtype)
        some = rng.integers(-40, 90, 256).astype(dtype)
        some[::7] = rng.integers(limits.min, limits.max, some[::7].size, dtype=dtype)
        some[5], some[6], some[12] = limits.min, limits.max, 0
        some[13] = limits.max if limits.min == 0 else -1
        integers.append(some)
    reals = []
    for dtype in (np.float32, np.float64):
        some = rng.normal(scale=50, size=256)
        some[: len(SPECIAL)] = SPECIAL
        some[20:80:3] = rng.choice(SPECIAL, 20)
        with np.errstate(all="ignore"):
            reals.append(some.astype(dtype))
    part = np.empty(64, np.float32)
    unwritten.begin(part)
    part[:40] = 1.5
    unwritten.wrote(part[:40])
    return [
        np.zeros(256, np.int64), np.zeros(256, np.int32), np.zeros(256, np.float32),
        np.zeros(256), *integers, *reals, rng.normal(size=(12, 20)).astype(np.float32),
        np.zeros(8, np.int32), part, 3,
    ]  # fmt: skip


def _read(text: str) -> dict[str, Telling]:
    found = {}
    for name, how, body in _KERNEL.findall(text):
        said = dict(each.split(" ", 1) for each in how.split(", ") if each)
        found[name] = Telling(
            body,
            _sides(said.get("block", "64")),
            _sides(said.get("grid", "1")),
            int(said["budget"]) if "budget" in said else None,
        )
    return found


def _sides(text: str) -> tuple[int, ...]:
    """
    >>> _sides("4 x 3")
    (4, 3)
    """
    return tuple(map(int, text.split(" x ")))


_KERNEL = re.compile(
    r"^## ([^\n]+)\n\n(?:([^\n`]+)\n\n)?```python\n(.*?)```$", re.MULTILINE | re.DOTALL
)
TELLING = _read((Path(__file__).parent / "telling.md").read_text(encoding="utf-8"))
