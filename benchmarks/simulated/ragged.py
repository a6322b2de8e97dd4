"""What a loop costs in the simulator whose length differs from block to block.

Each kernel runs with rows that are all equally long, with rows as a causal mask leaves them, and
with rows drawn at random, round by round in one process. The longest row is the same in all three,
so the loop makes as many turns; the ragged ones have less work. It is part of `make bench`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.simulated import ragged_kernels as kernels
from simt.simulator import simulate

KEYS = 512
ROUNDS = 7
ROW_LENGTHS: dict[str, Callable[[int, int], np.ndarray]] = {
    "uniform": lambda rows, keys: np.full(rows, keys),
    "causal": lambda rows, keys: np.linspace(keys / rows, keys, rows).astype(np.int64),
    "random": lambda rows, keys: np.append(
        np.random.default_rng(1).integers(1, keys, rows - 1), keys
    ),
}
Case = tuple[tuple[int, int], list[np.ndarray], np.ndarray]
"""The launch, the arguments behind `out`, and what `out` is to hold."""


class WrongResult(Exception):
    """The simulator computed something else than NumPy, or found a hazard."""


def row_sums(lengths: str, keys: int, blocks: int) -> Case:
    """Returns the case of `row_sums`, in which a turn of the loop takes 128 numbers of a row."""
    turns = ROW_LENGTHS[lengths](blocks, keys // 8)
    x = np.random.default_rng(0).standard_normal((blocks, keys // 8 * 128)).astype(np.float32)
    sums = [x[row, : 128 * many].sum(dtype=np.float64) for row, many in enumerate(turns)]
    return (blocks, 128), [x, turns], np.array(sums, np.float32)


def decode(lengths: str, keys: int, blocks: int) -> Case:
    """Returns the case of `decode`."""
    q, k, v = _matrices(4 * blocks, keys)
    each = ROW_LENGTHS[lengths](4 * blocks, keys)
    return (blocks, 128), [q, k, v, each], _attention(q, k, v, each)


def tiles_of_keys(lengths: str, keys: int, blocks: int) -> Case:
    """Returns the case of `tiles_of_keys`."""
    q, k, v = _matrices(4 * blocks, keys)
    each = ROW_LENGTHS[lengths](blocks, keys)
    return (blocks, 128), [q, k, v, each], _attention(q, k, v, np.repeat(each, 4))


def _matrices(rows: int, keys: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal((n, kernels.D)).astype(np.float32) for n in (rows, keys, keys)]


def _attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    scores = q.astype(np.float64) @ k.T
    scores[np.arange(len(k)) >= lengths[:, None]] = -np.inf
    parts = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(parts / parts.sum(axis=1, keepdims=True) @ v)


CASES = {each.__name__: each for each in (row_sums, decode, tiles_of_keys)}


def milliseconds(name: str, case: Case) -> float:
    """Returns what one launch takes, compared with NumPy's result."""
    launch, arguments, expected = case
    out = np.zeros(expected.shape, np.float32)
    start = time.process_time()
    report = simulate(getattr(kernels, name))[launch](out, *arguments)
    taken = time.process_time() - start
    if report.hazards:
        raise WrongResult(str(report))
    if not np.allclose(out, expected, rtol=1e-4, atol=1e-4):
        raise WrongResult(f"{name}: off by {np.abs(out - expected).max()}")
    return 1e3 * taken


def measure(keys: int, blocks: int, rounds: int) -> dict[str, dict[str, float]]:
    """Returns the median processor milliseconds by kernel and by lengths of its rows."""
    found: dict[str, dict[str, float]] = {}
    for name, make in CASES.items():
        cases = {lengths: make(lengths, keys, blocks) for lengths in ROW_LENGTHS}
        taken: dict[str, list[float]] = {lengths: [] for lengths in cases}
        for _ in range(rounds + 1):
            for lengths, case in cases.items():
                taken[lengths].append(milliseconds(name, case))
        found[name] = {lengths: statistics.median(each[1:]) for lengths, each in taken.items()}
    return found


def main(arguments: list[str] | None = None) -> Any:
    """Prints the medians, and how many times the uniform launch a ragged one takes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keys", type=int, default=KEYS)
    parser.add_argument("--blocks", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    given = parser.parse_args(arguments)
    table = Table(title=f"{given.keys} keys, {given.blocks} blocks of 128 threads, ms and ratio")
    for column in ("kernel", *ROW_LENGTHS):
        table.add_column(column, justify="left" if column == "kernel" else "right")
    for name, taken in measure(given.keys, given.blocks, given.rounds).items():
        cells = [f"{each:.0f}  {each / taken['uniform']:.2f}" for each in taken.values()]
        table.add_row(name, *cells)
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
