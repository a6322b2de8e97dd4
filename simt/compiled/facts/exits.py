"""Which statements lanes may leave: a fact of the text."""

from __future__ import annotations

from simt.kernel import ir


def may_leave(node: ir.Statement) -> bool:
    """Whether lanes that come to a statement may not come past it."""
    if isinstance(node, ir.Leave):
        return True
    if isinstance(node, ir.If):
        return any_leaves(node.body) or any_leaves(node.orelse)
    if isinstance(node, ir.Loop):
        return _returns(node.body) or any_leaves(node.orelse)
    return False


def any_leaves(body: ir.Block) -> bool:
    """Whether lanes that come to a block may not come past it."""
    return any(map(may_leave, body))


def always_leaves(body: ir.Block) -> bool:
    """Whether no lane that comes to a block comes past it, since it ends with a `return`."""
    return bool(body) and isinstance(body[-1], ir.Leave) and body[-1].how == "return"


def leaves_loop(body: ir.Block) -> bool:
    """Whether a turn of a loop may be left before its end."""
    for node in body:
        if isinstance(node, ir.Leave):
            return True
        if isinstance(node, ir.If) and (leaves_loop(node.body) or leaves_loop(node.orelse)):
            return True
        if isinstance(node, ir.Loop) and (_returns(node.body) or leaves_loop(node.orelse)):
            return True
    return False


def _returns(body: ir.Block) -> bool:
    for node in body:
        if isinstance(node, ir.Leave) and node.how in ("return", "end"):
            return True
        if isinstance(node, ir.If | ir.Loop) and (_returns(node.body) or _returns(node.orelse)):
            return True
    return False
