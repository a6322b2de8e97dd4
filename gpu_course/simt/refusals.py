"""What Numba would not compile, or the simulator not run, told by the kind of a construct alone."""

from __future__ import annotations

import ast
import functools

from gpu_course.simt.program import Program
from gpu_course.simt.source import Kernel

HOST_ONLY = "Numba compiles no such thing into a kernel"
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Dict: ("a dict", "use arrays that are handed to the kernel"),
    ast.Set: ("a set", "use arrays that are handed to the kernel"),
    ast.List: ("a list", "use an array that is handed to the kernel, or a tuple"),
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
    ast.Global: ("global", "hand the value to the kernel as an argument"),
    ast.Nonlocal: ("nonlocal", "hand the value to the kernel as an argument"),
    ast.ClassDef: ("a class", "use plain functions and arrays"),
    ast.AsyncFunctionDef: ("an async function", "use plain functions"),
    ast.Delete: ("del", "variables end with the kernel"),
    ast.JoinedStr: ("an f-string", "print the values themselves"),
    ast.NamedExpr: ("the walrus operator :=", "assign on a line of its own"),
    ast.Starred: ("a starred expression", "name each value"),
}
_UNKNOWN: dict[type[ast.AST], tuple[str, str]] = {
    ast.Raise: ("raise", "write an error code to an array"),
    ast.Match: ("match", "use if and elif"),
}
_ALLOWED = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.If, ast.For, ast.While, ast.Break,
    ast.Continue, ast.Return, ast.Pass, ast.Assert, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant, ast.Tuple,
)  # fmt: skip


def check_node(kernel: Kernel, node: ast.expr | ast.stmt, *, device: bool) -> None:
    if type(node) in _REFUSED:
        what, hint = _REFUSED[type(node)]
        raise kernel.refuse(node, f"{what} cannot be used in a kernel: {HOST_ONLY}", hint)
    if type(node) in _UNKNOWN:
        what, hint = _UNKNOWN[type(node)]
        raise kernel.refuse(node, f"the simulator does not know {what}", hint)
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
            if isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot) and len(node.ops) > 1:
                raise kernel.refuse(
                    node, "the simulator knows in and is alone, not in a chain", "use and"
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
                f"a string cannot be used in a kernel: {HOST_ONLY}",
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


def refuse_lambdas(program: Program) -> None:
    """Raises KernelRefused for the first lambda of a kernel or of a function that it calls."""
    found = _first_lambda(program)
    if found is not None:
        kernel, node = found
        raise kernel.refuse(
            node,
            "a lambda cannot be used in a kernel of the course",
            "def a device function with a name",
        )


@functools.lru_cache(maxsize=256)
def _first_lambda(program: Program) -> tuple[Kernel, ast.Lambda] | None:
    for each in program.family():
        body = (each.written or each.kernel).tree.body
        for node in (node for statement in body for node in ast.walk(statement)):
            if isinstance(node, ast.Lambda):
                return each.kernel, node
    return None
