"""Which `if` the compiler makes selects of: it works out all arms, and chooses among the values.

It does where an arm changes a few variables by a little arithmetic that can neither fail nor be
seen from outside; the rest stays a branch. An arm may load again what the test has surely loaded,
since then nothing is loaded ahead. How much is a little was asked of the PTX that Numba and NVVM
make of some two hundred kernels; a GPU's assembler may get rid of more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from simt.kernel import ir
from simt.vocabulary import attributes, indices

MAX_VARIABLES = 3
MAX_OPERATIONS = 5
"""In both arms together."""
MAX_IN_BOTH_ARMS = 2
"""The same where both arms load again, or one does and the other computes."""
NEVER = MAX_OPERATIONS + 1

_CHEAP = frozenset(("Add", "Sub", "Mult", "BitAnd", "BitOr", "BitXor", "LShift", "RShift"))


Known = frozenset[tuple[object, ...]]
"""Loads that have been made already, each as `_key` tells it."""
NOTHING: Known = frozenset()


def are_selects(test: ir.Expression, body: ir.Block, orelse: ir.Block) -> bool:
    """Returns whether an `if` with this test and these arms becomes selects."""
    return _scalars(body, orelse) or _loads_again(test, body, orelse)


def ends_kept(arm: ir.Block) -> ir.Block:
    """Returns an arm of an `if` that branches, or a function's body, as the compiler leaves it.

    An `if` that loads again and ends the arm has its own way out, and stays a branch. A store
    behind it is surely an instruction; a variable may be one that nobody reads.
    """
    found = list(arm)
    for place in reversed(range(len(found))):
        node = found[place]
        if isinstance(node, ir.Store):
            break
        if isinstance(node, ir.If) and not (node.branches or _scalars(node.body, node.orelse)):
            found[place] = replace(node, branches=True)
    return tuple(found)


def _scalars(body: ir.Block, orelse: ir.Block) -> bool:
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


def _loads_again(test: ir.Expression, body: ir.Block, orelse: ir.Block) -> bool:
    """Whether arms that load become selects, since the test has loaded all of it."""
    arms = (*body, *orelse)
    changed = _changed(arms)
    known = frozenset(key for key in _sure(test) or NOTHING if not changed & _variables(key))
    cost = sum(_of_statement(node, known) for node in arms)
    most = 0 if len(changed) > 1 else MAX_IN_BOTH_ARMS if body and orelse else MAX_OPERATIONS
    return cost <= most and len(changed) <= 2


def _sure(node: ir.Expression) -> Known | None:
    """The loads that whoever works this out has made; None where that may branch, or be seen."""
    match node:
        case ir.Constant() | ir.Read():
            return NOTHING
        case ir.Load():
            key, within = _key(node), _sure(node.index)
            return None if key is None or within is None else within | {key}
        case ir.Unary():
            return _sure(node.operand)
        case ir.Binary():
            return _all((node.left, node.right)) if node.operator in _CHEAP else None
        case ir.Compare(operands=(first, second, *others)):
            return _all((first, second)) if _all(others) == NOTHING else None
        case ir.Logical(parts=(first, *others)):
            return _sure(first) if _all(others) == NOTHING else None
        case ir.Tuple():
            return _all(node.parts)
        case ir.Element(index=int()):
            return _sure(node.owner)
        case ir.Call(function=function) if function is attributes.CONVERSION:
            return _all(node.arguments)
        case ir.Call():
            return NOTHING if node.path in indices.VALUES else None
    return None


def _all(nodes: Iterable[ir.Expression]) -> Known | None:
    found = [_sure(node) for node in nodes]
    known = [each for each in found if each is not None]
    return frozenset().union(*known) if len(known) == len(found) else None


def _key(node: ir.Expression) -> tuple[object, ...] | None:
    """What two expressions share that have one value while no variable changes; None: unknown."""
    parts: tuple[ir.Expression, ...]
    match node:
        case ir.Constant(value=int() | float() | np.generic()):
            return "number", str(node.type), node.value
        case ir.Read():
            return "variable", node.variable
        case ir.Load(field=""):
            name, parts = "load", (node.array, node.index)
        case ir.Unary():
            name, parts = node.operator, (node.operand,)
        case ir.Binary() if node.operator in _CHEAP:
            name, parts = node.operator, (node.left, node.right)
        case ir.Tuple():
            name, parts = "tuple", node.parts
        case ir.Call(function=function) if function is attributes.CONVERSION:
            name, parts = "conversion", node.arguments
        case ir.Call() if node.path in indices.VALUES:
            name, parts = node.path, ()
        case _:
            return None
    keys = tuple(map(_key, parts))
    return None if None in keys else (name, str(node.type), *keys)


def _variables(key: tuple[object, ...]) -> set[object]:
    if key[0] == "variable":
        return {key[1]}
    return {name for part in key if isinstance(part, tuple) for name in _variables(part)}


def _changed(statements: Iterable[ir.Statement]) -> set[str]:
    targets = (node.target for node in statements if isinstance(node, ir.Assign))
    return {target for target in targets if isinstance(target, str)}


def _of_statement(node: ir.Statement, known: Known = NOTHING) -> int:
    """The operations in an assignment to a variable; NEVER for what cannot be done ahead."""
    if not isinstance(node, ir.Assign) or node.everywhere:
        return NEVER
    if node.empty:
        return 0
    numbers = isinstance(node.type, np.dtype) if isinstance(node.target, str) else True
    return _of(node.value, known) if numbers and node.target is not None else NEVER


def _of(node: ir.Expression, known: Known) -> int:
    def each(nodes: Iterable[ir.Expression]) -> int:
        return sum(_of(one, known) for one in nodes)

    match node:
        case ir.Constant() | ir.Read() | ir.Temporary():
            return 0
        case ir.Load():
            return 0 if _key(node) in known else NEVER
        case ir.Unary():
            return 1 + _of(node.operand, known)
        case ir.Binary():
            return each((node.left, node.right)) + 1 if node.operator in _CHEAP else NEVER
        case ir.Compare():
            return len(node.operators) + each(node.operands)
        case ir.Logical():
            return NEVER if any(node.branches) else len(node.parts) - 1 + each(node.parts)
        case ir.Select():
            return NEVER if node.branches else 1 + each((node.test, node.yes, node.no))
        case ir.Tuple():
            return each(node.parts)
        case ir.Element():
            return NEVER if isinstance(node.index, ir.Expression) else _of(node.owner, known)
        case ir.Call(function=function) if function is attributes.CONVERSION:
            return 1 + each(node.arguments)
        case ir.Call():
            return 0 if node.path in indices.VALUES else NEVER
    return NEVER
