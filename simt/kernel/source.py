"""Kernel -> syntax tree, and what the names in it stand for.

A kernel reaches the simulator as a live function, as a Numba dispatcher, or as text in a file.
Either way it becomes a `Kernel`: a parsed function and a scope. A file is read and never run: its
imports become `Symbol`s, its constants are evaluated here, everything else is kept as `Unknown`
and refused only if a kernel asks for it.
"""

from __future__ import annotations

import ast
import errno
import functools
import inspect
import linecache
import math
import os
import stat
import textwrap
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from simt.errors import NOTEBOOK_CELL, KernelRefused, SourceFileError, UserError, file_problem
from simt.kernel.constants import (
    MAX_CELLS,
    Costs,
    FileList,
    NamedTuple,
    NotConstant,
    Symbol,
    cells,
    constant,
    resolve,
)
from simt.kernel.types import Signature, from_node, signatures
from simt.text import one_line, source_lines

MAX_SOURCE_BYTES = 200_000

# What Python says of a text it cannot read -> what to do about it. The first that fits counts.
_STEPS = (
    ("tabs and spaces", "indent with spaces alone, four for each level; one line here has a tab"),
    ("non-printable character", "delete the blanks of this line and type them; they were pasted"),
    ("invalid character", "type this character anew: it only looks like the one that is meant"),
    ("null bytes", "save the file as plain UTF-8 text"),
    ("unexpected indent", "begin this line below the beginning of the one above it"),
    ("unindent does not match", "begin this line where an earlier line of its block begins"),
    ("expected an indented block", "write what belongs to this line below it, four spaces in"),
    ("unterminated", "close the quote that is opened here"),
    ("was never closed", "close the bracket that is opened here"),
)
_ANY_STEP = "mend this line, or a bracket or quote left open above it"


def step_for(message: str, line: str) -> str:
    """Returns what to try where Python cannot read a line.

    Args:
        message: what Python says.
        line: the line.

    >>> step_for("'(' was never closed", "x = (1")
    'close the bracket that is opened here'
    """
    if line.startswith("%"):
        return "delete this line: lines with % belong to a notebook's cell, and not to a file"
    return next((step for part, step in _STEPS if part in message), _ANY_STEP)


def is_missing(path: Path) -> bool:
    """True when there is nothing of that name; False for what is there and cannot be reached."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def read_text(path: Path, shown: str) -> str:
    """Returns the text of an answer file.

    Raises:
        SourceFileError: it is missing, no file, too large, or not UTF-8.
    """
    try:
        _check_kind(os.stat(path), shown)
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)
            size = max(os.fstat(file.fileno()).st_size, len(data))
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP) and path.is_symlink():
            fact = f"{shown} is a link that leads nowhere"
            raise SourceFileError(fact, "remove it, or put a file where it leads") from None
        problem = file_problem(error, shown, "read")
        raise SourceFileError(problem.fact, problem.hint) from None
    if size > MAX_SOURCE_BYTES:
        raise SourceFileError(
            f"{shown} has {size:,} bytes; an answer may have {MAX_SOURCE_BYTES:,}",
            "remove what does not belong to the answer",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _other_encoding(data, error.start, shown) from None


def _check_kind(about: os.stat_result, shown: str) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise SourceFileError(f"{shown} is a folder, not a file", "put the answer's text in a file")
    if not stat.S_ISREG(about.st_mode):
        # A pipe would be waited for, and some devices never end.
        raise SourceFileError(
            f"{shown} is not an ordinary file but a pipe or a device",
            "remove it, and put the answer's text in a file of that name",
        )


def _other_encoding(data: bytes, at: int, shown: str) -> SourceFileError:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return SourceFileError(
            f"{shown} is not UTF-8 text but UTF-16",
            "save the file as UTF-8; a > in Windows PowerShell writes UTF-16",
        )
    line = data.count(b"\n", 0, at) + 1
    return SourceFileError(
        f"{shown} is not UTF-8 text: byte 0x{data[at]:02X} in line {line}",
        "save the file as UTF-8, as JupyterLab does, or type the letters of that line anew",
    )


MAX_DEPTH = 200
MAX_SHOWN = 200

OF_THE_LIBRARY = ("numba.cuda.", "numba_cuda_mlir.", "simt.foreign.")
"""Where functions of `numba.cuda` live that are plain Python: most of what a host calls."""

MODULES = {
    "numba.cuda": "cuda",
    "numba_cuda_mlir.cuda": "cuda",
    "simt.foreign.cuda": "cuda",
    "numba": "numba",
    "numba.types": "numba",
    "numba.core.types": "numba",
    "numba_cuda_mlir": "numba",
    "numba_cuda_mlir.types": "numba",
    "numpy": "numpy",
    "math": "math",
    "cmath": "cmath",
    "operator": "operator",
    "collections": "collections",
}
"""The modules whose names a kernel may use, and what the simulator calls them."""


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
            device function) or an Unknown; raises KeyError for a name that does not exist. It
            gives the same for a name each time.
        decorated: True when the function carries `cuda.jit`.
        declared: the signatures that `cuda.jit` was given.
        device: True when `cuda.jit` was told that kernels call it.
    """

    name: str
    tree: ast.FunctionDef
    file: str
    lines: Mapping[int, str] = field(repr=False)
    scope: Callable[[str], Any] = field(repr=False)
    decorated: bool = True
    declared: tuple[Signature, ...] = ()
    device: bool = False

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
        return show_line(self.lines.get(line, ""))

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


