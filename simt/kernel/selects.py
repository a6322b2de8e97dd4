"""Which `if` the compiler makes selects of: it works out all arms, and chooses among the values.

It does where an arm changes a few variables by a little arithmetic that can neither fail nor be
seen from outside; the rest stays a branch. How much is a little was asked of the PTX that Numba and
NVVM make of some sixty kernels; a GPU's assembler may get rid of more.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simt.kernel import ir
from simt.vocabulary import attributes, indices

MAX_VARIABLES = 3
MAX_OPERATIONS = 5
"""In both arms together."""
NEVER = MAX_OPERATIONS + 1

_CHEAP = frozenset(("Add", "Sub", "Mult", "BitAnd", "BitOr", "BitXor", "LShift", "RShift"))


def are_selects(body: ir.Block, orelse: ir.Block) -> bool:
    """Returns whether an `if` with these arms becomes selects."""
    arms = (body, orelse)
    inside = [node for arm in arms for node in arm if isinstance(node, ir.If)]
    own = [node for arm in arms for node in arm if not isinstance(node, ir.If)]
    cost, changed = sum(map(_of_statement, own)), _changed(own)
    if inside:
        # One inside the other: a choice among values that are there already.
        (inner, *others), deeper = inside, [*inside[0].body, *inside[0].orelse]
        if others or inner.branches or any(isinstance(node, ir.If) for node in deeper):
            return False
        if inner in orelse and not inner.orelse:
            return False
        cost += sum(map(_of_statement, deeper))
        changed |= _changed(deeper)
        return cost == 0 and len(changed) == 1
    return cost <= MAX_OPERATIONS and len(changed) <= MAX_VARIABLES


def _changed(statements: Iterable[ir.Statement]) -> set[str]:
    targets = (node.target for node in statements if isinstance(node, ir.Assign))
    return {target for target in targets if isinstance(target, str)}


def _of_statement(node: ir.Statement) -> int:
    """The operations in an assignment to a variable; NEVER for what cannot be done ahead."""
    if not isinstance(node, ir.Assign) or node.everywhere:
        return NEVER
    if node.empty:
        return 0
    numbers = isinstance(node.type, np.dtype) if isinstance(node.target, str) else True
    return _of(node.value) if numbers and node.target is not None else NEVER


def _of(node: ir.Expression) -> int:
    match node:
        case ir.Constant() | ir.Read() | ir.Temporary():
            return 0
        case ir.Unary():
            return 1 + _of(node.operand)
        case ir.Binary():
            return _of(node.left) + _of(node.right) + 1 if node.operator in _CHEAP else NEVER
        case ir.Compare():
            return len(node.operators) + sum(map(_of, node.operands))
        case ir.Logical():
            return NEVER if any(node.branches) else len(node.parts) - 1 + sum(map(_of, node.parts))
        case ir.Select():
            return NEVER if node.branches else 1 + sum(map(_of, (node.test, node.yes, node.no)))
        case ir.Tuple():
            return sum(map(_of, node.parts))
        case ir.Element():
            return NEVER if isinstance(node.index, ir.Expression) else _of(node.owner)
        case ir.Call(function=function) if function is attributes.CONVERSION:
            return 1 + sum(map(_of, node.arguments))
        case ir.Call():
            return 0 if node.path in indices.VALUES else NEVER
    return NEVER
