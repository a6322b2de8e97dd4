"""A function as the simulator sees it: its syntax tree, and what the names beside it stand for."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_course.errors import NOTEBOOK_CELL, KernelRefused
from gpu_course.simt.reading import step_for
from gpu_course.simt.signatures import Signature
from gpu_course.text import one_line

MAX_DEPTH = 200
MOST_SHOWN = 200

MODULES = {
    "numba.cuda": "cuda",
    "numba_cuda_mlir.cuda": "cuda",
    "gpu_course.foreign.cuda": "cuda",
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

    >>> show_path("/home/ada/course/puzzles/01_threads/guard.py")
    'puzzles/01_threads/guard.py'
    """
    path = Path(path)
    if any(mark in str(path) for mark in ("ipykernel_", "<ipython-input", "<stdin>")):
        return NOTEBOOK_CELL
    if len(path.parts) > 2 and path.parts[-3] in ("puzzles", "solutions"):
        return "/".join(path.parts[-3:])
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError, RuntimeError):
        # It lies elsewhere, or is a link that leads to itself.
        return "/".join(path.parts[-2:]) if path.is_absolute() else path.as_posix()


def show_line(text: str) -> str:
    """Returns a line of source as messages show it: no longer than a person would read."""
    text = one_line(text.strip())
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + " ..."


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
