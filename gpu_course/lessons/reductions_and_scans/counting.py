"""What the two histograms share: values to count, and counts to begin with."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpu_course.puzzle.specification import Case, Values


def values_to_count(bins: int, beyond: int = 0) -> Callable[[np.random.Generator, Case], Values]:
    """Returns an `inputs` function: int32 `values`, `counts` to begin with, and `size`.

    One value is much more common than the others, as in most data.

    Where a case has the size "far", some values lie as far from the bins as an int32 can.

    Args:
        bins: how many bins there are.
        beyond: how far values may lie below the first bin, or beyond the last.
    """

    def inputs(rng: np.random.Generator, case: Case) -> Values:
        size = case.sizes["size"]
        values = rng.integers(-beyond, bins + beyond, size)
        common = rng.random(size) < case.sizes.get("common_percent", 30) / 100
        values[common] = rng.integers(0, bins)
        if case.sizes.get("far"):
            # None of these has a bin, though its last 8 or 16 bits are those of one that has.
            values[::3] = rng.integers(0, bins, len(values[::3]))
            values[::6] += rng.choice((-1, 1), len(values[::6])) << 16
            values[3::6] += rng.choice((-1, 1), len(values[3::6])) << 8
            values[[1, 2]] = -(1 << 31), (1 << 31) - 1
        counts = rng.integers(1, 50, bins)
        return {
            "counts": counts.astype(np.int32), "values": values.astype(np.int32), "size": size
        }  # fmt: skip

    return inputs


def counted(counts: np.ndarray, values: np.ndarray) -> dict[str, np.ndarray]:
    """Returns the `counts` afterwards; values that have no bin are passed over."""
    inside = values[(values >= 0) & (values < len(counts))]
    more = np.bincount(inside, minlength=len(counts))
    return {"counts": (counts + more).astype(np.int32)}
