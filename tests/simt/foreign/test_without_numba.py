"""Scripts and tests in a Python that has NumPy, greenlet and the engine, and no Numba.

The engine stands in for what a script imports; its types are compared with Numba's own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import venv
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from simt.foreign import without_numba
from simt.foreign.without_numba import numpy_support, types
from simt.kernel.types import signatures

ROOT = Path(__file__).parents[3]
NEEDED = ("numpy", "greenlet")
FOR_TESTS = ("pytest", "_pytest", "pluggy", "py", "iniconfig", "packaging", "pygments")
NOT_THERE = ("numba", "numba_cuda_mlir", "gpu_course", "typer", "rich", "torch", "matplotlib")

SCRIPT = """
import subprocess, sys
from importlib.util import find_spec
from importlib.machinery import PathFinder

import numba
import numpy as np
from numba import cuda, float32, from_dtype, int32, njit, types, void, vectorize
from numba.core import config
from numba.core.errors import NumbaPerformanceWarning
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

KIND = float32
THREE = float32(3)
POINT = np.dtype([("x", np.float32), ("kind", np.int32)])
RECORD = from_dtype(POINT)
config.CUDA_LOW_OCCUPANCY_WARNINGS = 0


@njit(cache=True)
def square(x):
    return x * x


@cuda.jit(void(float32[:], types.float32[::1], int32))
def clean(out, a, n):
    i = cuda.grid(1)
    s = cuda.shared.array(32, dtype=KIND)
    if i < n:
        s[i] = square(a[i]) * THREE + types.float32(1) + numba.float32(0)
        out[i] = s[i]


@cuda.jit
def structures(out, points):
    own = cuda.local.array(1, RECORD)
    own[0].x = points[cuda.grid(1)].x
    out[cuda.grid(1)] = own[0].x


@vectorize([float32(float32, float32)], target="cuda")
def plus(a, b):
    return a + b


@cuda.jit
def racy(out):
    out[0] = cuda.grid(1)


def test_clean():
    out = np.zeros(4, np.float32)
    clean[1, 32](out, np.arange(4, dtype=np.float32), 4)
    assert plus(out, out).tolist() == [2, 8, 26, 56]
    structures[1, 4](out, np.ones(4, POINT))
    assert out.tolist() == [1, 1, 1, 1]
    assert square(5) == 25


def test_racy():
    racy[1, 32](np.zeros(1))


if __name__ == "__main__":
    test_clean()
    if "racy" in sys.argv:
        test_racy()
    if "child" in sys.argv:
        again = "import test_kernels; test_kernels.test_racy()"
        subprocess.run([sys.executable, "-c", again], check=True)
    print([name for name in NAMES if PathFinder.find_spec(name)], numba.cuda.__name__)
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has nothing but what the engine needs, and pytest."""
    if os.name == "nt":
        pytest.skip("a link needs a right there")
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for name in (*NEEDED, *FOR_TESTS):
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.origin is not None
        origin = Path(spec.origin)
        home = origin.parent if origin.name == "__init__.py" else origin
        for each in (home, home.with_name(f"{name}.libs")):
            if each.exists():
                (site / each.name).symlink_to(each)
    (site / "simt").symlink_to(ROOT / "simt")
    return folder / "bin" / "python"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    text = SCRIPT.replace("NAMES", repr((*NEEDED, *NOT_THERE)))
    (tmp_path / "test_kernels.py").write_text(text)
    return tmp_path


def run(bare: Path, project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(bare), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=project,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )


ALONE = "['numpy', 'greenlet'] simt.foreign.cuda\n"
"""What such a script finds, and what stands in the place of `numba.cuda`."""


def test_a_script_runs_and_its_race_is_told_as_sarif(bare: Path, project: Path) -> None:
    done = run(bare, project, "-m", "simt", "--format", "sarif", "test_kernels.py", "racy")
    assert (done.stdout, done.returncode) == (ALONE, 1), done.stderr
    (told,) = json.loads(done.stderr)["runs"]
    assert [result["ruleId"] for result in told["results"]] == ["race"]


def test_a_module_runs_and_what_a_python_beneath_it_launches_is_told(
    bare: Path, project: Path
) -> None:
    done = run(bare, project, "-m", "simt", "-m", "test_kernels", "child")
    assert (done.stdout, done.returncode) == (ALONE, 1), done.stderr
    assert "The simulator found 1 error in 4 launches." in done.stderr


def test_a_project_s_tests_run_under_the_plugin(bare: Path, project: Path) -> None:
    done = run(bare, project, "-m", "pytest", "-q", "-p", "simt.pytest", "test_kernels.py")
    assert done.returncode == 1
    assert "error: RaceError: out[0] is written by several threads" in done.stdout
    assert "1 failed, 1 passed" in done.stdout


REFUSED = {
    "from numba import typed": "numba.typed",
    "from numba import stencil": "numba.stencil",
    "import numba; numba.typed": "numba.typed",
    "from numba.experimental import jitclass": "numba.experimental",
    "import numba.extending": "numba.extending",
    "from numba.cuda.extending import intrinsic": "numba.extending",
    "from numba.core import cgutils": "numba.core.cgutils",
    "from numba.types import DictType": "numba.types.DictType",
    "from numba import types; types.DictType": "numba.types.DictType",
    "from numba.tests.support import TestCase": "numba.tests",
    "from numba.cuda.testing import CUDATestCase": "numba.cuda.testing.CUDATestCase",
    "import numba; numba.guvectorize([], '(n)->()')": 'numba.guvectorize(target="cpu")',
    "import numba; numba.typeof('text')": "the type of a str",
}
"""What needs Numba's compiler, and what the error calls it."""


