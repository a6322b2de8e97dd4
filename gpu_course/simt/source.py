"""Kernel -> syntax tree, and what the names in it stand for.

A kernel reaches the simulator as a live function, as a Numba dispatcher, or as text in a file.
Either way it becomes a `Kernel`: a parsed function and a scope. A file is read and never run: its
imports become `Symbol`s, its constants are evaluated here, everything else is kept as `Unknown`
and refused only if a kernel asks for it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gpu_course.errors import AnswerFileError, CourseError, KernelRefused
from gpu_course.simt.constants import NamedTuple, NotConstant, Symbol, constant
from gpu_course.simt.signatures import Signature, from_node, signatures

MAX_SOURCE_BYTES = 1_000_000
MAX_DEPTH = 200

_MODULES = {
    "numba.cuda": "cuda",
    "numba_cuda_mlir.cuda": "cuda",
    "gpu_course.simt.module": "cuda",
    "numba": "numba",
    "numba.types": "numba",
    "numba.core.types": "numba",
    "numba_cuda_mlir": "numba",
    "numba_cuda_mlir.types": "numba",
    "numpy": "numpy",
    "math": "math",
    "operator": "operator",
    "collections": "collections",
}


@dataclass(frozen=True)
class Unknown:
    """A name the simulator cannot follow: what it is, for the message when a kernel uses it.

    A string is one: a kernel cannot use it, but its compiler decides a branch by it.
    """

    what: str
    text: str | None = None


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel or device function as the simulator sees it.

    Attributes:
        name: the function's name.
        tree: its syntax tree; line numbers are those of `file`.
        file: the file as messages show it.
        lines: line number -> source text of that line.
        scope: looks up a free name, giving a number, a tuple, an array, a Symbol, a Kernel (a
            device function) or an Unknown; raises KeyError for a name that does not exist.
        decorated: True when the function carries `cuda.jit`.
        settled: True when its scope never changes: it was read from a file.
        declared: the signatures that `cuda.jit` was given.
    """

    name: str
    tree: ast.FunctionDef
    file: str
    lines: Mapping[int, str] = field(repr=False)
    scope: Callable[[str], Any] = field(repr=False)
    decorated: bool = True
    settled: bool = False
    declared: tuple[Signature, ...] = ()

    @property
    def place(self) -> tuple[str, int, str]:
        """Where it is defined: the same for two readings of one function."""
        return self.file, self.tree.lineno, self.name

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameter names, in order."""
        return tuple(a.arg for a in self.tree.args.args)

    def text(self, line: int) -> str:
        """Returns the source text of one line, stripped."""
        return self.lines.get(line, "").strip()

    def refuse(self, node: ast.AST | int, fact: str, hint: str = "") -> KernelRefused:
        """Returns the KernelRefused error for a construct of this kernel."""
        line = node if isinstance(node, int) else getattr(node, "lineno", self.tree.lineno)
        return KernelRefused(
            fact,
            file=self.file,
            line=line,
            text=self.text(line),
            kernel=self.name,
            hint=hint,
        )


@dataclass(frozen=True)
class Module:
    """An answer file, read and never run.

    Attributes:
        path: where it is; `file` is the same as messages show it.
        functions: the names of its top-level functions, in order.
        names: every top-level name -> what it stands for.
        constant_lines: the line each constant is assigned on.
    """

    path: Path
    file: str
    functions: tuple[str, ...]
    names: Mapping[str, Any] = field(repr=False)
    constant_lines: Mapping[str, int] = field(repr=False)

    def kernel(self, name: str) -> Kernel:
        """Returns the top-level function `name`.

        Raises:
            KeyError: the file has no such function.
        """
        found = self.names[name]
        if not isinstance(found, Kernel):
            raise KeyError(name)
        return found


def show_path(path: str | Path) -> str:
    """Returns a path as messages show it: short, and the same on every machine.

    >>> show_path("/home/ada/course/puzzles/01_threads/guard.py")
    'puzzles/01_threads/guard.py'
    """
    path = Path(path)
    if any(mark in str(path) for mark in ("ipykernel_", "<ipython-input", "<stdin>")):
        return "notebook cell"
    if len(path.parts) > 2 and path.parts[-3] in ("puzzles", "solutions"):
        return "/".join(path.parts[-3:])
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return "/".join(path.parts[-2:]) if path.is_absolute() else path.as_posix()


def read_text(path: Path, shown: str) -> str:
    """Returns the text of an answer file.

    Raises:
        AnswerFileError: it is missing, a folder, too large, or not UTF-8.
    """
    if path.is_dir():
        raise AnswerFileError(f"{shown} is a folder, not a file", "put the answer's text in a file")
    try:
        size = path.stat().st_size
        if size > MAX_SOURCE_BYTES:
            raise AnswerFileError(
                f"{shown} has {size:,} bytes; an answer may have {MAX_SOURCE_BYTES:,}",
                "remove what does not belong to the answer",
            )
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AnswerFileError(
            f"{shown} is not UTF-8 text (byte {error.start})", "save the file as UTF-8"
        ) from None
    except OSError as error:
        raise AnswerFileError(f"{shown} cannot be read: {error.strerror}") from None


def parse(text: str, shown: str) -> ast.Module:
    """Returns the syntax tree of a file's text.

    Raises:
        KernelRefused: Python cannot parse it, with the line; or it is nested too deeply.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        shown_line = (getattr(error, "text", None) or "").strip()
        fact = f"Python cannot read this file: {getattr(error, 'msg', None) or error}"
        raise KernelRefused(fact, file=shown, line=line, text=shown_line) from None
    except (RecursionError, MemoryError):
        raise KernelRefused(
            "the file is nested too deeply to read",
            file=shown,
            line=1,
            hint="use shorter expressions",
        ) from None
    if _depth(tree) > MAX_DEPTH:
        raise KernelRefused(
            f"the file nests more than {MAX_DEPTH} levels deep",
            file=shown,
            line=1,
            hint="split the expression into several statements",
        )
    return tree


