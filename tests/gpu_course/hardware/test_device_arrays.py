"""Arrays that lie on the GPU already go to a kernel without a copy, whoever made them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.hardware.guard_zones import WriteFarOutside, WriteOutside
from gpu_course.hardware.run import run_natively
from gpu_course.hardware.timing import Clock, time_natively
from gpu_course.hardware.trial import decoded, encoded
from tests.gpu_course.hardware.card import plant
from tests.gpu_course.hardware.natively import Launch

KERNEL = """\
from numba import cuda


@cuda.jit
def add_one(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 1
"""
LAUNCH = Launch("add_one", ("out", "a"))


class Lent:
    """What torch.Tensor and cupy.ndarray have in common: the interface, over memory of its own."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "data": (self.array.ctypes.data, False),
            "shape": self.array.shape,
            "strides": None,
            "typestr": self.array.dtype.str,
            "version": 3,
        }


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A kernel's file on a machine with a card that is none."""
    monkeypatch.syspath_prepend(plant(tmp_path / "card", "numba_cuda_mlir"))
    monkeypatch.setenv("GPU_COURSE_CUDA", "numba_cuda_mlir")
    file = tmp_path / "answer.py"
    file.write_text(KERNEL)
    yield file
    for name in [name for name in sys.modules if name.startswith("numba_cuda_mlir")]:
        del sys.modules[name]


def test_a_kernel_writes_to_the_memory_itself(path: Path) -> None:
    out, a = np.zeros(8, np.float32), np.arange(8, dtype=np.float32)
    values = {"out": Lent(out), "a": Lent(a)}
    assert run_natively(path, [LAUNCH], values) == {}
    np.testing.assert_array_equal(out, a + 1)


def test_both_kinds_stand_beside_each_other(path: Path) -> None:
    out, a = np.zeros(8, np.float32), np.arange(8, dtype=np.float32)
    found = run_natively(path, [LAUNCH], {"out": Lent(out), "a": a})
    assert list(found) == ["a"]
    np.testing.assert_array_equal(out, a + 1)


def test_they_are_timed_without_a_copy_too(path: Path) -> None:
    out, a = np.zeros(8, np.float32), np.arange(8, dtype=np.float32)
    values = {"out": Lent(out), "a": Lent(a)}
    sample, left = time_natively(path, [LAUNCH], values, restored=(), clock=Clock(64))
    assert sample.seconds > 0 and left == {}
    np.testing.assert_array_equal(out, a + 1)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (torch.zeros(8, requires_grad=True), "out requires a gradient"),
        (torch.zeros(8), "out is a Tensor that does not lie on the GPU"),
        (Lent(np.zeros(8, "V3")), "Numba cannot take out, a Lent on the GPU"),
    ],
    ids=["gradient", "on the CPU", "no such type"],
)
def test_what_cannot_be_taken_is_refused(
    value: Any, words: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import numba_cuda_mlir.cuda as cuda

    def take(lent: Any) -> Any:
        raise ValueError(f"no type for {lent.array.dtype}")

    monkeypatch.setattr(cuda, "as_cuda_array", take, raising=False)
    with pytest.raises(CourseError, match=words) as caught:
        run_natively(path, [LAUNCH], {"out": value, "a": np.zeros(8, np.float32)})
    assert caught.value.hint


@pytest.mark.parametrize(
    ("what", "error"), [("write next to it", WriteOutside), ("write far away", WriteFarOutside)]
)
def test_zones_and_canary_find_what_they_are_for(
    what: str, error: type[CourseError], path: Path
) -> None:
    values = {"out": np.zeros(8, np.float32), "a": np.zeros(8, np.float32)}
    assert set(run_natively(path, [LAUNCH], values)) == {"out", "a"}
    path.write_text(f"# card: {what}\n{KERNEL}")
    with pytest.raises(error):
        run_natively(path, [LAUNCH], values)


@pytest.mark.parametrize(
    "value",
    [
        5,
        2.5,
        True,
        np.float32(0.1),
        np.int64(-3),
        np.bool_(True),
        np.array(3.0),
        np.zeros((2, 0), np.int8),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array([np.nan, -0.0, np.inf], np.float16),
        np.array([(1, 2.0)], "u4,f8"),
        np.array([1 + 2j], np.complex64),
    ],
    ids=str,
)
def test_what_goes_to_the_process_comes_back_as_it_was(value: Any) -> None:
    import json

    found = decoded(json.loads(json.dumps(encoded(value))))
    assert type(found) is type(value)
    if isinstance(value, np.ndarray | np.generic):
        assert found.dtype == value.dtype and found.tobytes("A") == value.tobytes("A")
        assert np.shape(found) == np.shape(value)
    else:
        assert found == value
