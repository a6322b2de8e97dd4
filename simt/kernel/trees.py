"""What stands in a kernel's tree: the parts of expressions, and the names it reads and gives."""

from __future__ import annotations

from collections.abc import Iterator

from simt.kernel import ir

Name = str | int
"""A variable, or the number of a temporary."""


def parts(node: ir.Expression) -> tuple[ir.Expression, ...]:
    """Returns the expressions that one is made of, in the order in which they are worked out."""
    if isinstance(node, ir.Tuple | ir.Logical):
        return node.parts
    if isinstance(node, ir.Element):
        index = (node.index,) if isinstance(node.index, ir.Expression) else ()
        return (node.owner, *index)
    if isinstance(node, ir.Load):
        return (node.array, node.index)
    if isinstance(node, ir.View):
        return (node.array, *parts_of_index(node))
    if isinstance(node, ir.Unary):
        return (node.operand,)
    if isinstance(node, ir.Binary):
        return (node.left, node.right)
    if isinstance(node, ir.Compare):
        return node.operands
    if isinstance(node, ir.Select):
        return (node.test, node.yes, node.no)
    if isinstance(node, ir.Call | ir.DeviceCall):
        return node.arguments
    return ()


def parts_of_index(node: ir.View) -> Iterator[ir.Expression]:
    """Yields the expressions between the brackets of a view, those of its slices among them."""
    for part in node.parts:
        if isinstance(part, ir.Span):
            yield from (each for each in (part.low, part.high, part.step) if each is not None)
        else:
            yield part


def name_of(node: ir.Expression) -> Name | None:
    """Returns the name that an expression is; None where it is more, or none."""
    if isinstance(node, ir.Read):
        return node.variable
    return node.number if isinstance(node, ir.Temporary) else None


def names_read(node: ir.Expression) -> Iterator[Name]:
    """Yields the names that an expression reads."""
    if (name := name_of(node)) is not None:
        yield name
    for part in parts(node):
        yield from names_read(part)


def names_given(body: ir.Block) -> Iterator[Name]:
    """Yields the names that a block gives, each as often as its text does."""
    for node in body:
        if isinstance(node, ir.Assign) and node.target is not None:
            yield node.target
        elif isinstance(node, ir.If):
            yield from names_given((*node.body, *node.orelse))
        elif isinstance(node, ir.Loop):
            yield from names_given((*node.before, *node.body, *node.after, *node.orelse))


def conjuncts(test: ir.Expression) -> tuple[ir.Expression, ...]:
    """Returns what has to hold for a condition to hold: the parts that an `and` joins."""
    if isinstance(test, ir.Logical) and test.conjunction:
        return tuple(each for part in test.parts for each in conjuncts(part))
    return (test,)
