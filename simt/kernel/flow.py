"""What Numba's compiler knows of the flow of a function: dead branches, and versions of variables.

Numba decides, before it gives types, each branch whose condition is a constant of the file, a
comparison of two such constants, or a question whether an argument is None; the branch not taken is
never typed. So are statements after a `return`. What is looked through is as there:
`if FLAG`, `if not FLAG`, `if N == 2`, `if FLAG and x > 0`, `f = FLAG` followed by `if f`, `a.ndim`
and `len(t)` of arguments; but no arithmetic on both sides of a comparison, and no member of a
tuple.

Numba also types each version of a variable by itself. `x = i` followed by `x = a[i]` makes two
variables of one name, unless some place may see either (static single assignment), and so an index
stays a whole number although its name is used for a float later on.

Source: Numba, "numba/core/analysis.py" (dead_branch_prune, rewrite_semantic_constants), which runs
once before the assignments of a name are told apart and once after; compared with it in the tests.
"""

from __future__ import annotations

import ast
import copy
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simt.kernel.constants import LARGEST, NotConstant, Symbol, cells, constant
from simt.kernel.source import Kernel, Unknown
from simt.kernel.types import MAX_VALUES, ArrayType, TupleType, Type
from simt.vocabulary.allocate import is_allocation

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
            case ast.Raise():
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
    called = {node.func for node in body if isinstance(node, ast.Call)}
    if any(_is_atomic(meaning) and node not in called for node, meaning in meanings.items()):
        return parameters  # an atomic that a name holds
    found = {
        array.id if isinstance(array, ast.Name) else ""
        for node in body
        for array in _stored_arrays(node, meanings)
    }
    if not found <= parameters | own:
        return parameters
    rebound = any(
        isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id in parameters
        for n in body
    )
    return parameters if rebound else frozenset(found) & parameters


def _stored_arrays(node: ast.AST, meanings: Mapping[ast.AST, Any]) -> list[ast.expr | None]:
    """The arrays that a node writes to, as they are written there; None for one not seen."""
    match node:
        case ast.Subscript(ctx=ast.Store()):  # a[i] = x
            return [node.value]
        case ast.Attribute(value=ast.Subscript() as cell, ctx=ast.Store()):  # a[i].x = x
            return [cell.value]
        case ast.Attribute(ctx=ast.Store()):  # r.x = x, where r is a cell
            return [None]
        case ast.Call(func=ast.Attribute(attr="fill")):  # a.fill(0)
            return [None]
        case ast.Call() if _is_atomic(meanings.get(node.func)):
            return [*node.args[:1]] or [None]
    return []


def _is_atomic(meaning: Any) -> bool:
    return isinstance(meaning, Symbol) and meaning.path.startswith("cuda.atomic.")


LITERAL: Any = "literal"
"""Stands for the type of an argument that is a number written at the call: it is never None."""

_UNDECIDED = object()
_NUMBER = bool | int | float | complex | np.generic
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv, ast.Div: operator.truediv, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor,
}  # fmt: skip

Arguments = Mapping[str, Type]


def is_literal(node: ast.expr, kernel: Kernel, tree: ast.FunctionDef, versions: Versions) -> bool:
    """True for an argument that Numba knows as a number at the call: 3, a constant, k = 3."""
    value = Decisions(kernel, tree, {}, alone=False, versions=versions).constant(node)
    return isinstance(value, bool | int | str)


