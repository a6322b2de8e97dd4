"""The simulator counts float64 arithmetic where, and only where, the compiled kernel has some.

Solutions are run in full, and every kernel that has some. Mistakes without are many and of one
kind: `make test` draws a part of them.
"""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.programs.course_kernels import kernels, load
from gpu_course.hardware.compiled.compiler import USUAL, ptx_of
from gpu_course.hardware.compiled.listing import float64_in_ptx
from gpu_course.hardware.compiled.record import record
from gpu_course.hardware.compiled.toolchain import has_compiler, toolchain
from simt.simulator import simulate
from tests.sampling import share

COMPILED = record().float64
CASES = {key: rest for key, *rest in kernels()}
PLAIN_MISTAKES = [
    key
    for key, (path, *_) in CASES.items()
    if path.parent.name == "mistakes" and not COMPILED.get(key)
]
A_PART = pytest.mark.series(share(150, of=len(PLAIN_MISTAKES)))


def test_every_kernel_of_the_course_was_compiled() -> None:
    assert sorted(COMPILED) == sorted(CASES), "run python -m benchmarks.record_compiled"
    assert any(COMPILED.values()) and not all(COMPILED.values())


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=A_PART if key in PLAIN_MISTAKES else ()) for key in CASES]
)
def test_float64_is_counted_where_the_ptx_has_it(key: str) -> None:
    path, function, launch, arguments = CASES[key]
    report: Any = simulate(f"{path}:{function}")[launch.grid, launch.block](*arguments)
    assert (report.counters.float64_operations > 0) == (COMPILED[key] > 0)


@pytest.mark.skipif(not has_compiler(), reason="needs the extra compile")
@pytest.mark.series(share(40, of=len(CASES)))
@pytest.mark.parametrize("key", CASES)
def test_the_record_is_what_the_compiler_makes(key: str) -> None:
    if toolchain().versions != record().versions:
        pytest.skip("the record was made by other versions")
    path, function, _, arguments = CASES[key]
    assert float64_in_ptx(ptx_of(load(path, function), arguments, USUAL)) == COMPILED[key]
