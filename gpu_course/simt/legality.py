"""The static pass: refuses, with the line, what Numba would not compile or the simulator not run.

It runs before anything else, so the interpreter has no defensive code. Its result, a `Program`,
says what every name in the kernel stands for.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gpu_course.simt.closures import lift
from gpu_course.simt.constants import NotConstant, Symbol, constant
from gpu_course.simt.effort import MOST_CALLS_DEEP, MOST_NODES, efforts
from gpu_course.simt.meanings import Meanings
from gpu_course.simt.pruning import asks_about_arguments, prune
from gpu_course.simt.refusals import check_node
from gpu_course.simt.source import Kernel, Unknown
from gpu_course.simt.spelling import respelled
from gpu_course.simt.types import Type
from gpu_course.simt.versions import Versions, find_versions
from gpu_course.simt.vocabulary.allocate import is_allocation


@dataclass(frozen=True)
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
    _specialised: dict[tuple[Type, ...], Program] = field(default_factory=dict, repr=False)

    def read(self, node: ast.Name) -> str:
        """Returns the version of a variable that a name stands for where it is read."""
        return self.versions.loads.get(node, node.id)

    def assigned(self, node: ast.Name) -> str:
        """Returns the version of a variable that a name stands for where it is assigned."""
        return self.versions.stores.get(node, node.id)

    def specialised(self, arguments: Sequence[Type]) -> Program:
        """Returns the program for arguments of these types, less the branches they decide.

        Args:
            arguments: the type of each parameter; decisions.LITERAL for a number at the call.
        """
        written = self.written or self.kernel
        if not self.asks:
            return self
        key = tuple(arguments)
        if key not in self._specialised:
            known = dict(zip(written.parameters, arguments, strict=True))
            tree = prune(written, known)
            same = ast.dump(tree) == ast.dump(prune(written, {}))
            self._specialised[key] = self if same else _checked(written, tree, self.callers, {})
        return self._specialised[key]

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


Checked = dict[ast.FunctionDef, "Program"]
"""Device functions that have been checked: each is once, however often it is called."""


def check(
    kernel: Kernel, callers: tuple[Kernel, ...] = (), checked: Checked | None = None
) -> Program:
    """Returns the kernel as a Program.

    Args:
        kernel: a kernel, or a device function that `callers` call, the innermost last.
        callers: empty for a kernel.
        checked: what is known already of the functions it calls.

    Raises:
        KernelRefused: with the line of the first construct that is refused.
    """
    if kernel.settled and not callers:
        return _check_settled(kernel)
    return _check(kernel, callers, {} if checked is None else checked)


@functools.lru_cache(maxsize=256)
def _check_settled(kernel: Kernel) -> Program:
    return _check(kernel, (), {})


def _check(kernel: Kernel, callers: tuple[Kernel, ...], checked: Checked) -> Program:
    nodes = sum(1 for statement in kernel.tree.body for _ in ast.walk(statement))
    if nodes > MOST_NODES:
        fact = (
            f"{kernel.name} has {nodes:,} nodes in its syntax tree: "
            f"the simulator takes up to {MOST_NODES:,}"
        )
        raise kernel.refuse(kernel.tree, fact, "let loops do what is written out here")
    return _checked(kernel, prune(kernel, {}), callers, checked)


def _checked(
    written: Kernel, tree: ast.FunctionDef, callers: tuple[Kernel, ...], checked: Checked
) -> Program:
    """The program of a function, from which dead branches have been taken."""
    defaults = _check_signature(written, device=bool(callers))
    kernel = replace(written, tree=tree) if tree is not written.tree else written
    kernel = lift(respelled(kernel))
    body = [node for statement in kernel.tree.body for node in ast.walk(statement)]
    if len(body) > MOST_NODES:
        fact = (
            f"{kernel.name} has {len(body):,} nodes in its syntax tree: "
            f"the simulator takes up to {MOST_NODES:,}"
        )
        raise kernel.refuse(kernel.tree, fact, "let loops do what is written out here")
    placed = [node for node in body if isinstance(node, ast.expr | ast.stmt)]
    for node in sorted(placed, key=lambda n: (n.lineno, n.col_offset)):
        check_node(kernel, node, device=bool(callers))
    # A name assigned in a dead branch is a variable all the same.
    variables = frozenset(kernel.parameters) | {
        n.id for n in ast.walk(written.tree) if isinstance(n, ast.Name) and _is_stored(n)
    }
    own = frozenset(kernel.parameters) | {
        n.id for n in body if isinstance(n, ast.Name) and _is_stored(n)
    }
    lifted = {n for n in variables - own if isinstance(_known(kernel, n), Kernel)}
    variables = (variables | own) - lifted
    meanings = Meanings(kernel, variables).of(kernel.tree.body)
    devices = _devices(written, kernel, body, meanings, callers, checked)
    stored = frozenset(kernel.parameters) if devices else _stored(kernel, body, meanings)
    versions = find_versions(kernel.tree)
    return Program(
        kernel,
        meanings,
        variables,
        stored,
        devices,
        versions,
        _passed_on(body, versions),
        efforts(kernel.tree),
        defaults,
        written,
        callers,
    )


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _known(kernel: Kernel, name: str) -> Any:
    try:
        return kernel.scope(name)
    except KeyError:
        return None


def _passed_on(body: list[ast.AST], versions: Versions) -> dict[ast.AST, list[ast.expr]]:
    """Values that a variable only carries to a store: x = a + b, then out[i] = x."""
    stores: dict[ast.AST, ast.expr] = {
        node.value: node.targets[0]
        for node in body
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    }
    found: dict[ast.AST, list[ast.expr]] = {}
    for value, target in stores.items():
        number = versions.numbers.get(target)
        readers = [n for n, seen in versions.reaching.items() if number in seen]
        cells = [
            stores[n]
            for n in readers
            if versions.reaching[n] == {number} and isinstance(stores.get(n), ast.Subscript)
        ]
        if readers and len(cells) == len(readers):
            found[value] = cells
    return found


def _devices(
    written: Kernel,
    kernel: Kernel,
    body: list[ast.AST],
    meanings: Mapping[ast.AST, Any],
    callers: tuple[Kernel, ...],
    checked: Checked,
) -> dict[ast.AST, Program]:
    called = {node.func for node in body if isinstance(node, ast.Call)}
    found: dict[ast.AST, Program] = {}
    for node, meaning in meanings.items():
        if isinstance(meaning, Kernel) and node in called:
            found[node] = called_from(written, kernel, node, meaning, callers, checked)
    return found


def called_from(
    written: Kernel,
    kernel: Kernel,
    node: ast.AST,
    device: Kernel,
    callers: tuple[Kernel, ...],
    checked: Checked | None = None,
) -> Program:
    """Returns a device function as a Program, called at `node` of a function that `callers` call.

    Raises:
        KernelRefused: it calls itself, or calls nest too deeply.
    """
    checked = {} if checked is None else checked
    chain = (*callers, written)
    if any(device.place == caller.place for caller in chain):
        fact = f"{device.name} calls itself, and a GPU function cannot"
        raise kernel.refuse(node, fact, "write a loop")
    if len(chain) > MOST_CALLS_DEEP:
        fact = f"calls nest more than {MOST_CALLS_DEEP} deep here"
        raise kernel.refuse(node, fact, "write the functions into one another, or a loop")
    if device.tree not in checked:
        checked[device.tree] = check(device, chain, checked)
    return checked[device.tree]


def _check_signature(kernel: Kernel, *, device: bool) -> dict[str, ast.Constant]:
    """What a call may leave out: a device function's parameters with constant values."""
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
            fact = f"the default value of {name} is no constant ({error})"
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
        return isinstance(name, str) and _known(self._kernel, name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _stored(kernel: Kernel, body: list[ast.AST], meanings: Mapping[ast.AST, Any]) -> frozenset[str]:
    """The parameters the kernel may write to; all, once a store goes through another name."""
    parameters = frozenset(kernel.parameters)
    own = {
        target.id
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Name) and is_allocation(meanings.get(node.value.func))
    }
    found = set()
    for node in body:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            node = node.value  # a field of a[i]
            if not isinstance(node, ast.Subscript):
                return parameters
            store = True
        else:
            store = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
        if store and isinstance(node, ast.Subscript):
            name = node.value.id if isinstance(node.value, ast.Name) else ""
            if name not in parameters | own:
                return parameters
            found.add(name)
        if isinstance(node, ast.Call):
            symbol = meanings.get(node.func)
            if isinstance(symbol, Symbol) and symbol.path.startswith("cuda.atomic."):
                name = node.args[0].id if node.args and isinstance(node.args[0], ast.Name) else ""
                if name not in parameters | own:
                    return parameters
                found.add(name)
    rebound = any(
        isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in parameters
        for n in body
    )
    return parameters if rebound else frozenset(found) & parameters
