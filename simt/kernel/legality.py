"""The static pass: refuses, with the line, what Numba would not compile or the simulator not run.

It runs before anything else, so that neither lowering nor the interpreter has defensive code. And
it gives a kernel the one form that they know. Functions and lambdas defined inside a kernel become
device functions beside it; Numba puts their bodies where they are called. What such a function
reads of the kernel around it becomes parameters in front of its own, and each call hands these over
as they are at the call. What has two spellings gets one: `a[i]["x"]` is `a[i].x`, `in [1, 2]` is
`in (1, 2)`.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from simt.kernel.constants import NotConstant, Symbol, constant
from simt.kernel.flow import (
    Versions,
    asks_about_arguments,
    find_versions,
    passed_on,
    prune,
    stored_parameters,
)
from simt.kernel.intrinsics import Meanings
from simt.kernel.refusals import check_node, check_texts, ours
from simt.kernel.source import Kernel, Unknown
from simt.kernel.types import Type
from simt.vocabulary.allocate import is_allocation


def respelled(kernel: Kernel) -> Kernel:
    """Returns the kernel with fields written as attributes, and lists as tuples where Numba may."""
    if not any(_is_field(node) or _lists_in(node) for node in ast.walk(kernel.tree)):
        return kernel
    return replace(kernel, tree=_Respelled().visit(copy.deepcopy(kernel.tree)))


def _is_field(node: ast.AST) -> bool:
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    return isinstance(node.slice.value, str) and node.slice.value.isidentifier()


def _lists_in(node: ast.AST) -> list[ast.List]:
    """The lists that Numba compiles as tuples: of a loop, and of `in`."""
    if isinstance(node, ast.For):
        return [node.iter] if isinstance(node.iter, ast.List) else []
    if not isinstance(node, ast.Compare):
        return []
    asked = zip(node.ops, node.comparators, strict=True)
    return [c for op, c in asked if isinstance(op, ast.In | ast.NotIn) and isinstance(c, ast.List)]


class _Respelled(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        if not _is_field(node):
            return node
        name = ast.literal_eval(node.slice)
        return ast.copy_location(ast.Attribute(node.value, name, node.ctx), node)

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        if _lists_in(node):
            node.iter = _as_tuple(node.iter)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        lists = _lists_in(node)
        node.comparators = [_as_tuple(c) if c in lists else c for c in node.comparators]
        return node


def _as_tuple(node: ast.expr) -> ast.expr:
    assert isinstance(node, ast.List)
    return ast.copy_location(ast.Tuple(node.elts, ast.Load()), node)


_Defined = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class _Function:
    kernel: Kernel
    captured: tuple[str, ...]


def lift(kernel: Kernel) -> Kernel:
    """Returns the kernel with its inner functions as device functions of its scope.

    Raises:
        KernelRefused: a name that stands for two inner functions, or one handed on as a value
            although it reads variables of the kernel.
    """
    inside = [n for statement in kernel.tree.body for n in ast.walk(statement)]
    if not any(isinstance(n, _Defined) for n in inside):
        return kernel
    tree = copy.deepcopy(kernel.tree)
    lifter = _Lifter(kernel, tree)
    tree.body = [lifter.visit(statement) for statement in tree.body]
    return replace(kernel, tree=tree, scope=lifter.scope)


class _Calls(ast.NodeTransformer):
    """Lets each call of an inner function hand over what that function reads."""

    def __init__(self, kernel: Kernel, functions: dict[str, _Function]) -> None:
        self.kernel = kernel
        self.functions = functions

    def visit_Call(self, node: ast.Call) -> ast.expr:
        handed: list[ast.expr] = []
        if isinstance(node.func, ast.Name) and node.func.id in self.functions:
            captured = self.functions[node.func.id].captured
            handed = [ast.copy_location(ast.Name(n, ast.Load()), node) for n in captured]
        else:
            node.func = self.visit(node.func)
        node.args = [*handed, *map(self.visit, node.args)]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = self.functions.get(node.id)
        if known and known.captured and isinstance(node.ctx, ast.Load):
            raise self.kernel.refuse(
                node,
                f"{known.kernel.name} reads {known.captured[0]} of the kernel around it, and is "
                "used as a value: Numba can only call it",
                "hand over what it reads as an argument",
            )
        return node


class _Lifter(_Calls):
    def __init__(self, kernel: Kernel, tree: ast.FunctionDef) -> None:
        super().__init__(kernel, {})
        self.variables = set(kernel.parameters) | set(_stored(tree.body))

    def scope(self, name: str) -> Any:
        if name in self.functions:
            return self.functions[name].kernel
        return self.kernel.scope(name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        if node.decorator_list:
            raise self.kernel.refuse(node, f"{node.name} is decorated inside a kernel")
        self.define(node.name, node, node.args, node.body)
        return ast.copy_location(ast.Pass(), node)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        target = node.targets[0]
        if isinstance(node.value, ast.Lambda) and isinstance(target, ast.Name):
            if len(node.targets) > 1 or _stored_twice(self.kernel, target.id):
                fact = f"{target.id} is a lambda, and something else as well"
                raise self.kernel.refuse(node, fact, "give the lambda a name of its own")
            self.variables.discard(target.id)
            self.define(target.id, node.value, node.value.args, _returns(node.value))
            return ast.copy_location(ast.Pass(), node)
        self.generic_visit(node)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return self.visit_Name(self.named(node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Lambda):
            node.func = self.named(node.func)
        return super().visit_Call(node)

    def named(self, node: ast.Lambda) -> ast.Name:
        """A lambda where it is used: it gets a name that no other has."""
        name = f"<lambda {node.lineno}:{node.col_offset}>"
        self.define(name, node, node.args, _returns(node))
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def define(self, name: str, node: _Defined, args: ast.arguments, body: list[ast.stmt]) -> None:
        if name in self.functions:
            fact = f"{name} is defined twice inside this kernel: Numba cannot tell which is called"
            raise self.kernel.refuse(node, fact, "give the two functions names of their own")
        own = {a.arg for inner in ast.walk(node) for a in _parameters(inner)} | set(_stored(body))
        free = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id not in own]
        captured: dict[str, None] = {}
        for read in free:
            if read in self.functions:
                captured |= dict.fromkeys(self.functions[read].captured)
            elif read in self.variables and read != name:
                captured[read] = None
        before = [ast.copy_location(ast.arg(variable), node) for variable in captured]
        calls = _Calls(self.kernel, dict(self.functions))
        written = ast.FunctionDef(
            name=name,
            args=_with_parameters(args, before),
            body=[calls.visit(statement) for statement in body],
            decorator_list=[],
        )
        tree = ast.copy_location(written, node)
        inner = replace(self.kernel, name=_shown(name), tree=tree, scope=self.scope, declared=())
        self.functions[name] = _Function(replace(inner, decorated=True), tuple(captured))


def _returns(node: ast.Lambda) -> list[ast.stmt]:
    return [ast.copy_location(ast.Return(node.body), node.body)]


def _shown(name: str) -> str:
    return "lambda" if name.startswith("<") else name


def _parameters(node: ast.AST) -> list[ast.arg]:
    return node.args.args if isinstance(node, _Defined) else []


def _with_parameters(args: ast.arguments, before: list[ast.arg]) -> ast.arguments:
    found = copy.copy(args)
    found.args = [*before, *args.args]
    return found


def _stored(body: list[ast.stmt]) -> Iterator[str]:
    """The names assigned among statements, those inside inner functions left out."""
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, _Defined):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        waiting += ast.iter_child_nodes(node)


def _stored_twice(kernel: Kernel, name: str) -> bool:
    return list(_stored(kernel.tree.body)).count(name) > 1


EXPRESSIONS_PER_STEP = 16
WEIGHTS: dict[type[ast.AST], int] = {ast.Slice: 16, ast.Call: 4}
"""What an expression of a kind counts for; 1 unless it is here."""
STEPS_OF_ACCESSES = {"load": 0, "store": 2, "atomic": 8}
"""What an access counts for beside its statement: every observer looks at each of its lanes."""
MAX_NODES = 20_000
MAX_STEPS_CALLED = 20_000
MAX_CALLS_DEEP = 32
MAX_TYPING_STEPS = 100_000
CHECKING = 4
"""A version of a function is checked before its types are found, at so many times its steps."""


def efforts(tree: ast.FunctionDef) -> dict[ast.stmt, int]:
    """Returns the steps that each statement of a function costs: 1 for an ordinary one.

    A line of ten thousand terms is no one step: without this it would run for hours inside the
    budget of a loop that never ends.

    >>> tree = ast.parse("def f(x):\\n    x = 1\\n    x = " + " + ".join(["x"] * 100)).body[0]
    >>> list(efforts(tree).values())
    [1, 13]
    """
    return {
        node: 1
        + sum(WEIGHTS.get(type(e), 1) for e in own_expressions(node)) // EXPRESSIONS_PER_STEP
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node is not tree
    }


def own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yields every expression of a statement, but none of the statements inside it.

    >>> loop = ast.parse("while i < n:\\n    i += step").body[0]
    >>> [ast.unparse(expression) for expression in own_expressions(loop)]
    ['i < n', 'i', 'n']
    """
    waiting: list[ast.AST] = [statement]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.expr):
                yield child
            if not isinstance(child, ast.stmt):
                waiting.append(child)


