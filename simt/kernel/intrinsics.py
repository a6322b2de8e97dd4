"""The names a kernel may use: under `cuda.`, `math.` and Python's own; and what each stands for.

`VALUES` are read (`cuda.threadIdx.x`), `FUNCTIONS` are called (`cuda.grid(1)`, `math.sqrt(x)`).
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from typing import Any

import numpy as np

from simt.kernel.constants import FileList, Symbol, as_dtype, dtype_of_text, resolve
from simt.kernel.refusals import builtin_refusal, refused, symbol_refusal
from simt.kernel.source import Kernel, LiveModule, Unknown, from_function
from simt.text import count
from simt.vocabulary import (
    allocate,
    atomics,
    bits,
    complex_functions,
    half,
    indices,
    libdevice,
    operators,
    overloads,
    printing,
    scalar_functions,
    synchronise,
    ufuncs,
    warps,
    whole_arrays,
    xoroshiro,
)
from simt.vocabulary.functions import Function

VALUES: dict[str, Function] = indices.VALUES
FUNCTIONS: dict[str, Function] = {
    **indices.FUNCTIONS,
    **scalar_functions.FUNCTIONS,
    **synchronise.FUNCTIONS,
    **allocate.FUNCTIONS,
    **atomics.FUNCTIONS,
    **warps.FUNCTIONS,
    **bits.FUNCTIONS,
    **operators.FUNCTIONS,
    **printing.FUNCTIONS,
    **overloads.FUNCTIONS,
    **half.FUNCTIONS,
    **ufuncs.FUNCTIONS,
    **complex_functions.FUNCTIONS,
    **libdevice.FUNCTIONS,
    **whole_arrays.FUNCTIONS,
}
BUILTINS = frozenset(scalar_functions.BUILTINS) | {
    "divmod", "enumerate", "pow", "print", "sum", "zip",
}  # fmt: skip

LOOPS = frozenset(("builtin.enumerate", "builtin.zip"))
"""Known in a `for` only."""

NAMES = frozenset(VALUES) | frozenset(FUNCTIONS) | frozenset(allocate.SPACES) | LOOPS
"""Every dotted name the simulator knows, dtypes aside."""


THREE_PARTS = frozenset(path.rpartition(".")[0] for path in VALUES if path.endswith(".x"))
"""What has `.x`, `.y` and `.z`, and is no number itself: `cuda.threadIdx` and its kin."""


def nearest(path: str) -> str:
    """Returns a sentence that names what was perhaps meant, or "" when nothing is near.

    >>> nearest("cuda.thredIdx.x")
    'did you mean cuda.threadIdx.x?'
    """
    home, _, own = path.partition(".")
    names = {name.partition(".")[2]: name for name in NAMES if name.startswith(f"{home}.")}
    close = difflib.get_close_matches(own, names, n=1, cutoff=0.75)
    return f"did you mean {names[close[0]]}?" if close else ""


def _instead_of(name: str) -> str:
    """What to try where a name stands for nothing.

    >>> _instead_of("threadIdx"), _instead_of("sqrt")
    ('write cuda.threadIdx', 'write math.sqrt')
    >>> _instead_of("float32")
    'write np.float32, with `import numpy as np` at the top of the file'
    >>> _instead_of("ii")
    'check the spelling, or assign it first'
    """
    for home in ("cuda", "math"):
        path = f"{home}.{name}"
        if path in THREE_PARTS or any(f"{each}.".startswith(f"{path}.") for each in NAMES):
            return f"write {path}"
    if as_dtype(Symbol(f"numpy.{name}")) is not None:
        return f"write np.{name}, with `import numpy as np` at the top of the file"
    return "check the spelling, or assign it first"


NOTHING = Symbol("builtin.None")
"""What a name stands for whose value is None."""


class Meanings:
    """Finds out what each name that is not a variable stands for."""

    def __init__(self, kernel: Kernel, variables: frozenset[str]) -> None:
        self.kernel = kernel
        self.variables = variables
        self.found: dict[ast.AST, Any] = {}
        self.dtypes: set[ast.AST] = set()

    def of(self, body: list[ast.stmt]) -> dict[ast.AST, Any]:
        for statement in body:
            self.dtypes |= {n for call in ast.walk(statement) for n in _dtypes_of(call)}
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
            if isinstance(owner, LiveModule):
                value = self._member(node, owner)
            if node.attr == "value" and self._is_of_enum(node.value):
                value = owner
            if isinstance(owner, Symbol):
                value = resolve(owner.member(node.attr))
                if owner.path == "cuda.random":
                    value = self._random(node)
        if value is not None:
            self.found[node] = value
        return value

    def _is_of_enum(self, node: ast.expr) -> bool:
        """True for Colour.RED, whose meaning is its value."""
        owner = self.found.get(node.value) if isinstance(node, ast.Attribute) else None
        return isinstance(owner, LiveModule) and isinstance(owner.module, type)

    def _member(self, node: ast.Attribute, module: LiveModule) -> Any:
        """What helpers.f stands for."""
        try:
            value = module.member(node.attr)
        except KeyError:
            fact = f"the module {module.module.__name__} has no {node.attr}"
            raise self.kernel.refuse(node, fact, "check the spelling") from None
        if isinstance(value, Symbol):
            return resolve(value)
        return self._checked(node, ast.unparse(node), value)

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
            if node.id in BUILTINS:
                return Symbol(f"builtin.{node.id}")
            if node.id in _python_builtins():
                fact = builtin_refusal(node.id)
                raise self.kernel.refuse(node, fact, "use what cuda and math offer") from None
            raise self.kernel.refuse(
                node, f"the name {node.id} is not defined", _instead_of(node.id)
            ) from None
        return self._checked(node, node.id, value)

    def _checked(self, node: ast.expr, name: str, value: Any) -> Any:
        """A value beside the kernel, one that a kernel can use."""
        if value is None:
            return NOTHING
        if isinstance(value, Unknown) and value.text is not None and node in self.dtypes:
            named = dtype_of_text(value.text)
            if named is not None:
                return Symbol(f"numpy.{named.name}")
        if isinstance(value, Unknown):
            raise self.kernel.refuse(
                node,
                f"{name} is {value.what}: a kernel cannot use it",
                "use numbers, arrays handed to the kernel, and what cuda and math offer",
            )
        if isinstance(value, Kernel) and value.declared and not value.device:
            fact = f"{value.name} has a signature, which makes it a kernel: no kernel can call it"
            raise self.kernel.refuse(node, fact, "mark it with device=True beside the signature")
        if _holds_list(value):
            fact = refused(f"{name}, a list beside the kernel,")
            raise self.kernel.refuse(node, fact, f"write a tuple: {name} = (..., ...)")
        what = _no_number(value)
        if what:
            raise self.kernel.refuse(node, refused(f"{name}, {what},"), "use arrays of numbers")
        odd = _odd_layout(value)
        if odd:
            fact = f"the simulator does not know {name}, an array {odd}"
            raise self.kernel.refuse(node, fact, "use arrays of numbers, one after the other")
        if isinstance(value, Kernel) and not value.decorated:
            fact = f"{value.name} is a plain Python function: a kernel cannot call it"
            raise self.kernel.refuse(node, fact, "mark it with @cuda.jit(device=True)")
        return value

    def _check_symbols(self) -> None:
        """Every complete dotted name must be something the simulator knows."""
        inner = {n.value for n in self.found if isinstance(n, ast.Attribute)}
        for node, value in self.found.items():
            if isinstance(value, LiveModule) and node not in inner:
                fact = f"{ast.unparse(node)} is a module: a kernel cannot use it as a value"
                raise self.kernel.refuse(node, fact, "name what it holds")
            if not isinstance(value, Symbol) or node in inner or value is NOTHING:
                continue
            known = value.path in NAMES or value.path in THREE_PARTS
            if not known and as_dtype(value) is None:
                raise self._unknown_symbol(node, value)

    def _unknown_symbol(self, node: ast.AST, symbol: Symbol) -> Exception:
        if symbol.path.rpartition(".")[0] in THREE_PARTS:
            owner, _, part = symbol.path.rpartition(".")
            fact = f"{owner} has the parts .x, .y and .z, and no .{part}"
            return self.kernel.refuse(node, fact, f"write {owner}.x, or .y or .z")
        fact, hint = symbol_refusal(symbol.path)
        return self.kernel.refuse(node, fact, hint or nearest(symbol.path))


def _parents_first(statement: ast.stmt) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.Raise):  # which exception it is means nothing to a kernel
            waiting += ast.iter_child_nodes(node)


def _dtypes_of(node: ast.AST) -> list[ast.expr]:
    """What stands for the dtype in a call that may make an array."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return []
    return [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "dtype")]


