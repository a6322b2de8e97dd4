"""The simulator counts float64 arithmetic where, and only where, the compiled kernel has some."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.record_float64 import RECORD, kernels
from simt.simulator import simulate

COMPILED = json.loads(RECORD.read_text(encoding="utf-8"))["kernels"]
CASES = {key: rest for key, *rest in kernels()}


def test_every_kernel_of_the_course_was_compiled() -> None:
    assert sorted(COMPILED) == sorted(CASES), "run python -m benchmarks.record_float64"
    assert any(COMPILED.values()) and not all(COMPILED.values())


@pytest.mark.parametrize("key", CASES)
def test_float64_is_counted_where_the_ptx_has_it(key: str) -> None:
    path, function, launch, arguments = CASES[key]
    report: Any = simulate(f"{path}:{function}")[launch.grid, launch.block](*arguments)
    assert (report.counters.float64_operations > 0) == COMPILED[key]