def _depth(tree: ast.AST) -> int:
    depth, level = 0, [tree]
    while level and depth <= MAX_DEPTH:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        depth += 1
    return depth


def load(path: str | Path) -> Module:
    """Returns the answer file at `path` as a Module, without running any of it.

    Raises:
        AnswerFileError: the file cannot be read as text.
        KernelRefused: it is not Python.
    """
    path = Path(path)
    shown = show_path(path)
    return _read(path, shown, read_text(path, shown))


@functools.lru_cache(maxsize=64)
def _read(path: Path, shown: str, text: str) -> Module:
    tree = parse(text, shown)
    lines = dict(enumerate(text.splitlines(), start=1))
    names: dict[str, Any] = {}
    constant_lines: dict[str, int] = {}
    functions: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update(_imported(node))
        elif isinstance(node, ast.FunctionDef):
            jit = [d for d in node.decorator_list if _is_jit(d, names)]
            declared = tuple(s for d in jit for s in _signatures_at(d))
            look_up = names.__getitem__
            names[node.name] = Kernel(
                node.name, node, shown, lines, look_up, bool(jit), True, declared
            )
            functions.append(node.name)
        elif isinstance(node, ast.ClassDef | ast.AsyncFunctionDef):
            names[node.name] = Unknown(f"{node.name}, which is not a kernel")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    names[target.id] = _constant_or_unknown(node.value, names, target.id)
                    constant_lines[target.id] = node.lineno
    return Module(path, shown, tuple(functions), names, constant_lines)


def _constant_or_unknown(node: ast.expr, names: Mapping[str, Any], name: str) -> Any:
    try:
        return constant(node, names)
    except NotConstant as error:
        what = f"{name}, which is not a constant the simulator can evaluate ({error})"
        return Unknown(what, node.value if _is_string(node) else None)  # type: ignore[attr-defined]


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _signatures_at(decorator: ast.expr) -> tuple[Signature, ...]:
    """What `@cuda.jit("float32(float32)", device=True)` declares."""
    if not isinstance(decorator, ast.Call):
        return ()
    given = [*decorator.args, *(k.value for k in decorator.keywords if k.arg == "func_or_sig")]
    parts = [e for g in given for e in (g.elts if isinstance(g, ast.List) else [g])]
    return tuple(s for s in map(from_node, parts) if s is not None)


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for alias in node.names:
        if isinstance(node, ast.Import):
            target = alias.name if alias.asname else alias.name.partition(".")[0]
            name = alias.asname or target
            found[name] = (
                Symbol(_MODULES[target]) if target in _MODULES else Unknown(f"the module {target}")
            )
            continue
        full = f"{node.module}.{alias.name}"
        if full in _MODULES:
            value: Any = Symbol(_MODULES[full])
        elif node.module in _MODULES:
            value = Symbol(f"{_MODULES[node.module]}.{alias.name}")
        else:
            value = Unknown(f"{alias.name} of the module {node.module}")
        found[alias.asname or alias.name] = value
    return found


