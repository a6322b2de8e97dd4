"""Functions of `math` with two results, or of odd kinds, against Python's own, at the edges."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.simulator import simulate

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 1e-40, -1e300, 7e15, math.inf, -math.inf, math.nan]
FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "modf": (math.modf, "math.modf(a[i])"),
    "frexp": (math.frexp, "math.frexp(a[i])"),
    "remainder": (lambda a, b: (math.remainder(a, b), 0), "(math.remainder(a[i], b[i]), 0)"),
    "nextafter": (lambda a, b: (math.nextafter(a, b), 0), "(math.nextafter(a[i], b[i]), 0)"),
    "ldexp": (lambda a, b: (math.ldexp(a, 3), 0), "(math.ldexp(a[i], 3), 0)"),
}


def _expected(function: Callable[..., Any], a: float, b: float, name: str) -> tuple[float, float]:
    try:
        found = function(a) if name in ("modf", "frexp") else function(a, b)
    except ValueError:
        return math.nan, 0
    except OverflowError:
        return math.copysign(math.inf, a), 0
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_edges(name: str, dtype: Any, tmp_path: Path) -> None:
    function, call = FUNCTIONS[name]
    with np.errstate(over="ignore"):
        pairs = np.array(list(itertools.product(EDGES, EDGES))).astype(dtype)
    a, b = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    one, two = np.full(a.size, -7, dtype), np.full(a.size, -7, dtype)
    path = tmp_path / "kernel.py"
    path.write_text(
        "import math\nfrom numba import cuda\n\n@cuda.jit\ndef kernel(a, b, one, two):\n"
        "    for i in range(cuda.grid(1), a.size, 32):\n        if i % 3:\n"
        f"            p, q = {call}\n            one[i] = p\n            two[i] = q\n"
    )
    report = simulate(f"{path}:kernel")[1, 32](a, b, one, two)
    assert report.ok, report
    taken = np.arange(a.size) % 3 > 0
    assert (one[~taken] == -7).all()
    wanted = [_expected(function, float(x), float(y), name) for x, y in zip(a, b, strict=True)]
    if name == "nextafter" and dtype is np.float32:
        wanted = [(float(np.nextafter(x, y)), 0) for x, y in zip(a, b, strict=True)]
    with np.errstate(over="ignore"):
        first = np.array([w[0] for w in wanted]).astype(dtype)
        second = np.array([w[1] for w in wanted]).astype(dtype)
    np.testing.assert_array_equal(one[taken], first[taken])
    np.testing.assert_array_equal(np.signbit(one[taken]), np.signbit(first[taken]))
    if name == "modf":
        np.testing.assert_array_equal(two[taken], second[taken])
    elif name == "frexp":
        finite = taken & np.isfinite(a)
        np.testing.assert_array_equal(two[finite], second[finite])
