"""Arrays of other libraries, taken without a copy: a kernel changes them in place, as on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simt.errors import UserError

_IN_MAIN_MEMORY = (1, 3)
"""DLPack's names for plain memory, and for memory that a GPU may also reach (dlpack.h)."""


def lent_arguments(parameters: Sequence[str], arguments: Sequence[Any]) -> tuple[Any, ...]:
    """Returns the arguments of a launch with each array of another library as its own memory."""
    names = (*parameters, *map(str, range(len(parameters), len(arguments))))
    return tuple(lent(name, value) for name, value in zip(names, arguments, strict=False))


def lent(name: str, value: Any) -> Any:
    """Returns the memory of another library's array as a NumPy array; any other value as it is.

    PyTorch's tensors and others hand out their memory by DLPack. Nothing is copied.

    Args:
        name: how errors call the argument.
        value: what a launch was given.

    Raises:
        UserError: the array lies on a real GPU, takes part in autograd, or holds what NumPy has no
            name for.

    Source: the Python array API standard, "Data interchange mechanisms".
    """
    if isinstance(value, tuple):
        parts = [lent(f"{name}[{k}]", part) for k, part in enumerate(value)]
        if all(new is old for new, old in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, np.ndarray | np.generic):
        return value
    on_gpu, kind = _lies_on_a_gpu(value), type(value).__name__
    if on_gpu is None:
        return value
    if on_gpu:
        raise UserError(
            f"a {kind} lies in the memory of a real GPU (argument {name})",
            "launch the kernel itself on it, or simulate with a copy of it on the CPU",
        )
    if getattr(value, "requires_grad", False):
        raise UserError(
            f"a kernel is unknown to autograd, and {name} requires a gradient",
            f"pass {name}.detach(), which is the same memory",
        )
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        held = getattr(value, "dtype", "unknown")
        raise UserError(
            f"this {kind} of {held} lends NumPy no memory (argument {name}): {said}",
            "use plain memory of bool, integers, floats of 2, 4 or 8 bytes, or complex numbers",
        ) from error


def _lies_on_a_gpu(value: Any) -> bool | None:
    """Returns where an array of another library lies, or None for what is no such array."""
    if hasattr(value, "__dlpack_device__"):
        try:
            return value.__dlpack_device__()[0] not in _IN_MAIN_MEMORY
        except ValueError:  # of PyTorch's device "meta", which holds nothing
            return False
    # The drop-in's own arrays have that interface too, and lie in main memory.
    if hasattr(value, "__cuda_array_interface__") and not hasattr(value, "on_device"):
        return True
    return None
