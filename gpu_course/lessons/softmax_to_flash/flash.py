"""What the flash puzzles share: their data, attention in float64 and plainly in float32, budgets.

One head: q is float32 (n, D), k and v are float32 (m, D), and `scale` is 1 / sqrt(D).

Source: Dao et al., FlashAttention (arXiv 2205.14135); for the order of the loops FlashAttention-2
(arXiv 2307.08691).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpu_course.puzzle.builders import blocks_to_cover, sized
from gpu_course.puzzle.memory_budgets import looked_up_again
from gpu_course.puzzle.specification import Budget, Case, Values
from simt.report import Counters

D = 32
ROWS = 32
TILE = 32
TPB = 256
ALL_KEYS = 2
LONGEST = 4096
SCALE = np.float32(D**-0.5)

Seen = Callable[[int, int], np.ndarray]
"""(queries, keys) -> bool (queries, keys): which keys each query sees."""


def everything(n: int, m: int) -> np.ndarray:
    """Returns that every query sees every key."""
    return np.ones((n, m), bool)


def bottom_right(n: int, m: int) -> np.ndarray:
    """Returns the causal mask whose last query sees every key: key j for query i if j <= i + m - n.

    Source: flash-attention's README, "2.1: Change behavior of causal flag".

    >>> bottom_right(2, 3).astype(int).tolist()
    [[1, 1, 0], [1, 1, 1]]
    """
    return np.tri(n, m, m - n, dtype=bool)


def many_bits(rng: np.random.Generator, rows: int) -> np.ndarray:
    """Returns float32 (rows, D) of numbers between -2 and 2, no two the same while they suffice.

    They use all bits of a float32, as what a network computes does: each product is rounded, and it
    shows whether a sum is right or only nearly so.
    """
    chosen = rng.choice(2**24 - 1, rows * D, replace=rows * D >= 2**24) + 1.0
    signed = chosen * rng.choice((-1.0, 1.0), rows * D)
    return np.float32(np.ldexp(signed, -23)).reshape(rows, D)


def attention_inputs(rng: np.random.Generator, case: Case) -> Values:
    """Returns q, k and v of a case, its sizes and the scale.

    `louder`: queries and keys are doubled so many times. `below`: each query has either all its
    scores far below 0 or all far above. `equal`: all keys from the second on are the same one.
    `nan`: in one query. `infinite`: the first tile of keys has infinities in one channel, so that
    its scores are minus infinity for some queries and plus infinity for others; and so has one
    query. With ALL_KEYS every key has, so that some queries have no other score.
    """
    n, m = case.sizes["n"], case.sizes["m"]
    q, k, v = (many_bits(rng, rows) for rows in (n, m, m))
    louder = np.float32(2 ** case.sizes.get("louder", 0))
    q, k = q * louder, k * louder
    if case.sizes.get("below"):
        k[:, 2] = np.float32(1024) + np.abs(k[:, 2])
    if case.sizes.get("equal"):
        k[1:] = k[1]
    if case.sizes.get("nan"):
        q[n // 2, 3] = np.nan
    if case.sizes.get("infinite"):
        k[: m if case.sizes["infinite"] == ALL_KEYS else min(TILE, m - 1), 5] = -np.inf
        q[n // 3, 7] = np.inf
    return {"q": q, "k": k, "v": v, "n": n, "m": m, "scale": SCALE}


def queries_and_keys(name: str, n: int, m: int, *, visible: bool = False, **more: int) -> Case:
    """Returns a case of n queries and m keys; see `attention_inputs` for what more there may be."""
    return sized(name, visible=visible, n=n, m=m, **more)


@np.errstate(all="ignore")  # infinity less infinity is NaN, and meant to be
def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: np.ndarray) -> Values:
    """Returns "out" (n, D) and "lse" (n,) of float64 arithmetic, rounded to float32 at the end.

    A query that sees no key, or only scores of minus infinity, has 0 and minus infinity.
    """
    p, lse = weights(q, k, seen)
    return {"out": np.float32(p @ v.astype(np.float64)), "lse": np.float32(lse)}


@np.errstate(all="ignore")
def weights(q: np.ndarray, k: np.ndarray, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the float64 softmax (n, m) of the scores, and the log of its sums (n,)."""
    scores = q.astype(np.float64) @ k.astype(np.float64).T * float(SCALE)
    scores = np.where(seen, scores, -np.inf)
    most = scores.max(axis=1, initial=-np.inf)
    p = np.exp(scores - np.where(np.isneginf(most), 0, most)[:, None])
    part = p.sum(axis=1)
    return p / np.where(part == 0, 1, part)[:, None], np.log(part) + most


