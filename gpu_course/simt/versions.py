"""Which assignments a name can stand for at each place: Numba types each version by itself.

`x = i` followed by `x = a[i]` makes two variables of one name, unless some place may see either. So
does Numba (static single assignment), and so an index stays a whole number although its name is
used for a float later on. Which parameters a kernel stores through is found here as well.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpu_course.simt.constants import Symbol
from gpu_course.simt.source import Kernel
from gpu_course.simt.vocabulary.allocate import is_allocation

State = dict[str, frozenset[int]]
"""Name -> the assignments that may have given it its value."""


@dataclass(frozen=True)
class Versions:
    """The version of a variable that each occurrence of its name stands for.

    Attributes:
        loads: a name that is read -> its version; the name itself where nothing assigns it before.
        stores: a name that is assigned -> its version. `x += 1` stands in both.
        reaching: a name that is read -> the assignments it may see, as numbers.
        numbers: a name that is assigned, or a parameter -> the number of the assignment.
        reached: the statements that some thread may come to; Numba compiles no others.
    """

    loads: dict[ast.AST, str]
    stores: dict[ast.AST, str]
    reaching: dict[ast.AST, frozenset[int]]
    numbers: dict[ast.AST, int]
    reached: set[ast.AST] = field(default_factory=set)


def find_versions(tree: ast.FunctionDef) -> Versions:
    """Returns the versions of the variables of a function.

    Assignments that one reading may both see are one version, which holds the type of both. What a
    reading gets is the type of those it may see itself.
    """
    return _Flow(tree).versions()


@dataclass
class _Loop:
    broken: list[State] = field(default_factory=list)
    continued: list[State] = field(default_factory=list)


class _Flow:
    """Follows the assignments through the statements, round loops until nothing new comes."""

    def __init__(self, tree: ast.FunctionDef) -> None:
        self.tree = tree
        self.number: dict[ast.AST, int] = {}
        self.name_of: list[str] = []
        self.seen: dict[ast.AST, frozenset[int]] = {}
        self.reached: set[ast.AST] = set()
        self.loops: list[_Loop] = []
        self.tops: dict[ast.AST, State] = {}

    def versions(self) -> Versions:
        start: State = {}
        for parameter in self.tree.args.args:
            start[parameter.arg] = frozenset((self._define(parameter, parameter.arg),))
        self.block(self.tree.body, start)
        group = list(range(len(self.name_of)))
        for together in self.seen.values():
            first, *rest = sorted(_root(group, d) for d in together) if together else (0,)
            for other in rest:
                group[_root(group, other)] = _root(group, first)
        first_of: dict[str, int] = {}
        for number, name in enumerate(self.name_of):
            first_of.setdefault(name, number)
        label = [self._label(_root(group, d), first_of) for d in range(len(group))]
        loads = {
            node: label[min(found)] if found else node.id  # type: ignore[attr-defined]
            for node, found in self.seen.items()
        }
        stores = {node: label[d] for node, d in self.number.items()}
        return Versions(loads, stores, self.seen, self.number, self.reached)

    def _label(self, first: int, first_of: Mapping[str, int]) -> str:
        """The first version of a name is called like it, later ones get their number."""
        name = self.name_of[first]
        return name if first_of[name] == first else f"{name}#{first}"

    def _define(self, node: ast.AST, name: str) -> int:
        if node not in self.number:
            self.number[node] = len(self.name_of)
            self.name_of.append(name)
        return self.number[node]

    # Statements: state before -> state after, or None where none comes after

    def block(self, body: Sequence[ast.stmt], state: State | None) -> State | None:
        for node in body:
            if state is None:
                break
            self.reached.add(node)
            state = self.statement(node, dict(state))
        return state

    def statement(self, node: ast.stmt, state: State) -> State | None:
        match node:
            case ast.Assign():
                self.reads(node.value, state)
                for target in node.targets:
                    self.target(target, state)
            case ast.AnnAssign():
                if node.value is not None:
                    self.reads(node.value, state)
                    self.target(node.target, state)
            case ast.AugAssign():
                self.reads(node.target, state)
                self.reads(node.value, state)
                self.target(node.target, state)
            case ast.If():
                self.reads(node.test, state)
                return _join(self.block(node.body, state), self.block(node.orelse, state))
            case ast.While() | ast.For():
                return self.loop(node, state)
            case ast.Return():
                if node.value is not None:
                    self.reads(node.value, state)
                return None
            case ast.Break():
                self.loops[-1].broken.append(state)
                return None
            case ast.Continue():
                self.loops[-1].continued.append(state)
                return None
            case _:
                self.reads(node, state)
        return state

    def loop(self, node: ast.While | ast.For, state: State) -> State | None:
        if isinstance(node, ast.For):
            self.reads(node.iter, state)
        # What reached the loop in an earlier round of a loop around it reaches it again. To start
        # from there keeps loops in loops from taking 2 ** n rounds.
        top: State | None = _join(state, self.tops.get(node))
        while True:
            assert top is not None
            before = dict(top)
            loop = _Loop()
            self.loops.append(loop)
            inside = dict(top)
            if isinstance(node, ast.While):
                self.reads(node.test, inside)
            else:
                self.target(node.target, inside)
            end = self.block(node.body, inside)
            self.loops.pop()
            for turn in (end, *loop.continued):
                top = _join(top, turn)
            if top == before:
                break
        self.tops[node] = before
        forever = (
            isinstance(node, ast.While)
            and isinstance(node.test, ast.Constant)
            and bool(node.test.value)
        )
        after = None if forever else self.block(node.orelse, top)
        for left in loop.broken:
            after = _join(after, left)
        return after

    # Names

    def reads(self, node: ast.AST, state: State) -> None:
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Del):
                if isinstance(name.ctx, ast.Store) and name is not node:
                    continue
                known = self.seen.get(name, frozenset())
                self.seen[name] = known | state.get(name.id, frozenset())

    def target(self, node: ast.expr, state: State) -> None:
        if isinstance(node, ast.Name):
            state[node.id] = frozenset((self._define(node, node.id),))
        elif isinstance(node, ast.Tuple):
            for element in node.elts:
                self.target(element, state)
        else:
            self.reads(node, state)


def _join(one: State | None, other: State | None) -> State | None:
    if one is None or other is None:
        return other if one is None else one
    joined = dict(one)
    for name, seen in other.items():
        before = joined.get(name)
        if before is not seen:
            joined[name] = seen if before is None else before | seen
    return joined


def _root(group: list[int], member: int) -> int:
    while group[member] != member:
        member = group[member]
    return member


def passed_on(body: list[ast.AST], versions: Versions) -> dict[ast.AST, list[ast.expr]]:
    """Returns the values that a variable only carries to stores, and the cells they end in.

    In `x = a + b` and then `out[i] = x`, that is a + b -> [out[i]], where nothing else reads x.
    """
    stores: dict[ast.AST, ast.expr] = {
        node.value: node.targets[0]
        for node in body
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    }
    readers_of: dict[int, list[ast.AST]] = {}
    for node, seen in versions.reaching.items():
        for number in seen:
            readers_of.setdefault(number, []).append(node)
    found: dict[ast.AST, list[ast.expr]] = {}
    for value, target in stores.items():
        readers = readers_of.get(versions.numbers.get(target, -1), [])
        cells = [
            stores[n]
            for n in readers
            if len(versions.reaching[n]) == 1 and isinstance(stores.get(n), ast.Subscript)
        ]
        if readers and len(cells) == len(readers):
            found[value] = cells
    return found


def stored_parameters(
    kernel: Kernel, body: list[ast.AST], meanings: Mapping[ast.AST, Any]
) -> frozenset[str]:
    """Returns the parameters the kernel may write to; all, once a store goes through another name.

    Args:
        kernel: the kernel.
        body: every node of its body.
        meanings: node -> what a name stands for.
    """
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
