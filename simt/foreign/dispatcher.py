"""What `cuda.jit` makes of a function: a kernel to launch, or a device function for kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from simt.errors import UserError
from simt.foreign.device_array import DeviceArray, MappedArray, host
from simt.foreign.device_memory import poisoned_like
from simt.foreign.host_api import DEVICE
from simt.foreign.kernel_names import COMPILES_NOTHING, unsupported
from simt.foreign.sources import with_source
from simt.kernel.types import Signature, signatures
from simt.machine import unwritten
from simt.machine.lanes import WARP
from simt.machine.launch import dim3

THREADS_FOR_ALL = 128

_ACCEPTED = frozenset(
    """inline debug opt lineinfo cache fastmath max_registers launch_bounds boundscheck nopython
    forceinline lto chip cc extensions shared_memory_carveout""".split()
)

_NO_LONGER = frozenset(("argtypes", "restype", "bind"))

Launcher = Callable[[Any, Any, Any, int, tuple[Any, ...]], None]
"""Runs a kernel: (dispatcher, grid, block, dynamic shared bytes, arguments)."""


class Gpu:
    """What launches go to: whoever runs a script puts its launcher here."""

    launcher: Launcher | None = None


GPU = Gpu()


class Dispatcher:
    """A function under `cuda.jit`.

    Args:
        function: what was decorated; `py_func` holds it.
        device: True for a function that kernels call.
        declared: the signatures given to `cuda.jit`.
    """

    def __init__(
        self, function: Callable[..., Any], *, device: bool, declared: tuple[Signature, ...]
    ) -> None:
        # Its __module__ becomes the function's own: a kernel tells by it whose function it calls.
        functools.update_wrapper(self, function)
        del self.__wrapped__
        self.py_func = function
        self.device = device
        self.declared = declared
        self.extensions: list[Any] = []

    def __getitem__(self, configuration: Any) -> Launch:
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise UserError(
                f"a launch takes [grid, block], and {self.__name__} got [{configuration!r}]",
                "write kernel[blocks, threads](...)",
            )
        return self.configure(*parts)

    def configure(
        self, griddim: Any, blockdim: Any, stream: object = 0, sharedmem: int = 0
    ) -> Launch:
        """Returns the kernel with the shape of its launch."""
        if self.device:
            raise UserError(
                f"{self.__name__} is a device function and cannot be launched",
                "launch a kernel that calls it",
            )
        return Launch(self, griddim, blockdim, int(sharedmem))

    def forall(
        self, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0
    ) -> Callable[..., None]:
        """Returns the kernel, ready for one thread per task."""
        if ntasks < 0:
            raise ValueError(f"forall cannot run {ntasks} tasks")
        threads = tpb or THREADS_FOR_ALL

        def launch(*arguments: Any) -> None:
            if ntasks:
                self[-(-ntasks // threads), threads, stream, sharedmem](*arguments)

        return launch

    @property
    def overloads(self) -> Overloads:
        """What Numba keeps for each signature it has compiled: all alike here."""
        return Overloads(self.__name__)

    def specialize(self, *_: object) -> Dispatcher:
        """Returns the kernel itself: its types are found at each launch."""
        return self

    def __call__(self, *_: object, **__: object) -> NoReturn:
        if self.device:
            raise UserError(
                f"{self.__name__} is a device function, and the host has called it",
                "call it in a kernel",
            )
        raise UserError(
            f"{self.__name__} is launched without a grid and a block",
            f"write {self.__name__}[blocks, threads](...)",
        )

    def __repr__(self) -> str:
        return f"<{'device function' if self.device else 'kernel'} {self.__name__}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unsupported(f"{self.__name__}.{name}", COMPILES_NOTHING)


class Overloads:
    """The compiled versions of a kernel, which the simulator does not have: one answer for all.

    `kernel.overloads[signature].max_cooperative_grid_blocks(block)` is how scripts size a grid that
    synchronises as a whole.
    """

    def __init__(self, kernel: str) -> None:
        self._kernel = kernel

    def __getitem__(self, signature: Any) -> Overloads:
        return self

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Returns how many blocks the simulated device holds at once, by its threads alone."""
        x, y, z = dim3(blockdim, "block")
        each = DEVICE.MAX_THREADS_PER_MULTI_PROCESSOR // (-(-x * y * z // WARP) * WARP)
        return int(min(each, DEVICE.MAX_BLOCKS_PER_MULTIPROCESSOR) * DEVICE.MULTIPROCESSOR_COUNT)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise unsupported(f"{self._kernel}.overloads.{name}", COMPILES_NOTHING)