def _holds_list(value: Any) -> bool:
    return isinstance(value, FileList) or (
        isinstance(value, tuple) and any(map(_holds_list, value))
    )


def _no_number(value: Any) -> str:
    """What a constant array or structure has that no kernel can use; "" for one that is fine."""
    if isinstance(value, np.void):
        return "a single structure beside the kernel"
    if isinstance(value, np.generic) and value.dtype.kind not in "biufc":
        return f"a {value.dtype}"
    if not isinstance(value, np.ndarray):
        return next(filter(None, map(_no_number, value)), "") if type(value) is tuple else ""
    fields = (value.dtype.fields or {"": (value.dtype, 0)}).values()
    for type_, *_ in fields:
        if type_.kind not in "biufc" or type_.shape or type_.str[1:] in ("f16", "c32"):
            return f"an array of {type_}"
    return ""


def _odd_layout(value: Any) -> str:
    """How an array lies in memory in a way that no load of a GPU meets; else ""."""
    if type(value) is tuple:
        return next(filter(None, map(_odd_layout, value)), "")
    if not isinstance(value, np.ndarray):
        return ""
    whole = value.dtype.itemsize
    for type_, offset, *_ in (value.dtype.fields or {"": (value.dtype, 0)}).values():
        if offset % type_.alignment or whole % type_.alignment:
            return f"of structures whose {type_} lies where no GPU reads one"
        odd = next((stride for stride in value.strides if stride % type_.itemsize), 0)
        if odd:
            size = count(type_.itemsize, "byte")
            return f"whose {type_} come every {count(abs(odd), 'byte')}, each of {size}"
    return ""


def _python_builtins() -> frozenset[str]:
    import builtins

    return frozenset(dir(builtins))
