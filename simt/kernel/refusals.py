"""What Numba would not compile, or the simulator not run, told by the kind of a construct alone.

The two are told apart in the text: what Numba refuses "cannot be used in a kernel", and what it
compiles "the simulator does not know". Which is which was asked of numba-cuda 0.30.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence

from simt.kernel.source import Kernel

HOST_ONLY = "Numba does not compile it"


def refused(what: str) -> str:
    """Returns the fact of a refusal that is Numba's own.

    >>> refused("a dict")
    'a dict cannot be used in a kernel: Numba does not compile it'
    """
    return f"{what} cannot be used in a kernel: {HOST_ONLY}"


def ours(what: str) -> str:
    """Returns the fact of a refusal that is the simulator's, and not Numba's.

    >>> ours("match")
    'the simulator does not know match, Numba does'
    """
    return f"the simulator does not know {what}, Numba does"


_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Dict: ("a dict", "use arrays that are handed to the kernel"),
    ast.Set: ("a set", "use arrays that are handed to the kernel"),
    ast.List: ("a list", "use a tuple, such as (1, 2, 3), or cuda.local.array"),
    ast.ListComp: ("a list comprehension", "write the loop out"),
    ast.SetComp: ("a set comprehension", "write the loop out"),
    ast.DictComp: ("a dict comprehension", "write the loop out"),
    ast.GeneratorExp: ("a generator expression", "write the loop out"),
    ast.Yield: ("yield", "write the result to an array"),
    ast.YieldFrom: ("yield from", "write the result to an array"),
    ast.Await: ("await", "a kernel waits at barriers only"),
    ast.Try: ("try ... except", "test the condition with if"),
    ast.With: ("with", "a kernel has no context managers"),
    ast.AsyncWith: ("async with", "a kernel has no context managers"),
    ast.AsyncFor: ("async for", "use for i in range(n)"),
    ast.Import: ("an import inside the kernel", "import at the top of the file"),
    ast.ImportFrom: ("an import inside the kernel", "import at the top of the file"),
    ast.ClassDef: ("a class", "use plain functions and arrays"),
    ast.AsyncFunctionDef: ("an async function", "use plain functions"),
    ast.Delete: ("del", "variables end with the kernel"),
    ast.JoinedStr: ("an f-string", "print the values themselves"),
}
_UNKNOWN: dict[type[ast.AST], tuple[str, str]] = {
    ast.Match: ("match", "use if and elif"),
    ast.NamedExpr: ("the walrus operator :=", "assign on a line of its own"),
}
_ALLOWED = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Break,
    ast.Continue, ast.Return, ast.Pass, ast.Assert, ast.Raise, ast.BinOp, ast.UnaryOp, ast.BoolOp,
    ast.Compare, ast.IfExp, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Slice,
    ast.Constant, ast.Tuple, ast.Global, ast.Nonlocal,
)  # fmt: skip


def check_node(kernel: Kernel, node: ast.expr | ast.stmt, *, device: bool) -> None:
    if type(node) in _REFUSED:
        what, hint = _REFUSED[type(node)]
        raise kernel.refuse(node, refused(what), hint)
    if type(node) in _UNKNOWN:
        what, hint = _UNKNOWN[type(node)]
        raise kernel.refuse(node, ours(what), hint)
    if isinstance(node, ast.Starred):
        told = refused if isinstance(node.ctx, ast.Store) else ours
        raise kernel.refuse(node, told("a starred expression"), "name each value")
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
    if isinstance(node, ast.Global | ast.Nonlocal):
        _check_outer(kernel, node)
    if isinstance(node, ast.For):
        _check_for(kernel, node)
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
        raise kernel.refuse(node, "the operator @ is not for kernels", "write the loops out")
    if isinstance(node, ast.Compare):
        for op in node.ops:
            if isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) and len(node.ops) > 1:
                raise kernel.refuse(
                    node,
                    "the simulator does not know in or is within a chain",
                    "join the parts with and",
                )
    if isinstance(node, ast.Call) and any(k.arg is None for k in node.keywords):
        raise kernel.refuse(node, "a call with ** cannot be compiled", "name each argument")


def _check_outer(kernel: Kernel, node: ast.Global | ast.Nonlocal) -> None:
    """`global N` says nothing new of a name that is read alone."""
    stored = {n.id for n in ast.walk(kernel.tree) if isinstance(n, ast.Name) and _is_stored(n)}
    if stored & set(node.names):
        what = "global" if isinstance(node, ast.Global) else "nonlocal"
        name = min(stored & set(node.names))
        fact = refused(f"{what} {name}, which is assigned here,")
        raise kernel.refuse(node, fact, "hand an array to the kernel, and write to that")


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def check_texts(kernel: Kernel, body: Sequence[ast.AST]) -> None:
    """Refuses strings as values, once the names are known: `open("x")` fails by its name.

    Args:
        kernel: the kernel.
        body: every node of its body.
    """
    free = _free_strings(body)
    for node in body:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in free:
            raise kernel.refuse(
                node, "the simulator does not know a string as a value", "use numbers"
            )


def _check_constant(kernel: Kernel, node: ast.Constant) -> None:
    if isinstance(node.value, bytes):
        raise kernel.refuse(node, ours("bytes as a value"), "use numbers")
    elif isinstance(node.value, int) and abs(node.value) >= 2**64:
        raise kernel.refuse(node, "an integer literal beyond 64 bits", "use a smaller number")


def _free_strings(body: Sequence[ast.AST]) -> set[ast.AST]:
    """Docstrings, what is printed, the text of `float("inf")`, and dtypes of arrays."""
    found: set[ast.AST] = set()
    for node in body:
        if isinstance(node, ast.Expr):
            found.add(node.value)
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            if name in ("print", "float"):
                found.update(node.args)
            elif name == "array":
                found.update(node.args[1:2])
                found.update(k.value for k in node.keywords if k.arg == "dtype")
        elif isinstance(node, ast.Assert) and node.msg is not None:
            found.add(node.msg)
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            found.update(node.exc.args)
    return found


# Loops over these Numba refuses; of others, such as np.ndindex, it compiles some.
_NO_LOOPS = frozenset(("reversed", "map", "filter", "sorted", "list"))


def _check_for(kernel: Kernel, node: ast.For) -> None:
    source = node.iter
    if isinstance(source, ast.Call):
        name = source.func.id if isinstance(source.func, ast.Name) else ast.unparse(source.func)
        if name not in ("range", "enumerate", "zip") or source.keywords:
            told = f"the simulator does not know loops over {name}"
            if name in _NO_LOOPS:
                told = refused(f"a loop over {name}")
            hint = "write for i in range(n)"
            if name == "enumerate":
                told, hint = f"{told} with a keyword", "give its start by place: enumerate(a, 5)"
            raise kernel.refuse(node, told, hint)
        if name == "range" and not isinstance(node.target, ast.Name):
            raise kernel.refuse(
                node, "a loop over range gives one number", "write for i in range(n)"
            )


# Python's own functions that Numba compiles and the simulator does not know.
_NUMBA_ALONE = frozenset("tuple isinstance ord type iter next slice hasattr getattr".split())


def builtin_refusal(name: str) -> str:
    """Returns the fact of refusing one of Python's own functions."""
    return ours(f"{name} in a kernel") if name in _NUMBA_ALONE else refused(name)


