"""The drop-in for numba.cuda, name by name, in this process."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise

import numba
import numba.cuda.libdevice
import numpy as np
import pytest

from gpu_course.errors import CourseError
from simt.errors import KernelRefused
from simt.foreign import cuda, stand_in, testing
from simt.foreign.formats import as_text
from simt.foreign.launches import Launches


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Launches]:
    found = Launches()
    monkeypatch.setattr(cuda.GPU, "launcher", found.launch)
    yield found
    assert found.ok, found.text()


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@pytest.mark.usefixtures("launches")
@pytest.mark.parametrize(
    ("function", "name"),
    [
        (cuda.synchronize, "cuda.synchronize"),
        (cuda.to_device, "cuda.to_device"),
        (numba.cuda.synchronize, "cuda.synchronize"),
        (numba.cuda.to_device, "cuda.to_device"),
        (numba.cuda.libdevice.sinpif, "cuda.libdevice.sinpif"),
    ],
)
def test_a_host_s_function_imported_by_its_name_is_told_by_it_in_a_kernel(function, name) -> None:
    @cuda.jit
    def kernel(x):
        function(x)

    with pytest.raises(KernelRefused, match=rf"^the simulator does not know {name}\b"):
        kernel[1, 1](np.zeros(3))


# jit and launches


@pytest.mark.usefixtures("launches")
@pytest.mark.parametrize(
    "decorate",
    [
        cuda.jit,
        cuda.jit(),
        cuda.jit("void(float64[:])"),
        cuda.jit("(float64[:],)"),
        cuda.jit(numba.void(numba.float64[:])),
        cuda.jit((numba.float64[:],)),
        cuda.jit(["void(float32[:])", numba.void(numba.float64[::1])]),
        cuda.jit(debug=True, opt=False, lineinfo=True, fastmath=True, cache=True, inline="never"),
        cuda.jit(max_registers=32, launch_bounds=(128, 2), link=[]),
    ],
)
def test_every_form_of_jit_gives_a_kernel(decorate) -> None:
    kernel = decorate(double.py_func)
    x = np.arange(40.0)
    kernel[2, 32](x)
    np.testing.assert_array_equal(x, 2 * np.arange(40.0))
    assert kernel.py_func is double.py_func
    assert kernel.__name__ == "double"


@pytest.mark.usefixtures("launches")
def test_forms_of_a_launch() -> None:
    x = np.ones(70)
    double[3, 32](x)
    double[3, 32, cuda.stream()](x)
    double[(3, 1), (32, 1, 1), 0, 64](x)
    double.configure(3, 32)(x)
    double.forall(70)(x)
    double.forall(70, tpb=32)(x)
    double.forall(0)(x)
    double.specialize(x)[3, 32](x)
    assert x.tolist() == [2.0**7] * 70


def test_the_grid_that_can_synchronise_as_a_whole() -> None:
    overload = double.overloads["void(float64[:])"]
    assert overload.max_cooperative_grid_blocks(1024) == 2 * 8
    assert overload.max_cooperative_grid_blocks((16, 3)) == 32 * 8
    assert overload.max_cooperative_grid_blocks((16, 5)) == 21 * 8


def test_a_launch_without_a_simulator_says_how_to_get_one() -> None:
    with pytest.raises(CourseError, match=r"python -m simt SCRIPT"):
        double[1, 32](np.zeros(1))


@cuda.jit(device=True)
def plus_one(x):
    return x + 1


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: double(np.zeros(1)), r"without a grid and a block.*double\[blocks, threads\]"),
        (lambda: double[3], "a launch takes"),
        (lambda: plus_one(1), "plus_one is a device function, and the host has called it"),
        (lambda: plus_one[1, 1](1), "plus_one is a device function and cannot be launched"),
        (lambda: double.inspect_asm(), r"does not know double\.inspect_asm"),
        (
            lambda: double.overloads["sig"].cooperative,
            r"does not know double\.overloads\.cooperative",
        ),
        (lambda: cuda.jit(link=["a.cu", "b.o"]), r"a\.cu, b\.o is foreign code"),
        (lambda: cuda.jit(pipeline_class=1), "the option pipeline_class"),
        (lambda: cuda.jit("void(float32[:"), "is not a signature"),
        (lambda: cuda.threadIdx(), r"cuda\.threadIdx exists inside a kernel only"),
        (lambda: range(cuda.laneid), r"cuda\.laneid exists inside a kernel only"),
        (lambda: cuda.threadIdx.w, r"does not know cuda\.threadIdx\.w"),
        (lambda: cuda.shared.array(3, "f4"), r"cuda\.shared\.array exists inside a kernel only"),
        (lambda: cuda.select_device(1), "there is no device 1"),
        (lambda: cuda.get_current_device().KERNEL_EXEC_TIMEOUT, "KERNEL_EXEC_TIMEOUT"),
        (lambda: cuda.current_context().memalloc(8), "the context's memalloc"),
        (lambda: cuda.event().elapsed_time(cuda.event()), "never recorded"),
        (lambda: cuda.device_array(3, strides=(8,)), "device_array with strides"),
        (lambda: cuda.device_array(3)[[0, 1]], "whole numbers and slices"),
        (lambda: cuda.device_array(3).gpu_data, r"attribute \.gpu_data"),
        (lambda: cuda.device_array((3, 4))[:, :2].ravel(), "ravel would have to copy"),
        (lambda: testing.NoSuchCase, "NoSuchCase"),
    ],
)
def test_what_cannot_be_done_is_said(call, words) -> None:
    with pytest.raises(CourseError, match=rf"(?s){words}"):
        call()


def test_an_unknown_name_is_absent_to_hasattr() -> None:
    assert not hasattr(cuda, "nonsense")
    assert not hasattr(double, "nonsense")
    with pytest.raises(AttributeError, match="nonsense"):
        _ = cuda.nonsense


@pytest.mark.parametrize("name", ["compile_ptx", "declare_device", "open_ipc_array"])
def test_what_the_simulator_does_not_do_can_be_imported_and_not_called(name: str) -> None:
    with pytest.raises(CourseError, match=f"the simulator does not know cuda.{name}"):
        getattr(cuda, name)()
    assert not hasattr(double, name)


def test_imports_in_the_spelling_of_numba_cuda() -> None:
    assert cuda.HAS_NUMBA
    assert cuda.types is numba.core.types
    assert (cuda.float32, cuda.int64) == (numba.float32, numba.int64)
    assert cuda.config is numba.core.config


def test_every_listed_name_is_there() -> None:
    assert [name for name in cuda.__all__ if not hasattr(cuda, name)] == []


# Device arrays


def test_what_the_host_sees_is_a_copy() -> None:
    source = np.arange(4.0)
    d = cuda.to_device(source)
    source[0] = 9
    copied = d.copy_to_host()
    copied[1] = 9
    assert d.copy_to_host().tolist() == [0, 1, 2, 3]
    assert np.asarray(d).tolist() == [0, 1, 2, 3]
    assert cuda.to_device(d) is d


def test_slices_and_shapes_are_views() -> None:
    d = cuda.to_device(np.zeros((3, 4), np.int32))
    d[1:, ::2][0, 1] = 5
    d.reshape(4, 3).T[0, 0] = 6
    d.ravel()[11] = 7
    d[2] = cuda.to_device(np.array([1, 2, 3, 4], np.int32))
    assert d.copy_to_host().tolist() == [[6, 0, 0, 0], [0, 0, 5, 0], [1, 2, 3, 4]]
    assert [part.size for part in d.ravel().split(5)] == [5, 5, 2]
    assert (d.shape, d.ndim, d.size, d.nbytes, len(d)) == ((3, 4), 2, 12, 48, 3)
    assert (d.dtype, d.strides, d.view(np.float32).dtype) == (np.int32, (16, 4), np.float32)
    assert d[2, 3] == 4
    assert cuda.device_array((2, 1, 2)).squeeze().shape == (2, 2)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "i1", "u8", "?", "i4,f8"])
@pytest.mark.parametrize(
    "make",
    [cuda.device_array, cuda.pinned_array, cuda.mapped_array, cuda.managed_array],
)
def test_fresh_memory_is_conspicuous(make, dtype: str) -> None:
    made = make((2, 3), dtype)
    found = made.copy_to_host() if isinstance(made, cuda.devicearray.DeviceArray) else made
    assert found.shape == (2, 3)
    assert found.dtype == np.dtype(dtype)
    if found.dtype.kind in "fc":
        assert np.isnan(found).all()
    else:
        assert found.tobytes() != bytes(found.nbytes)


def test_likeness_keeps_shape_dtype_and_order() -> None:
    source = np.zeros((3, 4), np.int16, order="F")
    for like in (
        cuda.device_array_like(source),
        cuda.device_array_like(cuda.to_device(source)),
        cuda.pinned_array_like(source),
        cuda.mapped_array_like(source),
    ):
        assert (like.shape, like.dtype, like.strides) == ((3, 4), np.int16, (2, 6))


@pytest.mark.parametrize(
    ("target", "source", "error", "words"),
    [
        (cuda.device_array(3), np.zeros(4), ValueError, "of shape"),
        (cuda.device_array(3), np.zeros(3, np.float32), TypeError, "float32"),
        (cuda.device_array(3), 1.0, TypeError, "a float"),
        (cuda.device_array(6)[::2], np.zeros(3), ValueError, "has gaps"),
    ],
)
def test_copies_that_do_not_fit(target, source, error, words) -> None:
    with pytest.raises(error, match=words):
        target.copy_to_device(source)


def test_a_host_array_with_gaps_cannot_be_copied() -> None:
    with pytest.raises(ValueError, match="ascontiguousarray"):
        cuda.to_device(np.zeros(6)[::2])
    assert cuda.to_device(np.broadcast_to(3.0, (2, 2))).copy_to_host().tolist() == [[3, 3], [3, 3]]


def test_memory_of_a_real_gpu_is_refused() -> None:
    class Tensor:
        __cuda_array_interface__ = {"data": (1 << 40, False)}  # noqa: RUF012

    assert cuda.is_cuda_array(Tensor())
    with pytest.raises(CourseError, match="a Tensor lies in the memory of a real GPU"):
        cuda.as_cuda_array(Tensor())
    with pytest.raises(TypeError, match="a list is not a device array"):
        cuda.as_cuda_array([1])


@pytest.mark.usefixtures("launches")
def test_copies_told_by_in_and_out() -> None:
    @cuda.jit
    def first_half(x):
        if cuda.grid(1) < x.size // 2:
            x[cuda.grid(1)] = 1

    given, out, both = np.zeros(4), np.zeros(4), np.zeros(4)
    first_half[1, 4](cuda.In(given))
    first_half[1, 4](cuda.Out(out))
    first_half[1, 4](cuda.InOut(both))
    assert given.tolist() == [0, 0, 0, 0]
    assert both.tolist() == [1, 1, 0, 0]
    np.testing.assert_array_equal(out, [1, 1, np.nan, np.nan])


# Reductions


@pytest.mark.usefixtures("launches")
@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 8192, 8193, 20_011])
def test_reductions_of_every_length(n: int) -> None:
    values = np.random.default_rng(n).integers(-1000, 1000, n)
    assert cuda.reduce(lambda a, b: a + b)(values) == values.sum()
    assert cuda.reduce(lambda a, b: min(a, b))(values, init=5000) == values.min()


@pytest.mark.usefixtures("launches")
def test_a_reduction_by_a_device_function() -> None:
    @cuda.jit(device=True)
    def larger(a, b):
        return max(a, b)

    assert cuda.Reduce(larger)(cuda.to_device(np.array([1, 9, 3], np.float32))) == 9


def test_what_cannot_be_reduced() -> None:
    outside = 3
    with pytest.raises(CourseError, match="cannot read this lambda"):
        cuda.reduce(lambda a, b: a + b + outside)
    with pytest.raises(TypeError, match="one dimension"):
        cuda.reduce(max_of)(np.zeros((2, 2)))


def max_of(a, b):
    return max(a, b)


# Random numbers, against the generator's definition in whole numbers

MASK = (1 << 64) - 1


def turn(x: int, by: int) -> int:
    return (x << by | x >> (64 - by)) & MASK


def step(state: list[int]) -> int:
    low, high = state
    mixed = low ^ high
    state[:] = turn(low, 55) ^ mixed ^ (mixed << 14 & MASK), turn(mixed, 36)
    return (low + high) & MASK


def jump(state: list[int]) -> list[int]:
    low = high = 0
    state = list(state)
    for word in (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922):
        for bit in range(64):
            if word >> bit & 1:
                low, high = low ^ state[0], high ^ state[1]
            step(state)
    return [low, high]


def test_generators_start_a_jump_apart() -> None:
    states = cuda.random.create_xoroshiro128p_states(40, seed=1).copy_to_host().tolist()
    # SplitMix64 of 1: its first number, from the generator's reference code.
    assert states[0] == [0x910A2DEC89025CC1] * 2
    for before, after in pairwise(states):
        assert jump(before) == after
    later = cuda.random.create_xoroshiro128p_states(33, seed=1, subsequence_start=7)
    assert later.copy_to_host().tolist() == states[7:]
    cuda.random.init_xoroshiro128p_states(later, 1)
    assert later.copy_to_host().tolist() == states[:33]
    assert cuda.random.create_xoroshiro128p_states(0, seed=1).size == 0


@pytest.mark.usefixtures("launches")
def test_kernels_draw_the_generators_numbers() -> None:
    following, uniform64, uniform32 = (
        cuda.random.xoroshiro128p_next,
        cuda.random.xoroshiro128p_uniform_float64,
        cuda.random.xoroshiro128p_uniform_float32,
    )
    normal64 = cuda.random.xoroshiro128p_normal_float64
    normal32 = cuda.random.xoroshiro128p_normal_float32

    @cuda.jit
    def draw(states, bits, real, real32, normal, normal_32):
        i = cuda.grid(1)
        bits[i] = following(states, i)
        real[i] = uniform64(states, i)
        real32[i] = uniform32(states, i)
        normal[i] = normal64(states, i)
        normal_32[i] = normal32(states, i)

    states = cuda.random.create_xoroshiro128p_states(33, seed=12)
    plain = states.copy_to_host().tolist()
    bits, real = np.zeros(33, np.uint64), np.zeros(33)
    real32, normal, normal_32 = np.zeros(33, np.float32), np.zeros(33), np.zeros(33, np.float32)
    draw[1, 33](states, bits, real, real32, normal, normal_32)
    drawn = np.array([[step(state) for _ in range(7)] for state in plain], dtype=np.uint64)
    units = (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53
    np.testing.assert_array_equal(bits, drawn[:, 0])
    np.testing.assert_array_equal(real, units[:, 1])
    np.testing.assert_array_equal(real32, units[:, 2].astype(np.float32))
    for found, one, other, tolerance in (
        (normal, units[:, 3], units[:, 4], 1e-14),
        (normal_32, units[:, 5], units[:, 6], 2e-5),
    ):
        expected = np.sqrt(-2 * np.log(one)) * np.cos(2 * np.pi * other)
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)
    assert states.copy_to_host().tolist() == plain


def test_only_states_of_its_own_are_filled() -> None:
    with pytest.raises(CourseError, match="rows of two uint64"):
        cuda.random.init_xoroshiro128p_states(cuda.device_array(4), 1)


# The host's side


def test_streams_and_events_have_nothing_to_wait_for() -> None:
    called = []
    for stream in (cuda.stream(), cuda.default_stream(), cuda.external_stream(99)):
        stream.synchronize()
        stream.add_callback(lambda stream, status, arg: called.append((status, arg)), "done")
    assert called == [(0, "done")] * 3
    assert int(cuda.legacy_default_stream()) == 0

    async def wait() -> bool:
        stream = cuda.stream()
        dropped = stream.async_done()
        dropped.cancel()
        return await stream.async_done() is stream

    assert asyncio.run(wait())
    event = cuda.event(timing=False)
    event.record()
    event.wait()
    assert event.query()


def test_there_is_one_device(capsys: pytest.CaptureFixture[str]) -> None:
    assert cuda.detect()
    assert "Found 1 CUDA devices" in capsys.readouterr().out
    device = cuda.get_current_device()
    assert list(cuda.list_devices()) == [device] == [cuda.gpus[0]] == [cuda.gpus[0]._device]
    assert device.name.decode() == device.name
    assert device.MAX_SHARED_MEMORY_PER_BLOCK == 49_152
    with cuda.gpus[0] as current, cuda.current_context(0) as context, cuda.profiling():
        assert current is device is context.device
        assert device.get_primary_context() is context
        context.push()
        context.pop()
        context.synchronize()
    cuda.profile_start()
    cuda.profile_stop()
    cuda.synchronize()
    cuda.close()
    assert cuda.is_supported_version() and cuda.cuda_error() is None


def test_the_finder_knows_its_own_modules_and_no_other() -> None:
    finder = stand_in.StandIn()
    assert finder.find_spec("numba") is finder.find_spec("numpy") is None
    assert finder.find_spec("numba.cudalike") is None
    for name in ("numba.cuda", "numba_cuda_mlir.cuda", "numba_cuda_mlir.cuda.random"):
        assert finder.create_module(finder.find_spec(name)).__name__.startswith("simt.foreign")
    with pytest.raises(ModuleNotFoundError, match=r"does not know numba\.cuda\.lowering"):
        finder.find_spec("numba.cuda.lowering")


def test_hazards_of_many_launches_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Launches()
    monkeypatch.setattr(cuda.GPU, "launcher", found.launch)

    @cuda.jit
    def careless(x, n):
        i = cuda.grid(1)
        if i < n:
            x[i] = 1
        if n == 40:
            x[0] = 2

    for n in (8, 40, 36):
        careless[2, 32](np.zeros(8), n)
    assert not found.ok
    lines = as_text(found).splitlines()
    assert lines[0] == "The simulator found 2 errors and 1 piece of advice in 3 launches."
    assert "  seen:   in 2 of 3 launches of careless" in lines


def test_the_import_that_scripts_may_say_is_this_very_module() -> None:
    # In a fresh interpreter: pytest, which looks for doctests in each file, imports it once more.
    # A file that is read and never run may say it as well.
    check = """
