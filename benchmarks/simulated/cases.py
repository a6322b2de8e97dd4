"""What benchmarks/simulator.py launches: inputs, launch shape, and the result in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

KERNELS = Path(__file__).with_name("kernels.py")
THREADS = 256
TILE = 16
RADIUS = 4
BINS = 64
QUERIES = 128
DEPTH = 64
N = 1 << 14
MANY = 1 << 20

Launch = tuple[Any, Any]
Arguments = list[np.ndarray]


@dataclass(frozen=True)
class Case:
    """One launch.

    Attributes:
        kernel: its name in kernels.py.
        launch: grid and block.
        inputs: random generator -> the arguments; the first is the output.
        reference: the other arguments -> what the output must be.
        rounds: launches in Numba's simulator, whose median counts; the slow ones run once, and
            those that would take it hours, never.
        quick: part of the smaller set.
    """

    kernel: str
    launch: Launch
    inputs: Callable[[np.random.Generator], Arguments]
    reference: Callable[..., np.ndarray]
    rounds: int = 1
    quick: bool = False

    def arguments(self) -> Arguments:
        """Returns fresh arguments, the same ones every time."""
        return self.inputs(np.random.default_rng(0))

    def mistake(self, arguments: Arguments) -> str | None:
        """Returns what is wrong with the output after a launch, or None."""
        expected = self.reference(*self.arguments()[1:])
        if np.allclose(arguments[0], expected, rtol=1e-4, atol=1e-4):
            return None
        furthest = float(np.max(np.abs(arguments[0] - expected)))
        return f"{self.kernel} is off by up to {furthest:g}"


def _vector(rng: np.random.Generator, n: int = N) -> np.ndarray:
    return rng.standard_normal(n, np.float32)


def _nan(*shape: int) -> np.ndarray:
    return np.full(shape, np.nan, np.float32)


def _blocks(a: np.ndarray) -> np.ndarray:
    return a.reshape(-1, THREADS)


def _map(n: int, rounds: int, threads: int = THREADS) -> Case:
    return Case(
        "scale",
        (n // threads, threads),
        lambda rng: [_nan(n), _vector(rng, n)],
        lambda a: 2 * a + 1,
        rounds,
        quick=True,
    )


def _matmul(n: int, rounds: int = 1) -> Case:
    return Case(
        "matmul",
        ((n // TILE, n // TILE), (TILE, TILE)),
        lambda rng: [
            _nan(n, n),
            _vector(rng, n * n).reshape(n, n),
            _vector(rng, n * n).reshape(n, n),
        ],
        lambda a, b: a @ b,
        rounds,
        quick=not rounds,
    )


def _block_sums(n: int, rounds: int = 1) -> Case:
    return Case(
        "tree_sum",
        (n // THREADS, THREADS),
        lambda rng: [_nan(n // THREADS), _vector(rng, n)],
        lambda a: _blocks(a).sum(axis=1),
        rounds,
        quick=not rounds,
    )


def _histogram(n: int, rounds: int) -> Case:
    return Case(
        "histogram",
        (n // THREADS, THREADS),
        lambda rng: [np.zeros(BINS, np.int64), rng.integers(0, BINS, n)],
        lambda bins: np.bincount(bins, minlength=BINS),
        rounds,
        quick=True,
    )


def _attend(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    scores = np.exp(q @ k.T)
    return scores @ v / scores.sum(axis=1, keepdims=True)


def _convolve(a: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.correlate(np.pad(a, RADIUS), weights)


FLAT: Launch = (N // THREADS, THREADS)
CASES: dict[str, Case] = {
    "map 2^14": _map(N, 3),
    "reduction 2^14": _block_sums(N),
    "scan 2^14": Case(
        "hillis_steele",
        FLAT,
        lambda rng: [_nan(N), _vector(rng)],
        lambda a: np.cumsum(_blocks(a), axis=1).reshape(-1),
    ),
    "matmul 64": _matmul(64),
    "matmul 128": _matmul(128),
    "transpose 128": Case(
        "transpose",
        ((128 // TILE, 128 // TILE), (TILE, TILE)),
        lambda rng: [_nan(128, 128), _vector(rng).reshape(128, 128)],
        lambda a: a.T,
        3,
        quick=True,
    ),
    "histogram 2^14": _histogram(N, 3),
    "conv1d 2^14": Case(
        "conv1d",
        FLAT,
        lambda rng: [_nan(N), _vector(rng), _vector(rng, 2 * RADIUS + 1)],
        _convolve,
        3,
        quick=True,
    ),
    "attention 128x64": Case(
        "flash_attention",
        (1, QUERIES),
        lambda rng: [
            _nan(QUERIES, DEPTH),
            *(_vector(rng, QUERIES * DEPTH).reshape(QUERIES, DEPTH) / 4 for _ in "qkv"),
        ],
        _attend,
    ),
    "map 2^22": _map(1 << 22, 0),
    "matmul 512": _matmul(512, 0),
    "block sums 2^20": _block_sums(MANY, 0),
    "histogram 2^20": _histogram(MANY, 0),
    "map 64": _map(64, 0, threads=64),
}
EIGHT = tuple(CASES)[:8]
"""Those over which a mean is taken."""
