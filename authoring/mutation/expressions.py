"""Small changes to an expression: operators, constants, conditions, names that look alike."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from authoring.mutation.trees import Edit, dotted

OTHER_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mod, ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr,
}  # fmt: skip
OTHER_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
NOT_COMMUTATIVE = (
    ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift, ast.MatMult,
)  # fmt: skip
OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "min": ("max",), "max": ("min",), "any": ("all",), "all": ("any",),
    "math.floor": ("math.ceil",), "math.ceil": ("math.floor",),
    "cuda.atomic.add": ("cuda.atomic.sub",), "cuda.atomic.sub": ("cuda.atomic.add",),
    "cuda.atomic.max": ("cuda.atomic.min",), "cuda.atomic.min": ("cuda.atomic.max",),
    "cuda.shfl_up_sync": ("cuda.shfl_down_sync",), "cuda.shfl_down_sync": ("cuda.shfl_up_sync",),
    "cuda.any_sync": ("cuda.all_sync",), "cuda.all_sync": ("cuda.any_sync",),
    "cuda.syncthreads_and": ("cuda.syncthreads_or",),
    "cuda.syncthreads_or": ("cuda.syncthreads_and",),
    **{
        f"cuda.{index}.{axis}": (f"cuda.{index}.{turned}", f"cuda.{twin}.{axis}")
        for index, twin in (
            ("threadIdx", "blockIdx"), ("blockIdx", "threadIdx"),
            ("blockDim", "gridDim"), ("gridDim", "blockDim"),
        )
        for axis, turned in (("x", "y"), ("y", "x"), ("z", "x"))
    },
}  # fmt: skip
"""A dotted name -> the names a learner takes for it: the other axis first."""
MODULES = ("cuda.", "math.", "torch.")
"""How a call begins whose dot stands behind a module, not behind a value with a method."""


def expression_edits(node: ast.expr) -> Iterator[Edit]:
    """Yields the changes to an expression itself, not to the expressions inside it."""
    for type_, edits in _EDITS.items():
        if isinstance(node, type_):
            yield from edits(node)
    name = dotted(node)
    for other in OTHER_NAMES.get(name, ()):
        kind = "axis" if other.rpartition(".")[0] == name.rpartition(".")[0] else "name"
        if not name.endswith((".x", ".y", ".z")):
            kind = "function"
        yield Edit(kind, node, ast.parse(other, mode="eval").body)


def plus(node: ast.expr, step: ast.expr | int) -> ast.expr:
    """Returns node + step as a person would write it: a constant stays one constant.

    >>> [ast.unparse(plus(ast.parse(t, mode="eval").body, -1)) for t in ("i", "3", "i + 1")]
    ['i - 1', '2', 'i']
    """
    if isinstance(step, int):
        if step < 0:
            return minus(node, -step)
        if isinstance(node, ast.Constant):
            return ast.Constant(node.value + step)  # type: ignore[operator]
        step = ast.Constant(step)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _same(node.right, step):
        return node.left
    return ast.BinOp(node, ast.Add(), step)


def minus(node: ast.expr, step: ast.expr | int) -> ast.expr:
    """Returns node - step, written in the same way."""
    if isinstance(step, int):
        if isinstance(node, ast.Constant):
            return ast.Constant(node.value - step)  # type: ignore[operator]
        step = ast.Constant(step)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _same(node.right, step):
        return node.left
    return ast.BinOp(node, ast.Sub(), step)


def _same(left: ast.expr, right: ast.expr) -> bool:
    return ast.dump(left) == ast.dump(right)


def _of_binary(node: ast.BinOp) -> Iterator[Edit]:
    other = OTHER_OPERATORS.get(type(node.op))
    if other is not None:
        yield Edit("operator", node, ast.BinOp(node.left, other(), node.right))
    if isinstance(node.op, NOT_COMMUTATIVE):
        yield Edit("operands-swapped", node, ast.BinOp(node.right, node.op, node.left))
    yield Edit("operand-dropped", node, node.left)
    yield Edit("operand-dropped", node, node.right)


def _of_unary(node: ast.UnaryOp) -> Iterator[Edit]:
    if not isinstance(node.op, ast.UAdd):
        yield Edit("operator-dropped", node, node.operand)


def _of_comparison(node: ast.Compare) -> Iterator[Edit]:
    for number, op in enumerate(node.ops):
        for other in OTHER_COMPARISONS[type(op)]:
            ops = [*node.ops[:number], other(), *node.ops[number + 1 :]]
            yield Edit("comparison", node, ast.Compare(node.left, ops, node.comparators))
    if len(node.ops) == 2:
        middle, last = node.comparators
        yield Edit("half-dropped", node, ast.Compare(node.left, node.ops[:1], [middle]))
        yield Edit("half-dropped", node, ast.Compare(middle, node.ops[1:], [last]))


def _of_condition(node: ast.BoolOp) -> Iterator[Edit]:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield Edit("and-or", node, ast.BoolOp(other, node.values))
    for number, half in enumerate(node.values):
        rest = [*node.values[:number], *node.values[number + 1 :]]
        yield Edit("half-dropped", node, ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0])
        inverted = ast.UnaryOp(ast.Not(), half)
        values = [*node.values[:number], inverted, *node.values[number + 1 :]]
        yield Edit("half-inverted", node, ast.BoolOp(node.op, values))


def _of_choice(node: ast.IfExp) -> Iterator[Edit]:
    yield Edit("choice-dropped", node, node.body)
    yield Edit("choice-dropped", node, node.orelse)
    yield Edit("choice-inverted", node, ast.IfExp(node.test, node.orelse, node.body))


def _of_constant(node: ast.Constant) -> Iterator[Edit]:
    if isinstance(node.value, bool):
        yield Edit("constant", node, ast.Constant(not node.value))
    elif isinstance(node.value, int | float):
        yield Edit("constant", node, plus(node, 1))
        yield Edit("constant", node, minus(node, 1))


def _of_call(node: ast.Call) -> Iterator[Edit]:
    name = dotted(node.func)
    if node.keywords:
        return
    if name in ("min", "max") and len(node.args) == 2:
        for kept in node.args:
            yield Edit("operand-dropped", node, kept)
    one_number = name in ("abs", "round") or name.startswith("math.")
    if one_number and len(node.args) == 1:
        yield Edit("call-dropped", node, node.args[0])
    if isinstance(node.func, ast.Attribute) and not node.args and not name.startswith(MODULES):
        yield Edit("call-dropped", node, node.func.value)


_EDITS: dict[type[ast.expr], Callable[..., Iterator[Edit]]] = {
    ast.BinOp: _of_binary,
    ast.UnaryOp: _of_unary,
    ast.Compare: _of_comparison,
    ast.BoolOp: _of_condition,
    ast.IfExp: _of_choice,
    ast.Constant: _of_constant,
    ast.Call: _of_call,
}
