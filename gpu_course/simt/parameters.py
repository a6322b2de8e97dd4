"""What the parameters of a function may be, and which of them a call may leave out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gpu_course.simt.constants import NotConstant, constant
from gpu_course.simt.source import Kernel, Unknown


def defaults_of(kernel: Kernel, *, device: bool) -> dict[str, ast.Constant]:
    """Returns what a call may leave out: parameter -> its constant, of a device function.

    Raises:
        KernelRefused: parameters that no launch or call can fill, or a default that is no constant.
    """
    arguments = kernel.tree.args
    starred = arguments.vararg or arguments.kwarg or arguments.kwonlyargs
    if starred or (arguments.defaults and not device):
        what = "*args or keyword-only parameters" if device else "*args, keywords or default values"
        reason = "the simulator does not know" if device else "a launch cannot pass"
        raise kernel.refuse(
            kernel.tree, f"{kernel.name} takes {what}, which {reason}", "give it plain parameters"
        )
    names = kernel.parameters[len(kernel.parameters) - len(arguments.defaults) :]
    found = {}
    for name, node in zip(names, arguments.defaults, strict=True):
        try:
            value = constant(node, _Scope(kernel))
        except NotConstant as error:
            fact = f"the default value of {name} is not a constant ({error})"
            raise kernel.refuse(node, fact, "give it a number or None") from None
        if not (value is None or isinstance(value, bool | int | float | complex | np.generic)):
            raise kernel.refuse(node, f"the default value of {name} is neither a number nor None")
        found[name] = ast.copy_location(ast.Constant(value=value), node)  # type: ignore[arg-type]
    return found


class _Scope(Mapping[str, Any]):
    """The names beside a function."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def __getitem__(self, name: str) -> Any:
        value = self._kernel.scope(name)
        if isinstance(value, Unknown):
            raise NotConstant(value.what)
        return value

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self._kernel.scope(name) is not None
        except KeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
