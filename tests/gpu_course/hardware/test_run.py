"""Native runs without a GPU: Numba's own simulator stands in for one, in a process of its own."""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.hardware import run
from gpu_course.hardware.guard_zones import ZONE_BYTES, GuardedArray, WriteOutside
from tests.gpu_course.hardware import natively

ROOT = Path(__file__).parents[3]
ANSWERS = """\
import math

import numpy as np
from numba import cuda, float32

SIZE = 8


@cuda.jit
def scale(out, a, factor, size):
    i = cuda.grid(1)
    if i < size:
        out[i] = a[i] * factor


@cuda.jit
def add_one(out):
    i = cuda.grid(1)
    if i < SIZE:
        out[i] += 1


@cuda.jit
def transpose(out, a):
    x, y = cuda.grid(2)
    if y < a.shape[0] and x < a.shape[1]:
        out[x, y] = a[y, x]


@cuda.jit
def reverse(out, a):
    s = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    s[t] = a[t]
    cuda.syncthreads()
    out[t] = s[cuda.blockDim.x - 1 - t]


def widened(array):
    # Numba's simulator refuses an index past the end, where a GPU writes; so this array has one.
    whole = array._item._ary
    return np.lib.stride_tricks.as_strided(whole[-1:], (100,))


@cuda.jit
def one_too_far(out):
    i = cuda.grid(1)
    widened(out)[i + 1] = 5


@cuda.jit
def third_cell_after(out):
    if cuda.grid(1) == 0:
        widened(out)[3] = 5


@cuda.jit
def before(out):
    if cuda.grid(1) == 0:
        first = np.lib.stride_tricks.as_strided(out._item._ary[:1], (9,), (-out.itemsize,))
        first[2] = 5


def no_kernel(out):
    pass
"""
A = np.array([1.5, -2, 3, 0.25, 8, -1, 7, 2], np.float32)
TABLE = np.arange(12.0).reshape(3, 4)
SCALE = ("scale", ("out", "a", "factor", "size"))
ALL = {"out": np.zeros(8, np.float32), "a": A, "factor": 2.0, "size": 8}

RIGHT: dict[str, Any] = {  # launches, values, what the arrays hold afterwards
    "scalars": ([SCALE], ALL, {"out": A * 2, "a": A}),
    "NumPy scalars": ([SCALE], ALL | {"factor": np.float32(0.5), "size": np.int32(3)}, {
        "out": np.where(np.arange(8) < 3, A * np.float32(0.5), 0), "a": A,
    }),
    "two launches in order": ([SCALE, ("add_one", ("out",))], ALL, {"out": A * 2 + 1, "a": A}),
    "the other order": ([("add_one", ("out",)), SCALE], ALL, {"out": A * 2, "a": A}),
    "one array twice": ([("scale", ("a", "a", "factor", "size"))], ALL, {"a": A * 2}),
    "two dimensions": (
        [("transpose", ("out", "a"), (2, 2), (2, 2))],
        {"out": np.zeros((4, 3)), "a": TABLE},
        {"out": TABLE.T, "a": TABLE},
    ),
    "Fortran order and strides": (
        [("transpose", ("out", "a"), (2, 2), (2, 2))],
        {"out": np.zeros((4, 3))[::-1], "a": np.asfortranarray(TABLE)},
        {"out": TABLE.T, "a": TABLE},
    ),
    "dynamic shared memory": (
        [("reverse", ("out", "a"), 1, 8, 32)],
        {"out": np.zeros(8, np.float32), "a": A},
        {"out": A[::-1], "a": A},
    ),
}  # fmt: skip
OUT = {"out": np.zeros(8, np.float32)}
WRONG: dict[str, Any] = {  # launches, values, the error
    "a cell after": (
        [("one_too_far", ("out",))],
        OUT,
        ("WriteOutside", "a kernel wrote outside out: 1 cell after its last, on the GPU"),
    ),
    "the third cell after": (
        [("third_cell_after", ("out",))],
        OUT,
        ("WriteOutside", "a kernel wrote outside out: 3 cells after its last, on the GPU"),
    ),
    "before": (
        [("before", ("out",))],
        OUT,
        ("WriteOutside", "a kernel wrote outside out: 2 cells before its first, on the GPU"),
    ),
    "no such kernel": (
        [("scales", ("out",))],
        OUT,
        ("UserError", "answers.py has no function scales"),
    ),
    "not a kernel": (
        [("no_kernel", ("out",))],
        OUT,
        ("UserError", "no_kernel is not a kernel: it cannot be launched"),
    ),
    "no such value": (
        [SCALE],
        OUT,
        ("UserError", "a launch names a, which has no value"),
    ),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, natively.Told]:
    """What every case of both tables came to."""
    folder = tmp_path_factory.mktemp("native")
    path = folder / "answers.py"
    path.write_text(ANSWERS)
    cases = {name: (str(path), *case[:2]) for name, case in (RIGHT | WRONG).items()}
    missing = ("no such file", (str(folder / "none.py"), [SCALE], ALL))
    (folder / "asked").write_bytes(pickle.dumps(cases | dict([missing])))
    subprocess.run(
        [sys.executable, natively.__file__, folder / "asked", folder / "told"],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=300,
    )
    result: dict[str, natively.Told] = pickle.loads((folder / "told").read_bytes())
    return result


