"""Which lines a thread comes to, or not, by what an atomic has found.

An atomic update has seen all updates of its cell before it. In one run that may be all there are,
by chance; in another the thread that reads the cell afterwards comes too early. It is no chance
where the program asks: where the thread comes to that line because of what an atomic found, as the
last block does that has found all others counted.

So a line is *decided* where a test above it, or a loop or a way out before it, depends on what an
atomic gave back, straight or through variables, arrays, votes and functions. What value the test
asks for is not looked at.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from simt.kernel.ir import (
    Assign,
    Block,
    Call,
    Code,
    DeviceCall,
    Expression,
    If,
    Leave,
    Load,
    Logical,
    Loop,
    Read,
    Select,
    Span,
    Statement,
    Store,
    Temporary,
    View,
)

Line = tuple[str, int]
"""A file, and a line of it."""


@functools.lru_cache(maxsize=64)
def decided_lines(code: Code) -> frozenset[Line]:
    """Returns the decided lines of a kernel and of the functions it calls."""
    found = _Search()
    while found.grew:
        found.grew = False
        found.follow(code, decided=False)
    return frozenset(found.lines)


class _Search:
    """Follows what atomics give back through a kernel, until nothing new comes.

    Attributes:
        tainted: what depends on it: a variable or temporary of a function, or what that returns.
        lines: those found to be decided.
        grew: whether the last time through the kernel found more of either.
    """

    def __init__(self) -> None:
        self.tainted: set[tuple[int, Any]] = set()
        self.lines: set[Line] = set()
        self.grew = True
        self.code: Code
        self.within: tuple[int, ...] = ()

    def follow(self, code: Code, *, decided: bool) -> None:
        """Goes through a function."""
        if id(code) in self.within:
            return  # it calls itself
        outer = getattr(self, "code", None), self.within
        self.code, self.within = code, (*self.within, id(code))
        self._block(code.body, decided)
        if outer[0] is not None:
            self.code = outer[0]
        self.within = outer[1]

    def _taint(self, name: Any, code: Code | None = None) -> None:
        key = id(code or self.code), name
        if key not in self.tainted:
            self.tainted.add(key)
            self.grew = True

    def _mark(self, line: int) -> None:
        place = self.code.kernel.file, line
        if place not in self.lines:
            self.lines.add(place)
            self.grew = True

    # Statements

    def _block(self, block: Block, decided: bool) -> bool:
        """Goes through statements; whether it is decided that a thread comes past them."""
        for statement in block:
            decided = self._statement(statement, decided)
        return decided

    def _statement(self, node: Statement, decided: bool) -> bool:
        """Goes through a statement; whether what follows it is decided."""
        if decided:
            self._mark(node.line)
        for each in _parts(node):
            if isinstance(each, Expression):
                self._expression(each, decided)
        if isinstance(node, Assign):
            if node.target is not None and (decided or self._depends(node.value)):
                self._taint(node.target)
        elif isinstance(node, Store):
            if decided or self._depends(node.value) or self._depends(node.index):
                self._taint_array(node.array)
        elif isinstance(node, If):
            inside = decided or self._depends(node.test)
            left = [self._block(body, inside) for body in (node.body, node.orelse)]
            # Where nothing leaves, all come past it, whichever way they took.
            return decided or any(
                after and _holds_up(body)
                for after, body in zip(left, (node.body, node.orelse), strict=True)
            )
        elif isinstance(node, Loop):
            self._block(node.before, decided)
            inside = decided or self._depends(node.test)
            inside = self._block((*node.body, *node.after), inside) or inside
            self._block(node.orelse, inside)
            return decided or (inside and _holds_up((node,)))
        elif isinstance(node, Leave) and (decided or self._depends(node.value)):
            self._taint("result")
        return decided

    def _taint_array(self, array: Expression) -> None:
        while isinstance(array, View | Load):
            array = array.array
        if isinstance(array, Read):
            self._taint(array.variable)

    # Expressions

    def _expression(self, node: Expression, decided: bool) -> None:
        """Marks what an expression touches only where an atomic has found something."""
        if decided:
            self._mark(node.line)
        if isinstance(node, Select):
            self._expression(node.test, decided)
            decided = decided or self._depends(node.test)
            self._expression(node.yes, decided)
            self._expression(node.no, decided)
            return
        if isinstance(node, DeviceCall):
            self._call(node, decided)
        for part in _parts(node):
            if isinstance(part, Expression):
                self._expression(part, decided)
                if isinstance(node, Logical):
                    decided = decided or self._depends(part)

    def _call(self, node: DeviceCall, decided: bool) -> None:
        for name, given in zip(node.code.parameters, node.arguments, strict=False):
            if self._depends(given):
                self._taint(name, node.code)
        self.follow(node.code, decided=decided)
        for name, given in zip(node.code.parameters, node.arguments, strict=False):
            if (id(node.code), name) in self.tainted:
                self._taint_array(given)

    def _depends(self, node: Expression | None) -> bool:
        """Whether a value depends on what an atomic has given back."""
        if node is None:
            return False
        if isinstance(node, Read):
            return (id(self.code), node.variable) in self.tainted
        if isinstance(node, Call) and node.path.startswith("cuda.atomic.") and node.used:
            return True
        if isinstance(node, DeviceCall) and (id(node.code), "result") in self.tainted:
            return True
        if isinstance(node, Temporary):
            return (id(self.code), node.number) in self.tainted
        return any(self._depends(part) for part in _parts(node) if isinstance(part, Expression))


def _holds_up(block: Block) -> bool:
    """Whether a thread may not come past some statements: they leave, or wait in a loop."""
    for node in block:
        if isinstance(node, Leave):
            return True
        if isinstance(node, Loop) and node.waits:
            return True
        if isinstance(node, If) and (_holds_up(node.body) or _holds_up(node.orelse)):
            return True
        if isinstance(node, Loop) and _holds_up((*node.body, *node.orelse)):
            return True
    return False


def _parts(node: Expression | Statement) -> Iterator[Any]:
    """The expressions that a node is made of."""
    for each in fields(node):
        yield from _flat(getattr(node, each.name))


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, Span):
        yield from (part for part in (value.low, value.high, value.step) if part is not None)
    elif isinstance(value, tuple):
        for each in value:
            if isinstance(each, Expression | Span):
                yield from _flat(each)
