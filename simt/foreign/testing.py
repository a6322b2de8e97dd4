"""What `numba.cuda.testing` gives to scripts that carry their own tests."""

from __future__ import annotations

import functools
import importlib
import io
import unittest
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np

from simt.foreign.kernel_names import needs_numba, unsupported

Decorator = Callable[[Any], Any]


def _runs(reason: str = "") -> Decorator:
    """Skips nothing: the simulator does what a real GPU does here."""
    return lambda test: test


def _skips(reason: str = "the simulator has no driver or toolkit below it") -> Decorator:
    return unittest.skip(reason)


def cc_X_or_above(major: int, minor: int) -> bool:  # noqa: N802 - Numba's name
    """True when the simulated device is of this compute capability or above."""
    return (major, minor) <= (9, 0)


@contextmanager
def captured_cuda_stdout() -> Iterator[io.StringIO]:
    """Gives what kernels print in a with block."""
    with redirect_stdout(io.StringIO()) as held:
        yield held


skip_on_cudasim = skip_if_external_memmgr = skip_under_cuda_memcheck = _runs
skip_with_cuda_python = skip_on_arm = _runs
skip_unless_cudasim = skip_with_nvdisasm = skip_without_nvdisasm = _skips


def skip_if_mvc_enabled(reason: str = "") -> Decorator:
    """Skips nothing."""
    return _runs(reason)


def _always(test: Any) -> Any:
    return test


skip_unless_cc_50 = skip_unless_cc_53 = skip_unless_cc_60 = skip_unless_cc_75 = _always
skip_unless_cc_90 = _always
skip_on_standalone_numba_cuda = xfail_unless_cudasim = _always
skip_on_wsl2 = skip_on_nvjitlink_13_1_sm_120 = _runs
skip_if_nvjitlink_missing = skip_if_curand_kernel_missing = _skips
skip_unless_conda_cudatoolkit = skip_if_mvc_libraries_unavailable = _skips
skip_if_cudadevrt_missing = _always
skip_if_cuda_includes_missing = unittest.skip("no CUDA toolkit")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("CUDATestCase", "ContextResettingTestCase"):
        try:
            return _test_case()
        except ModuleNotFoundError:
            # Not as a name that is missing here: `import` would say that instead.
            words = str(needs_numba(f"numba.cuda.testing.{name}"))
            raise ModuleNotFoundError(words, name="numba") from None
    raise unsupported(f"numba.cuda.testing.{name}")


@functools.cache
def _test_case() -> type[unittest.TestCase]:
    """A test case with the comparisons of Numba's own; there is no context to reset."""
    support = importlib.import_module("numba.tests.support")
    own = {"__module__": __name__, "FLOAT16_RTOL": np.finfo(np.float16).eps}
    return type("CUDATestCase", (support.TestCase,), own)


class ForeignArray:
    """An array that shows itself by its interface alone, as another library's would."""

    def __init__(self, arr: Any) -> None:
        self._arr = arr
        self.__cuda_array_interface__ = arr.__cuda_array_interface__
