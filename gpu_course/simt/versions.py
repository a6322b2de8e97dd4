"""Which assignments a name can stand for at each place: Numba types each version by itself.

`x = i` followed by `x = a[i]` makes two variables of one name, unless some place may see either. So
does Numba (static single assignment), and so an index stays a whole number although its name is
used for a float later on.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