@dataclass(frozen=True)
class Plainly:
    """One order in which plain float32 kernels may go about attention.

    Attributes:
        scales: what is multiplied by the scale: "q", or the "scores".
        step: 1 for sums from the first term to the last, -1 for the other way round.
    """

    scales: str
    step: int

    def scores(self, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Returns the float32 scores (n, m)."""
        early = SCALE if self.scales == "q" else np.float32(1)
        late = SCALE if self.scales != "q" else np.float32(1)
        return self.dots(q * early, k) * late

    def dots(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Returns the dot product of each row with each of the others, term after term."""
        return self.in_order(rows.T[:, :, None] * others.T[:, None, :])

    def weighted(self, weights: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Returns for each row of weights the sum of the rows, term after term."""
        return self.in_order(weights.T[:, :, None] * rows[:, None, :])

    def in_order(self, terms: np.ndarray) -> np.ndarray:
        """Returns the float32 sum over the first axis, one term after the other."""
        if not len(terms):
            return np.zeros(terms.shape[1:], np.float32)
        return np.add.accumulate(terms[:: self.step], axis=0)[-1]

    def weights(
        self, q: np.ndarray, k: np.ndarray, seen: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Returns the softmax (n, m) of the scores, and the log of its sums (n,)."""
        scores = np.where(seen, self.scores(q, k), np.float32(-np.inf))
        most = scores.max(axis=1, initial=-np.inf)
        p = exp(scores - np.where(np.isneginf(most), np.float32(0), most)[:, None])
        part = self.weighted(p, np.ones((p.shape[1], 1), np.float32))[:, 0]
        lse = most + np.log(part.astype(np.float64)).astype(np.float32)
        return p / np.where(part == 0, np.float32(1), part)[:, None], lse

    @np.errstate(all="ignore")
    def attention(self, q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: np.ndarray) -> Values:
        """Returns what `attention` does."""
        p, lse = self.weights(q, k, seen)
        return {"out": self.weighted(p, v), "lse": lse}


PLAINLY = tuple(Plainly(scales, step) for scales in ("q", "scores") for step in (1, -1))
"""Where only few numbers are rounded much, one order may be lucky: the worst of these counts."""


def exp(x: np.ndarray) -> np.ndarray:
    """Returns the float32 nearest to each exponential, the same on every processor."""
    return np.exp(x.astype(np.float64)).astype(np.float32)


def large(least_bytes: int) -> Case:
    """Returns the case that a GPU is timed at: attention waits for arithmetic, not for bytes."""
    many = min(LONGEST, blocks_to_cover(least_bytes, 4 * 4 * D))
    return queries_and_keys("a long sequence", n=many, m=many)


def blocks_of(case: Case) -> int:
    """Returns how many blocks have ROWS queries each, the last one perhaps fewer."""
    return blocks_to_cover(case.sizes["n"], ROWS)


def loaded(
    limit: Callable[[Case], int],
    lesson: str,
    spare: Callable[[Counters], int] | None = looked_up_again,
) -> Budget:
    """Returns the budget of bytes loaded: a number of the case, whatever the solution does.

    Args:
        limit, lesson, spare: as `Budget` has them.
    """
    return Budget(
        "global_load.bytes",
        lambda case, counters: limit(case),
        lesson,
        "bytes loaded",
        spare=spare,
    )


def stored(limit: Callable[[Case], int], lesson: str) -> Budget:
    """Returns the budget of bytes stored."""
    return Budget("global_store.bytes", lambda case, counters: limit(case), lesson, "bytes stored")


# Scalar loads of a layout made for 16 bytes at once meet in banks four at a time: room for that.
BANKS = Budget(
    "shared_load.conflicts + shared_store.conflicts",
    lambda case, counters: counters.shared_load.requests,
    "Lanes that ask one bank for different rows wait for each other. How far apart do two "
    "neighbouring lanes read in the tile of keys, and how long is its row?",
    "bank conflicts",
)
REGISTERS = Budget(
    "indexed_bytes",
    0,
    "A local array stays in registers only if each of its indices is known when the kernel is "
    "compiled. Which index is known only as it runs?",
    "bytes of local arrays outside registers",
)