def _is_jit(node: ast.expr, names: Mapping[str, Any]) -> bool:
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute) and node.attr == "jit" and isinstance(node.value, ast.Name):
        return names.get(node.value.id) == Symbol("cuda")
    return isinstance(node, ast.Name) and names.get(node.id) == Symbol("cuda.jit")


def from_function(function: Any) -> Kernel:
    """Returns a live function or a Numba dispatcher as a Kernel; it is not called.

    Raises:
        CourseError: its source cannot be found, or it is no plain function.
    """
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        raise CourseError(
            f"{function!r} is not a kernel",
            "pass a function, or the result of cuda.jit",
        )
    try:
        text_lines, first = inspect.getsourcelines(plain)
    except (OSError, TypeError):
        raise CourseError(
            f"the source of {plain.__name__} cannot be found",
            "define the kernel in a file or in a notebook cell",
        ) from None
    filename = plain.__code__.co_filename
    shown = show_path(filename)
    tree = parse(textwrap.dedent("".join(text_lines)), shown)
    ast.increment_lineno(tree, max(first, 1) - 1)
    node = tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise CourseError(f"{plain.__name__} is not defined by def", "write the kernel with def")
    whole = linecache.getlines(filename)
    lines = {first + k: line.rstrip("\n") for k, line in enumerate(text_lines)}
    lines |= {k: line.rstrip("\n") for k, line in enumerate(whole, start=1)}
    scope, decorated = _live_scope(plain), plain is not function
    declared = _declared(function)
    return Kernel(node.name, node, shown, lines, scope, decorated, declared=declared)


def _declared(function: Any) -> tuple[Signature, ...]:
    """The signatures of a dispatcher: the simulator's keeps them, Numba's has compiled them."""
    declared = getattr(function, "declared", ())
    if not declared and getattr(function, "_can_compile", True) is False:
        declared = signatures([kept.signature for kept in function.overloads.values()])
    return tuple(declared)


def _live_scope(function: Any) -> Callable[[str], Any]:
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    seen: dict[str, Any] = {}

    def look_up(name: str) -> Any:
        if name in seen:
            return seen[name]
        value = cells[name].cell_contents if name in cells else function.__globals__[name]
        seen[name] = _from_live(name, value)
        return seen[name]

    return look_up


def _from_live(name: str, value: Any) -> Any:
    if isinstance(value, bool | int | float | complex | np.generic | np.ndarray | Symbol):
        return value
    if value is None:
        return None
    if isinstance(value, str):
        return Unknown(f"{name}, a string of the host", value)
    if isinstance(value, np.dtype):
        return value if value.fields else Symbol(f"numpy.{value.name}")
    if isinstance(value, tuple):
        return tuple(_from_live(name, v) for v in value)
    if isinstance(value, ModuleType):
        return (
            Symbol(_MODULES[value.__name__])
            if value.__name__ in _MODULES
            else Unknown(f"the module {value.__name__}")
        )
    if hasattr(value, "py_func") or inspect.isfunction(value):
        if getattr(value, "__module__", "") == "gpu_course.simt.module":
            return Symbol(f"cuda.{value.__name__}")
        return from_function(value)
    origin = getattr(value, "__module__", None) or type(value).__module__
    attribute = getattr(value, "__name__", None) or str(value)
    if isinstance(value, type) and issubclass(value, np.generic):
        return Symbol(f"numpy.{attribute}")
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return NamedTuple(attribute, value._fields)
    if origin.startswith("numba") and hasattr(value, "fields") and hasattr(value, "dtype"):
        return value.dtype  # a record type, made by from_dtype
    if origin == "math":
        return Symbol(f"math.{attribute}")
    if origin in ("operator", "_operator"):
        return Symbol(f"operator.{attribute}")
    if origin.startswith("numba"):
        home = "cuda" if ".cuda" in origin else "numba"
        return Symbol(f"{home}.{attribute}")
    return Unknown(f"{name}, a {type(value).__name__} of the host")
