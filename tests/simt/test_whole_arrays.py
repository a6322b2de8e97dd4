"""Sums over whole arrays, and other ways of seeing one: as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import cuda, float32

from gpu_course import simulate
from simt.errors import KernelRefused
from simt.report import Report

DTYPES = (np.float32, np.float64, np.int32, np.uint8, np.bool_, np.complex64)


def run(kernel: Any, threads: int, *arguments: Any) -> Report:
    report = simulate(kernel, policy="foreign")[1, threads](*arguments)
    assert report.ok, report.hazards
    return report


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 1, 3)])
def test_folds_are_numpys(dtype: Any, shape: tuple[int, ...]) -> None:
    def folded(out, truths, a):
        out[0], out[1], out[2] = a.sum(), a.prod(), a.mean()
        out[3] = np.sum(a) + np.mean(a) + np.prod(a)
        truths[0], truths[1], truths[2], truths[3] = a.any(), a.all(), np.any(a), np.all(a)

    for first in (0, 1):
        a = (np.arange(6) % 4 + first).astype(dtype).reshape(shape)
        out, truths = np.zeros(4, complex), np.zeros(4, bool)
        run(folded, 1, out, truths, a)
        total = a.sum(), a.prod(), a.mean()
        np.testing.assert_allclose(out, [*total, sum(total)], rtol=1e-6)
        assert truths.tolist() == [a.any(), a.all()] * 2


def test_threads_fold_views_of_their_own_length() -> None:
    def rows(out, a):
        i = cuda.threadIdx.x
        if i < a.shape[0]:
            out[i] = a[i].sum() + a[i, :i].sum()

    a, out = np.arange(12.0).reshape(4, 3), np.zeros(4)
    run(rows, 32, out, a)
    np.testing.assert_array_equal(out, [a[i].sum() + a[i, :i].sum() for i in range(4)])


def test_a_search_ends_at_the_cell_it_looks_for() -> None:
    def found(out, a):
        out[0] = a.any()

    report = run(found, 1, np.zeros(1), np.array([0.0, 1.0, 0.0, 0.0]))
    assert report.counters.global_load.requests == 2


def test_each_cell_of_a_fold_is_an_access() -> None:
    def summed(out):
        tile = cuda.shared.array(32, float32)
        tile[cuda.threadIdx.x] = cuda.threadIdx.x
        out[cuda.threadIdx.x] = tile.sum()

    out = np.zeros(32)
    report = simulate(summed)[1, 32](out)
    assert [hazard.kind for hazard in report.hazards] == ["race"]
    assert "tile.sum()" in report.hazards[0].details["code"]
    assert report.counters.shared_load.requests == 32


def test_one_memory_is_seen_in_other_shapes() -> None:
    def seen(out, sides, a):
        b = a.reshape(2, 3)
        out[0], out[1] = b[1, 2], a.reshape((3, -1))[2, 0]
        turned = b.T
        out[2], out[3] = turned[2, 0], a.view(np.int64)[1]
        sides[0], sides[1], sides[2] = b.strides[0], turned.strides[0], turned.shape[0]
        sides[3], sides[4] = a.nbytes, a.itemsize
        b[0, 1], turned[2, 1] = 42, 7

    a, out, sides = np.arange(6.0), np.zeros(4), np.zeros(5, np.int64)
    one = int(np.float64(1).view(np.int64))
    run(seen, 1, out, sides, a)
    assert out.tolist() == [5, 4, 2, one]
    assert sides.tolist() == [24, 8, 3, 48, 8]
    assert a.tolist() == [0, 42, 2, 3, 4, 7]


def test_shared_memory_is_reshaped_and_local_memory_filled() -> None:
    def reshaped(out):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(32, float32)
        tile[t] = t
        cuda.syncthreads()
        own = cuda.local.array((2, 2), float32)
        own.fill(t)
        out[t] = tile.reshape(4, 8)[t // 8, 7 - t % 8] + 100 * own.sum()

    out, t = np.zeros(32), np.arange(32)
    run(reshaped, 32, out)
    np.testing.assert_array_equal(out, t // 8 * 8 + 7 - t % 8 + 400 * t)


def test_a_race_through_a_reshaped_array_is_one_of_its_memory() -> None:
    def racing(a):
        a.reshape(2, 4)[0, 0] = cuda.threadIdx.x

    a = np.zeros(8)
    (hazard,) = simulate(racing)[1, 8](a).hazards
    assert (hazard.kind, hazard.details["array"]) == ("race", "a")


def test_fill_writes_to_an_argument() -> None:
    def filled(a):
        a[cuda.threadIdx.x].fill(cuda.threadIdx.x + 0.5)

    a = np.zeros((2, 3))
    run(filled, 2, a)
    assert a.tolist() == [[0.5] * 3, [1.5] * 3]


WRONG = {
    "a.reshape(4, 2)[0, 0]": "a has 6 cells, and (4, 2) asks for another number",
    "a[::2].reshape(3)[0]": "a does not lie in one piece: Numba reshapes contiguous arrays alone",
}


@pytest.mark.parametrize("written", WRONG)
def test_what_no_shape_fits_is_told(written: str, tmp_path: Any) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(
        f"import numpy as np\nfrom numba import cuda\ndef kernel(a, out):\n    out[0] = {written}\n"
    )
    with pytest.raises(KernelRefused) as caught:
        simulate(f"{path}:kernel")[1, 1](np.arange(6.0), np.zeros(1))
    assert caught.value.fact == WRONG[written]


def test_a_range_of_floats_drops_their_fractions() -> None:
    def counted(out, x):
        for k in range(x / 2):
            out[0] += k
        for _ in range(0, x, 1):
            out[1] += 1

    out = np.zeros(2)
    run(counted, 1, out, 7.9)
    assert out.tolist() == [0 + 1 + 2, 7]
