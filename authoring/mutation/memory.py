"""Small changes to what is read and written: the cell, the array, whether it is atomic."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from authoring.mutation.expressions import minus, plus
from authoring.mutation.trees import Edit, dotted
from simt.kernel.legality import own_expressions

ATOMIC = "cuda.atomic."
ALLOCATIONS = ("cuda.shared.array", "cuda.local.array")
AS_OPERATOR: dict[str, type[ast.operator]] = {
    "add": ast.Add, "sub": ast.Sub, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell that is read, written or updated: the array's name, and its indices.

    Attributes:
        node: the whole expression; `array` the array in it; `index` all of its indices.
    """

    node: ast.expr
    array: ast.expr
    index: ast.expr

    @property
    def indices(self) -> list[ast.expr]:
        """The index along each axis."""
        return list(self.index.elts) if isinstance(self.index, ast.Tuple) else [self.index]


def cell_of(node: ast.expr) -> Cell | None:
    """Returns the cell that an expression stands for, or None.

    >>> cell = cell_of(ast.parse("cuda.atomic.add(bins, (row, b), 1)", mode="eval").body)
    >>> ast.unparse(cell.array), len(cell.indices)
    ('bins', 2)
    """
    if isinstance(node, ast.Subscript):
        return Cell(node, node.value, node.slice)
    if isinstance(node, ast.Call) and dotted(node.func).startswith(ATOMIC) and len(node.args) > 1:
        return Cell(node, node.args[0], node.args[1])
    return None


def ranks(function: ast.AST) -> dict[str, int]:
    """Returns {name of an array: its number of axes}, from the cells a function names."""
    found: dict[str, int] = {}
    for node in ast.walk(function):
        cell = cell_of(node) if isinstance(node, ast.expr) else None
        if cell is not None and isinstance(cell.array, ast.Name):
            found[cell.array.id] = len(cell.indices)
    return found


def scalars(function: ast.FunctionDef) -> list[str]:
    """Returns the names of a function that stand for numbers: the rest of its variables."""
    arrays = ranks(function)
    names = [argument.arg for argument in function.args.args]
    names += [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return [name for name in dict.fromkeys(names) if name not in arrays]


def name_edits(node: ast.expr, numbers: Sequence[str]) -> Iterator[Edit]:
    """Yields a number's name exchanged for each other one: rows for cols, i for j."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in numbers:
        for other in numbers:
            if other != node.id:
                yield Edit("other-name", node, ast.Name(other, ast.Load()))


def memory_edits(node: ast.expr, arrays: Mapping[str, int]) -> Iterator[Edit]:
    """Yields the changes to a cell, or to the size of an array that is made.

    Args:
        node: the expression.
        arrays: the arrays of its function, as `ranks` gives them.
    """
    if isinstance(node, ast.Call) and dotted(node.func) in ALLOCATIONS and node.args:
        sides = node.args[0].elts if isinstance(node.args[0], ast.Tuple) else [node.args[0]]
        for side in sides:
            yield Edit("array-smaller", side, minus(side, 1))
    cell = cell_of(node)
    if cell is None:
        return
    for index in cell.indices:
        if not isinstance(index, ast.Slice | ast.Starred) and not _is_text(index):
            yield Edit("index-later", index, plus(index, 1))
            yield Edit("index-earlier", index, minus(index, 1))
    for one, two in combinations(range(len(cell.indices)), 2):
        turned = cell.indices
        turned[one], turned[two] = turned[two], turned[one]
        yield Edit("indices-swapped", cell.index, ast.Tuple(turned, ast.Load()))
    if isinstance(cell.array, ast.Name):
        rank = len(cell.indices)
        for other in arrays:
            if arrays[other] == rank and other != cell.array.id:
                yield Edit("other-array", cell.array, ast.Name(other, cell.array.ctx))


def _is_text(node: ast.expr) -> bool:
    """True for an index that is no number: a field's name, or None for a new axis."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str | None)


def atomic_edits(statement: ast.stmt) -> Iterator[Edit]:
    """Yields a statement with each atomic as a plain load, the operation, and a plain store."""
    for node in own_expressions(statement):
        if not isinstance(node, ast.Call) or not dotted(node.func).startswith(ATOMIC):
            continue
        cell = cell_of(node)
        value = _plainly(dotted(node.func).removeprefix(ATOMIC), node)
        if cell is None or value is None:
            continue
        target = ast.Subscript(cell.array, cell.index, ast.Store())
        store = ast.Assign([target], value, lineno=0)
        text = ast.unparse(store)
        if isinstance(statement, ast.Expr) and statement.value is node:
            yield Edit("atomic-to-plain", statement, [store], text)
        elif isinstance(statement, ast.Assign) and statement.value is node:
            load = ast.Subscript(cell.array, cell.index, ast.Load())
            # The old value is read first, and what is stored is computed from the cell itself.
            stored = [ast.Assign(statement.targets, load, lineno=0), store]
            yield Edit("atomic-to-plain", statement, stored, text)


def _plainly(name: str, call: ast.Call) -> ast.expr | None:
    """The value that an atomic leaves in its cell, as an expression."""
    cell = ast.Subscript(call.args[0], call.args[1], ast.Load())
    if len(call.args) != 3:
        return None
    if name in AS_OPERATOR:
        return ast.BinOp(cell, AS_OPERATOR[name](), call.args[2])
    if name in ("max", "min"):
        return ast.Call(ast.Name(name, ast.Load()), [cell, call.args[2]], [])
    return call.args[2] if name == "exch" else None
