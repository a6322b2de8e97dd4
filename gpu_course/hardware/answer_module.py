"""The module that a real GPU gets of an answer file: its imports, constants and functions.

Python's own `import` would run whatever else stands in the file. Here no statement runs but those
that name a module, work out a constant, or define a function; Numba then compiles the functions.
The simulator reads a file in the same way, so both see the same program.
"""

from __future__ import annotations

import ast
import re
import types
from pathlib import Path

from gpu_course.errors import CourseError

MODULES = ("numba", "numpy", "math", "operator", "collections", "__future__")
"""What an answer may import; other imports are passed over, and what they name is missing."""
_NUMPY = """array asarray arange zeros ones full linspace dtype bool_ int8 int16 int32 int64 uint8
uint16 uint32 uint64 intp float16 float32 float64 complex64 complex128""".split()
_CALLS = frozenset((
    *(f"numpy.{name}" for name in _NUMPY),
    "collections.namedtuple",
    *"abs bool complex float int len max min pow range round sum tuple".split(),
))  # fmt: skip
_TYPE = re.compile(
    r"numba\.(types\.)?(u?int(8|16|32|64|p|c)|float(16|32|64)|complex(64|128)|bool(_|ean)|void|"
    r"Array|UniTuple|Tuple)"
)
_DECORATORS = ("numba.cuda.jit", "numba.njit", "numba.jit")
_CONSTANT = (
    ast.Constant, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp,
    ast.Subscript, ast.Slice, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def answer_module(path: Path, package: str) -> types.ModuleType:
    """Returns the module of an answer file.

    Args:
        path: the file.
        package: what stands for Numba, "numba" or "numba_cuda_mlir": imports lead there.

    Raises:
        CourseError: the file cannot be read.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise CourseError(f"{path.name} cannot be read: {error.strerror}") from error
    tree = _Reader().read(tree)
    if package != "numba":
        tree = ast.fix_missing_locations(_Successor(package).visit(tree))
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(tree, str(path), "exec"), vars(module))
    return module


class _Reader:
    """Keeps of a module what may run, statement by statement."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # what a name stands for: "np" is "numpy"
        self.own: set[str] = set()  # names that the file itself gives a meaning

    def read(self, tree: ast.Module) -> ast.Module:
        self.own = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        } | {
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        return ast.Module([kept for each in tree.body if (kept := self._kept(each))], [])

    def _kept(self, node: ast.stmt) -> ast.stmt | None:
        if isinstance(node, ast.Import):
            node.names = [each for each in node.names if self._imported(each.name, each)]
            return node if node.names else None
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level or any(each.name == "*" for each in node.names):
                return None
            node.names = [each for each in node.names if self._imported(module, each, inner=True)]
            return node if node.names else None
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets: list[ast.expr]
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if node.value is None or not self._is_constant(node.value):
                return None
            if isinstance(node, ast.AnnAssign):
                node = ast.copy_location(ast.Assign(targets, node.value), node)
            return node if all(map(_is_name, targets)) else None
        return self._function(node) if isinstance(node, ast.FunctionDef) else None

    def _imported(self, module: str, alias: ast.alias, *, inner: bool = False) -> bool:
        first = module.partition(".")[0]
        if first not in MODULES:
            return False
        if inner:
            self.names[alias.asname or alias.name] = f"{module}.{alias.name}"
        elif alias.asname:
            self.names[alias.asname] = module
        else:
            self.names[first] = first
        return True

    def _function(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        arguments = node.args
        defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
        if not all(map(self._is_constant, defaults)):
            return None
        node.decorator_list = list(filter(self._is_decorator, node.decorator_list))
        node.returns = None
        named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for each in (*named, *filter(None, (arguments.vararg, arguments.kwarg))):
            each.annotation = None
        return node

    def _is_constant(self, node: ast.AST) -> bool:
        """True where working an expression out calls nothing of the file, and touches no file."""
        if isinstance(node, ast.Name):
            return True
        if isinstance(node, ast.Attribute):
            return not node.attr.startswith("_") and self._is_constant(node.value)
        if isinstance(node, ast.Call):
            name = self._full_name(node.func)
            pure = name in _CALLS or name.startswith("math.") or _TYPE.fullmatch(name)
            return bool(pure) and self._are_constant(node)
        return isinstance(node, _CONSTANT) and all(
            map(self._is_constant, ast.iter_child_nodes(node))
        )

    def _are_constant(self, node: ast.Call) -> bool:
        given = (*node.args, *(each.value for each in node.keywords))
        return all(map(self._is_constant, given))

    def _is_decorator(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self._full_name(node.func) in _DECORATORS and self._are_constant(node)
        return self._full_name(node) in _DECORATORS

    def _full_name(self, node: ast.expr) -> str:
        """Returns what a name stands for, such as "numpy.array" for `np.array`; "" for others."""
        if isinstance(node, ast.Attribute):
            inner = self._full_name(node.value)
            return f"{inner}.{node.attr}" if inner else ""
        if not isinstance(node, ast.Name) or node.id in self.own:
            return ""
        return self.names.get(node.id, node.id)


def _is_name(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(_is_name, node.elts))
    return isinstance(node, ast.Name)


class _Successor(ast.NodeTransformer):
    """Imports from numba become imports from its successor, in this copy of the file alone."""

    def __init__(self, package: str) -> None:
        self.package = package

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        found = []
        for alias in node.names:
            first, _, rest = alias.name.partition(".")
            if first != "numba":
                found.append(alias)
                continue
            if not alias.asname:  # `import numba.cuda` binds the name numba
                found.append(ast.alias(self.package, "numba"))
            if rest:
                found.append(ast.alias(f"{self.package}.{rest}", alias.asname))
            elif alias.asname:
                found.append(ast.alias(self.package, alias.asname))
        node.names = found
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt | list[ast.stmt]:
        first, _, rest = (node.module or "").partition(".")
        if first != "numba" or node.level:
            return node
        if rest:
            node.module = f"{self.package}.{rest}"
            return node
        # Numba offers its types at the top; the successor keeps them in a module of their own.
        top = [alias for alias in node.names if alias.name in ("cuda", "types")]
        inner = [alias for alias in node.names if alias not in top]
        found = ((self.package, top), (f"{self.package}.types", inner))
        return [
            ast.copy_location(ast.ImportFrom(module, names, 0), node)
            for module, names in found
            if names
        ]
