"""What a dot reads: `a.shape`, `a.size`, `z.real`, a field of all structures; and conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from simt.kernel.ir import Call
from simt.kernel.types import NoSuchType, Type
from simt.machine.machine import Machine
from simt.machine.memory import Array
from simt.machine.values import Value
from simt.vocabulary.bits import count_ones
from simt.vocabulary.functions import Function, cast


def made_by_lowering(run: Callable[[Machine, Sequence[Value], Type], Value]) -> Function:
    """Returns a function that has no name of its own in a kernel."""

    def type_(arguments: Sequence[Type], nodes: Sequence[object]) -> Type:
        raise NoSuchType("cannot be called")

    def computed(machine: Machine, call: Call, arguments: Sequence[Value], result: Type) -> Value:
        return run(machine, arguments, result)

    return Function(type_, computed)


CONVERSION = made_by_lowering(lambda machine, arguments, result: cast(arguments[0], result))
"""np.float32(x)"""


def of(name: str) -> Function:
    """Returns the function that reads an attribute of an array or a number."""

    def run(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
        (owner,) = arguments
        if isinstance(owner, Array) and name in owner.fields:
            return owner.fields[name]
        if name in ("real", "imag"):
            return np.asarray(getattr(owner, name))[()]
        if name == "shape":
            return tuple(map(whole, owner.shape))
        return whole(owner.size if name == "size" else len(owner.shape))

    return made_by_lowering(run)


def _bit_count(machine: Machine, arguments: Sequence[Value], result: Type) -> Value:
    return cast(count_ones(arguments[0])[()], result)


METHODS = {
    "conjugate": made_by_lowering(lambda machine, arguments, result: np.conjugate(arguments[0])),
    "bit_count": made_by_lowering(_bit_count),
    "view": made_by_lowering(lambda machine, arguments, result: arguments[0].view(result)),
}
"""What a number is asked: z.conjugate(), x.view(int32)."""


def whole(value: Value) -> Value:
    """Returns a count as a value: int64, or one per lane as it is."""
    return value if isinstance(value, np.ndarray) else np.int64(value)
