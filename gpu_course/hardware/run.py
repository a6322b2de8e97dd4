"""The kernels of an answer file, run on a real GPU by Numba."""

from __future__ import annotations

import importlib
import importlib.util
import os
import types
import warnings
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.hardware.answer_module import answer_module
from gpu_course.hardware.device_arrays import on_gpu, taken
from gpu_course.hardware.guard_zones import Canary, GuardedArray
from gpu_course.hardware.nvml import gpu_switched_off

PACKAGES = ("numba", "numba_cuda_mlir")
"""What can bring a `cuda` module: Numba with numba-cuda, and the successor of numba-cuda."""


# Of numba.cuda, and of cuda.core, which newer versions of numba-cuda stand on.
_DRIVER_ERRORS = ("CudaAPIError", "CUDAError")


class Launch(Protocol):
    """One launch: what the catalogue's Launch, or anything with these attributes, says."""

    @property
    def function(self) -> str:
        """The kernel's name."""

    @property
    def grid(self) -> int | tuple[int, ...]:
        """Blocks, as Numba takes them."""

    @property
    def block(self) -> int | tuple[int, ...]:
        """Threads per block, as Numba takes them."""

    @property
    def args(self) -> tuple[str, ...]:
        """For each parameter the name of a value."""

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory in bytes."""


class GaveUp(CourseError):
    """The GPU gave up on a launch: this process cannot use it any more."""


def run_natively(
    path: str | os.PathLike[str], launches: Sequence[Launch], values: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """Returns what the launches of an answer file leave in their arrays, computed on the GPU.

    Of the file, imports, constants and functions are read (`answer_module`), and its kernels are
    compiled and launched one after the other **in this process**, on copies of the arrays; `values`
    stays as it is. A kernel may end the process's use of the GPU: `hardware.apart` holds it.

    Args:
        path: the answer file.
        launches: in order; each names its kernel, its shape and its arguments.
        values: arrays and scalars by name. Each NumPy array goes to the GPU once, between two
            guard zones, and keeps what one launch wrote for the next. Arrays that share memory
            are copied apart. An array that lies on the GPU already, such as a tensor of PyTorch
            or an array of CuPy, is taken as it is: kernels change it in place.

    Returns:
        Every NumPy array that a launch names, as the last launch left it.

    Raises:
        WriteOutside: a kernel wrote next to an array; which one, and on which side.
        WriteFarOutside: a kernel wrote where no array of its launch is.
        GaveUp: the GPU gave up on a launch.
        CourseError: no such kernel or value, or no CUDA package.
    """
    cuda = cuda_module()
    with warnings.catch_warnings():
        # Numba warns about grids too small to fill a GPU, which small data always has.
        warnings.simplefilter("ignore")
        kernels = kernels_of(path, launches, cuda)
        run = Guarded(launches, values, cuda)
        run.launch(kernels, Path(path).name)
        return run.left()


class Guarded:
    """The arguments of some launches on the GPU: copies between guard zones, and a canary.

    Args:
        launches: in order.
        values: as for `run_natively`.
        cuda: the module that stands for `numba.cuda`.

    Raises:
        CourseError: a launch names what has no value, or an array that no kernel can take.
    """

    def __init__(self, launches: Sequence[Launch], values: Mapping[str, Any], cuda: Any) -> None:
        self.launches = tuple(launches)
        self.cuda = cuda
        names = names_of(launches, values)
        self.arrays: dict[str, GuardedArray] = {}
        self.given: dict[str, Any] = {}
        # Its memory lies beside that of the arrays, before them and behind.
        self._canaries = [Canary(cuda)]
        for name in names:
            value = values[name]
            if isinstance(value, np.ndarray):
                self.arrays[name] = GuardedArray(name, value, cuda)
                self.given[name] = self.arrays[name].device
            else:
                self.given[name] = taken(name, value, cuda) if on_gpu(name, value) else value
        self._canaries.append(Canary(cuda))

    def ask(self, kernels: Mapping[str, Any]) -> None:
        """Asks for all launches, and waits for none."""
        for launch in self.launches:
            shape = (launch.grid, launch.block, 0, launch.shared_bytes)
            kernels[launch.function][shape](*(self.given[name] for name in launch.args))

    def launch(self, kernels: Mapping[str, Any], file: str) -> None:
        """Runs all launches to their end.

        Raises:
            GaveUp: the GPU gave up on one.
        """
        try:
            self.ask(kernels)
            self.cuda.synchronize()
        except Exception as error:
            # The driver's own errors; everything else is Numba's and names its line itself.
            if type(error).__name__ not in _DRIVER_ERRORS:
                raise
            raise GaveUp(
                f"the GPU gave up on {file}: {error}",
                "simulate the kernel to find what is at fault; after a bad access, restart Python, "
                "because this process cannot use the GPU any more",
            ) from error

    def left(self) -> dict[str, np.ndarray]:
        """Returns every array that was copied to the GPU, as the launches left it.

        Raises:
            WriteOutside: a zone no longer holds its pattern.
            WriteFarOutside: memory that no launch was given has changed.
        """
        left = {name: array.copy_back() for name, array in self.arrays.items()}
        for canary in self._canaries:
            canary.look()
        return left


def kernels_of(
    path: str | os.PathLike[str], launches: Sequence[Launch], cuda: Any
) -> dict[str, Any]:
    """Returns {name: kernel} of what the launches name, from the answer file.

    Raises:
        CourseError: no such file, or no such kernel in it.
    """
    module = answer_module(Path(path), _package_of(cuda))
    return {launch.function: _kernel(module, launch.function) for launch in launches}


def names_of(launches: Sequence[Launch], values: Mapping[str, Any]) -> list[str]:
    """Returns the names that the launches mention, each once.

    Raises:
        CourseError: one of them has no value.
    """
    names = list(dict.fromkeys(name for launch in launches for name in launch.args))
    if unknown := [name for name in names if name not in values]:
        raise CourseError(
            f"a launch names {unknown[0]}, which has no value", f"values has {', '.join(values)}"
        )
    return names


def gpu_available() -> bool:
    """True when `run_natively` can run on a GPU here; False, never an error, when it cannot."""
    return not why_no_gpu()


def why_no_gpu() -> str:
    """Returns why no GPU can be used, in one sentence, or "" when one can."""
    if gpu_switched_off():
        return "switched off by GPU_COURSE_GPU"
    try:
        cuda = cuda_module()
        if _in_numbas_simulator(cuda):
            return "NUMBA_ENABLE_CUDASIM puts Numba's own simulator in the place of the GPU"
        if cuda.is_available():
            return _why_not_compiled(cuda)
        reason = cuda.cuda_error() if hasattr(cuda, "cuda_error") else None
    except Exception as error:  # a CUDA package half installed may raise anything
        return " ".join(f"{type(error).__name__}: {error}".split())
    if reason:
        first_sentence = " ".join(str(reason).split()).partition(". ")[0].rstrip(".")
        return f"no CUDA driver or no GPU: {first_sentence}"
    return "a CUDA driver is there, and the compiler is not; `pip install 'gpu-course[gpu]'`"


def _why_not_compiled(cuda: Any) -> str:
    """Returns why no kernel can be compiled, in one sentence, or "".

    `numba.cuda` is imported without what a kernel is compiled by: that comes with the first one.
    So an unfit NumPy shows only there.
    """
    if cuda.__name__ != "numba.cuda" or not hasattr(cuda, "__path__"):
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module("numba.cuda.cudaimpl")
    except AttributeError as error:
        return (
            f"numba-cuda and NumPy {np.__version__} do not fit together: {error}; "
            "`pip install 'numpy<2.5'`"
        )
    return ""


def cuda_module() -> Any:
    """Returns the module that stands for `numba.cuda` here.

    GPU_COURSE_CUDA=numba or numba_cuda_mlir picks the package. Otherwise it is numba-cuda where it
    is installed, then its successor numba_cuda_mlir, then the CUDA target within Numba itself.

    Raises:
        CourseError: GPU_COURSE_CUDA names no such package, or the package cannot be imported.
    """
    package = os.environ.get("GPU_COURSE_CUDA", "").strip() or _installed()
    if package not in PACKAGES:
        raise CourseError(
            f'GPU_COURSE_CUDA is "{package}", which is no CUDA package',
            f"set it to {' or '.join(PACKAGES)}, or unset it",
        )
    try:
        with warnings.catch_warnings():
            # Numba announces that its own CUDA target moves to another package.
            warnings.simplefilter("ignore")
            return importlib.import_module(f"{package}.cuda")
    except ImportError as error:
        raise CourseError(
            f"{package}.cuda cannot be imported: {error}",
            "python -m gpu_course.hardware.doctor says what this machine needs",
        ) from error


def _installed() -> str:
    try:
        metadata.version("numba-cuda")
    except metadata.PackageNotFoundError:
        if importlib.util.find_spec("numba_cuda_mlir") is not None:
            return "numba_cuda_mlir"
    return "numba"


def _in_numbas_simulator(cuda: Any) -> bool:
    config = getattr(importlib.import_module(_package_of(cuda)), "config", None)
    return bool(getattr(config, "ENABLE_CUDASIM", False))


def _package_of(cuda: Any) -> str:
    return str(cuda.__name__).partition(".")[0]


def _kernel(module: types.ModuleType, name: str) -> Any:
    found = getattr(module, name, None)
    if found is None:
        raise CourseError(f"{Path(module.__file__ or '').name} has no function {name}")
    if not hasattr(found, "__getitem__"):
        raise CourseError(
            f"{name} is not a kernel: it cannot be launched", "put @cuda.jit on the line above it"
        )
    return found
