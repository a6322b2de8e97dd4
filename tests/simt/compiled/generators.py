"""The kernels that tests of the simulator draw at random, run both ways."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simt.simulator import simulate
from tests.simt import test_interpreter, test_random_shared_kernels, test_random_shuffles
from tests.simt.compiled.both_ways import Seen, both_ways
from tests.simt.observe import random_kernels as races

Draw = Callable[[Seen, Path, int], None]
_NUMBERS = itertools.count()


def _launch(seen: Seen, folder: Path, text: str, shape: tuple[int, int], *arguments: Any) -> None:
    path = folder / f"drawn_{next(_NUMBERS)}.py"
    path.write_text(text, encoding="utf-8")
    seen.label = f"{path.stem}\n{text}"
    with both_ways(seen):
        simulate(f"{path}:kernel")[shape](*arguments)


def _many(examples: int) -> settings:
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def shared(seen: Seen, folder: Path, examples: int) -> None:
    """Tiles and barriers, whole."""

    @_many(examples)
    @given(test_random_shared_kernels._kernels(), st.integers(0, 2**16))
    def run(kernel: Any, seed: int) -> None:
        _shared(seen, folder, kernel, seed)

    run()


def broken(seen: Seen, folder: Path, examples: int) -> None:
    """Tiles and barriers, with a line missing."""

    @_many(examples)
    @given(test_random_shared_kernels._kernels(), st.data())
    def run(kernel: Any, data: st.DataObject) -> None:
        _shared(seen, folder, data.draw(test_random_shared_kernels.broken(kernel)), 1)

    run()


def _shared(seen: Seen, folder: Path, kernel: Any, seed: int) -> None:
    text = test_random_shared_kernels.IMPORTS + kernel.text
    shape = test_random_shared_kernels.BLOCKS, kernel.block
    arguments = test_random_shared_kernels._arguments(kernel.block, seed)
    _launch(seen, folder, text, shape, *arguments)


def shuffles(seen: Seen, folder: Path, examples: int) -> None:
    """Shuffles between other work."""

    @_many(examples)
    @given(st.lists(test_random_shuffles._steps, min_size=1, max_size=8), st.integers(0, 1000))
    def run(steps: list[str], seed: int) -> None:
        head = ["s = cuda.shared.array(64, int64)", "i = cuda.grid(1)", "x = a[i]", "y = i"]
        body = "\n".join([*head, *steps, "out[i] = x * 5 + y"])
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        text = f"{test_random_shuffles.IMPORTS}@cuda.jit\ndef kernel(out, a):\n{lines}"
        a = np.random.default_rng(seed).integers(-50, 50, test_random_shuffles.N)
        _launch(seen, folder, text, (2, 64), np.zeros(a.size, np.int64), a)

    run()


def control(seen: Seen, folder: Path, examples: int) -> None:
    """Loops and branches."""

    @_many(examples)
    @given(test_interpreter._blocks, st.integers(0, 2**16))
    def run(body: str, seed: int) -> None:
        b = np.random.default_rng(seed).integers(-20, 20, test_interpreter.N)
        text = (
            "import math\nfrom numba import cuda\n\n@cuda.jit\ndef kernel(out, b):\n"
            f"    i = cuda.grid(1)\n    x = 1\n    y = i\n{test_interpreter._indent(body)}\n"
            "    out[i] += x - y\n"
        )
        shape: Any = test_interpreter.GRID, test_interpreter.BLOCK
        _launch(seen, folder, text, shape, np.zeros(b.size, np.int64), b)

    run()


def orders(seen: Seen, folder: Path, examples: int) -> None:
    """Conflicts that a barrier, a fence or nothing orders."""
    for seed in range(examples):
        drawn = races.draw(seed)
        g, f = np.zeros(races.GLOBAL, np.int64), np.zeros(races.FLAGS, np.int64)
        _launch(seen, folder, drawn.text, (drawn.grid, drawn.block), g, f)


GENERATORS: tuple[Draw, ...] = (shared, broken, shuffles, control, orders)
