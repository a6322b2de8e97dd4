"""A kernel lowered: made once for its types, in few kinds of nodes, with everything settled."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simt.kernel import ir, lower
from simt.kernel.source import Kernel, load
from simt.kernel.types import FLOAT32, FLOAT64, INT32, INT64, ArrayType, Type

VECTOR = ArrayType(FLOAT32, 1)
MAX_KINDS = 20


def _kernel(folder: Path, body: str, *, beside: str = "") -> Kernel:
    path = folder / "kernel.py"
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    path.write_text(
        f"import math\nfrom numba import cuda, float32\n{beside}\n"
        f"@cuda.jit\ndef kernel(out, a, n):\n    i = cuda.grid(1)\n{lines}"
    )
    return load(path).kernel("kernel")


def _code(folder: Path, body: str, n: Type = INT64, **more: Any) -> ir.Code:
    return lower.lower(_kernel(folder, body, **more), (VECTOR, VECTOR, n))


def _nodes(part: Any) -> Iterator[Any]:
    """Every node of lowered code, its device functions' included."""
    if isinstance(part, tuple):
        for each in part:
            yield from _nodes(each)
    elif isinstance(part, ir.Code):
        yield from _nodes(part.body)
    elif isinstance(part, ir.Statement | ir.Expression | ir.Span):
        yield part
        for field in dataclasses.fields(part):
            yield from _nodes(getattr(part, field.name))


def _of(code: ir.Code, kind: type[Any]) -> list[Any]:
    return [node for node in _nodes(code) if isinstance(node, kind)]


def test_there_are_few_kinds_of_nodes() -> None:
    bases = ir.Expression, ir.Statement
    classes = [value for value in vars(ir).values() if isinstance(value, type)]
    kinds = [kind for kind in classes if issubclass(kind, bases) and kind not in bases]
    assert len(kinds) <= MAX_KINDS
    assert all(kind.__mro__[2] is object for kind in kinds)
    for kind in kinds:
        assert dataclasses.is_dataclass(kind)
        assert kind.__dataclass_params__.frozen  # type: ignore[attr-defined]


def test_the_same_types_give_the_same_code(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, "out[i] = a[i] + n")
    first = lower.lower(kernel, (VECTOR, VECTOR, INT64))
    assert lower.lower(kernel, (VECTOR, VECTOR, INT64)) is first
    other = lower.lower(kernel, (VECTOR, VECTOR, INT32))
    assert other is not first
    assert other.types["n"] == INT32


def test_nothing_lowered_is_keyed_by_the_syntax_tree(tmp_path: Path) -> None:
    body = "for k in range(n):\n    out[i] += a[k]\nx, y = i, n\nout[x] = y"
    code = _code(tmp_path, body)
    for holder in (code, *_nodes(code)):
        for field in dataclasses.fields(holder):
            value = getattr(holder, field.name)
            if isinstance(value, dict | frozenset | set):
                assert not any(isinstance(key, ast.AST) for key in value), field.name


@pytest.mark.parametrize(
    ("body", "type_"),
    [
        ("out[i] = a[i] + 1", FLOAT64),
        ("out[i] = a[i] + float32(1)", FLOAT32),
        ("out[i] = a[i] * a[i]", FLOAT32),
        ("out[i] = n // 3", INT64),
        ("x = i\nx += a[i]\nout[i] = 1", FLOAT64),
    ],
)
def test_an_operator_has_its_type(tmp_path: Path, body: str, type_: np.dtype[Any]) -> None:
    (operator,) = _of(_code(tmp_path, body), ir.Binary)
    assert operator.type == type_


def test_names_are_resolved_and_branches_pruned(tmp_path: Path) -> None:
    body = "if WIDE:\n    out[i] = a[i + SHIFT]\nelse:\n    out[i] = missing[i]"
    code = _code(tmp_path, body, beside="WIDE = True\nSHIFT = 3\n")
    assert not _of(code, ir.If)
    assert [node.value for node in _of(code, ir.Constant)] == [1, 3]


def test_numbers_are_folded_and_counted_operations_are_not(tmp_path: Path) -> None:
    code = _code(tmp_path, "out[i] = a[2 * 3 - 1] * -1\nout[i] = 2.0 * 3.0")
    assert [node.operator for node in _of(code, ir.Binary)] == ["Mult", "Mult"]
    assert not _of(code, ir.Unary)
    assert {5, -1} <= {node.value for node in _of(code, ir.Constant)}


def test_a_for_loop_becomes_a_loop_with_a_test(tmp_path: Path) -> None:
    body = "for k in range(0, n, -2):\n    out[k] = 1\nfor x in (1, 2):\n    out[i] = x"
    over_range, over_tuple = _of(_code(tmp_path, body), ir.Loop)
    assert over_range.test.operators == ("Gt",)
    assert over_range.most is None
    assert over_tuple.most is not None


def test_a_statement_costs_once_however_many_it_becomes(tmp_path: Path) -> None:
    code = _code(tmp_path, "x, y = i, n\nx, y = y, x\nout[i] += x\nassert y > 0")
    lines = [node.line for node in code.body if node.steps]
    assert lines == sorted(set(lines))
    assert len(lines) == 5


def test_every_node_knows_its_line(tmp_path: Path) -> None:
    code = _code(tmp_path, "if i < n:\n    out[i] = a[i]\nfor k in range(3):\n    out[k] = k")
    lines = {node.line for node in _nodes(code)}
    first = code.kernel.tree.lineno
    assert lines <= set(range(first, first + 6))


def test_a_device_function_is_lowered_once_for_its_types(tmp_path: Path) -> None:
    beside = "@cuda.jit(device=True)\ndef twice(x):\n    return x + x\n"
    code = _code(tmp_path, "out[i] = twice(a[i]) + twice(a[0]) + twice(n)", beside=beside)
    one, same, other = (call.code for call in _of(code, ir.DeviceCall))
    assert one is same
    assert (one.result, other.result) == (FLOAT32, INT64)
