"""A kernel past the static pass: its tree, and what is known of every name in it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_course.simt.effort import MOST_STEPS_CALLED
from gpu_course.simt.pruning import asks_about_arguments
from gpu_course.simt.source import Kernel
from gpu_course.simt.types import Type
from gpu_course.simt.versions import Versions


@dataclass(frozen=True, eq=False)
class Program:
    """A kernel that passed the static pass.

    Attributes:
        kernel: the Kernel.
        meanings: node -> what a name or dotted name stands for: a number or a Symbol.
        variables: the names assigned in the kernel, parameters included.
        stored: parameter names that may be written through.
        devices: the name of a device function, where it is called -> its Program.
        versions: which assignments each name stands for.
        passed_on: `x = ...` -> the cells to which x is then stored, where that is all it is for.
        efforts: statement -> the steps it costs.
        defaults: parameter -> what a call may leave out; of a device function only.
        written: the function as its author wrote it, with the branches that are left out here.
        callers: the functions that call it, the innermost last; empty for a kernel.
        specialisations: types of its arguments -> what is left of it for these, as it is found.
        checked: the device functions known so far, each checked once for all that call it.
    """

    kernel: Kernel
    meanings: dict[ast.AST, Any] = field(repr=False)
    variables: frozenset[str]
    stored: frozenset[str]
    devices: dict[ast.AST, Program] = field(default_factory=dict, repr=False)
    versions: Versions = field(default_factory=lambda: Versions({}, {}, {}, {}), repr=False)
    passed_on: dict[ast.AST, list[ast.expr]] = field(default_factory=dict, repr=False)
    efforts: dict[ast.stmt, int] = field(default_factory=dict, repr=False)
    defaults: Mapping[str, ast.Constant] = field(default_factory=dict, repr=False)
    written: Kernel | None = field(default=None, repr=False)
    callers: tuple[Kernel, ...] = field(default=(), repr=False)
    specialisations: dict[tuple[Type, ...], Program] = field(default_factory=dict, repr=False)
    checked: Checked = field(default_factory=lambda: Checked(), repr=False)

    def read(self, node: ast.Name) -> str:
        """Returns the version of a variable that a name stands for where it is read."""
        return self.versions.loads.get(node, node.id)

    def assigned(self, node: ast.Name) -> str:
        """Returns the version of a variable that a name stands for where it is assigned."""
        return self.versions.stores.get(node, node.id)

    def family(self) -> tuple[Program, ...]:
        """Returns this program and the device functions it comes to, each once."""
        found, waiting = {id(self): self}, [self]
        while waiting:
            for device in waiting.pop().devices.values():
                if id(device) not in found:
                    found[id(device)] = device
                    waiting.append(device)
        return tuple(found.values())

    @functools.cached_property
    def asks(self) -> bool:
        """True when the types of its arguments may decide a branch."""
        written = self.written or self.kernel
        return asks_about_arguments(written.tree, device=bool(self.callers))


class Checked(dict[ast.FunctionDef, Program]):
    """Device functions that have been checked: each is once, however often it is called.

    Attributes:
        steps: what all their statements cost, each run once.
    """

    steps = 0

    def hold(self, device: Program, kernel: Kernel, node: ast.AST) -> None:
        """Keeps a function that is called at `node` of a kernel.

        Raises:
            KernelRefused: there are too many, or they are too long.
        """
        self[(device.written or device.kernel).tree] = device
        self.steps += sum(device.efforts.values())
        if self.steps > MOST_STEPS_CALLED:
            fact = (
                f"the functions called from here have more than {MOST_STEPS_CALLED:,} steps "
                "together, the simulator's limit"
            )
            raise kernel.refuse(node, fact, "call fewer functions, or shorter ones")
