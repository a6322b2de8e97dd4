"""What a kernel finds beside itself: modules of its own, and arrays that lie on the device."""

from __future__ import annotations

import enum
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
import pytest

from gpu_course import check, simulate
from simt.errors import KernelRefused
from simt.foreign import cuda
from simt.foreign.launches import Launches
from simt.machine.schedule import RoundRobin

MODULE = """
from simt.foreign import cuda
SCALE = 7
TABLE = (1, 2, 3)


@cuda.jit(device=True)
def twice(x):
    return 2 * x


def plain(x):
    return x
"""


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Launches:
    found = Launches()
    monkeypatch.setattr(cuda.GPU, "launcher", found.launch)
    return found


@pytest.fixture
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    package = tmp_path / "own_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "helpers.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    import own_package.helpers  # type: ignore[import-not-found]

    yield own_package
    for name in ("own_package", "own_package.helpers"):
        sys.modules.pop(name, None)


def test_functions_and_constants_of_a_script_s_own_modules(launches: Launches, helpers) -> None:
    short = helpers.helpers

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = short.twice(i) + helpers.helpers.SCALE + short.TABLE[1]

    out = np.zeros(8)
    kernel[1, 8](out)
    assert launches.ok
    assert out.tolist() == [2 * i + 9 for i in range(8)]


def test_what_a_module_lacks_is_told(launches: Launches, helpers) -> None:
    short = helpers.helpers

    @cuda.jit
    def lacks(out):
        out[0] = short.absent

    @cuda.jit
    def plain(out):
        out[0] = short.plain(1)

    @cuda.jit
    def whole(out):
        out[0] = short

    for kernel, fact in (
        (lacks, "has no absent"),
        (plain, "is a plain Python function"),
        (whole, "is a module"),
    ):
        with pytest.raises(KernelRefused, match=fact):
            kernel[1, 1](np.zeros(1))


def test_an_array_on_the_device_is_read_and_written_as_it_is_now(launches: Launches) -> None:
    source, target = cuda.to_device(np.arange(8.0)), cuda.to_device(np.zeros(8))

    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = source[i]
        target[i] += 2 * source[7 - i]

    out = cuda.to_device(np.zeros(8))
    kernel[1, 8](out)
    source[0] = 5
    kernel[1, 8](out)
    assert launches.ok
    assert out.copy_to_host().tolist() == [5, 1, 2, 3, 4, 5, 6, 7]
    assert target.copy_to_host().tolist() == [28, 24, 20, 16, 12, 8, 4, 10]


def test_threads_race_on_an_array_beside_their_kernel(launches: Launches) -> None:
    source, target = cuda.to_device(np.arange(8.0)), cuda.to_device(np.zeros(8))

    @cuda.jit
    def kernel():
        i = cuda.grid(1)
        target[0] = source[i]

    kernel[1, 8]()
    assert [(each.hazard.kind, *each.arrays) for each in launches.findings] == [("race", "target")]


def test_exceptions_end_their_threads(launches: Launches, capsys: pytest.CaptureFixture) -> None:
    @cuda.jit
    def kernel(out, a):
        i = cuda.grid(1)
        if a[i] < 0:
            raise ValueError("negative")
        out[i] = 1

    out = np.zeros(4)
    kernel[1, 4](out, np.array([1.0, -1, 1, -1]))
    assert launches.ok
    assert out.tolist() == [1, 0, 1, 0]
    said = capsys.readouterr().out
    assert "raised: ValueError('negative')" in said
    assert "2 threads end here" in said


class Colour(enum.IntEnum):
    RED = 1
    GREEN = 2


class Side(enum.Enum):
    LEFT = 3
    RIGHT = 4


@pytest.mark.usefixtures("launches")
def test_the_members_of_an_enum_are_numbers() -> None:
    @cuda.jit
    def kernel(out, colour):
        if colour == Colour.GREEN:
            out[0] = Side.LEFT.value + Colour.RED.value
        if Side.LEFT != Side.RIGHT:
            out[1] = Colour.RED + 1

    out = np.zeros(2)
    kernel[1, 1](out, Colour.GREEN.value)
    assert out.tolist() == [4, 2]


@pytest.mark.usefixtures("launches")
def test_a_text_beside_the_kernel_names_a_dtype() -> None:
    kind = "f4"

    @cuda.jit
    def kernel(out):
        own, tile = cuda.local.array(1, dtype=kind), cuda.shared.array(1, kind)
        own[0], tile[0] = 0.1, 0.2
        out[0], out[1] = own[0], tile[0]

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [np.float32(0.1), np.float32(0.2)]