@pytest.mark.parametrize("name", RIGHT)
def test_a_clean_run_gives_its_arrays(name: str, told: dict[str, Any]) -> None:
    expected = RIGHT[name][2]
    assert isinstance(told[name], dict), told[name]
    assert set(told[name]) == set(expected)
    for array, value in expected.items():
        np.testing.assert_array_equal(told[name][array], value)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name: str, told: dict[str, Any]) -> None:
    assert told[name] == WRONG[name][2]


def test_a_file_that_is_not_there(told: dict[str, Any]) -> None:
    kind, fact = told["no such file"]
    assert kind == "UserError"
    assert fact.startswith("none.py cannot be read: ")


class OnTheHost:
    """A device array that lies in main memory; reshape takes Numba's arguments."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __getitem__(self, key: slice) -> OnTheHost:
        return OnTheHost(self.array[key])

    def reshape(self, shape: tuple[int, ...], order: str) -> OnTheHost:
        return OnTheHost(self.array.reshape(shape, order=order))  # type: ignore[call-overload]

    def copy_to_host(self) -> np.ndarray:
        return self.array.copy()


HOST = SimpleNamespace(to_device=lambda array: OnTheHost(array.copy()))


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex128", "u4,u1,f8"])
@pytest.mark.parametrize("shape", [(5,), (1,), (0,), (3, 4), (2, 0), (2, 3, 2), ()])
def test_an_array_comes_back_as_it_went(dtype: str, shape: tuple[int, ...]) -> None:
    cells = np.random.default_rng(3).integers(0, 2, int(np.prod(shape)) * np.dtype(dtype).itemsize)
    array = cells.astype(np.uint8).view(dtype).reshape(shape)
    guarded = GuardedArray("a", array, HOST)
    np.testing.assert_array_equal(guarded.device.array, array)
    back = guarded.copy_back()
    assert (back.shape, back.dtype) == (array.shape, array.dtype)
    np.testing.assert_array_equal(back, array)


@pytest.mark.parametrize(
    ("byte", "side", "off"),
    [(0, "before", ZONE_BYTES), (ZONE_BYTES - 1, "before", 1), (-ZONE_BYTES, "after", 1),
     (-1, "after", ZONE_BYTES)],
)  # fmt: skip
def test_any_byte_of_a_zone_counts(byte: int, side: str, off: int) -> None:
    guarded = GuardedArray("a", np.ones(7, np.float64), HOST)
    guarded.whole.array.view(np.uint8)[byte] ^= 1
    with pytest.raises(WriteOutside) as caught:
        guarded.copy_back()
    assert (caught.value.array, caught.value.side, caught.value.bytes_off) == ("a", side, off)


def test_an_array_begins_where_an_allocation_would(monkeypatch: pytest.MonkeyPatch) -> None:
    for dtype in ("int8", "float32", "u4,u1,f8"):
        guarded = GuardedArray("a", np.zeros(5, dtype), HOST)
        assert guarded.zone * np.dtype(dtype).itemsize % 256 == 0


@pytest.fixture
def cuda_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Plants a package: `plant(body)` writes numba_cuda_mlir/cuda.py where imports find it."""
    monkeypatch.delenv("GPU_COURSE_GPU", raising=False)
    monkeypatch.delenv("GPU_COURSE_CUDA", raising=False)
    monkeypatch.syspath_prepend(tmp_path)

    def plant(body: str) -> None:
        folder = tmp_path / "numba_cuda_mlir"
        folder.mkdir()
        (folder / "__init__.py").touch()
        (folder / "cuda.py").write_text(body)
        monkeypatch.setenv("GPU_COURSE_CUDA", "numba_cuda_mlir")

    yield plant
    for name in [name for name in sys.modules if name.startswith("numba_cuda_mlir")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("def is_available(): return True", ""),
        (
            "def is_available(): return False\ndef cuda_error(): return 'no driver\\n here'",
            "no CUDA driver or no GPU: no driver here",
        ),
        (
            "def is_available(): return False",
            "a CUDA driver is there, and the compiler is not; `pip install 'gpu-course[gpu]'`",
        ),
        ("def is_available(): raise OSError('libcuda\\nis broken')", "OSError: libcuda is broken"),
        ("raise RuntimeError('half installed')", "RuntimeError: half installed"),
        (
            "import nothing_of_that_name",
            (
                "UserError: numba_cuda_mlir.cuda cannot be imported: No module named "
                "'nothing_of_that_name' try: python -m gpu_course.hardware.doctor says what this "
                "machine needs"
            ),
        ),
    ],
)
def test_why_there_is_no_gpu(body: str, reason: str, cuda_packages: Any) -> None:
    cuda_packages(body + "\n")
    assert run.why_no_gpu() == reason
    assert run.gpu_available() == (reason == "")


