"""Numba's interface for extensions, so that a script which registers one can be imported.

What is registered changes Numba's own compiler alone. The simulator reads kernels and never asks
it: a kernel that uses a type or function of an extension is refused by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from simt.foreign.kernel_names import unsupported

Decorator = Callable[[Any], Any]


def _taken(*_: object, **__: object) -> Decorator:
    """A decorator that gives back what it gets."""
    return lambda function: function


lower = lower_attr = lower_builtin = lower_cast = lower_constant = lower_getattr = _taken
lower_setattr = lower_getattr_generic = _taken


class Registry:
    """Takes what is registered and forgets it."""

    register = register_attr = register_global = staticmethod(_taken)
    lower = lower_getattr = lower_setattr = lower_cast = lower_constant = staticmethod(_taken)
    lower_getattr_generic = lower_setattr_generic = staticmethod(_taken)


registry = Registry()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "core_models":
        return importlib.import_module("numba.core.datamodel.models")
    try:
        return getattr(importlib.import_module("numba.extending"), name)
    except AttributeError:
        raise unsupported(f"numba.cuda.extending.{name}", "it extends Numba's compiler") from None
