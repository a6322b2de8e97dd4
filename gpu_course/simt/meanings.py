"""What each name of a kernel that is not a variable stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from gpu_course.simt import intrinsics
from gpu_course.simt.constants import Symbol, as_dtype, resolve
from gpu_course.simt.refusals import HOST_ONLY
from gpu_course.simt.source import Kernel, Unknown, from_function
from gpu_course.simt.vocabulary import xoroshiro

NOTHING = Symbol("builtin.None")
"""What a name stands for whose value is None."""


class Meanings:
    """Finds out what each name that is not a variable stands for."""

    def __init__(self, kernel: Kernel, variables: frozenset[str]) -> None:
        self.kernel = kernel
        self.variables = variables
        self.found: dict[ast.AST, Any] = {}

    def of(self, body: list[ast.stmt]) -> dict[ast.AST, Any]:
        for statement in body:
            for node in _parents_first(statement):
                if node not in self.found and isinstance(node, ast.Name | ast.Attribute):
                    self._meaning(node)
        self._check_symbols()
        return self.found

    def _meaning(self, node: ast.expr) -> Any:
        """The meaning of a name or dotted name; None for a variable or something behind one."""
        value: Any = None
        if isinstance(node, ast.Name):
            value = None if node.id in self.variables else self._look_up(node)
        elif isinstance(node, ast.Attribute):
            owner = self._meaning(node.value)
            if isinstance(owner, Symbol):
                value = resolve(owner.member(node.attr))
                if owner.path == "cuda.random":
                    value = self._random(node)
        if value is not None:
            self.found[node] = value
        return value

    def _random(self, node: ast.Attribute) -> Kernel:
        """A function of `numba.cuda.random`: a device function of ours."""
        function = getattr(xoroshiro, node.attr, None)
        if function is None:
            raise self._unknown_symbol(node, Symbol(f"cuda.random.{node.attr}"))
        return from_function(function)

    def _look_up(self, node: ast.Name) -> Any:
        try:
            value = self.kernel.scope(node.id)
        except KeyError:
            if node.id in intrinsics.BUILTINS:
                return Symbol(f"builtin.{node.id}")
            if node.id in _python_builtins():
                raise self.kernel.refuse(
                    node,
                    f"{node.id} is a function of the host: {HOST_ONLY}",
                    "use the GPU's own",
                ) from None
            raise self.kernel.refuse(
                node,
                f"the name {node.id} is not defined",
                "check the spelling, or assign it first",
            ) from None
        if value is None:
            return NOTHING
        if isinstance(value, Unknown):
            raise self.kernel.refuse(
                node,
                f"{node.id} is {value.what}: a kernel cannot use it",
                "use numbers, arrays handed to the kernel, and what cuda and math offer",
            )
        if isinstance(value, Kernel) and not value.decorated:
            fact = f"{value.name} is a plain Python function: a kernel cannot call it"
            raise self.kernel.refuse(node, fact, "mark it with @cuda.jit(device=True)")
        return value

    def _check_symbols(self) -> None:
        """Every complete dotted name must be something the simulator knows."""
        inner = {n.value for n in self.found if isinstance(n, ast.Attribute)}
        for node, value in self.found.items():
            if not isinstance(value, Symbol) or node in inner or value is NOTHING:
                continue
            if value.path not in intrinsics.NAMES and as_dtype(value) is None:
                raise self._unknown_symbol(node, value)

    def _unknown_symbol(self, node: ast.AST, symbol: Symbol) -> Exception:
        home = symbol.path.partition(".")[0]
        if home == "numpy":
            fact = f"{symbol.path} runs on the host: {HOST_ONLY}"
            return self.kernel.refuse(node, fact, "write the loop, or use math")
        return self.kernel.refuse(
            node,
            f"the simulator does not know {symbol.path}",
            intrinsics.nearest(symbol.path),
        )


def _parents_first(statement: ast.stmt) -> Iterator[ast.AST]:
    yield from ast.walk(statement)


def _python_builtins() -> frozenset[str]:
    import builtins

    return frozenset(dir(builtins))