def test_a_gpu_switched_off_is_not_looked_for(
    cuda_packages: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cuda_packages("def is_available(): return True\n")
    monkeypatch.setenv("GPU_COURSE_GPU", "off")
    assert run.why_no_gpu() == "switched off by GPU_COURSE_GPU"
    assert "numba_cuda_mlir" not in sys.modules


def test_numbas_simulator_is_no_gpu() -> None:
    code = "from gpu_course.hardware.run import why_no_gpu; print(why_no_gpu())"
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GPU_COURSE_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.startswith("NUMBA_ENABLE_CUDASIM puts Numba's own simulator")


def test_a_package_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_COURSE_CUDA", "cupy")
    with pytest.raises(CourseError, match='GPU_COURSE_CUDA is "cupy"'):
        run.cuda_module()


SUCCESSOR = """
class jit:
    def __init__(self, function):
        self.function = function

    def __getitem__(self, shape):
        return self.function


class Array:
    def __init__(self, array):
        self.array = array

    def __getitem__(self, key):
        return self.array[key]

    def copy_to_host(self):
        return self.array.copy()


class CudaAPIError(Exception):
    pass


def to_device(array):
    return Array(array.copy())


def synchronize():
    if fails:
        raise CudaAPIError("[700] an illegal memory access was encountered")


fails = False
"""


def test_an_answer_runs_under_the_successor_too(cuda_packages: Any, tmp_path: Path) -> None:
    cuda_packages(SUCCESSOR)
    (tmp_path / "numba_cuda_mlir" / "types.py").write_text("float32 = 2.5\n")
    path = tmp_path / "answer.py"
    path.write_text(
        "import numba.cuda\nimport numba as nb\nfrom numba import cuda, float32 as f, types\n"
        "from numba.types import float32\n\n@cuda.jit\ndef fill(out):\n"
        "    out[:] = float32 + f + types.float32 + nb.types.float32 + numba.types.float32\n"
    )
    launches = [natively.Launch("fill", ("out",))]
    found = run.run_natively(path, launches, {"out": np.zeros(3)})
    assert found["out"].tolist() == [12.5] * 3


def test_a_gpu_that_gives_up_is_a_clear_error(cuda_packages: Any, tmp_path: Path) -> None:
    cuda_packages(SUCCESSOR + "fails = True\n")
    path = tmp_path / "answer.py"
    path.write_text("from numba import cuda\n\n@cuda.jit\ndef fill(out):\n    out[:] = 1\n")
    launches = [natively.Launch("fill", ("out",))]
    with pytest.raises(CourseError) as caught:
        run.run_natively(path, launches, {"out": np.zeros(3)})
    assert caught.value.fact == (
        "the GPU gave up on answer.py: [700] an illegal memory access was encountered"
    )


def test_an_error_of_the_kernel_stays_what_it_is(cuda_packages: Any, tmp_path: Path) -> None:
    cuda_packages(SUCCESSOR)
    path = tmp_path / "answer.py"
    path.write_text("from numba import cuda\n\n@cuda.jit\ndef fill(out):\n    out[:] = none\n")
    with pytest.raises(NameError, match="none"):
        run.run_natively(path, [natively.Launch("fill", ("out",))], {"out": np.zeros(3)})


def test_a_numpy_that_the_compiler_does_not_know_is_said_before_any_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """numba-cuda 0.30.4 with NumPy 2.5 imports, sees the GPU, and fails at the first kernel."""
    card = SimpleNamespace(__name__="numba.cuda", __path__=[], is_available=lambda: True)
    found = importlib.import_module

    def import_module(name: str) -> Any:
        if name == "numba.cuda.cudaimpl":
            raise AttributeError("module 'numpy' has no attribute 'row_stack'")
        return found(name)

    monkeypatch.setenv("GPU_COURSE_GPU", "on")
    monkeypatch.setattr(run, "cuda_module", lambda: card)
    monkeypatch.setattr(run.importlib, "import_module", import_module)
    assert "do not fit together: module 'numpy' has no attribute 'row_stack'" in run.why_no_gpu()
    monkeypatch.setattr(run.importlib, "import_module", lambda name: SimpleNamespace())
    assert run.why_no_gpu() == ""
