"""The errors of the CUDA driver by their names, for scripts that catch them: none is raised."""

from __future__ import annotations

from typing import Any

from simt.foreign.kernel_names import unsupported


class CudaDriverError(Exception):
    """An error of the driver."""


class CudaSupportError(ImportError):
    """There is no CUDA."""


class CudaAPIError(CudaDriverError):
    """A call of the driver that failed."""


class NvvmError(Exception):
    """An error of the compiler's last stage."""


class NvvmSupportError(ImportError):
    """There is no compiler."""


class LinkerError(RuntimeError):
    """Code that cannot be put together."""


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise unsupported(f"numba.cuda.cudadrv's {name}", "there is no driver below it")
