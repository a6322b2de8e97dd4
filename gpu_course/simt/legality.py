"""The static pass: refuses, with the line, what Numba would not compile or the simulator not run.

It runs before anything else, so the interpreter has no defensive code. Its result, a `Program`,
says what every name in the kernel stands for.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpu_course.simt import intrinsics
from gpu_course.simt.constants import Symbol, as_dtype, resolve
from gpu_course.simt.effort import MOST_CALLS_DEEP, MOST_NODES, efforts
from gpu_course.simt.source import Kernel, Unknown, from_function
from gpu_course.simt.versions import Versions, find_versions
from gpu_course.simt.vocabulary.allocate import is_allocation

_HOST_ONLY = "Numba compiles no such thing into a kernel"
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Dict: ("a dict", "use arrays that are handed to the kernel"),
    ast.Set: ("a set", "use arrays that are handed to the kernel"),
    ast.List: ("a list", "use an array that is handed to the kernel, or a tuple"),
    ast.ListComp: ("a list comprehension", "write the loop out"),
    ast.SetComp: ("a set comprehension", "write the loop out"),
    ast.DictComp: ("a dict comprehension", "write the loop out"),
    ast.GeneratorExp: ("a generator expression", "write the loop out"),
    ast.Lambda: ("a lambda", "write a device function with @cuda.jit(device=True)"),
    ast.Yield: ("yield", "write the result to an array"),
    ast.YieldFrom: ("yield from", "write the result to an array"),
    ast.Await: ("await", "a kernel waits at barriers only"),
    ast.Try: ("try ... except", "test the condition with if"),
    ast.Raise: ("raise", "write an error code to an array"),
    ast.With: ("with", "a kernel has no context managers"),
    ast.AsyncWith: ("async with", "a kernel has no context managers"),
    ast.AsyncFor: ("async for", "use for i in range(n)"),
    ast.Import: ("an import inside the kernel", "import at the top of the file"),
    ast.ImportFrom: ("an import inside the kernel", "import at the top of the file"),
    ast.Global: ("global", "hand the value to the kernel as an argument"),
    ast.Nonlocal: ("nonlocal", "hand the value to the kernel as an argument"),
    ast.ClassDef: ("a class", "use plain functions and arrays"),
    ast.AsyncFunctionDef: ("an async function", "use plain functions"),
    ast.Delete: ("del", "variables end with the kernel"),
    ast.JoinedStr: ("an f-string", "print the values themselves"),
    ast.NamedExpr: ("the walrus operator :=", "assign on a line of its own"),
    ast.Match: ("match", "use if and elif"),
    ast.Starred: ("a starred expression", "name each value"),
}
_ALLOWED = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Break,
    ast.Continue, ast.Return, ast.Pass, ast.Assert, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.Tuple,
)  # fmt: skip
_BUILTINS = intrinsics.BUILTINS


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
    """

    kernel: Kernel
    meanings: dict[ast.AST, Any] = field(repr=False)
    variables: frozenset[str]
    stored: frozenset[str]
    devices: dict[ast.AST, Program] = field(default_factory=dict, repr=False)
    versions: Versions = field(default_factory=lambda: Versions({}, {}, {}, {}), repr=False)
    passed_on: dict[ast.AST, list[ast.expr]] = field(default_factory=dict, repr=False)
    efforts: dict[ast.stmt, int] = field(default_factory=dict, repr=False)

    def read(self, node: ast.Name) -> str:
        """Returns the version of a variable that a name stands for where it is read."""
        return self.versions.loads.get(node, node.id)

    def assigned(self, node: ast.Name) -> str:
        """Returns the version of a variable that a name stands for where it is assigned."""
        return self.versions.stores.get(node, node.id)


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
    _check_signature(kernel)
    body = [node for statement in kernel.tree.body for node in ast.walk(statement)]
    if len(body) > MOST_NODES:
        fact = (
            f"{kernel.name} has {len(body):,} nodes in its syntax tree: "
            f"the simulator takes up to {MOST_NODES:,}"
        )
        raise kernel.refuse(kernel.tree, fact, "let loops do what is written out here")
    placed = [node for node in body if isinstance(node, ast.expr | ast.stmt)]
    for node in sorted(placed, key=lambda n: (n.lineno, n.col_offset)):
        _check_node(kernel, node, device=bool(callers))
    variables = frozenset(kernel.parameters) | {
        n.id for n in body if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    meanings = _Meanings(kernel, variables).of(kernel.tree.body)
    devices = _devices(kernel, body, meanings, callers, checked)
    stored = frozenset(kernel.parameters) if devices else _stored(kernel, body, meanings)
    versions = find_versions(kernel.tree)
    passed_on = _passed_on(body, versions)
    steps = efforts(kernel.tree)
    return Program(kernel, meanings, variables, stored, devices, versions, passed_on, steps)


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
    kernel: Kernel,
    body: list[ast.AST],
    meanings: Mapping[ast.AST, Any],
    callers: tuple[Kernel, ...],
    checked: Checked,
) -> dict[ast.AST, Program]:
    called = {node.func for node in body if isinstance(node, ast.Call)}
    found: dict[ast.AST, Program] = {}
    for node, meaning in meanings.items():
        if not isinstance(meaning, Kernel):
            continue
        if node not in called:
            fact = f"{meaning.name} is a device function: it can be called, and nothing else"
            raise kernel.refuse(node, fact)
        chain = (*callers, kernel)
        if any(meaning.tree is caller.tree for caller in chain):
            raise kernel.refuse(
                node, f"{meaning.name} calls itself, and a GPU function cannot", "write a loop"
            )
        if len(chain) > MOST_CALLS_DEEP:
            fact = f"calls nest more than {MOST_CALLS_DEEP} deep here"
            raise kernel.refuse(node, fact, "write the functions into one another, or a loop")
        if meaning.tree not in checked:
            checked[meaning.tree] = check(meaning, chain, checked)
        found[node] = checked[meaning.tree]
    return found


