"""A drop-in for `numba.cuda`, so that a script written for a real GPU runs on the simulator.

`python -m simt SCRIPT` puts it in the place of `numba.cuda` for one process. What a
script calls on the host is here; what only a kernel can use (`cuda.grid`, `cuda.shared`, ...) is
handed on to the kernel as a name. Anything else is refused by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn

from simt.foreign import device_array as devicearray
from simt.foreign import xoroshiro as random
from simt.foreign.device_memory import (
    as_cuda_array,
    device_array,
    device_array_like,
    is_cuda_array,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    pinned,
    pinned_array,
    pinned_array_like,
    to_device,
)
from simt.foreign.dispatcher import GPU, In, InOut, Out, jit
from simt.foreign.host_api import (
    close,
    cuda_error,
    current_context,
    default_stream,
    defer_cleanup,
    detect,
    event,
    event_elapsed_time,
    external_stream,
    get_current_device,
    gpus,
    is_available,
    is_supported_version,
    legacy_default_stream,
    list_devices,
    per_thread_default_stream,
    profile_start,
    profile_stop,
    profiling,
    select_device,
    stream,
    synchronize,
)
from simt.foreign.kernel_names import COMPILES_NOTHING, KernelName, is_kernel_name, unsupported
from simt.foreign.reduction import Reduce
from simt.foreign.ufuncs import guvectorize, vectorize
from simt.kernel import intrinsics
from simt.kernel.constants import Symbol, as_dtype

__all__ = [
    "GPU", "HAS_NUMBA", "In", "InOut", "Out", "Reduce", "as_cuda_array", "close", "cuda_error",
    "current_context", "default_stream", "defer_cleanup", "detect", "device_array",
    "device_array_like", "devicearray", "event", "event_elapsed_time", "external_stream",
    "get_current_device", "gpus", "guvectorize", "is_available", "is_cuda_array",
    "is_supported_version", "jit", "legacy_default_stream", "list_devices", "managed_array",
    "mapped", "mapped_array",
    "mapped_array_like", "per_thread_default_stream", "pinned", "pinned_array",
    "pinned_array_like", "profile_start", "profile_stop", "profiling", "random", "reduce",
    "select_device", "stream", "synchronize", "to_device", "vectorize",
]  # fmt: skip

reduce = Reduce
HAS_NUMBA = True

_ONE_PROCESS = "its memory belongs to one process"
_REFUSED = {
    "declare_device": "it stands for foreign code, and the simulator runs Python kernels alone",
    "CUSource": "it stands for foreign code, and the simulator runs Python kernels alone",
    "compile": COMPILES_NOTHING,
    "compile_all": COMPILES_NOTHING,
    "compile_for_current_device": COMPILES_NOTHING,
    "compile_ptx": COMPILES_NOTHING,
    "compile_ptx_for_current_device": COMPILES_NOTHING,
    "open_ipc_array": _ONE_PROCESS,
    "set_memory_manager": "its memory is NumPy's",
}
_NUMBA_S_OWN = frozenset(("cgutils", "config", "errors", "types"))
# Names that kernels alone use, whatever the simulator knows of them: a kernel is told by line.
_KERNEL_ONLY = frozenset({"cg", "libdevice", "const", "local", "shared", "atomic", "fp16"})


def _refused(path: str, reason: str) -> Callable[..., NoReturn]:
    """A function that can be imported, and not called."""

    def function(*_: object, **__: object) -> NoReturn:
        raise unsupported(path, reason)

    function.__name__ = path.rpartition(".")[2]
    return function


def __getattr__(name: str) -> Any:
    path = f"cuda.{name}"
    if name in _REFUSED:
        return _refused(path, _REFUSED[name])
    if name in _KERNEL_ONLY or is_kernel_name(path):
        return KernelName(path)
    if name.startswith("__"):
        raise AttributeError(f"module 'numba.cuda' has no attribute {name!r}")
    if name in _NUMBA_S_OWN:
        return importlib.import_module(f"numba.core.{name}")
    if as_dtype(Symbol(f"numba.{name}")) is not None or name in ("void", "none"):
        return getattr(importlib.import_module("numba.core.types"), name)
    raise unsupported(path, hint=intrinsics.nearest(path))
