"""The static pass: refuses, with the line, what Numba would not compile or the simulator not run.

It runs before anything else, so the interpreter has no defensive code. Its result, a `Program`,
says what every name in the kernel stands for.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpu_course.simt.closures import lift
from gpu_course.simt.effort import MOST_CALLS_DEEP, MOST_NODES, efforts
from gpu_course.simt.meanings import Meanings
from gpu_course.simt.parameters import defaults_of
from gpu_course.simt.program import Checked, Program
from gpu_course.simt.pruning import prune
from gpu_course.simt.refusals import check_node, check_texts
from gpu_course.simt.source import Kernel
from gpu_course.simt.spelling import respelled
from gpu_course.simt.stores import passed_on, stored_parameters
from gpu_course.simt.types import Type
from gpu_course.simt.versions import find_versions


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
    if not callers:
        return _check_kernel(kernel)
    return _check(kernel, callers, Checked() if checked is None else checked)


@functools.lru_cache(maxsize=256)
def _check_kernel(kernel: Kernel) -> Program:
    return _check(kernel, (), Checked())


def specialised(program: Program, arguments: Sequence[Type]) -> Program:
    """Returns the program for arguments of these types, less the branches they decide.

    Args:
        program: of a kernel or device function.
        arguments: the type of each parameter; decisions.LITERAL for a number at the call.
    """
    if not program.asks:
        return program
    written = program.written or program.kernel
    key, found = tuple(arguments), program.specialisations
    if key not in found:
        known = dict(zip(written.parameters, arguments, strict=True))
        tree = prune(written, known)
        same = ast.dump(tree) == ast.dump(prune(written, {}))
        found[key] = program if same else _checked(written, tree, program.callers, program.checked)
    return found[key]


def _check(kernel: Kernel, callers: tuple[Kernel, ...], checked: Checked) -> Program:
    _refuse_too_large(kernel, sum(1 for each in kernel.tree.body for _ in ast.walk(each)))
    return _checked(kernel, prune(kernel, {}), callers, checked)


def _checked(
    written: Kernel, tree: ast.FunctionDef, callers: tuple[Kernel, ...], checked: Checked
) -> Program:
    """The program of a function, from which dead branches have been taken."""
    defaults = defaults_of(written, device=bool(callers))
    kernel = replace(written, tree=tree) if tree is not written.tree else written
    kernel = lift(respelled(kernel))
    body = [node for statement in kernel.tree.body for node in ast.walk(statement)]
    # Calls of inner functions now hand over what these read, which may have made it larger.
    _refuse_too_large(kernel, len(body))
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
    check_texts(kernel, body)
    devices = _devices(written, kernel, body, meanings, callers, checked)
    stored = frozenset(kernel.parameters) if devices else stored_parameters(kernel, body, meanings)
    versions = find_versions(kernel.tree)
    return Program(
        kernel,
        meanings,
        variables,
        stored,
        devices,
        versions,
        passed_on(body, versions),
        efforts(kernel.tree),
        defaults,
        written,
        callers,
        checked=checked,
    )


def _refuse_too_large(kernel: Kernel, nodes: int) -> None:
    if nodes > MOST_NODES:
        fact = (
            f"{kernel.name} has {nodes:,} nodes in its syntax tree: "
            f"the simulator takes up to {MOST_NODES:,}"
        )
        raise kernel.refuse(kernel.tree, fact, "let loops do what is written out here")


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _known(kernel: Kernel, name: str) -> Any:
    try:
        return kernel.scope(name)
    except KeyError:
        return None


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
    checked = Checked() if checked is None else checked
    chain = (*callers, written)
    if any(device.place == caller.place for caller in chain):
        fact = f"{device.name} calls itself, and the simulator runs no recursion"
        raise kernel.refuse(node, fact, "write a loop")
    if len(chain) > MOST_CALLS_DEEP:
        fact = f"calls nest more than {MOST_CALLS_DEEP} deep here"
        raise kernel.refuse(node, fact, "write the functions into one another, or a loop")
    if device.tree not in checked:
        checked.hold(check(device, chain, checked), kernel, node)
    return checked[device.tree]