def _check_signature(kernel: Kernel) -> None:
    arguments = kernel.tree.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
        raise kernel.refuse(
            kernel.tree,
            f"{kernel.name} takes *args, keywords or default values, which a launch cannot pass",
            "give it plain parameters",
        )


def _check_node(kernel: Kernel, node: ast.expr | ast.stmt, *, device: bool) -> None:
    if type(node) in _REFUSED:
        what, hint = _REFUSED[type(node)]
        raise kernel.refuse(node, f"{what} cannot be used in a kernel: {_HOST_ONLY}", hint)
    if isinstance(node, ast.FunctionDef):
        raise kernel.refuse(
            node,
            f"the simulator does not know functions defined inside a kernel ({node.name})",
        )
    if not isinstance(node, _ALLOWED):
        raise kernel.refuse(node, f"the simulator does not know {type(node).__name__}")
    if (
        not device
        and isinstance(node, ast.Return)
        and node.value is not None
        and not _is_none(node.value)
    ):
        raise kernel.refuse(
            node,
            "a kernel returns nothing, and this one returns a value",
            "store it in an array",
        )
    if isinstance(node, ast.Constant):
        _check_constant(kernel, node)
    if isinstance(node, ast.For):
        _check_for(kernel, node)
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
        raise kernel.refuse(node, "the operator @ is not for kernels", "write the loops out")
    if isinstance(node, ast.Compare):
        for op in node.ops:
            if isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
                raise kernel.refuse(
                    node,
                    "in and is compare host objects, not numbers",
                    "use == or a loop",
                )
    if isinstance(node, ast.Call) and any(k.arg is None for k in node.keywords):
        raise kernel.refuse(node, "a call with ** cannot be compiled", "name each argument")


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _check_constant(kernel: Kernel, node: ast.Constant) -> None:
    if isinstance(node.value, str):
        if node not in _free_strings(kernel.tree):
            raise kernel.refuse(
                node,
                f"a string cannot be used in a kernel: {_HOST_ONLY}",
                "use numbers",
            )
    elif isinstance(node.value, bytes) or node.value is Ellipsis:
        raise kernel.refuse(node, f"the simulator does not know the constant {node.value!r}")
    elif isinstance(node.value, int) and abs(node.value) >= 2**64:
        raise kernel.refuse(node, "an integer literal beyond 64 bits", "use a smaller number")


def _free_strings(tree: ast.FunctionDef) -> set[ast.AST]:
    """Docstrings, and what is printed."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            found.add(node.value)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
            found.update(node.args)
        elif isinstance(node, ast.Assert) and node.msg is not None:
            found.add(node.msg)
    return found


def _check_for(kernel: Kernel, node: ast.For) -> None:
    source = node.iter
    if isinstance(source, ast.Call):
        name = source.func.id if isinstance(source.func, ast.Name) else ast.unparse(source.func)
        if name not in ("range", "enumerate", "zip") or source.keywords:
            raise kernel.refuse(
                node, f"the simulator does not know loops over {name}", "write for i in range(n)"
            )
        if name == "range" and not isinstance(node.target, ast.Name):
            raise kernel.refuse(
                node, "a loop over range gives one number", "write for i in range(n)"
            )


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


class _Meanings:
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
        from gpu_course.simt.host import xoroshiro

        function = getattr(xoroshiro, node.attr, None)
        if function is None:
            raise self._unknown_symbol(node, Symbol(f"cuda.random.{node.attr}"))
        return from_function(function)

    def _look_up(self, node: ast.Name) -> Any:
        try:
            value = self.kernel.scope(node.id)
        except KeyError:
            if node.id in _BUILTINS:
                return Symbol(f"builtin.{node.id}")
            if node.id in _python_builtins():
                raise self.kernel.refuse(
                    node,
                    f"{node.id} is a function of the host: {_HOST_ONLY}",
                    "use the GPU's own",
                ) from None
            raise self.kernel.refuse(
                node,
                f"the name {node.id} is not defined",
                "check the spelling, or assign it first",
            ) from None
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
            if not isinstance(value, Symbol) or node in inner:
                continue
            if value.path not in intrinsics.NAMES and as_dtype(value) is None:
                raise self._unknown_symbol(node, value)

    def _unknown_symbol(self, node: ast.AST, symbol: Symbol) -> Exception:
        home = symbol.path.partition(".")[0]
        if home == "numpy":
            fact = f"{symbol.path} runs on the host: {_HOST_ONLY}"
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
