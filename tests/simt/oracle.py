"""A GPU with one thread at a time: plain Python runs the kernel's body once per thread.

It shares nothing with the simulator but the kernel's text, and knows no barriers and no races: good
for kernels in which threads do not talk.
"""

from __future__ import annotations

import itertools
import math
import types
from collections.abc import Iterator
from typing import Any


def _dim(x: int, y: int, z: int) -> types.SimpleNamespace:
    return types.SimpleNamespace(x=x, y=y, z=z)


def _places(shape: tuple[int, int, int]) -> Iterator[tuple[int, int, int]]:
    for z, y, x in itertools.product(range(shape[2]), range(shape[1]), range(shape[0])):
        yield x, y, z


def run_serially(
    text: str, name: str, grid: tuple[int, int, int], block: tuple[int, int, int], *args: Any
) -> None:
    """Runs the kernel `name` of a source text, thread after thread; arrays change in place."""
    sizes = [g * b for g, b in zip(grid, block, strict=True)]
    for block_index in _places(grid):
        for thread_index in _places(block):
            here = [b * n + t for b, n, t in zip(block_index, block, thread_index, strict=True)]
            cuda = types.SimpleNamespace(
                threadIdx=_dim(*thread_index),
                blockIdx=_dim(*block_index),
                blockDim=_dim(*block),
                gridDim=_dim(*grid),
                grid=lambda n, here=here: here[0] if n == 1 else tuple(here[:n]),
                gridsize=lambda n: sizes[0] if n == 1 else tuple(sizes[:n]),
                jit=lambda f: f,
            )
            scope: dict[str, Any] = {"cuda": cuda, "math": math}
            exec(text, scope)
            scope[name](*args)
