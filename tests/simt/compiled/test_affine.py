"""What is said of lanes before a launch is what the interpreter then finds."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from simt.compiled.facts.affine import Affine, Lanes
from simt.compiled.facts.analysis import Analysis
from simt.kernel import ir
from simt.kernel.lower import lower
from simt.machine.launch import bind_arguments, type_of
from simt.simulator import simulate

HEAD = """
from numba import cuda, float32, int32, int64, uint32


@cuda.jit
def numbers(out, a, n, m):
    t, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    me = y * cuda.blockDim.x + t
"""
GRID, BLOCK = (2, 3), (16, 4)
THREADS = BLOCK[0] * BLOCK[1]
N, M, SIDES = 7, -3, (5, 11)

KNOWN = [
    "t", "y", "column", "row", "me", "me // 32", "me % 32", "t & 3", "5 - t", "row * n + column",
    "t * m", "row * a.shape[1] + column", "n * (t + 1) - y", "t * 3 + cuda.blockIdx.x",
    "uint32(t) // 4", "int64(t) << 2", "(me ^ 1) * 2", "t * n * m", "cuda.blockIdx.y * n",
    "t + n // 2", "len(a) * t", "cuda.laneid + t", "t * t",
]  # fmt: skip
UNKNOWN = ["column // 2", "column % 4", "int32(column)", "column & 1", "t * column", "a[0, t % 4]"]


def nodes_of(
    lines: list[str], folder: Path
) -> tuple[list[Lanes | None], np.ndarray, Mapping[str, int]]:
    """Returns what is known of each line's number, and int64 (lines, blocks, threads) of them."""
    path = folder / "kernel.py"
    each = [f"    out[{k}, b, me] = {line}" for k, line in enumerate(lines)]
    path.write_text("\n".join([HEAD, "    b = cuda.blockIdx.y * 2 + cuda.blockIdx.x", *each, ""]))
    simulation = simulate(f"{path}:numbers")
    out = np.zeros((len(lines), GRID[0] * GRID[1], THREADS), np.int64)
    a = np.zeros(SIDES, np.int64)
    values = bind_arguments(simulation.program, (out, a, N, M))
    code = lower(simulation.program.written, tuple(map(type_of, values.values())))
    affine = Affine(code, Analysis(code, (*BLOCK, 1), {}), (*BLOCK, 1))
    known = [affine.of(node.value) for node in code.body if isinstance(node, ir.Store)]
    assert len(known) == len(lines)
    simulation[GRID, BLOCK](out, a, N, M)
    names = {"number n": N, "number m": M, "shape a 0": a.shape[0], "shape a 1": a.shape[1]}
    return known, out, names


def agree(known: Lanes, found: np.ndarray, names: Mapping[str, int]) -> None:
    """Compares what is known with int64 (blocks, threads) numbers."""
    more = np.zeros(THREADS, np.int64)
    for word, each in known.more.items():
        more = more + each * int(np.prod([names[name] for name in word], initial=1))
    assert (found - found[:, :1] == more).all()
    if known.exact is not None:
        assert (found == known.exact).all()
    if known.number is not None:
        all_have = sum(
            times * int(np.prod([names[name] for name in word], initial=1))
            for word, times in known.number.items()
        )
        assert (found == all_have).all()


def test_what_is_known_is_so(tmp_path: Path) -> None:
    known, found, names = nodes_of(KNOWN, tmp_path)
    for line, lanes, numbers in zip(KNOWN, known, found, strict=True):
        assert lanes is not None, line
        agree(lanes, numbers, names)


def test_what_may_be_cut_or_hangs_on_memory_is_not_known(tmp_path: Path) -> None:
    known, _, _ = nodes_of(UNKNOWN, tmp_path)
    assert known == [None] * len(UNKNOWN)


@pytest.mark.parametrize("seed", range(6))
def test_numbers_put_together_at_random(seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)

    def expression(depth: int) -> str:
        if depth == 0:
            return choose.choice(["t", "y", "me", "column", "row", "n", "m", "3", "a.shape[1]"])
        operator = choose.choice(["+", "-", "*", "+", "-", "*", "//", "%", "&", "|", "^"])
        left, right = expression(depth - 1), expression(choose.randrange(depth))
        if operator in ("//", "%"):
            right = choose.choice(["2", "4", "n"])
        return f"({left} {operator} {right})"

    lines = [expression(choose.randrange(1, 4)) for _ in range(40)]
    known, found, names = nodes_of(lines, tmp_path)
    some = 0
    for lanes, numbers in zip(known, found, strict=True):
        if isinstance(lanes, Lanes):
            some += 1
            agree(lanes, numbers, names)
    assert some > 10


LOOP = """
from numba import cuda


@cuda.jit
def loop(out, n):
    i = cuda.grid(1)
    once = i
    while i < n:
        out[i] = i
        i += cuda.gridDim.x * cuda.blockDim.x
    twice = i
    if n > 3:
        twice = 2 * i
    for k in range(cuda.threadIdx.x, n, 3):
        out[k] = twice
    if cuda.threadIdx.x > 3:
        once = 0
    out[once] = 0
"""


def test_variables_that_are_given_more_than_once(tmp_path: Path) -> None:
    path = tmp_path / "loop.py"
    path.write_text(LOOP)
    simulation = simulate(f"{path}:loop")
    values = bind_arguments(simulation.program, (np.zeros(9, np.int64), 9))
    code = lower(simulation.program.written, tuple(map(type_of, values.values())))
    affine = Affine(code, Analysis(code, (32, 1, 1), {}), (32, 1, 1))
    stores = {}

    def collect(body: ir.Block) -> None:
        for node in body:
            if isinstance(node, ir.Store):
                stores[node.line] = node
            for part in ("body", "orelse"):
                collect(getattr(node, part, ()))

    collect(code.body)
    # Lanes leave the first loop at different turns, and so does what is set under the condition;
    # all lanes count the turns of a range, those that have left it too.
    known = [affine.of(stores[line].index) for line in sorted(stores)]
    assert [lanes is not None for lanes in known] == [False, True, False]