from gpu_course.simt import module
from simt.foreign import cuda
from simt.kernel.source import MODULES
assert module is cuda and MODULES["gpu_course.simt.module"] == MODULES["numba.cuda"]
"""
    subprocess.run([sys.executable, "-c", check], check=True)


SPELLINGS = """
from numba import cuda
from numba.cuda import HAS_NUMBA, config, float32, types
from numba.cuda.compiler import compile_ptx
from numba.cuda.core import config as same
from numba.cuda.core.errors import TypingError
from numba.cuda.cudadrv.driver import CudaAPIError
from numba.cuda.extending import core_models, overload
from numba.cuda.np import numpy_support
from numba.cuda.testing import CUDATestCase, ForeignArray, skip_unless_cc_90
from numba.cuda.tests.support import TestCase
from numba.cuda.types import int32
import numba, numba.core.config, numba.core.types, numpy as np

assert same is config is numba.core.config
assert types is numba.core.types
assert issubclass(CUDATestCase, TestCase)


@cuda.jit
def kernel(out):
    own = cuda.local.array(2, types.float64)
    own[0] = int32(3.7)
    own[1] = float32(0.5)
    out[0] = own[0] + own[1]


out = np.zeros(1)
kernel[1, 1](out)
print(out[0])
"""


def test_a_script_imports_as_numba_cuda_s_own_tests_do(tmp_path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SPELLINGS)
    ended = subprocess.run(
        [sys.executable, "-m", "simt", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout, ended.stderr, ended.returncode) == ("3.5\n", "", 0)