class Launch:
    """A kernel with the shape of its launch."""

    def __init__(self, kernel: Dispatcher, grid: Any, block: Any, shared_bytes: int) -> None:
        self.kernel = kernel
        self.grid = grid
        self.block = block
        self.shared_bytes = shared_bytes

    def __call__(self, *arguments: Any) -> None:
        if GPU.launcher is None:
            raise UserError(
                f"no simulator stands behind this launch of {self.kernel.__name__}",
                "run the script with python -m simt SCRIPT",
            )
        given = tuple(map(_argument, arguments))
        GPU.launcher(self.kernel, self.grid, self.block, self.shared_bytes, given)
        for argument, memory in zip(arguments, given, strict=True):
            if isinstance(argument, _Copied):
                argument.back(memory)


def jit(func_or_sig: Any = None, device: bool = False, link: Any = None, **options: Any) -> Any:
    """Returns a function as a kernel or device function, or a decorator that does so.

    Args:
        func_or_sig: the function; or a signature, a list of them, or nothing for the decorator.
        device: True for a function that kernels call.
        link: files of foreign code, which the simulator refuses.
        options: Numba's options for its compiler; they change nothing here.

    Raises:
        UserError: an option that is unknown, or foreign code to link.
    """
    _check_options(link, options)
    if callable(func_or_sig) and not _is_signature(func_or_sig):
        return _dispatcher(func_or_sig, device, ())
    declared = () if func_or_sig is None else signatures(func_or_sig)
    return lambda function: _dispatcher(function, device, declared)


def _dispatcher(function: Any, device: bool, declared: tuple[Signature, ...]) -> Dispatcher:
    # A function under numba.njit is taken by what it was made of, as Numba takes it.
    plain = getattr(function, "py_func", function)
    if isinstance(plain, FunctionType):
        plain = with_source(plain)
    return Dispatcher(plain, device=device, declared=declared)


def _is_signature(value: Any) -> bool:
    # Numba's signatures and types can be called, as functions can.
    return hasattr(value, "args") or hasattr(value, "mangling_args")


def _check_options(link: Any, options: dict[str, Any]) -> None:
    if link:
        files = ", ".join(map(str, link)) if isinstance(link, list | tuple) else str(link)
        raise unsupported(
            "cuda.jit(link=...)", f"{files} is foreign code, and it runs Python kernels alone"
        )
    for name in options:
        if name in _NO_LONGER:
            raise UserError(
                f"cuda.jit no longer takes the option {name}: Numba refuses it as well",
                'give the signature itself, such as cuda.jit("void(float32[:])")',
            )
        if name not in _ACCEPTED:
            raise unsupported(f"the option {name} of cuda.jit")


class _Copied:
    """An argument whose copies between host and device are told: `cuda.In`, `Out`, `InOut`."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value

    def argument(self) -> np.ndarray:
        """Returns the memory a kernel gets."""
        return self.value

    def back(self, memory: np.ndarray) -> None:
        """Takes what a launch has left in that memory."""


class In(_Copied):
    """A host array that is copied to the device and not back."""

    def argument(self) -> np.ndarray:
        """Returns a copy, whose changes are lost."""
        return self.value.copy(order="K")


class Out(_Copied):
    """A host array that is copied back and not to the device: it starts uninitialised."""

    def argument(self) -> np.ndarray:
        """Returns fresh memory."""
        memory = poisoned_like(self.value)
        unwritten.begin(memory)
        return memory

    def back(self, memory: np.ndarray) -> None:
        """Copies it back, what no thread has written as well."""
        np.copyto(self.value, memory)


class InOut(_Copied):
    """A host array that is copied to the device and back, as every plain one is."""


def _argument(value: Any) -> Any:
    if isinstance(value, _Copied):
        return value.argument()
    if isinstance(value, DeviceArray | MappedArray) or hasattr(value, "__cuda_array_interface__"):
        return host(value)
    return value