class Decisions:
    """Decides conditions of a function where its constants do, and leaves out what is dead.

    Args:
        kernel: gives the names beside the function.
        tree: the function as it stands.
        arguments: what is known of its parameters.
        alone: a name counts where one assignment makes it in the whole function; in the second
            round, where one alone reaches the place.
    """

    def __init__(
        self,
        kernel: Kernel,
        tree: ast.FunctionDef,
        arguments: Arguments,
        *,
        alone: bool,
        versions: Versions | None = None,
    ) -> None:
        self.kernel = kernel
        self.tree = tree
        self.arguments = arguments
        self.versions = versions or find_versions(tree)
        self.definitions = _definitions(tree, self.versions)
        counts = Counter(_name(node) for node in self.versions.numbers)
        self.locals = frozenset(counts)
        self.single = {name for name, count in counts.items() if count == 1 or not alone}

    def decided(self, node: ast.expr) -> bool | None:
        match node:
            case ast.Name():
                made = self.definition(node)
                if isinstance(made, ast.Compare | ast.BinOp | ast.Name):
                    return self.decided(made)
            case ast.IfExp():
                taken, rest = self.test(node.test)
                if taken is None or rest is not None:
                    return None
                taken, rest = self.test(node.body if taken else node.orelse)
                return taken if rest is None else None
            case ast.Compare(ops=[op]):
                return self.compared(op, node.left, node.comparators[0])
            case ast.Compare():
                return self.chain(node)
            case ast.BinOp() if type(node.op) in _BINARY:
                left, right = self.constant(node.left), self.constant(node.right)
                if isinstance(left, _NUMBER) and isinstance(right, _NUMBER):
                    # Of numbers alone: "x" * 10 ** 12 would fill any memory.
                    return _truth(_BINARY[type(node.op)], left, right)
        value = self.constant(node)
        return None if value is _UNDECIDED else _truth(lambda a, _: a, value, None)

    def chain(self, node: ast.Compare) -> bool | None:
        """a < b < c: false where its first known part is."""
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            taken = self.compared(op, left, right)
            if not taken:
                return taken
            left = right
        return True

    def compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> bool | None:
        one, other = self.argument(left), self.argument(right)
        if one is None and other is None:
            a, b = self.constant(left), self.constant(right)
            if a is _UNDECIDED or b is _UNDECIDED:
                return None
            return _truth(_COMPARE[type(op)], a, b)
        sides = [
            self.constant(side) if parameter is None else self.nothing_or_not(parameter)
            for side, parameter in ((left, one), (right, other))
        ]
        # An argument is asked only whether it is None.
        if any(s is _UNDECIDED for s in sides) or all(s is not None for s in sides):
            return None
        return _truth(_COMPARE[type(op)], *sides)

    def nothing_or_not(self, parameter: str) -> Any:
        type_ = self.arguments.get(parameter, _UNDECIDED)
        return type_ if type_ is None or type_ is LITERAL else _UNDECIDED

    # Names

    def definition(self, node: ast.Name) -> ast.AST | None:
        """What makes a name here, where one thing alone does: an expression, or a parameter.

        `i = j` passes on what makes j; `i = i` in a loop passes on nothing.
        """
        made: ast.AST | None = node
        passed: set[ast.AST] = set()
        while isinstance(made, ast.Name) and made not in passed:
            passed.add(made)
            seen = self.versions.reaching.get(made, frozenset())
            if len(seen) != 1 or made.id not in self.single:
                return made if len(passed) > 1 else None
            made = self.definitions.get(next(iter(seen)))
        return made if made not in passed else None

    def argument(self, node: ast.expr) -> str | None:
        """The parameter that a name stands for."""
        made = self.definition(node) if isinstance(node, ast.Name) else None
        if isinstance(made, ast.arg):
            return made.arg
        return self.argument(made) if isinstance(made, ast.Name) else None

    def constant(self, node: ast.expr) -> Any:
        """The value of a constant; _UNDECIDED for what Numba does not look through."""
        match node:
            case ast.Constant():
                return _bounded(node.value)
            case ast.Name() if node.id in self.locals:
                made = self.definition(node)
                return self.constant(made) if isinstance(made, ast.expr) else _UNDECIDED
            case ast.Name():
                return _of_file(self.kernel, node.id)
            case ast.Attribute(attr="ndim"):
                type_ = self.arguments.get(self.argument(node.value) or "")
                return type_.ndim if isinstance(type_, ArrayType) else _UNDECIDED
            case ast.Call(func=ast.Name(id="len"), args=[owner]) if "len" not in self.locals:
                type_ = self.arguments.get(self.argument(owner) or "")
                return len(type_.elements) if isinstance(type_, TupleType) else _UNDECIDED
            case ast.UnaryOp() | ast.BinOp() if not any(
                isinstance(n, ast.Name | ast.Call | ast.Attribute) for n in ast.walk(node)
            ):
                try:
                    return constant(node, {})
                except NotConstant:
                    return _UNDECIDED
        return _UNDECIDED

    # One round over the function

    def pruned(self) -> ast.FunctionDef:
        body = self.block(self.tree.body)
        if body is self.tree.body:
            return self.tree
        return _with(self.tree, body=body or [ast.copy_location(ast.Pass(), self.tree)])

    # Statements

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for statement in body:
            found += self.statement(statement)
            if found and _ends(found[-1]):
                break
        same = len(found) == len(body) and all(a is b for a, b in zip(found, body, strict=True))
        return body if same else found

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.If():
                taken, test = self.test(node.test)
                if taken is None:
                    bodies = {"body": self.block(node.body), "orelse": self.block(node.orelse)}
                    return [_with(node, test=test, **bodies)]
                asked = [] if test is None else [ast.copy_location(ast.Expr(test), node)]
                return [*asked, *self.block(node.body if taken else node.orelse)]
            case ast.While():
                taken, test = self.test(node.test)
                if taken is False and test is None:
                    return self.block(node.orelse)
                if taken and test is None:
                    test = _always(node.test)
                elif taken is not None:
                    test = node.test
                bodies = {"body": self.block(node.body), "orelse": self.block(node.orelse)}
                return [_with(node, test=test, **bodies)]
            case ast.For():
                bodies = {"body": self.block(node.body), "orelse": self.block(node.orelse)}
                return [_with(node, iter=self.expression(node.iter), **bodies)]
            case ast.Assert():
                taken, test = self.test(node.test)
                if taken and test is None:
                    return []
                if taken is False and test is None:
                    test = ast.copy_location(ast.Constant(value=False), node.test)
                return [_with(node, test=node.test if test is None else test)]
            case ast.FunctionDef() | ast.ClassDef() | ast.Try() | ast.With() | ast.Match():
                return [node]
        return [self.parts(node)]

    def parts(self, node: Any) -> Any:
        """The node with its expressions pruned."""
        changed: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                changed[name] = self.expression(value)
            elif isinstance(value, list) and any(isinstance(v, ast.expr) for v in value):
                each = [self.expression(v) if isinstance(v, ast.expr) else v for v in value]
                if any(a is not b for a, b in zip(each, value, strict=True)):
                    changed[name] = each
        return _with(node, **changed)

    # Expressions

    def expression(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.IfExp):
            taken, test = self.test(node.test)
            if taken is not None and test is None:
                return self.expression(node.body if taken else node.orelse)
        elif isinstance(node, ast.BoolOp):
            return self.last_asked(node)
        elif isinstance(node, ast.Lambda | ast.Constant | ast.Name):
            return node
        return self.parts(node)  # type: ignore[no-any-return]

    def last_asked(self, node: ast.BoolOp) -> ast.expr:
        """`a and b` as a value: constants in front decide what it is."""
        goes_on = isinstance(node.op, ast.And)
        values: list[ast.expr] = []
        for part in node.values[:-1]:
            taken, test = self.test(part)
            if taken is None or test is not None:
                values.append(self.expression(part))
            elif taken is not goes_on:
                values.append(part)
                break
        else:
            values.append(self.expression(node.values[-1]))
        return _joined(node, values)

    def test(self, node: ast.expr) -> tuple[bool | None, ast.expr | None]:
        """What a condition is known to be, and what of it must still be worked out."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            taken, rest = self.test(node.operand)
            if taken is None:
                assert rest is not None
                return None, _with(node, operand=rest)
            return not taken, rest
        if isinstance(node, ast.BoolOp):
            stops = isinstance(node.op, ast.Or)
            values: list[ast.expr] = []
            for part in node.values:
                taken, rest = self.test(part)
                if taken is stops:
                    return stops, _joined(node, values) if values else None
                if rest is not None:
                    values.append(part if taken is not None else rest)
            return (None, _joined(node, values)) if values else (not stops, None)
        known = self.decided(node)
        return (None, self.expression(node)) if known is None else (known, None)


def _of_file(kernel: Kernel, name: str) -> Any:
    try:
        value = kernel.scope(name)
    except KeyError:
        return _UNDECIDED
    if isinstance(value, Unknown):
        return value.text if value.text is not None else _UNDECIDED
    plain = value is None or isinstance(value, bool | int | float | complex | tuple | np.generic)
    return _bounded(value) if plain else _UNDECIDED


def _bounded(value: Any) -> Any:
    """The value of a constant; _UNDECIDED where deciding anything by it could take for ever."""
    if isinstance(value, int) and abs(value) >= LARGEST:
        return _UNDECIDED
    if isinstance(value, tuple) and cells(value, MAX_VALUES) > MAX_VALUES:
        return _UNDECIDED
    return value


def _definitions(tree: ast.FunctionDef, versions: Versions) -> dict[int, ast.AST]:
    """The number of an assignment -> the expression, or the parameter, that gives the value."""
    found: dict[int, ast.AST] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node in versions.numbers:
            found[versions.numbers[node]] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets: Sequence[ast.expr] = (
                node.targets if isinstance(node, ast.Assign) else [node.target]
            )
            for target in targets:
                if isinstance(target, ast.Name) and target in versions.numbers:
                    found[versions.numbers[target]] = node.value
    return found


def _name(node: ast.AST) -> str:
    return node.arg if isinstance(node, ast.arg) else node.id  # type: ignore[attr-defined]


def _truth(function: Callable[[Any, Any], Any], a: Any, b: Any) -> bool | None:
    try:
        return bool(function(a, b))
    except Exception:  # Numba leaves such a branch to the types
        return None


def prune(kernel: Kernel, arguments: Arguments) -> ast.FunctionDef:
    """Returns the function without its dead branches; the same tree where nothing is dead.

    Args:
        kernel: the function as it is written.
        arguments: parameter -> its type, or LITERAL, where they are known.
    """
    first = Decisions(kernel, kernel.tree, arguments, alone=True)
    tree = first.pruned()
    known = first.versions if tree is kernel.tree else None
    return Decisions(kernel, tree, arguments, alone=False, versions=known).pruned()


def asks_about_arguments(tree: ast.FunctionDef, *, device: bool) -> bool:
    """True when the types of the arguments may decide a branch of a function.

    An argument may be None, and so may what a name stands for with which it is compared; a kernel
    is asked only where None is written.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "ndim":
            return True
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len":
            return True
        if isinstance(node, ast.Compare) and any(
            isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) for op in node.ops
        ):
            sides = (node.left, *node.comparators)
            if device or any(isinstance(s, ast.Constant) and s.value is None for s in sides):
                return True
    return False


