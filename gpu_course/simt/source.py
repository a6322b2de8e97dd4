"""Kernel -> syntax tree, and what the names in it stand for.

A kernel reaches the simulator as a live function, as a Numba dispatcher, or as text in a file.
Either way it becomes a `Kernel`: a parsed function and a scope. A file is read and never run: its
imports become `Symbol`s, its constants are evaluated here, everything else is kept as `Unknown`
and refused only if a kernel asks for it.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError, KernelRefused
from gpu_course.simt.constants import Costs, NotConstant, Symbol, constant
from gpu_course.simt.kernels import (
    MAX_DEPTH,
    MODULES,
    Kernel,
    Unknown,
    parse,
    show_line,
    show_path,
)
from gpu_course.simt.live import from_function
from gpu_course.simt.reading import MAX_SOURCE_BYTES, is_missing, read_text
from gpu_course.simt.signatures import Signature, from_node
from gpu_course.text import source_lines

__all__ = [
    "MAX_DEPTH",
    "MAX_SOURCE_BYTES",
    "Kernel",
    "Module",
    "Unknown",
    "from_function",
    "is_missing",
    "load",
    "parse",
    "read_text",
    "show_path",
]  # fmt: skip


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
        AnswerFileError: the file cannot be read as text.
        KernelRefused: it is not Python.
    """
    path = Path(path)
    shown = show_path(path)
    return _read(path, shown, read_text(path, shown))


@functools.lru_cache(maxsize=64)
def _read(path: Path, shown: str, text: str) -> Module:
    tree = parse(text, shown, whole=True)
    lines = dict(enumerate(source_lines(text), start=1))
    names: dict[str, Any] = {}
    constant_lines: dict[str, int] = {}
    costs = Costs()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update(_imported(node))
        elif isinstance(node, ast.FunctionDef):
            jit = [d for d in node.decorator_list if _is_jit(d, names)]
            declared = _declared(jit, shown, lines)
            look_up = names.__getitem__
            device = any(_says_device(d) for d in jit)
            names[node.name] = Kernel(
                node.name, node, shown, lines, look_up, bool(jit), declared, device
            )
        elif isinstance(node, ast.ClassDef | ast.AsyncFunctionDef):
            names[node.name] = Unknown("no kernel")
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    names[target.id] = _constant_or_unknown(node.value, names, target.id, costs)
                    constant_lines[target.id] = node.lineno
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                names.pop(getattr(target, "id", ""), None)
    functions = tuple(name for name, value in names.items() if isinstance(value, Kernel))
    return Module(path, shown, functions, names, constant_lines)


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
        except CourseError as error:
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
        elif node.module in MODULES:
            value = Symbol(f"{MODULES[node.module]}.{alias.name}")
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