@dataclass(frozen=True, eq=False)
class Draft:
    """A function past the static pass, as typing and lowering work on it.

    What is known of it is kept by the nodes of its syntax tree; nothing that runs a launch sees it.

    Attributes:
        kernel: the Kernel.
        meanings: node -> what a name or dotted name stands for: a number or a Symbol.
        variables: the names assigned in the kernel, parameters included.
        stored: parameter names that may be written through.
        devices: the name of a device function, where it is called -> its Draft.
        versions: which assignments each name stands for.
        passed_on: `x = ...` -> the cells to which x is then stored, where that is all it is for.
        efforts: statement -> the steps it costs.
        defaults: parameter -> what a call may leave out.
        written: the function as its author wrote it, with the branches that are left out here.
        callers: the functions that call it, the innermost last; empty for a kernel.
        specialisations: types of its arguments -> what is left of it for these, as it is found.
        checked: the device functions known so far, each checked once for all that call it.
        recursive: the name of the function itself, where it calls itself.
    """

    kernel: Kernel
    meanings: dict[ast.AST, Any] = field(repr=False)
    variables: frozenset[str]
    stored: frozenset[str]
    devices: dict[ast.AST, Draft] = field(default_factory=dict, repr=False)
    versions: Versions = field(default_factory=lambda: Versions({}, {}, {}, {}), repr=False)
    passed_on: dict[ast.AST, list[ast.expr]] = field(default_factory=dict, repr=False)
    efforts: dict[ast.stmt, int] = field(default_factory=dict, repr=False)
    defaults: Mapping[str, ast.Constant] = field(default_factory=dict, repr=False)
    written: Kernel | None = field(default=None, repr=False)
    callers: tuple[Kernel, ...] = field(default=(), repr=False)
    specialisations: dict[tuple[Type, ...], Draft] = field(default_factory=dict, repr=False)
    checked: Checked = field(default_factory=lambda: Checked(), repr=False)
    recursive: frozenset[ast.AST] = frozenset()

    def read(self, node: ast.Name) -> str:
        """Returns the version of a variable that a name stands for where it is read."""
        return self.versions.loads.get(node, node.id)

    def assigned(self, node: ast.Name) -> str:
        """Returns the version of a variable that a name stands for where it is assigned."""
        return self.versions.stores.get(node, node.id)

    def family(self) -> tuple[Draft, ...]:
        """Returns this draft and those of the device functions it comes to, each once."""
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

    @functools.cached_property
    def shapes_from_arguments(self) -> frozenset[str]:
        """The parameters of a device function that stand in the shape or dtype of its arrays.

        Numba takes a number that is written at the call as a constant there.
        """
        parameters = frozenset(self.kernel.parameters)
        made = [n for n, m in self.meanings.items() if is_allocation(m)]
        calls = [
            n for n in ast.walk(self.kernel.tree) if isinstance(n, ast.Call) and n.func in made
        ]
        named = (n for call in calls for n in ast.walk(call) if isinstance(n, ast.Name))
        own = {n.id for n in named} & parameters
        for node in ast.walk(self.kernel.tree):
            name = node.func if isinstance(node, ast.Call) else node
            device = None if name in self.recursive else self.devices.get(name)
            if device is not None and device.shapes_from_arguments:
                own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & parameters
        return frozenset(own)

    @functools.cached_property
    def makes_arrays(self) -> bool:
        """True when it makes shared or local arrays itself."""
        return any(map(is_allocation, self.meanings.values()))

    def anew(self) -> Draft:
        """Returns the draft of a copy, whose arrays are other ones."""
        written = self.written or self.kernel
        copied = replace(written, tree=copy.deepcopy(written.tree))
        return _draft(copied, self.callers, Checked())