def show_path(path: str | Path) -> str:
    """Returns a path as messages show it: short, and the same on every machine.

    >>> show_path("/home/ada/gpu/puzzles/01_threads/guard.py")
    'puzzles/01_threads/guard.py'
    """
    path = Path(path)
    if any(mark in str(path) for mark in ("ipykernel_", "<ipython-input", "<stdin>")):
        return NOTEBOOK_CELL
    if len(path.parts) > 2 and path.parts[-3] in ("puzzles", "solutions"):
        return "/".join(path.parts[-3:])
    return _seen_from(os.getcwd(), path)


@functools.lru_cache(maxsize=256)
def _seen_from(folder: str, path: Path) -> str:
    """A path as it is seen from a folder: asked of the system once, not at each launch."""
    try:
        return path.resolve().relative_to(folder).as_posix()
    except (ValueError, OSError, RuntimeError):
        # It lies elsewhere, or is a link that leads to itself.
        return "/".join(path.parts[-2:]) if path.is_absolute() else path.as_posix()


def show_line(text: str) -> str:
    """Returns a line of source as messages show it: no longer than a person would read."""
    text = one_line(text.strip())
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + " ..."


def parse(text: str, shown: str, *, whole: bool = False) -> ast.Module:
    """Returns the syntax tree of a text.

    Args:
        text: the text.
        shown: how messages call its file.
        whole: True for a whole file, in which nothing may be out of place: a `break` without its
            loop, a `return` without its function.

    Raises:
        KernelRefused: Python cannot parse it, with the line; or it is nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            # What Python only warns of is no reason to refuse a file.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
            if whole and _depth(tree) <= MAX_DEPTH:
                # Python's own rules beyond the grammar. This makes code and runs none of it.
                compile(tree, shown, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        shown_line = show_line(getattr(error, "text", None) or "")
        told = one_line(str(getattr(error, "msg", None) or error))
        fact, step = f"Python cannot read this file: {told}", step_for(told, shown_line)
        raise KernelRefused(fact, file=shown, line=line, text=shown_line, hint=step) from None
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


def load(path: str | Path) -> Module:
    """Returns the answer file at `path` as a Module, without running any of it.

    Raises:
        SourceFileError: the file cannot be read as text.
        KernelRefused: it is not Python.
    """
    path = Path(path)
    return read(path, read_text(path, show_path(path)))


def read(path: Path, text: str) -> Module:
    """Returns an answer file as a Module, by the text that stood in it.

    Raises:
        KernelRefused: it is not Python.
    """
    return _read(path, show_path(path), text)


@functools.lru_cache(maxsize=64)
def _read(path: Path, shown: str, text: str) -> Module:
    tree = parse(text, shown, whole=True)
    reader = _Reader(shown, dict(enumerate(source_lines(text), start=1)))
    reader.block(tree.body)
    names = reader.names
    functions = tuple(name for name, value in names.items() if isinstance(value, Kernel))
    return Module(path, shown, functions, names, reader.constant_lines)


class _Reader:
    """Reads the statements of a file in the order in which Python would run them."""

    def __init__(self, shown: str, lines: Mapping[int, str]) -> None:
        self.shown = shown
        self.lines = lines
        self.names: dict[str, Any] = {}
        self.constant_lines: dict[str, int] = {}
        self.costs = Costs()

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.ImportFrom():
                self.names.update(_imported(node))
            case ast.FunctionDef():
                self.function(node)
            case ast.ClassDef() | ast.AsyncFunctionDef():
                self.names[node.name] = Unknown("no kernel")
            case ast.Assign():
                values = [self.found(target, node.value) for target in node.targets]
                for value in values:
                    self.assign(value, node.lineno)
            case ast.AnnAssign(value=ast.expr() as value):
                self.assign(self.found(node.target, value), node.lineno)
            case ast.AugAssign(target=ast.Name() as target):
                read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
                new = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
                self.assign(self.found(target, new), node.lineno)
            case ast.Delete():
                for gone in node.targets:
                    self.names.pop(getattr(gone, "id", ""), None)
            case ast.If():
                self.choice(node)
            case ast.With():
                self.block(node.body)
            case ast.Try():
                # As it goes where nothing is raised.
                self.block([*node.body, *node.orelse, *node.finalbody])
            case ast.For() | ast.While() | ast.Match():
                self.give_up(node)

    def function(self, node: ast.FunctionDef) -> None:
        names = self.names
        jit = [d for d in node.decorator_list if _is_jit(d, names)]
        declared = _declared(jit, self.shown, self.lines)
        device = any(_says_device(d) for d in jit)
        look_up = names.__getitem__
        names[node.name] = Kernel(
            node.name, node, self.shown, self.lines, look_up, bool(jit), declared, device
        )

    def choice(self, node: ast.If) -> None:
        """if: of a constant, the arm that is taken; `if __name__ == "__main__"` never is."""
        if any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test)):
            self.block(node.orelse)
            return
        try:
            test = constant(node.test, self.names)
        except NotConstant:
            self.give_up(node)
            return
        self.block(node.body if test else node.orelse)

    def give_up(self, node: ast.stmt) -> None:
        """What is assigned where nobody can say how often, if at all."""
        kind = type(node).__name__.lower()
        unknown = Unknown(f"not a constant the simulator can evaluate (a {kind} assigns it)")
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                self.names[name.id] = unknown

    def found(self, target: ast.expr, node: ast.expr) -> dict[str, Any]:
        """What an assignment gives to each name of its target."""
        if isinstance(target, ast.Name):
            return {target.id: _constant_or_unknown(node, self.names, target.id, self.costs)}
        if not isinstance(target, ast.Tuple | ast.List):
            return {}
        parts = target.elts
        given = node.elts if isinstance(node, ast.Tuple | ast.List) else []
        stars = any(isinstance(n, ast.Starred) for n in (*parts, *given))
        if len(given) == len(parts) and not stars:
            pairs = zip(parts, given, strict=True)
            each = [self.found(part, value) for part, value in pairs]
            return {name: value for one in each for name, value in one.items()}
        whole = _constant_or_unknown(node, self.names, _WHOLE, self.costs)
        found = _unpacked(target, whole)
        self.costs.share(_WHOLE, found)
        return found

    def assign(self, found: Mapping[str, Any], line: int) -> None:
        self.names.update(found)
        self.constant_lines |= dict.fromkeys(found, line)


_WHOLE = "what is taken apart"


def _unpacked(target: ast.expr, value: Any) -> dict[str, Any]:
    """What each name of a target gets of a tuple: A, *rest = TILES."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if isinstance(target, ast.Starred):
        return _unpacked(target.value, value)
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    held = isinstance(value, tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    given = list(value) if held else []
    star = next((k for k, part in enumerate(parts) if isinstance(part, ast.Starred)), None)
    if star is not None and len(given) >= len(parts) - 1:
        end = len(given) - (len(parts) - 1 - star)
        given[star:end] = [FileList(given[star:end])]
    if len(given) != len(parts):
        what = "not a constant the simulator can evaluate (a value that is taken apart)"
        given = [value if isinstance(value, Unknown) else Unknown(what)] * len(parts)
    found: dict[str, Any] = {}
    for part, one in zip(parts, given, strict=True):
        found |= _unpacked(part, one)
    return found


def _constant_or_unknown(node: ast.expr, names: Mapping[str, Any], name: str, costs: Costs) -> Any:
    try:
        costs.charge(name, node)
        return constant(node, names)
    except NotConstant as error:
        what = f"not a constant the simulator can evaluate ({error})"
        return Unknown(what, node.value if _is_string(node) else None)  # type: ignore[attr-defined]


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _declared(
    decorators: list[ast.expr], shown: str, lines: Mapping[int, str]
) -> tuple[Signature, ...]:
    found: list[Signature] = []
    for decorator in decorators:
        try:
            found += _signatures_at(decorator)
        except UserError as error:
            line = decorator.lineno
            text = show_line(lines.get(line, ""))
            raise KernelRefused(
                error.fact, file=shown, line=line, text=text, hint=error.hint
            ) from None
    return tuple(found)


def _signatures_at(decorator: ast.expr) -> tuple[Signature, ...]:
    """What `@cuda.jit("float32(float32)", device=True)` declares."""
    if not isinstance(decorator, ast.Call):
        return ()
    given = [*decorator.args, *(k.value for k in decorator.keywords if k.arg == "func_or_sig")]
    parts = [e for g in given for e in (g.elts if isinstance(g, ast.List) else [g])]
    return tuple(s for s in map(from_node, parts) if s is not None)


def _says_device(decorator: ast.expr) -> bool:
    """True for `@cuda.jit(..., device=True)`."""
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return any(
        k.arg == "device" and isinstance(k.value, ast.Constant) and bool(k.value.value)
        for k in keywords
    )


def _imported(node: ast.Import | ast.ImportFrom) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for alias in node.names:
        if isinstance(node, ast.Import):
            target = alias.name if alias.asname else alias.name.partition(".")[0]
            name = alias.asname or target
            found[name] = (
                Symbol(MODULES[target]) if target in MODULES else Unknown(f"the module {target}")
            )
            continue
        full = f"{node.module}.{alias.name}"
        if full in MODULES:
            value: Any = Symbol(MODULES[full])
        elif node.module == "math" and alias.name == "*":
            found |= {n: resolve(Symbol(f"math.{n}")) for n in dir(math) if n[0] != "_"}
            continue
        elif node.module in MODULES:
            value = resolve(Symbol(MODULES[node.module]).member(alias.name))
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


MAX_KEPT = 256
MAX_KEPT_PER_CODE = 8
MAX_CONSTANT_BYTES = 1 << 16
"""Of an array of the host that a kernel reads; with a larger one it is read anew each time."""


def from_function(function: Any) -> Kernel:
    """Returns a live function or a Numba dispatcher as a Kernel; it is not called.

    Raises:
        UserError: its source cannot be found, or it is no plain function.
    """
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        raise UserError(
            f"{function!r} is not a kernel",
            "pass a function, or the result of cuda.jit",
        )
    code, shape = (
        plain.__code__,
        (plain is not function, _signatures_of(function), _is_device(function)),
    )
    with _one_at_a_time:
        kept = _kept_of(code)
        for scope, known in kept:
            same = (known.decorated, known.declared, known.device) == shape
            if same and scope.holds_for(plain):
                return known
        read, scope = _read_function(_Identity(code)), LiveScope(plain)
        kernel = Kernel(read.tree.name, read.tree, read.file, read.lines, scope, *shape)
        kept.insert(0, (scope, kernel))
        del kept[MAX_KEPT_PER_CODE:]
        return kernel


@dataclass(frozen=True)
class _Read:
    """The text of a function, read."""

    tree: ast.FunctionDef
    file: str
    lines: dict[int, str]


_Kept = list[tuple["LiveScope", Kernel]]
_kernels: OrderedDict[int, tuple[CodeType, _Kept]] = OrderedDict()
_one_at_a_time = threading.RLock()


def _kept_of(code: CodeType) -> _Kept:
    """The kernels made of a function's code so far, the newest first."""
    found = _kernels.setdefault(id(code), (code, []))[1]
    _kernels.move_to_end(id(code))
    if len(_kernels) > MAX_KEPT:
        _kernels.popitem(last=False)
    return found


class _Identity:
    """Code as a key, by identity: equal code may stand in two files."""

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.code is self.code

    def __hash__(self) -> int:
        return id(self.code)


@functools.lru_cache(maxsize=MAX_KEPT)
def _read_function(key: _Identity) -> _Read:
    code = key.code
    if code.co_name == "<lambda>":
        return _read_lambda(code)
    try:
        text_lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        raise UserError(
            f"the source of {code.co_name} cannot be found",
            "define the kernel in a file or in a notebook cell",
        ) from None
    filename = code.co_filename
    shown = show_path(filename)
    text, before = textwrap.dedent("".join(text_lines)), 0
    if text[:1].isspace():  # a comment further left than the function, which dedent goes by
        text, before = f"if True:\n{text}", 1
    tree = parse(text, shown)
    ast.increment_lineno(tree, max(first, 1) - 1 - before)
    node = tree.body[0].body[0] if isinstance(tree.body[0], ast.If) else tree.body[0]
    if not isinstance(node, ast.FunctionDef):
        raise UserError(f"{code.co_name} is not defined by def", "write the kernel with def")
    whole = linecache.getlines(filename)
    lines = {first + k: line.rstrip("\n") for k, line in enumerate(text_lines)}
    lines |= {k: line.rstrip("\n") for k, line in enumerate(whole, start=1)}
    return _Read(node, shown, lines)


def _read_lambda(code: CodeType) -> _Read:
    """A lambda under cuda.jit, as the function that it is short for."""
    text = linecache.getlines(code.co_filename)
    if not text:
        raise UserError("the source of a lambda cannot be found", "write it with def")
    shown = show_path(code.co_filename)
    starts = {(line, column) for line, _, column, _ in code.co_positions() if column}
    for node in ast.walk(parse("".join(text), shown)):
        if not isinstance(node, ast.Lambda) or node.lineno != code.co_firstlineno:
            continue
        if any((n.lineno, n.col_offset) in starts for n in _expressions(node.body)):
            body: list[ast.stmt] = [ast.copy_location(ast.Return(node.body), node.body)]
            made = ast.FunctionDef(name="lambda", args=node.args, body=body, decorator_list=[])
            lines = {k: line.rstrip("\n") for k, line in enumerate(text, start=1)}
            return _Read(ast.copy_location(made, node), shown, lines)
    raise UserError("the source of a lambda cannot be found", "write it with def")


def _expressions(node: ast.expr) -> list[ast.expr]:
    return [n for n in ast.walk(node) if isinstance(n, ast.expr)]


def _is_device(function: Any) -> bool:
    """True for a dispatcher made with device=True: the simulator's says so, Numba's in a table."""
    options = getattr(function, "targetoptions", {})
    return bool(getattr(function, "device", False) or options.get("device"))


def _signatures_of(function: Any) -> tuple[Signature, ...]:
    """The signatures of a dispatcher: the simulator's keeps them, Numba's has compiled them."""
    declared = getattr(function, "declared", ())
    if not declared and getattr(function, "_can_compile", True) is False:
        declared = signatures([kept.signature for kept in function.overloads.values()])
    return tuple(declared)


class LiveScope:
    """Looks up the free names of a live function, each once, and knows what it found.

    Args:
        function: a plain function.
    """

    def __init__(self, function: FunctionType) -> None:
        self._find = _finder(function)
        self._seen: dict[str, tuple[Any, Any]] = {}
        self._absent: set[str] = set()
        self._asking = False

    def __call__(self, name: str) -> Any:
        """Returns what a name stands for, as it was when it was first asked for.

        Raises:
            KeyError: there is no such name.
        """
        if name not in self._seen:
            try:
                value = self._find(name)
            except KeyError:
                self._absent.add(name)
                raise
            found = of_live(name, value)
            # What a kernel cannot use may be of any size: it is only told from another.
            kept = isinstance(found, Unknown | Captured)
            before = value if kept else _frozen(value)
            self._seen[name] = before, found
        return self._seen[name][1]

    def holds_for(self, function: FunctionType) -> bool:
        """Returns whether every name looked up so far stands for the same in a function."""
        if self._asking:
            # A function that calls itself: whether it is still the same is being found out.
            return True
        self._asking = True
        try:
            return self._holds(_finder(function))
        finally:
            self._asking = False

    def _holds(self, find: Callable[[str], Any]) -> bool:
        for name in self._absent:
            try:
                find(name)
            except KeyError:
                continue
            return False
        for name, (before, found) in self._seen.items():
            try:
                value = find(name)
            except KeyError:
                return False
            if isinstance(found, Unknown | Captured):
                if value is not before:
                    return False
            elif not _is_still(value, before) or not _reads_the_same(value, found):
                return False
        return True


def _finder(function: FunctionType) -> Callable[[str], Any]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))

    def find(name: str) -> Any:
        if name not in cells:
            return function.__globals__[name]
        try:
            return cells[name].cell_contents
        except ValueError:
            # The function around it has not assigned it yet.
            raise KeyError(name) from None

    return find


