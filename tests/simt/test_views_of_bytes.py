"""`a.view(dtype)` in a kernel: the same bytes as other cells, as NumPy's own views have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, float64, int32, uint8, uint64

from gpu_course import simulate
from simt.errors import KernelRefused
from simt.observe.shares import Shares
from simt.report import Report
from tests.sampling import examples

NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
NUMBERS += ["float16", "float32", "float64", "complex64", "complex128"]


def run(kernel: Any, shape: Any, *arguments: Any) -> Report:
    report = simulate(kernel, policy="foreign")[shape](*arguments)
    assert not report.hazards, report
    return report


def bytes_of(count: int, dtype: Any) -> np.ndarray:
    """Cells that hold every kind of bytes, none of them NaN as a float of any size."""
    raw = np.arange(count * np.dtype(dtype).itemsize) * 37 % 101
    return raw.astype(np.uint8).view(dtype)


def seen_in(space: str, old: str, new: str) -> Any:
    """A kernel that copies 64 bytes of `old` cells by way of `new` cells, lane by lane."""
    own, seen = np.dtype(old), np.dtype(new)
    cells, found = 64 // own.itemsize, 64 // seen.itemsize

    def from_global(out, x):
        i = cuda.grid(1)
        if i < found:
            out[i] = x.view(seen)[i]

    def from_shared(out, x):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(cells, own)
        if t < cells:
            tile[t] = x[t]
        cuda.syncthreads()
        if t < tile.view(seen).size:
            out[t] = tile.view(seen)[t]

    def from_local(out, x):
        t = cuda.threadIdx.x
        mine = cuda.local.array(cells, own)
        for k in range(cells):
            mine[k] = x[k]
        if t < mine.view(seen).shape[0]:
            out[t] = mine.view(seen)[t]

    def into_global(out, x):
        t = cuda.threadIdx.x
        if t < x.size:
            out.view(own)[t] = x[t]

    def into_shared(out, x):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(found, seen)
        if t < cells:
            tile.view(own)[t] = x[t]
        cuda.syncthreads()
        if t < tile.size:
            out[t] = tile[t]

    return {
        k.__name__: k for k in (from_global, from_shared, from_local, into_global, into_shared)
    }[space]


SPACES = ("from_global", "from_shared", "from_local", "into_global", "into_shared")


@settings(max_examples=examples(150, few=40), deadline=None)
@given(st.sampled_from(SPACES), st.sampled_from(NUMBERS), st.sampled_from(NUMBERS))
def test_bits_are_taken_for_other_numbers_wherever_they_lie(space: str, old: str, new: str) -> None:
    x = bytes_of(64 // np.dtype(old).itemsize, old)
    out = np.zeros(64 // np.dtype(new).itemsize, new)
    run(seen_in(space, old, new), (1, 64), out, x)
    assert out.tobytes() == x.tobytes()


@pytest.mark.parametrize("part", ["x[2:]", "x[2:-2]", "x[4:].view(int32)", "x[:2]"])
def test_a_view_begins_where_its_slice_does(part: str) -> None:
    def seen(out, x):
        t = cuda.threadIdx.x
        if t < out.size:
            v = PART.view(float64)  # type: ignore[name-defined] # noqa: F821
            out[t] = v[t]

    x = bytes_of(16, np.float32)
    expected = eval(part, {"x": x, "int32": np.int32}).view(np.float64)
    out = np.zeros(expected.size)
    run(rewritten(seen, "PART", part), (1, 32), out, x)
    assert out.tobytes() == expected.tobytes()


def rewritten(kernel: Any, name: str, text: str) -> Any:
    """The kernel with an expression in the place of a name."""
    import inspect
    import linecache
    import textwrap

    source = textwrap.dedent(inspect.getsource(kernel)).replace(name, text)
    file = f"<{kernel.__name__} with {text}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    scope = dict(kernel.__globals__)
    exec(compile(source, file, "exec"), scope)
    return scope[kernel.__name__]


def test_rows_and_columns() -> None:
    def seen(out, c, f):
        r, t = cuda.blockIdx.x, cuda.threadIdx.x
        out[0, r, t] = c.view(np.int16)[r, t]
        out[1, r, t] = c[r].view(np.int16)[t]
        out[2, r, t] = f.view(np.int16)[t, r]
        out[3, r, t] = c[:, 1:3].view(np.int16)[r, t % 4]

    c = bytes_of(12, np.int32).reshape(3, 4)
    f = np.asfortranarray(c.T)
    out = np.zeros((4, 3, 8), np.int16)
    run(seen, (3, 8), out, c, f)
    halves = c.view(np.int16)
    assert (out[0] == halves).all()
    assert (out[1] == halves).all()
    assert (out[2] == f.T.view(np.int16)).all()
    assert (out[3] == halves[:, [2, 3, 4, 5, 2, 3, 4, 5]]).all()


def test_lanes_see_parts_of_their_own() -> None:
    def seen(out, x):
        t = cuda.threadIdx.x
        v = x[2 * t : 2 * t + 4].view(float64)
        out[t] = v[1] if v.size == 2 else -1.0

    x = bytes_of(12, np.float32)
    out = np.zeros(6)
    run(seen, (1, 6), out, x)
    assert out.tolist() == [*x.view(np.float64)[1:], -1.0]


def test_a_field_of_structures_is_seen_as_numbers_of_its_size() -> None:
    pair = np.dtype([("x", np.float32), ("n", np.int32)])

    def seen(out, a):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(4, pair)
        tile[t].x = a[t].x
        tile[t].n = a[t].n
        cuda.syncthreads()
        out[t, 0] = a.x.view(int32)[t]
        out[t, 1] = tile.x.view(int32)[t]
        a.n.view(float32)[t] = 1.0

    a = np.array([(1.5, 1), (2.5, 2), (-3.0, 3), (0.1, 4)], pair)
    out = np.zeros((4, 2), np.int32)
    run(seen, (1, 4), out, a)
    assert (out == a["x"].copy().view(np.int32)[:, None]).all()
    assert (a["n"] == np.float32(1).view(np.int32)).all()


def test_any_byte_but_zero_is_true() -> None:
    def seen(out, x):
        out[cuda.threadIdx.x] = 1 if x.view(np.bool_)[cuda.threadIdx.x] else 0

    x, out = np.array([0, 1, 2, 255], np.uint8), np.zeros(4, np.int32)
    run(seen, (1, 4), out, x)
    assert out.tolist() == [0, 1, 1, 1]


def test_atomics_update_the_bits() -> None:
    def updated(x, old):
        t = cuda.threadIdx.x
        old[t] = cuda.atomic.max(x.view(int32), t % 2, int32(t << 23))
        cuda.atomic.add(x.view(uint64), 1, 1)

    x, old = np.zeros(4, np.float32), np.zeros(8, np.int32)
    run(updated, (1, 8), x, old)
    assert x.view(np.int32).tolist() == [6 << 23, 7 << 23, 8, 0]


def test_a_compare_and_swap_of_floats_by_their_bits() -> None:
    def slowest(x, y):
        t = cuda.threadIdx.x
        bits = x.view(int32)
        done = False
        while not done:
            old = cuda.atomic.add(bits, 0, 0)
            new = np.int32(np.float32(np.int32(old).view(np.float32) + y[t]).view(np.int32))
            done = cuda.atomic.cas(bits, 0, old, new) == old

    x, y = np.zeros(2, np.float32), np.arange(32, dtype=np.float32)
    report = simulate(slowest, policy="foreign")[1, 32](x, y)
    assert all(hazard.severity != "error" for hazard in report.hazards), report
    assert x[0] == y.sum()


@settings(max_examples=examples(60, few=20), deadline=None)
@given(st.sampled_from([n for n in NUMBERS if "complex" not in n]), st.data())
def test_bits_of_a_number(old: str, data: st.DataObject) -> None:
    size = np.dtype(old).itemsize
    fits = [n for n in NUMBERS if np.dtype(n).itemsize == size and "complex" not in n]
    own, seen = getattr(np, old), np.dtype(data.draw(st.sampled_from(fits)))

    def kernel(out, x, one):
        i = cuda.grid(1)
        out[i] = x[i].view(seen)
        if i == 0:
            out[0] = own(one).view(seen)

    x = bytes_of(40, old)
    out = np.zeros(40, seen)
    run(kernel, (1, 40), out, x, x[0])
    assert out.tobytes() == x.tobytes()


# What watches memory knows bytes


def halves_race(x):
    x.view(int32)[cuda.threadIdx.x] = 1
    if cuda.threadIdx.x == 0:
        x[0] = 2.0


def halves_apart(x):
    x.view(int32)[2 * cuda.threadIdx.x] = 1
    x.view(int32)[2 * cuda.threadIdx.x + 1] = 2


def test_a_race_is_one_of_bytes() -> None:
    (hazard,) = simulate(halves_race)[1, 8](np.zeros(4)).hazards
    assert (hazard.kind, hazard.details["cell"]) == ("race", 0)
    assert simulate(halves_apart)[1, 4](np.zeros(4)).ok


@pytest.mark.parametrize("dynamic", [False, True])
def test_half_a_cell_of_shared_memory_is_half_written(dynamic: bool) -> None:
    size = 0 if dynamic else 4

    def half(out, written):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(size, float64)
        if t < written:
            tile.view(int32)[t] = t
        cuda.syncthreads()
        if t < 4:
            out[t] = tile[t]

    report = simulate(half)[1, 8, 0, 32](np.zeros(4), 8)
    assert report.ok, report
    (hazard,) = simulate(half)[1, 8, 0, 32](np.zeros(4), 7).hazards
    assert (hazard.kind, hazard.details["cell"]) == ("uninitialised-read", 3)


def test_dynamic_memory_is_written_byte_by_byte() -> None:
    def both(out, wide_first):
        t = cuda.threadIdx.x
        wide = cuda.shared.array(0, float64)
        narrow = cuda.shared.array(0, float32)
        if wide_first:
            wide[t] = t
        else:
            narrow[2 * t] = t
            narrow[2 * t + 1] = t
        cuda.syncthreads()
        out[t] = narrow[2 * t + 1] + wide[t]

    for wide_first in (True, False):
        report = simulate(both)[1, 4, 0, 32](np.zeros(4), wide_first)
        assert report.ok, report


def test_a_structure_is_written_whole_or_field_by_field() -> None:
    gap = np.dtype([("x", np.float64), ("n", np.int8)], align=True)

    def copied(out, a, whole, fields):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(4, gap)
        if t < whole:
            tile[t] = a[t]
        elif t < fields:
            tile[t].x = 1.0
            tile[t].n = 2
        cuda.syncthreads()
        out[t] = tile[t].x + tile[t].n
        a[t] = tile[t]

    a = np.zeros(4, gap)
    assert simulate(copied)[1, 4](np.zeros(4), a, 2, 4).ok
    hazards = simulate(copied)[1, 4](np.zeros(4), a, 2, 3).hazards
    assert {hazard.kind for hazard in hazards} == {"uninitialised-read"}


def test_bounds_are_those_of_the_view() -> None:
    def beyond(out, x):
        out[cuda.threadIdx.x] = x.view(float64)[cuda.threadIdx.x]

    (hazard,) = simulate(beyond)[1, 8](np.zeros(8), np.zeros(8, np.float32)).hazards
    assert hazard.kind == "out-of-bounds"
    assert "is outside an array of shape (4,)" in hazard.message
    assert "x.view(float64)[4]" in hazard.message


def test_sectors_and_banks_are_those_of_the_cells_that_are_moved() -> None:
    def wide(out, x):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(128, float32)
        v = tile.view(float64)
        v[t] = x.view(float64)[t]
        cuda.syncthreads()
        out[t] = v[t]

    report = simulate(wide)[1, 32](np.zeros(32), np.zeros(64, np.float32))
    assert report.ok
    counted = report.counters
    assert (counted.global_load.sectors, counted.global_load.bytes) == (8, 256)
    assert (counted.shared_load.wavefronts, counted.shared_load.conflicts) == (2, 0)


def test_a_wider_cell_must_lie_where_a_gpu_reads_one() -> None:
    def apart(out, x):
        out[0] = x[1:].view(float64)[0]

    (hazard,) = simulate(apart)[1, 1](np.zeros(1), np.zeros(5, np.float32)).hazards
    assert hazard.kind == "misaligned"


def test_a_cell_that_is_written_in_parts_is_one_cell_of_a_share() -> None:
    def parts(x):
        for k in range(2):
            x.view(int32)[2 * cuda.threadIdx.x + k] = k
        x.view(uint8)[8 * cuda.threadIdx.x] = 1

    shares = Shares()
    simulate(parts, observers=(shares,))[1, 4](np.zeros(4))
    wrote = [share for share in shares.found() if share.wrote]
    assert [(share.array, share.cells.tolist()) for share in wrote] == [("x", [1] * 4)]


WRONG = {
    "x[:3].view(float64)": "x has 12 bytes in a row, which no cells of 8 bytes (float64) can take",
    "x[::2].view(uint8)": "the cells of x do not lie side by side, which no cells of 1 bytes",
    "m[:, :2].view(float64)": "rows of m lie 12 bytes apart, which no cells of 8 bytes (float64)",
    "a.x.view(uint8)": "the cells of a.x do not lie side by side, which no cells of 1 bytes",
    "x[t : t + 2].view(float64)": "the simulator does not know views by float64 that begin within",
}


@pytest.mark.parametrize("written", WRONG)
def test_what_no_cells_fit_is_refused(written: str) -> None:
    def seen(out, x, m, a):
        t = cuda.threadIdx.x
        out[t] = WRITTEN.size  # type: ignore[name-defined] # noqa: F821

    pair = np.dtype([("x", np.float32), ("n", np.int32)])
    arguments = (
        np.zeros(2),
        np.zeros(6, np.float32),
        np.zeros((3, 3), np.float32),
        np.zeros(2, pair),
    )
    with pytest.raises(KernelRefused) as caught:
        simulate(rewritten(seen, "WRITTEN", written))[1, 2](*arguments)
    assert caught.value.fact.startswith(WRONG[written])
    assert caught.value.hint


def test_a_slice_drops_the_fraction_of_its_bounds() -> None:
    def sliced(out, x, low):
        out[0], out[1] = x[1.9:].size, x[low:4.5][0]

    out = np.zeros(2)
    run(sliced, (1, 1), out, np.arange(6.0), 2.7)
    assert out.tolist() == [5, 2]
