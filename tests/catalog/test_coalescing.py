"""The Python puzzle of lesson 03 beside the report of a kernel that really loads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numba import cuda

from gpu_course import simulate
from gpu_course.catalog.coalescing.sectors import SECTORS
from tests.catalog.python_rules import solution_of


@cuda.jit
def strided(out, a, stride, offset):
    i = cuda.grid(1)
    out[i] = a[offset + i * stride]


@pytest.mark.parametrize("case", SECTORS.cases, ids=lambda case: case.name)
def test_the_reference_is_what_a_report_counts(case) -> None:
    inputs = SECTORS.inputs(np.random.default_rng(0), case)
    expected = SECTORS.reference(inputs, case)["result"]
    dtype = {1: "i1", 2: "i2", 4: "f4", 8: "f8"}.get(case.sizes["itemsize"])
    if dtype is not None:
        a, out = np.zeros(2000, dtype), np.zeros(32, dtype)
        report = simulate(strided)[1, 32](out, a, case.sizes["stride"], case.sizes["offset"])
        assert report.ok and report.counters.global_load.sectors == expected
    solution: Callable[..., int] = solution_of(SECTORS)["sectors"]
    assert solution(**inputs) == expected


def test_no_case_reads_before_its_array() -> None:
    rng = np.random.default_rng(3)
    for case in [*SECTORS.cases, *(SECTORS.random_case(rng) for _ in range(50))]:
        s = case.sizes
        assert min(s["offset"], s["offset"] + 31 * s["stride"]) >= 0