def _always(test: ast.expr) -> ast.expr:
    """A loop's test that is always true; messages show it as it is written."""
    if isinstance(test, ast.Constant):
        return test
    found = ast.copy_location(ast.Constant(value=True), test)
    found.written = test  # type: ignore[attr-defined]
    return found


def _joined(node: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
    if len(values) == 1:
        return values[0]
    same = len(values) == len(node.values) and all(
        a is b for a, b in zip(values, node.values, strict=True)
    )
    return node if same else _with(node, values=values)


def _with(node: Any, **changes: Any) -> Any:
    """The node, or a copy of it where something changes."""
    changes = {name: new for name, new in changes.items() if getattr(node, name) is not new}
    if not changes:
        return node
    found = copy.copy(node)
    for name, new in changes.items():
        setattr(found, name, new)
    return found


def _ends(node: ast.stmt) -> bool:
    """True when nothing after the statement is ever reached."""
    match node:
        case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
            return True
        case ast.Assert(test=ast.Constant(value=False)):
            return True
        case ast.If():
            both = node.body and node.orelse
            return bool(both and _ends(node.body[-1]) and _ends(node.orelse[-1]))
        case ast.While(test=ast.Constant(value=value)) if value:
            return not _breaks(node.body)
    return False


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """True when a `break` among the statements ends the loop around them."""
    for node in body:
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.If) and (_breaks(node.body) or _breaks(node.orelse)):
            return True
        if isinstance(node, ast.For | ast.While) and _breaks(node.orelse):
            return True
    return False
