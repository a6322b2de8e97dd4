"""What a kernel finds beside itself: modules of its own, and arrays that lie on the device."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import numpy as np
import pytest

from gpu_course import check, simulate
from gpu_course.errors import KernelRefused
from gpu_course.foreign import cuda
from gpu_course.foreign.launches import Launches

MODULE = """
from gpu_course.foreign import cuda
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
