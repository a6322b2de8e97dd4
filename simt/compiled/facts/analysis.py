"""What a kernel's text says of its variables: which are the same for all lanes that read them.

A variable that every lane reads alike is one number in compiled code. That holds where all it is
given is alike for all lanes, and where all who read it were there when it was given. Lanes part at
a branch that they take differently, and in a loop that they leave at different turns: what is set
in such a part may be read as one number there, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simt.kernel import ir, trees
from simt.kernel.types import ArrayType, RangeType, TupleType
from simt.report import Dim3

Alike = Any
"""Whether a value is the same for all lanes; of a tuple, for each of its parts."""
Place = tuple[int, ...]
"""The parts in which lanes may be apart, from the outermost in."""

_ONE_FOR_ALL = ("cuda.blockIdx", "cuda.blockDim", "cuda.gridDim", "cuda.warpsize", "cuda.gridsize")
_LANES_OWN = (
    "cuda.atomic", "cuda.shfl", "cuda.laneid", "cuda.match", "cuda.lanemask", "cuda.activemask",
    "cuda.all_sync", "cuda.any_sync", "cuda.eq_sync", "cuda.ballot_sync",
)  # fmt: skip


class NotCompiled(Exception):
    """What stays with the interpreter, and why."""


class Analysis:
    """The variables of a kernel.

    Args:
        code: the kernel.
        block: of the launch.
        given: of a device function, whether all lanes give a parameter the same; True if left out.

    Attributes:
        alike: variable -> whether all lanes that read it find the same; temporaries by number.
        divergent: loops and ifs at which lanes may part, by identity.
        checked: variables that may be read before they are given, whose lanes are kept count of.
    """

    def __init__(self, code: ir.Code, block: Dim3, given: Mapping[str, Alike]) -> None:
        self.code, self.block = code, block
        self.alike: dict[str | int, Alike] = {
            name: given.get(name, True) for name in code.parameters
        }
        self.divergent: set[int] = set()
        self.checked: set[str] = set()
        while True:
            before = (dict(self.alike), set(self.divergent))
            self._given: dict[str, set[Place]] = {name: {()} for name in code.parameters}
            self._read: dict[str, set[Place]] = {}
            self._next = 0
            self._known: list[set[str]] = [set(code.parameters)]
            self._block(code.body, ())
            for name in self._given:
                if not self.together(name):
                    self.alike[name] = _none(self.alike.get(name, False))
            for name in self.checked:
                # What may be read before it is given is kept lane by lane.
                if not isinstance(code.types.get(name), ArrayType):
                    self.alike[name] = False
            if (self.alike, self.divergent) == before:
                break

    def together(self, variable: str | int) -> bool:
        """Whether a variable is set by lanes that are together, and read by none but those."""
        if isinstance(variable, int):
            return True
        return self._together(self._given.get(variable, set()), self._read.get(variable, set()))

    @staticmethod
    def _together(given: set[Place], read: set[Place]) -> bool:
        if len(given) != 1:
            return False
        (place,) = given
        return all(each[: len(place)] == place for each in read)

    def _part(self, place: Place) -> Place:
        self._next += 1
        return (*place, self._next)

    # Statements; each returns whether lanes may have parted in it to meet at the loop's next turn

    def _block(self, body: ir.Block, place: Place) -> bool:
        parted = False
        for node in body:
            if parted:
                place = self._part(place)
            parted |= self._statement(node, place)
        return parted

    def _nested(self, body: ir.Block, place: Place) -> bool:
        self._known.append(set(self._known[-1]))
        parted = self._block(body, place)
        self._known.pop()
        return parted

    def _statement(self, node: ir.Statement, place: Place) -> bool:
        if isinstance(node, ir.Assign):
            found = self.of(node.value, place)
            if node.target is None:
                return False
            if isinstance(node.target, str):
                self._given.setdefault(node.target, set()).add(place)
                self._known[-1].add(node.target)
            known = self.alike.get(node.target, found)
            self.alike[node.target] = _both(known, found)
        elif isinstance(node, ir.Store):
            for each in (node.value, node.array, node.index):
                self.of(each, place)
        elif isinstance(node, ir.If):
            apart = self.of(node.test, place) is not True
            if apart:
                self.divergent.add(id(node))
            arms = [
                self._nested(arm, self._part(place) if apart else place)
                for arm in (node.body, node.orelse)
            ]
            skips = apart and any(_leaves(arm, "continue") for arm in (node.body, node.orelse))
            return any(arms) or skips
        elif isinstance(node, ir.Loop):
            self._block(node.before, place)
            if node.most is not None:
                self.of(node.most, place)
            inside = self._part(place) if id(node) in self.divergent else place
            apart = self.of(node.test, inside) is not True
            self._nested(node.body, inside)
            self._block(node.after, inside)
            if apart or self._breaks_apart(node.body):
                self.divergent.add(id(node))
            self._nested(node.orelse, self._part(place) if id(node) in self.divergent else place)
        elif isinstance(node, ir.Leave) and node.value is not None:
            self.of(node.value, place)
        return False

    def _breaks_apart(self, body: ir.Block) -> bool:
        """Whether some lanes may leave a loop by `break` and others not."""
        for node in body:
            if isinstance(node, ir.If):
                arms = (node.body, node.orelse)
                if id(node) in self.divergent and any(_leaves(arm, "break") for arm in arms):
                    return True
                if any(self._breaks_apart(arm) for arm in arms):
                    return True
            elif isinstance(node, ir.Loop) and self._breaks_apart(node.orelse):
                return True
        return False

    # Expressions

    def of(self, node: ir.Expression, place: Place | None = None) -> Alike:
        """Returns whether an expression is the same for all lanes; `place` notes who reads."""
        if isinstance(node, ir.Constant):
            return _all(node.type, True)
        if isinstance(node, ir.Read):
            if place is not None:
                self._read.setdefault(node.variable, set()).add(place)
                if node.variable not in self._known[-1]:
                    self.checked.add(node.variable)
            return self.alike.get(node.variable, True)
        if isinstance(node, ir.Temporary):
            return self.alike.get(node.number, True)
        if isinstance(node, ir.NewArray):
            return True
        found = [self.of(each, place) for each in trees.parts(node)]
        if isinstance(node, ir.Tuple):
            return tuple(found)
        if isinstance(node, ir.Element):
            owner = found[0]
            if isinstance(node.index, int) and isinstance(owner, tuple):
                return owner[node.index]
            if not isinstance(node.index, int) and len(found) > 1 and isinstance(owner, tuple):
                return all(each is True for each in (*owner, found[1]))
            return owner if isinstance(owner, bool) and len(found) == 1 else False
        if isinstance(node, ir.Load):
            space = getattr(node.array.type, "space", "global")
            return space != "local" and found[0] is True and found[1] is True
        if isinstance(node, ir.Call):
            return self._call(node, found)
        if isinstance(node, ir.DeviceCall | ir.View):
            return False
        return all(each is True for each in found)

    def _call(self, node: ir.Call, found: list[Alike]) -> Alike:
        path = node.path
        if path.startswith("cuda.threadIdx."):
            return self.block["xyz".index(path[-1])] == 1
        if path == "cuda.grid":
            count = len(node.type.elements) if isinstance(node.type, TupleType) else 1
            each = tuple(self.block[axis] == 1 for axis in range(count))
            return each if isinstance(node.type, TupleType) else each[0]
        if path.startswith(_LANES_OWN):
            return False
        if path.startswith("cuda.syncthreads"):
            return True
        if path.startswith(_ONE_FOR_ALL):
            return _all(node.type, True)
        if isinstance(node.type, RangeType):
            ones = [each is True for each in found]
            start = ones[0] if len(ones) > 1 else True
            return (start, ones[0] if len(ones) == 1 else ones[1], ones[2] if ones[2:] else True)
        return _all(node.type, all(each is True for each in found))


def _leaves(body: ir.Block, how: str) -> bool:
    """Whether a block may leave the innermost loop around it in a way."""
    for node in body:
        if isinstance(node, ir.Leave) and node.how == how:
            return True
        if isinstance(node, ir.If) and (_leaves(node.body, how) or _leaves(node.orelse, how)):
            return True
        if isinstance(node, ir.Loop) and _leaves(node.orelse, how):
            return True
    return False


def _all(type_: Any, alike: bool) -> Alike:
    if isinstance(type_, TupleType):
        return tuple(_all(each, alike) for each in type_.elements)
    return alike


def _none(alike: Alike) -> Alike:
    return tuple(map(_none, alike)) if isinstance(alike, tuple) else False


def _both(one: Alike, other: Alike) -> Alike:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return tuple(map(_both, one, other))
    return one is True and other is True