@pytest.mark.usefixtures("launches")
def test_what_njit_made_is_a_device_function() -> None:
    @numba.njit
    def triple(x):
        return 3 * x

    again = cuda.jit(device=True)(triple)

    @cuda.jit
    def kernel(out):
        out[0], out[1] = triple(2), again(3)

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [6, 9]


PACKED = np.zeros(4, [("tag", np.int8), ("x", np.float32)])
WIDE = np.zeros(4, np.dtype([("z", np.complex128), ("tag", np.int8)], align=True))
EVEN = np.zeros(4, np.dtype([("x", np.float64), ("tag", np.int8)], align=True))
ODD = {
    "packed": (PACKED, "an array of structures whose float32 lies where no GPU reads one"),
    "a field of it": (PACKED["x"], "an array whose float32 come every 5 bytes, each of 4 bytes"),
    "turned": (PACKED["x"][::-1], "an array whose float32 come every 5 bytes, each of 4 bytes"),
    "complex": (WIDE, "an array whose complex128 come every 24 bytes, each of 16 bytes"),
    "in a tuple": ((EVEN["tag"], PACKED["x"]), "whose float32 come every 5 bytes"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_array_of_odd_layout_beside_a_kernel_is_the_writer_s(name: str) -> None:
    held, fact = ODD[name]

    def guard(out, a, size):
        i = cuda.grid(1)
        if i < size:
            out[i] = a[i] + 10 + len(held)

    verdict = check("guard", answer=guard, seed=0)
    assert verdict.status == "failed"
    assert fact in " ".join(str(verdict).split())


@pytest.mark.parametrize("held", [EVEN["x"], EVEN["tag"], EVEN["x"][::-2]])
def test_an_even_field_beside_a_kernel_is_read(held: np.ndarray) -> None:
    def kernel(out):
        out[0] = held[1] + held.size

    out = np.zeros(1)
    assert simulate(kernel)[1, 1](out).ok
    assert out[0] == held.size


FAULTY = """
from simt.foreign import cuda


@cuda.jit(device=True)
def inner(kind, a, i):
    if kind == 0:
        a[i + 1] = 1.0
    if kind == 1:
        a[0] = i
    if kind == 2 and i < 20:
        cuda.syncthreads()
    if kind == 3 and i < 16:
        cuda.shfl_down_sync(-1, i, 1)
    if kind == 4:
        x = cuda.local.array(2, "float32")
        a[i] = x[1]
    while kind == 5:
        a[i] = 1.0
    while kind == 6 and cuda.atomic.add(a, 0, 0.0) == 0:
        pass


@cuda.jit(device=True)
def outer(kind, a, i):
    inner(kind, a, i)
"""
KINDS = (
    "out-of-bounds", "race", "barrier-divergence", "inactive-lane", "uninitialised-read",
    "endless-loop", "endless-loop",
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(KINDS)))
@pytest.mark.parametrize("tasks", [None, "warps", "threads"])
def test_a_hazard_in_another_file_names_the_kernel_s_own_line(
    number: int, tasks: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "faulty_library.py").write_text(FAULTY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "faulty_library", raising=False)
    import faulty_library  # type: ignore[import-not-found]

    def helped(a, i):
        faulty_library.outer(number, a, i)

    helped = cuda.jit(device=True)(helped)

    def kernel(a):
        helped(a, cuda.grid(1))

    schedule = None if tasks is None else RoundRobin(tasks=tasks)
    report = simulate(kernel, schedule=schedule)[1, 32](np.zeros(32))
    _, first = inspect.getsourcelines(helped.py_func)
    found = {h.kind: h.details["where"] for h in report.hazards}
    assert KINDS[number] in found
    for where in found.values():
        assert "kernel inner, " in where
        assert "faulty_library.py:" in where
        assert where.endswith(f"test_beside_kernels.py:{first + 1}")
        assert ", called from " in where


def test_a_hazard_in_the_kernel_s_own_file_names_no_caller() -> None:
    @cuda.jit(device=True)
    def beyond(a, i):
        a[i + 1] = 1.0

    def kernel(a):
        beyond(a, cuda.grid(1))

    (hazard,) = simulate(kernel)[1, 4](np.zeros(4)).hazards
    assert "called from" not in hazard.details["where"]


def test_states_that_are_too_few_are_told_at_the_line_that_draws() -> None:
    draw = cuda.random.xoroshiro128p_normal_float32

    def kernel(out, states):
        i = cuda.grid(1)
        out[i] = draw(states, i)

    states = np.zeros((3, 2), np.uint64)
    hazards = simulate(kernel)[1, 4](np.zeros(4), states).hazards
    _, first = inspect.getsourcelines(kernel)
    assert hazards
    for hazard in hazards:
        assert hazard.details["where"].endswith(f"test_beside_kernels.py:{first + 2}")