class Checked(dict[ast.FunctionDef, Draft]):
    """Device functions that have been checked: each is once, however often it is called.

    Attributes:
        steps: what all their statements cost, each run once.
    """

    steps = 0

    def hold(self, device: Draft, kernel: Kernel, node: ast.AST) -> None:
        """Keeps a function that is called at `node` of a kernel.

        Raises:
            KernelRefused: there are too many, or they are too long.
        """
        self[(device.written or device.kernel).tree] = device
        self.steps += sum(device.efforts.values())
        if self.steps > MAX_STEPS_CALLED:
            fact = (
                f"the functions called from here have more than {MAX_STEPS_CALLED:,} steps "
                "together, the simulator's limit"
            )
            raise kernel.refuse(node, fact, "call fewer functions, or shorter ones")


def defaults_of(kernel: Kernel) -> dict[str, ast.Constant]:
    """Returns what a call or a launch may leave out: parameter -> its constant.

    Raises:
        KernelRefused: parameters that no launch or call can fill, or a default that is no constant.
    """
    arguments = kernel.tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise kernel.refuse(
            kernel.tree,
            f"{kernel.name} takes *args or keyword-only parameters, which the simulator does not "
            "know",
            "give it plain parameters",
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


class _Scope:
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


@dataclass(frozen=True, eq=False)
class Program:
    """What is known of a kernel past the static pass, whatever the types of its arguments.

    Attributes:
        written: the kernel as its author wrote it.
        functions: the kernel and the device functions it comes to, each once, less the branches
            that its constants decide.
        may_wait: whether its threads may wait for others: the end of a loop depends on memory.
        order_matters: whether the result may depend on who comes first, without any race.
        first_lambda: the function that holds the first lambda, and its line.
    """

    written: Kernel
    functions: tuple[Kernel, ...]
    may_wait: bool
    order_matters: bool
    first_lambda: tuple[Kernel, int] | None

    @property
    def kernel(self) -> Kernel:
        """The kernel itself."""
        return self.functions[0]


@functools.lru_cache(maxsize=256)
def check(kernel: Kernel) -> Program:
    """Returns the kernel as a Program.

    Raises:
        KernelRefused: with the line of the first construct that is refused.
    """
    made = draft(kernel)
    return Program(
        kernel,
        tuple(each.kernel for each in made.family()),
        _may_wait(made),
        _may_wait(made) or any(map(_uses_turns, made.family())),
        _first_lambda(made),
    )


# A kernel that is checked is lowered next, and its draft is used for both.
@functools.lru_cache(maxsize=1)
def draft(kernel: Kernel) -> Draft:
    """Returns the kernel as a Draft.

    Raises:
        KernelRefused: with the line of the first construct that is refused.
    """
    return _draft(kernel, (), Checked())


def specialised(draft: Draft, arguments: Sequence[Type]) -> Draft:
    """Returns the draft for arguments of these types, less the branches they decide.

    Args:
        draft: of a kernel or device function.
        arguments: the type of each parameter; decisions.LITERAL for a number at the call.
    """
    if not draft.asks:
        return draft
    written = draft.written or draft.kernel
    key, found = tuple(arguments), draft.specialisations
    if key not in found:
        known = dict(zip(written.parameters, arguments, strict=True))
        tree = prune(written, known)
        same = ast.dump(tree) == ast.dump(prune(written, {}))
        found[key] = draft if same else _checked(written, tree, draft.callers, draft.checked)
        # What calls itself asks for its own versions, by types, as every other caller does.
        found[key].devices.update(dict.fromkeys(found[key].recursive, draft))
    return found[key]


def _draft(kernel: Kernel, callers: tuple[Kernel, ...], checked: Checked) -> Draft:
    _refuse_too_large(kernel, sum(1 for each in kernel.tree.body for _ in ast.walk(each)))
    return _checked(kernel, prune(kernel, {}), callers, checked)


def _checked(
    written: Kernel, tree: ast.FunctionDef, callers: tuple[Kernel, ...], checked: Checked
) -> Draft:
    """The draft of a function, from which dead branches have been taken."""
    defaults = defaults_of(written)
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
    recursive = frozenset(n for n in _called(body, meanings) if _is_itself(meanings[n], written))
    made = Draft(
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
        recursive=recursive,
    )
    made.devices.update(dict.fromkeys(recursive, made))
    return made


def _refuse_too_large(kernel: Kernel, nodes: int) -> None:
    if nodes > MAX_NODES:
        fact = (
            f"{kernel.name} has {nodes:,} nodes in its syntax tree: "
            f"the simulator takes up to {MAX_NODES:,}"
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
) -> dict[ast.AST, Draft]:
    return {
        node: called_from(written, kernel, node, meanings[node], callers, checked)
        for node in _called(body, meanings)
        if not (callers and _is_itself(meanings[node], written))
    }


def _called(body: list[ast.AST], meanings: Mapping[ast.AST, Any]) -> list[ast.AST]:
    """The names of functions where they are called."""
    called = {node.func for node in body if isinstance(node, ast.Call)}
    return [n for n, meaning in meanings.items() if isinstance(meaning, Kernel) and n in called]


def _is_itself(device: Kernel, written: Kernel) -> bool:
    return device.place == written.place


def called_from(
    written: Kernel,
    kernel: Kernel,
    node: ast.AST,
    device: Kernel,
    callers: tuple[Kernel, ...],
    checked: Checked | None = None,
) -> Draft:
    """Returns the draft of a device function, called at `node` of a function that `callers` call.

    Raises:
        KernelRefused: it is called again through another function, or calls nest too deeply.
    """
    checked = Checked() if checked is None else checked
    chain = (*callers, written)
    if device.place == chain[0].place:
        fact = f"{device.name} calls itself, and it is a kernel: only a device function can"
        raise kernel.refuse(node, fact, "write a loop")
    if any(device.place == caller.place for caller in chain):
        fact = ours(f"functions that call each other in a circle, as {device.name} is here")
        raise kernel.refuse(node, fact, "write a loop, or let one function call itself")
    if len(chain) > MAX_CALLS_DEEP:
        fact = f"calls nest more than {MAX_CALLS_DEEP} deep here"
        raise kernel.refuse(node, fact, "write the functions into one another, or a loop")
    if device.tree not in checked:
        checked.hold(_draft(device, chain, checked), kernel, node)
    return checked[device.tree]


def refuse_lambdas(program: Program) -> None:
    """Raises KernelRefused for the first lambda of a kernel or of a function that it calls."""
    if program.first_lambda is not None:
        kernel, line = program.first_lambda
        raise kernel.refuse(
            line,
            "a lambda cannot be used in a kernel: each function here has a name",
            "write a device function with def",
        )


def _first_lambda(draft: Draft) -> tuple[Kernel, int] | None:
    for each in draft.family():
        body = (each.written or each.kernel).tree.body
        for node in (node for statement in body for node in ast.walk(statement)):
            if isinstance(node, ast.Lambda):
                return each.kernel, node.lineno
    return None


# Loops that may wait for other threads: their end depends on what a thread finds in memory

ATOMIC, MEMORY, NOTHING = "atomic", "memory", ""


def asks(draft: Draft, loop: ast.stmt) -> str:
    """Returns what the end of a loop depends on: ATOMIC, MEMORY (a plain load) or NOTHING.

    A loop ends by its test, or by a `break` or `return` under an `if`. What is asked may have gone
    through variables, or through a device function.
    """
    if not isinstance(loop, ast.While | ast.For):
        return NOTHING
    inside = [n for statement in loop.body for n in ast.walk(statement)]
    exits = [loop.test] if isinstance(loop, ast.While) else []
    exits += [n.test for n in inside if isinstance(n, ast.If) and _leaves(n)]
    if not exits:
        return NOTHING
    found: dict[str, str] = {}
    for _ in range(3):  # found = cuda.atomic...(...), then again = found
        for n in inside:
            if not isinstance(n, ast.Assign | ast.AugAssign | ast.AnnAssign) or n.value is None:
                continue
            if source := _source(draft, n.value, found):
                targets = n.targets if isinstance(n, ast.Assign) else [n.target]
                names = [t for target in targets for t in ast.walk(target)]
                # Not `cuda` of q[cuda.laneid] = ..., which is read.
                given = [t.id for t in names if isinstance(t, ast.Name) and _is_stored(t)]
                found |= {name: _stronger(source, found.get(name)) for name in given}
    return _strongest(_source(draft, test, found) for test in exits)


def _leaves(branch: ast.If) -> bool:
    return any(isinstance(n, ast.Break | ast.Return) for n in ast.walk(branch))


def _stronger(one: str, other: str | None) -> str:
    return ATOMIC if ATOMIC in (one, other) else one or other or NOTHING


def _strongest(sources: Any) -> str:
    result = NOTHING
    for source in sources:
        result = _stronger(source, result)
    return result


def _source(draft: Draft, node: ast.expr, found: Mapping[str, str]) -> str:
    return _strongest(_one(draft, n, found) for n in ast.walk(node))


def _one(draft: Draft, node: ast.AST, found: Mapping[str, str]) -> str:
    if isinstance(node, ast.Name):
        return found.get(node.id, NOTHING)
    if isinstance(node, ast.Subscript):
        return MEMORY if isinstance(node.ctx, ast.Load) else NOTHING
    if isinstance(node, ast.Call):
        meaning = draft.meanings.get(node.func)
        if isinstance(meaning, Symbol) and meaning.path.startswith("cuda.atomic."):
            return ATOMIC
        if node.func in draft.devices:
            return _strongest(map(_anything, draft.devices[node.func].family()))
    return NOTHING


def _anything(device: Draft) -> str:
    """The strongest that a device function itself can give back; its calls are looked at apart."""
    nodes = (n for n in ast.walk(device.kernel.tree) if not _is_call_of_device(device, n))
    return _strongest(_one(device, n, {}) for n in nodes)


def _is_call_of_device(draft: Draft, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and node.func in draft.devices


def _may_wait(draft: Draft) -> bool:
    """True for kernels with a loop whose end depends on memory: their threads may wait."""
    return any(
        asks(each, node)
        for each in draft.family()
        for node in ast.walk(each.kernel.tree)
        if isinstance(node, ast.stmt)
    )


_ANY_ORDER = frozenset(
    f"cuda.atomic.{name}"
    for name in ("add", "sub", "max", "min", "nanmax", "nanmin", "and_", "or_", "xor")
)


def _uses_turns(draft: Draft) -> bool:
    """True where a function uses what an atomic finds, or exchanges values.

    A sum or maximum that nobody looks at while it grows is the same in every order, but for the
    last bits of floats.
    """
    nodes = list(ast.walk(draft.kernel.tree))
    alone = {
        n.value.func for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)
    }
    return any(
        isinstance(meaning, Symbol)
        and meaning.path.startswith("cuda.atomic.")
        and not (node in alone and meaning.path in _ANY_ORDER)
        for node, meaning in draft.meanings.items()
    )
