"""Tensors of PyTorch, and what else hands out its memory: taken without a copy, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from simt.errors import UserError
from simt.foreign import cuda
from simt.foreign.dispatcher import GPU
from simt.foreign.launches import Launches
from simt.machine.lent import lent
from simt.simulator import simulate


def add_one(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + 1


def count_up(out, counts):
    if cuda.grid(1) < out.size:
        cuda.atomic.add(counts, 0, 1)


def turn(out, a):
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        out[y, x] = a[x, y]


class OnAGpu:
    """Like an array of CuPy: it says where its memory is, and none of it is here."""

    __cuda_array_interface__ = {  # noqa: RUF012 - a constant of the interface's form
        "data": (1 << 40, False),
        "shape": (10,),
        "typestr": "<f4",
        "version": 3,
    }


class OnAGpuByDlpack:
    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("nothing is taken from there")


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64"]
)
def test_a_tensor_is_its_own_memory(dtype: str) -> None:
    tensor = torch.zeros(6, dtype=getattr(torch, dtype))
    array = lent("a", tensor)
    assert array.dtype == np.dtype(dtype)
    assert array.ctypes.data == tensor.data_ptr()


def test_a_kernel_changes_a_tensor_in_place() -> None:
    out, a = torch.zeros(10), torch.arange(10.0)
    before = out.data_ptr()
    report = simulate(add_one)[2, 8](out, a)
    assert report.ok
    assert out.tolist() == [k + 1.0 for k in range(10)]
    assert out.data_ptr() == before


def test_strides_are_those_of_the_tensor() -> None:
    a, out = torch.arange(12.0).reshape(3, 4).T, torch.zeros(3, 4)
    assert simulate(turn)[1, (4, 4)](out, a).ok
    assert torch.equal(out, a.T)


def test_tensors_of_one_memory_are_one_memory_in_the_kernel() -> None:
    whole = torch.arange(12.0)
    report = simulate(add_one)[1, 32](whole[1:], whole[:-1])
    assert {hazard.kind for hazard in report.hazards} == {"race"}


def test_parts_of_a_tuple_are_taken_as_well() -> None:
    tensor, array, other = torch.zeros(3), np.zeros(3), (1, 2)
    pair = lent("pair", (tensor, array, 5))
    assert pair[0].ctypes.data == tensor.data_ptr()
    assert pair[1] is array and pair[2] == 5
    assert lent("other", other) is other


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (OnAGpu(), "a OnAGpu lies in the memory of a real GPU (argument out)"),
        (OnAGpuByDlpack(), "a OnAGpuByDlpack lies in the memory of a real GPU (argument out)"),
        (
            torch.zeros(3, requires_grad=True),
            "a kernel is unknown to autograd, and out requires a gradient",
        ),
        (torch.zeros(3, dtype=torch.bfloat16), "this Tensor of torch.bfloat16 lends NumPy no"),
        (torch.zeros(3, dtype=torch.complex64).conj(), "with the conjugate bit set"),
        (torch.zeros(3, device="meta"), "this Tensor of torch.float32 lends NumPy no memory"),
        (torch.zeros(3).to_sparse(), "this Tensor of torch.float32 lends NumPy no memory"),
    ],
    ids=["cuda array", "dlpack", "gradient", "bfloat16", "conjugate", "meta", "sparse"],
)
def test_what_cannot_be_taken_is_refused_by_name(value: Any, words: str) -> None:
    with pytest.raises(UserError) as caught:
        simulate(add_one)[1, 32](value, np.zeros(3, np.float32))
    assert words in caught.value.fact
    assert caught.value.hint


def test_an_argument_too_many_is_still_counted() -> None:
    with pytest.raises(UserError, match="takes 2 arguments"):
        simulate(add_one)[1, 32](torch.zeros(3), torch.zeros(3), torch.zeros(3))


def test_a_script_may_launch_on_tensors_and_each_order_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    launches = Launches(orders=3)
    monkeypatch.setattr(GPU, "launcher", launches.launch)
    out, counts = torch.zeros(40), torch.zeros(1, dtype=torch.int64)
    cuda.jit(count_up)[2, 32](out, counts)
    assert counts.item() == 40
