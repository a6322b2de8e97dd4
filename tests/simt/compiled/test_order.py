"""Atomics whose order shows: in the sum of floats, or in what each lane found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import cuda, float32, int32, uint32

from simt.compiled import jit
from simt.simulator import simulate
from tests.simt.compiled.both_ways import HAZARD, NOT_COMPILED, SAME, SUSPECT, Seen, both_ways

pytestmark = pytest.mark.skipif(not jit.available(), reason="no LLVM to compile with")

THREADS = 64


def total(out, a, found):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(out, i % out.size, a[i])


def total_of_tiles(out, a, found):
    i = cuda.grid(1)
    own = cuda.shared.array(2, float32)
    t = cuda.threadIdx.x
    if t < 2:
        own[t] = 0
    cuda.syncthreads()
    for k in range(3):
        if i < a.size:
            found[i] = cuda.atomic.add(own, t % 2, a[i] * k)
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 0, own[0] - own[1])


def places(out, a, found):
    i = cuda.grid(1)
    if i < a.size and a[i] > 0:
        at = cuda.atomic.add(out, 0, 1)
        found[int(at)] = a[i]


def extremes(out, a, found):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.max(out, 0, a[i])
        cuda.atomic.min(out, 1, a[i])
        found[i] = cuda.atomic.max(out, 2 + i % 3, a[i])
        cuda.atomic.sub(out, 5, a[i])


def in_each_turn(out, a, found):
    i = cuda.grid(1)
    for k in range(3):
        if i < a.size:
            cuda.atomic.add(out, k, a[i])
        else:
            cuda.atomic.add(out, k, float32(0.5))


def all_turns_to_one(out, a, found):
    i = cuda.grid(1)
    for k in range(3):
        if i < a.size:
            cuda.atomic.add(out, 0, a[i] * k)


def two_places_of_one_cell(out, a, found):
    i = cuda.grid(1)
    if i % 2:
        cuda.atomic.add(out, 0, a[i])
    else:
        cuda.atomic.add(out, 0, float32(3) * a[i])


def each_block_its_own(out, a, found):
    i = cuda.grid(1)
    for k in range(3):
        cuda.atomic.add(out, cuda.blockIdx.x, a[i] * k)
        cuda.atomic.sub(out, cuda.blockIdx.x, a[i])


def seen(
    kernel: Callable[..., None], size: int = 300, blocks: int = 5, out: Any = None, **how: Any
) -> Seen:
    rng = np.random.default_rng(5)
    a = (rng.standard_normal(size) * 10.0 ** rng.integers(-4, 5, size)).astype(np.float32)
    out = np.zeros(8, np.float32) if out is None else out
    with both_ways(Seen()) as found:
        simulate(kernel, **how)[blocks, THREADS](out, a, np.zeros(size, np.float32))
    assert not found.wrong, found.wrong
    return found


@pytest.mark.parametrize(
    "kernel",
    [total, total_of_tiles, places, extremes, in_each_turn, each_block_its_own],
    ids=lambda kernel: kernel.__name__,
)
def test_a_cell_sees_its_updates_in_the_interpreters_order(kernel: Callable[..., None]) -> None:
    assert seen(kernel, 5 * THREADS).counts[SAME] == 1
    assert seen(kernel, 5 * THREADS, order_seed=1).counts[NOT_COMPILED] == 1


@pytest.mark.parametrize(
    "kernel", [all_turns_to_one, two_places_of_one_cell], ids=lambda kernel: kernel.__name__
)
def test_where_an_earlier_block_was_further_on_the_launch_is_suspicious(
    kernel: Callable[..., None],
) -> None:
    assert seen(kernel, 5 * THREADS).counts[SUSPECT] == 1
    assert seen(kernel, THREADS, blocks=1).counts[SAME] == 1


def test_batches_follow_each_other_whatever_they_do() -> None:
    lanes = 1 << 16
    assert seen(total, lanes, lanes // THREADS).counts[SAME] == 1


def numbers(out, a, found):
    i = cuda.grid(1)
    old = cuda.atomic.add(out, 0, int32(1))
    old += cuda.atomic.exch(out, 1, int32(i))
    old += cuda.atomic.cas(out, 2, int32(0), int32(i + 1))
    old += cuda.atomic.cas(out, 3 + i % 2, int32(i - 2), int32(i))
    old += cuda.atomic.and_(out, 5, ~(1 << (i % 31))) + cuda.atomic.or_(out, 6, 1 << (i % 31))
    old += cuda.atomic.xor(out, 7, i) + cuda.atomic.min(out, 8, -i)
    found[i] = old


def wrapped(out, a, found):
    i = cuda.grid(1)
    found[i] = cuda.atomic.inc(out, i % 3, uint32(9))
    found[i] += float32(cuda.atomic.dec(out, 3 + i % 3, uint32(7)))
    cuda.atomic.max(out, 6, uint32(i))


@pytest.mark.parametrize(("kernel", "dtype"), [(numbers, np.int32), (wrapped, np.uint32)])
def test_all_that_atomics_do_with_whole_numbers(
    kernel: Callable[..., None], dtype: type[np.integer[Any]]
) -> None:
    assert seen(kernel, 320, out=np.arange(9).astype(dtype)).counts[SAME] == 1


def read_beside(out, a, found):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, a[i])
    found[i] = out[0]


def written_beside(out, a, found):
    i = cuda.grid(1)
    old = cuda.atomic.add(out, 0, a[i])
    if i == 70:
        out[0] = old


def beyond(out, a, found):
    found[cuda.grid(1)] = cuda.atomic.add(out, cuda.grid(1) // 30, float32(1))


@pytest.mark.parametrize(
    "kernel", [read_beside, written_beside, beyond], ids=lambda kernel: kernel.__name__
)
def test_what_is_wrong_is_suspicious(kernel: Callable[..., None]) -> None:
    assert seen(kernel, 5 * THREADS).counts[HAZARD] == 1


def of_its_own(out, a, found):
    mine = cuda.local.array(2, float32)
    mine[0] = 0
    cuda.atomic.add(mine, 0, float32(1))


def test_atomics_of_local_memory_stay_interpreted() -> None:
    from simt.compiled.facts.analysis import NotCompiled
    from simt.compiled.writing.emitter import Emitter
    from simt.kernel import legality, source
    from simt.kernel.lower import lower
    from simt.kernel.types import ArrayType

    program = legality.check(source.from_function(of_its_own))
    code = lower(program.written, (ArrayType(np.dtype(np.float32), 1),) * 3)
    with pytest.raises(NotCompiled, match="local memory"):
        Emitter(code, (32, 1, 1)).text()


@cuda.jit(device=True)
def twice(out, x):
    cuda.atomic.add(out, 0, x)
    cuda.atomic.add(out, 0, x * 3)


def by_a_function(out, a, found):
    i = cuda.grid(1)
    if i < a.size:
        twice(out, a[i])


def whole_turns_and_others(out, a, found):
    i = cuda.grid(1)
    for k in range(i, a.size, 200):
        cuda.atomic.add(out, k // 200, a[k])
        cuda.atomic.add(out, 4, a[k])


def arms_of_whole_blocks(out, a, found):
    i = cuda.grid(1)
    if i < 2 * THREADS + 20:
        cuda.atomic.add(out, 0, a[i])
    else:
        cuda.atomic.add(out, 0, -a[i])


@pytest.mark.parametrize(
    "kernel", [by_a_function, whole_turns_and_others], ids=lambda kernel: kernel.__name__
)
def test_a_place_is_the_same_however_often_it_is_written(kernel: Callable[..., None]) -> None:
    assert seen(kernel, 5 * THREADS).counts[SUSPECT] == 1


def test_an_arm_comes_before_the_other_whichever_is_taken() -> None:
    assert seen(arms_of_whole_blocks, 5 * THREADS).counts[SAME] == 1


def other_arm_first(out, a, found):
    i = cuda.grid(1)
    if i >= 2 * THREADS + 20:
        cuda.atomic.add(out, 0, a[i])
    else:
        cuda.atomic.add(out, 0, -a[i])


def test_the_other_arm_comes_after_it_though_an_earlier_block_takes_it() -> None:
    assert seen(other_arm_first, 5 * THREADS).counts[SUSPECT] == 1