# Methods of arrays that Numba refuses in a kernel; of the others it compiles some.
_NO_METHODS = frozenset(
    "max min copy flatten ravel astype item conj sort dot cumsum repeat tolist clip round".split()
)


def method_refusal(name: str) -> str:
    """Returns the fact of refusing a method of an array."""
    if name in _NO_METHODS:
        return refused(f"the array method .{name}")
    return f"the simulator does not know the array method .{name}"


# What a kernel writes in the place of functions that Numba does not compile into one.
_INSTEAD = {
    "numpy.sqrt": "math.sqrt(x)", "numpy.exp": "math.exp(x)", "numpy.exp2": "math.exp2(x)",
    "numpy.expm1": "math.expm1(x)", "numpy.log1p": "math.log1p(x)", "numpy.floor": "math.floor(x)",
    "numpy.ceil": "math.ceil(x)", "numpy.trunc": "math.trunc(x)", "numpy.rint": "round(x)",
    "numpy.abs": "abs(x)", "numpy.absolute": "abs(x)", "numpy.fabs": "abs(x)",
    "numpy.sign": "math.copysign(1.0, x)", "numpy.copysign": "math.copysign(x, y)",
    "numpy.power": "x ** y", "numpy.pow": "x ** y", "numpy.square": "x * x",
    "numpy.reciprocal": "1 / x", "numpy.negative": "-x", "numpy.positive": "x",
    "numpy.add": "x + y",
    "numpy.subtract": "x - y", "numpy.multiply": "x * y", "numpy.floor_divide": "x // y",
    "numpy.mod": "x % y", "numpy.remainder": "x % y", "numpy.fmod": "math.fmod(x, y)",
    "numpy.cbrt": "cuda.cbrt(x)", "numpy.isfinite": "math.isfinite(x)",
    "numpy.isinf": "math.isinf(x)", "numpy.clip": "min(max(x, low), high)",
    "numpy.where": "a if test else b", "numpy.max": "max(x, y) in a loop",
    "numpy.min": "min(x, y) in a loop", "numpy.amax": "max(x, y) in a loop",
    "numpy.amin": "min(x, y) in a loop", "numpy.dot": "s += a[k] * b[k] in a loop",
    "numpy.matmul": "s += a[k] * b[k] in a loop", "numpy.cumsum": "s += a[k] in a loop",
    "numpy.zeros": "cuda.local.array(n, dtype) and a loop",
    "numpy.ones": "cuda.local.array(n, dtype) and a loop",
    "numpy.empty": "cuda.local.array(n, dtype)", "numpy.array": "a tuple, or cuda.local.array",
    "numpy.full": "cuda.local.array(n, dtype) and a loop",
    "numpy.zeros_like": "cuda.local.array(n, dtype) and a loop", "numpy.arange": "range(n)",
    "numpy.linspace": "low + k * step in a loop", "math.fmin": "min(x, y)",
    "math.fmax": "max(x, y)", "math.min": "min(x, y)", "math.max": "max(x, y)",
    "math.abs": "abs(x)", "math.round": "round(x)", "math.sum": "s += a[k] in a loop",
    "math.fsum": "s += a[k] in a loop", "math.prod": "p *= a[k] in a loop",
    "math.clamp": "min(max(x, low), high)", "math.clip": "min(max(x, low), high)",
    "math.cbrt": "cuda.cbrt(x)", "math.fma": "cuda.fma(x, y, z)",
    "math.dist": "math.hypot(x1 - x2, y1 - y2)", "math.sign": "math.copysign(1.0, x)",
    "math.isclose": "abs(x - y) < tolerance", "math.rsqrt": "1 / math.sqrt(x)",
    "math.sigmoid": "1 / (1 + math.exp(-x))",
}  # fmt: skip
# Others of NumPy that Numba refuses in a kernel, and those that it compiles there.
_NUMPY_REFUSED = frozenset(
    "sort median array_equal outer linalg concatenate copy append interp nan_to_num isclose "
    "allclose diff ptp nanmax transpose reshape ravel flip roll eye random ndim unravel_index "
    "meshgrid i0 bitwise_count float_power gcd heaviside lcm ldexp logaddexp logaddexp2 nextafter "
    "signbit spacing".split()
)
_NUMPY_TAKEN = frozenset(
    "var std argmax argmin nansum count_nonzero searchsorted round around "
    "real imag angle sinc shape size finfo iinfo dtype newaxis ndindex ndenumerate".split()
)


# cuda.float32x4 and its like.
_VECTOR = re.compile(r"cuda\.u?(int|float)(8|16|32|64)x[1-4]")


def symbol_refusal(path: str) -> tuple[str, str]:
    """Returns the fact and the hint of refusing a dotted name that the simulator does not know.

    >>> symbol_refusal("numpy.clip")[1]
    'write min(max(x, low), high)'
    """
    home, _, name = path.partition(".")
    own = name.partition(".")[0]
    instead = _INSTEAD.get(path)
    hint = f"write {instead}" if instead else ""
    if home == "numpy":
        hint = hint or "write the loop, or use what math offers"
        if instead or own in _NUMPY_REFUSED:
            return refused(f"np.{name}"), hint
        if own in _NUMPY_TAKEN:
            return ours(f"np.{name}"), hint
        return f"the simulator does not know np.{name}", hint
    if path.startswith("cuda.libdevice."):
        return ours(path), "use what math and cuda offer"
    if _VECTOR.fullmatch(path):
        return ours(path), "use one number for each part"
    if home == "math" and not hasattr(math, own):
        return f"there is no {path}", hint
    return (refused(path) if home == "math" else f"the simulator does not know {path}"), hint