def test_what_needs_numba_is_refused_in_one_sentence(bare: Path, tmp_path: Path) -> None:
    asked = "".join(
        f"try:\n    exec({statement!r})\nexcept Exception as error:\n    print(error)\n"
        for statement in REFUSED
    )
    (tmp_path / "script.py").write_text(asked)
    done = run(bare, tmp_path, "-m", "simt", "script.py")
    told = done.stdout.replace("\n  try:    pip install numba", "").splitlines()
    wanted = [
        f"{name} needs Numba itself, which is not installed here" for name in REFUSED.values()
    ]
    assert told == wanted


SPELLED = (
    *("float32", "f4", "boolean", "bool_", "int_", "intp", "uint8", "u1", "complex64"),
    *("float32[:]", "int32[:, ::1]", "float64[::1, :]", "boolean[::1]"),
    *("void", "types.none", "types.UniTuple(float32, 3)", "types.Tuple((int8, f8))"),
    *("float32(3)", "int32(3.7)", "boolean(2)", "complex64(1)", "float32.bitwidth"),
    *("from_dtype(np.dtype('f2'))", "typeof(np.zeros((2, 3)))", "typeof(np.zeros(3)[::2])"),
    *("typeof(np.zeros((2, 3)).T)", "typeof(1)", "typeof(2.5)", "typeof(np.int8(1))"),
)
SIGNATURES = (
    "void(float32[:], int32)",
    "float32(float32, int64)",
    "int32()",
    "types.float32[:, :, :](types.int8)",
)


@pytest.mark.parametrize("text", SPELLED)
def test_the_types_are_numba_s(text: str) -> None:
    ours, theirs = evaluated(text)
    assert str(ours) == str(theirs)
    if isinstance(theirs, np.generic | bool):
        assert type(ours) is type(theirs)


def test_a_star_imports_the_same_types() -> None:
    known = {name for name in numba.__all__ if types.named(name) is not None} - {"bool"}
    assert set(types.NAMES) == known
    assert {name: str(getattr(without_numba, name)) for name in types.NAMES} == {
        name: str(getattr(numba, name)) for name in types.NAMES
    }
    assert set(without_numba.__all__) - set(types.NAMES) <= {*numba.__all__, *dir(numba)}


@pytest.mark.parametrize("text", SIGNATURES)
def test_signatures_declare_what_numba_s_declare(text: str) -> None:
    ours, theirs = evaluated(text)
    assert signatures(ours) == signatures(theirs)


def test_a_structure_keeps_numpy_s_dtype() -> None:
    dtype = np.dtype([("x", np.float32)])
    record = numpy_support.from_dtype(dtype)
    assert isinstance(record, types.Record)
    assert (numpy_support.as_dtype(record), record.fields) == (dtype, dtype.fields)
    assert numpy_support.as_dtype(types.named("f4")) == np.float32


def test_functions_for_the_processor_run_as_python_runs_them() -> None:
    def half(x: float) -> float:
        return x / 2

    for decorate in (
        without_numba.njit,
        without_numba.jit(nopython=True),
        without_numba.jit("f8(f8)"),
    ):
        made = decorate(half)
        assert (made(3), made.py_func, made.__name__) == (1.5, half, "half")
    numbers = np.arange(3.0)
    for ufunc in (
        without_numba.vectorize(half),
        without_numba.vectorize(["float32(float32)"])(half),
        without_numba.vectorize(["f4(f4)", "f8(f8)"], target="parallel")(half),
    ):
        np.testing.assert_array_equal(ufunc(numbers), numbers / 2)
    assert without_numba.vectorize(["float32(float32)"])(half)(numbers).dtype == np.float32


def evaluated(text: str) -> list[Any]:
    """What a text is in the stand-in, and what it is in Numba."""
    return [eval(text, {}, _Names(module)) for module in (without_numba, numba)]


class _Names(dict[str, Any]):
    """The names of a module, found as they are asked for."""

    def __init__(self, module: Any) -> None:
        super().__init__(np=np)
        self.module = module

    def __missing__(self, name: str) -> Any:
        try:
            return getattr(self.module, name)
        except AttributeError:
            raise KeyError(name) from None
