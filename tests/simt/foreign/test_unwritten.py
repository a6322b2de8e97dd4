"""Device memory that nobody has written: kernels that read it are told so, and no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simt.foreign import cuda
from simt.foreign.launches import Finding, Launches

PAIR = np.dtype([("x", np.float64), ("n", np.int8)], align=True)


@pytest.fixture(autouse=True)
def launches(monkeypatch: pytest.MonkeyPatch) -> Launches:
    found = Launches()
    monkeypatch.setattr(cuda.GPU, "launcher", found.launch)
    return found


@cuda.jit
def copied(target, source):
    i = cuda.grid(1)
    if i < target.size:
        target[i] = source[i]


@cuda.jit
def filled(target, count):
    i = cuda.grid(1)
    if i < count:
        target[i] = i


@cuda.jit
def added(target):
    cuda.atomic.add(target, 0, 1)


@cuda.jit
def fields(target, count):
    i = cuda.grid(1)
    if i < count:
        target[i].x = 1.5
        target[i].n = 1


@cuda.jit
def copied_fields(target, source):
    i = cuda.grid(1)
    target[i].x = source[i].x
    target[i].n = source[i].n


def fresh(count: int = 8, dtype: Any = np.float32) -> Any:
    return cuda.device_array(count, dtype)


def read(source: Any) -> None:
    copied[1, 8](cuda.to_device(np.zeros(8, source.dtype)), source)


def begins_unset() -> None:
    read(fresh())


def half_by_a_kernel() -> None:
    a = fresh()
    filled[1, 8](a, 4)
    read(a)


def half_by_the_host() -> None:
    a = fresh()
    a[:4] = 1.0
    read(a)


def a_column_of_rows() -> None:
    a = fresh((8, 2))
    a[:, 0] = 1.0
    read(a[:, 1])


def every_other_cell_from_the_end() -> None:
    a = fresh(16)
    a[::-2] = 2.0
    read(a[::-2][::-1])
    read(a[::2])


def like_another() -> None:
    read(cuda.device_array_like(np.zeros(8)))


def handed_on() -> None:
    a, b = fresh(), fresh()
    b.copy_to_device(a)
    read(b)


def an_atomic() -> None:
    added[1, 1](fresh())


def given_out() -> None:
    a = np.zeros(8, np.float32)
    added[1, 1](cuda.Out(a))


def bytes_of_a_cell() -> None:
    a = fresh(4, np.float64)
    a.view(np.int32)[:7] = 1
    copied[1, 4](cuda.to_device(np.zeros(4)), a)


def another_view() -> None:
    a = fresh(16)
    a[8:] = 1
    read(a.reshape(2, 8)[0])


def fields_of_structures() -> None:
    a = fresh(8, PAIR)
    fields[1, 8](a, 7)
    copied_fields[1, 8](cuda.to_device(np.zeros(8, PAIR)), a)


def no_copy() -> None:
    read(cuda.to_device(np.zeros(8, np.float32), copy=False))


UNSET = [
    begins_unset, half_by_a_kernel, half_by_the_host, a_column_of_rows, like_another, handed_on,
    every_other_cell_from_the_end, an_atomic, given_out, bytes_of_a_cell, another_view,
    fields_of_structures, no_copy,
]  # fmt: skip


@pytest.mark.parametrize("script", UNSET, ids=lambda script: script.__name__)
def test_a_cell_that_nobody_has_written_is_told(script: Any, launches: Launches) -> None:
    script()
    found = one_of(launches)
    assert found.hazard.kind == "uninitialised-read"
    assert found.hazard.severity == "error"
    name = {an_atomic: "target", given_out: "target"}.get(script, "source")
    assert found.hazard.details["array"].partition(".")[0] == name
    assert "begins unset, and neither the host nor a kernel" in found.hazard.details["why"]


def one_of(launches: Launches) -> Finding:
    first, *others = launches.findings
    assert all(each.hazard.kind == first.hazard.kind for each in others)
    return first


def by_kernels() -> None:
    a = fresh()
    filled[1, 8](a, 4)
    filled[1, 8](a[4:], 4)
    read(a)


def by_the_host() -> None:
    a = fresh()
    a[:] = np.arange(8)
    read(a)
    b = fresh((2, 2, 2))
    b[0], b[1, ..., 0], b[1, :, 1] = 1, 2, 3
    read(b.reshape(8))


def cell_by_cell() -> None:
    a = fresh((2, 4))
    for k in range(8):
        a[k // 4, k % 4] = k
    read(a.ravel())


def copied_there() -> None:
    a = fresh()
    a.copy_to_device(np.ones(8, np.float32))
    read(a)
    read(cuda.to_device(np.ones(8), to=cuda.device_array(8)))


def backwards() -> None:
    a = fresh(16)
    a[::-2] = 2.0
    read(a[1::2])


def written_by_whoever_reads() -> None:
    a = fresh()
    filled[1, 8](a, 8)
    copied[1, 8](a, a)


def in_halves() -> None:
    a = fresh(4, np.float64)
    a.view(np.int32)[:] = 1
    copied[1, 4](cuda.to_device(np.zeros(4)), a)


def given_out_and_filled() -> None:
    a = np.zeros(8, np.float32)
    filled[1, 8](cuda.Out(a), 8)
    assert a.tolist() == list(range(8))


def all_fields() -> None:
    a = fresh(8, PAIR)
    fields[1, 8](a, 8)
    copied_fields[1, 8](cuda.to_device(np.zeros(8, PAIR)), a)
    copied[1, 8](cuda.to_device(np.zeros(8, PAIR)), a)


def never_read() -> None:
    a = fresh()
    filled[1, 8](a, 3)
    assert np.isnan(a.copy_to_host()[3:]).all()


def memory_that_is_used_again() -> None:
    for _ in range(20):
        a = fresh()
        del a
        read(cuda.to_device(np.zeros(8, np.float32)))


def reduced() -> None:
    assert cuda.reduce(lambda a, b: a + b)(np.ones(300)) == 300


WRITTEN = [
    by_kernels, by_the_host, cell_by_cell, copied_there, backwards, written_by_whoever_reads,
    in_halves, given_out_and_filled, all_fields, never_read, memory_that_is_used_again, reduced,
]  # fmt: skip


@pytest.mark.parametrize("script", WRITTEN, ids=lambda script: script.__name__)
def test_a_cell_that_has_been_written_is_left_alone(script: Any, launches: Launches) -> None:
    script()
    assert not launches.findings, launches.findings[0].hazard