class _Changeable:
    """An array as it was: it may be written to while it stays the same object."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.was = array.copy() if array.nbytes <= MAX_CONSTANT_BYTES else None

    def is_still(self, value: Any) -> bool:
        return (
            value is self.array
            and self.was is not None
            and value.dtype == self.was.dtype
            and value.shape == self.was.shape
            and value.tobytes() == self.was.tobytes()
        )


def _frozen(value: Any) -> Any:
    """What is kept of a value, to see later whether it is the same."""
    if isinstance(value, np.ndarray):
        return _Changeable(value)
    if isinstance(value, tuple):
        return tuple(map(_frozen, value))
    return value


def _is_still(value: Any, before: Any) -> bool:
    if isinstance(before, _Changeable):
        return before.is_still(value)
    if isinstance(before, tuple):
        return (
            isinstance(value, tuple)
            and len(value) == len(before)
            and all(map(_is_still, value, before))
        )
    if isinstance(before, np.generic):
        # A structure is a view, and may have changed in place.
        same = type(value) is type(before) and not isinstance(before, np.void)
        return same and value.dtype == before.dtype and value.tobytes() == before.tobytes()
    if isinstance(before, float | complex) and type(value) is type(before):
        # By their text: -0.0 equals 0.0 and is another constant, and nan equals nothing.
        return repr(value) == repr(before)
    if isinstance(before, int) and type(value) is type(before):
        return bool(value == before)
    return value is before


def _reads_the_same(value: Any, found: Any) -> bool:
    """True when a function that was found is still the one that its name stands for."""
    if isinstance(found, tuple):
        return all(map(_reads_the_same, value, found))
    return not isinstance(found, Kernel) or from_function(value) is found


class Captured(np.ndarray):
    """An array on the device that a kernel finds beside itself: it may be written to."""


class LiveModule:
    """A module of the script itself: what a kernel names in it is looked up once."""

    def __init__(self, module: ModuleType | type[Enum]) -> None:
        self.module = module
        self._seen: dict[str, Any] = {}

    def member(self, name: str) -> Any:
        """Returns what a name of the module stands for.

        Raises:
            KeyError: there is no such name.
        """
        if name not in self._seen:
            if not hasattr(self.module, name):
                raise KeyError(name)
            self._seen[name] = of_live(name, getattr(self.module, name))
        return self._seen[name]


def of_live(name: str, value: Any) -> Any:
    """Returns what a live value is to a kernel; an Unknown where it is nothing."""
    if isinstance(value, Enum):
        return of_live(name, value.value)
    if isinstance(value, bool | int | float | complex | np.generic | np.ndarray | Symbol):
        return value
    if value is None:
        return None
    if isinstance(value, str):
        return Unknown("a string of the host", value)
    if isinstance(value, np.dtype):
        return value if value.fields else Symbol(f"numpy.{value.name}")
    if isinstance(value, tuple):
        return _of_tuple(name, value)
    if isinstance(value, ModuleType):
        known = MODULES.get(value.__name__)
        return LiveModule(value) if known is None else Symbol(known)
    if hasattr(value, "py_func"):
        return from_function(value)
    if isinstance(getattr(value, "on_device", None), np.ndarray):
        return value.on_device.view(Captured)
    if inspect.isfunction(value):
        return _of_function(value)
    return _of_class(value) or _of_a_library(value)


def _of_tuple(name: str, value: tuple[Any, ...]) -> Any:
    if cells(value, MAX_CELLS) > MAX_CELLS:
        return Unknown(f"a tuple of more than {MAX_CELLS:,} values")
    parts = [of_live(name, v) for v in value]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)


def _of_function(value: FunctionType) -> Kernel | Symbol:
    # A function of the library is told by its name, and not to become a device function.
    home = value.__module__ or ""
    if not home.startswith(OF_THE_LIBRARY):
        return from_function(value)
    return Symbol(f"cuda{'.libdevice' * home.endswith('.libdevice')}.{value.__name__}")


def _of_class(value: Any) -> LiveModule | Symbol | NamedTuple | None:
    """What a class is that a script may make or NumPy has; None for any other, and for no class."""
    if not isinstance(value, type):
        return None
    if issubclass(value, Enum):
        return LiveModule(value)  # its members are constants
    if issubclass(value, np.generic):
        return Symbol(f"numpy.{value.__name__}")
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return NamedTuple(value.__name__, value._fields)
    return None


def _of_a_library(value: Any) -> Any:
    """What a name of Numba or of Python's own modules of mathematics is."""
    home = getattr(value, "__module__", None) or type(value).__module__
    name = getattr(value, "__name__", None) or str(value)
    if home in ("math", "cmath"):
        return Symbol(f"{home}.{name}")
    if home in ("operator", "_operator"):
        return Symbol(f"operator.{name}")
    if not home.startswith("numba"):
        return Unknown(f"a {type(value).__name__} of the host")
    if hasattr(value, "fields") and hasattr(value, "dtype"):
        return value.dtype  # a record type, made by from_dtype
    return Symbol(f"{'cuda' if '.cuda' in home else 'numba'}.{name}")
