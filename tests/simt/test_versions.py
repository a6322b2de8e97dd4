"""Numba types each version of a variable by itself, and joins versions that one place may see."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import numpy as np
import pytest
from numba.core import types as numba_types
from numba.cuda.compiler import compile_cuda

from simt.kernel.flow import find_versions

BODIES = {
    "reused for a float": """
        x = 1
        j = x // 2
        x = a[0]
        out[j] = x
    """,
    "joined after an if": """
        x = 1
        if n > 2:
            x = a[0]
        out[0] = x
    """,
    "joined by a loop": """
        x = 0
        for k in range(n):
            x = x + a[k]
        out[0] = x
    """,
    "apart again after a loop": """
        x = 0
        for k in range(n):
            x = x + k
        out[0] = x
        x = a[0]
        out[1] = x
    """,
    "a break carries its version out": """
        x = 0
        while True:
            x = a[0]
            if x > 1:
                break
        out[0] = x
    """,
    "augmented": """
        x = 3
        y = x
        x += a[0]
        out[y] = x
    """,
    "a parameter": """
        j = n + 1
        n = a[0]
        out[j] = n
    """,
    "behind a return": """
        x = a[0]
        out[0] = x
        return
        x = n
        y = x
        out[1] = y
    """,
    "behind an if that leaves either way": """
        j = 0
        for k in range(n):
            if k > 2:
                break
            else:
                continue
            y = a[k]
            j = y
        out[j] = a[0]
    """,
}


def _ours(body: str) -> set[tuple[str, str]]:
    """(name, type) of every version."""
    from simt.kernel import inference, legality
    from simt.kernel.source import Kernel
    from simt.kernel.types import FLOAT32, INT64, ArrayType

    text = "def kernel(out, a, n):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ")
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    program = legality.draft(Kernel("kernel", tree, "test.py", {}, {}.__getitem__))
    array = ArrayType(FLOAT32, 1)
    run = inference._Inference(program, [array, array, INT64])
    reads = {(n.id, str(t)) for n, t in run.run().reads.items()}  # type: ignore[attr-defined]
    names = {
        d: getattr(n, "id", getattr(n, "arg", "")) for n, d in program.versions.numbers.items()
    }
    return reads | {(names[d], str(t)) for d, t in run.assignments.items()}


def _numbas(body: str) -> set[tuple[str, str]]:
    scope: dict[str, Any] = {}
    exec("def kernel(out, a, n):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    "), scope)
    array = numba_types.Array(numba_types.float32, 1, "C")
    result = compile_cuda(
        scope["kernel"], numba_types.void, (array, array, numba_types.int64), cc=(8, 0)
    )
    found = set()
    for name, type_ in result.type_annotation.typemap.items():
        if not name.startswith(("$", "arg.", "const")):
            plain = str(type_).removeprefix("Literal[int](").partition(")")[0]
            number = "int64" if str(type_).startswith("Literal[int]") else plain
            if number in ("int64", "float32", "float64"):
                found.add((name.partition(".")[0], number))
    return found


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
@pytest.mark.filterwarnings("ignore::numba.core.errors.NumbaPerformanceWarning")
def test_versions_have_the_types_numba_gives_them(body: str) -> None:
    ours = {(n, t) for n, t in _ours(body) if n in ("x", "y", "j", "n")}
    theirs = {(n, t) for n, t in _numbas(body) if n in ("x", "y", "j", "n")}
    assert ours == theirs


def test_one_place_that_sees_two_assignments_makes_them_one() -> None:
    text = "def f(n):\n    x = 1\n    if n:\n        x = 2\n    y = x\n    x = 3\n    z = x\n"
    (tree,) = ast.parse(text).body
    assert isinstance(tree, ast.FunctionDef)
    names = find_versions(tree).stores
    of_x = [v for node, v in names.items() if getattr(node, "id", "") == "x"]
    assert of_x[0] == of_x[1] == "x"
    assert of_x[2] != "x"
    assert np.unique(of_x).size == 2
