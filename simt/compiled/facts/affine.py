"""Which numbers differ from lane to lane only by what is known before a launch.

An index such as `row * n + column` is what the block's first thread has, and on top of it what each
thread has more than the first: so much is known of `cuda.threadIdx`, and whole numbers that are
added, or multiplied by what all lanes share, keep it known. What a lane has more is a sum of
products: numbers known from the text and the shape of the block, times sides, strides and numbers
that the launch is given.

It holds in whole numbers of 64 bits as they are worked out, modulo 2^64. What may be cut to fewer
bits, or is divided, is known only where each lane's own number is.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from simt.compiled.facts.analysis import Analysis
from simt.kernel import ir
from simt.kernel.types import ArrayType, RangeType
from simt.report import Dim3
from simt.vocabulary.loops import ARRAY_LENGTH

Word = tuple[str, ...]
"""Names of numbers of the launch, in order, which are multiplied; () stands for 1."""
Number = dict[Word, int]
"""A number of the launch: words, and how often each is added."""

MOST = 1 << 31
"""No number that is known of a lane is larger: products of two fit into 64 bits."""


@dataclass(eq=False)
class Lanes:
    """What the lanes of a block have.

    Attributes:
        more: word -> int64 (threads,), what each has more than the first, without what is 0.
        exact: int64 (threads,), what each has, where that is known.
        number: what all have, where that is a number of the launch.
    """

    more: dict[Word, np.ndarray] = field(default_factory=dict)
    exact: np.ndarray | None = None
    number: Number | None = None

    @property
    def alike(self) -> bool:
        """Whether all lanes have the same."""
        return not self.more


Known = Any
"""Lanes, or a tuple of them; None where nothing is known."""


class Affine:
    """What is known of the whole numbers of a kernel.

    Args:
        code: the kernel, or a function that it calls.
        analysis: of it.
        block: of the launch.
        given: of a function, parameter -> what is known of it.
    """

    def __init__(
        self,
        code: ir.Code,
        analysis: Analysis,
        block: Dim3,
        given: Mapping[str, Known] | None = None,
    ) -> None:
        self.code, self.analysis, self.block = code, analysis, block
        self.threads = block[0] * block[1] * block[2]
        self._set: dict[str | int, list[ir.Assign]] = {}
        _collect(code.body, self._set)
        self._variables: dict[str | int, Known] = {
            name: self._parameter(name) if given is None else given.get(name)
            for name in code.parameters
        }
        self._settle()

    def _parameter(self, name: str) -> Known:
        """What is known of a kernel's own parameter."""
        wanted, own = self.code.parameters[name]
        if isinstance(own, ArrayType) or not _is_word(own) or wanted != own:
            return Lanes() if isinstance(own, np.dtype) else None
        return Lanes(number={(f"number {name}",): 1})

    def _settle(self) -> None:
        """Finds what is known of variables, from the best there could be down."""
        first = dict(self._variables)
        self._variables |= dict.fromkeys(self._set, _ANYTHING)
        while True:
            changed = False
            for name, assigns in self._set.items():
                known = self._variables[name]
                if known is None:
                    continue
                found = first.get(name, _ANYTHING) if self.analysis.together(name) else None
                for node in assigns:
                    found = _met(found, self._assigned(node))
                if len(assigns) > 1 or name in first:
                    found = _only_more(found)
                found = _met(found, known)
                if not _same(found, known):
                    self._variables[name] = found
                    changed = True
            if not changed:
                break
        for name, known in self._variables.items():
            if known is _ANYTHING:  # it is given nothing but itself
                self._variables[name] = None

    def _assigned(self, node: ir.Assign) -> Known:
        found = self.of(node.value)
        if isinstance(found, Lanes) and isinstance(node.target, str):
            return _cast(found, node.value.type, node.type)
        return found

    def of(self, node: ir.Expression) -> Known:
        """Returns what is known of an expression."""
        found = self._of(node)
        if found is None and self.analysis.of(node) is True and isinstance(node.type, np.dtype):
            return Lanes()
        return found

    def _of(self, node: ir.Expression) -> Known:
        if isinstance(node, ir.Constant):
            if isinstance(node.type, np.dtype) and node.type.kind in "iu":
                return _constant(int(node.value), self.threads)
            return None
        if isinstance(node, ir.Read):
            if node.variable in self.analysis.checked:
                return None
            return self._variables.get(node.variable)
        if isinstance(node, ir.Temporary):
            return self._variables.get(node.number)
        if isinstance(node, ir.Tuple):
            return tuple(self.of(part) for part in node.parts)
        if isinstance(node, ir.Element):
            owner = self.of(node.owner)
            if owner is _ANYTHING:
                return owner
            if not isinstance(owner, tuple) or not isinstance(node.index, int):
                return None
            return owner[node.index] if -len(owner) <= node.index < len(owner) else None
        if isinstance(node, ir.Binary):
            return self._binary(node)
        if isinstance(node, ir.Call):
            return self._call(node)
        return None

    def _binary(self, node: ir.Binary) -> Known:
        left, right = (self._operand(each, node.type) for each in (node.left, node.right))
        if left is _ANYTHING or right is _ANYTHING:
            return _ANYTHING
        if left is None or right is None or not isinstance(node.type, np.dtype):
            return None
        if left.exact is not None and right.exact is not None:
            exact = _worked_out(node.operator, left.exact, right.exact)
            if exact is not None and _fits(exact, node.type):
                return _exact(exact)
        if not _is_word(node.type):
            return None
        if node.operator in ("Add", "Sub"):
            sign = 1 if node.operator == "Add" else -1
            return _sum(left, right, sign)
        if node.operator == "Mult":
            if left.alike and right.number is None:
                left, right = right, left
            return _product(left, right) or _product(right, left)
        return None

    def _operand(self, node: ir.Expression, dtype: Any) -> Known:
        found = self.of(node)
        return _cast(found, node.type, dtype) if isinstance(found, Lanes) else found

    def _call(self, node: ir.Call) -> Known:
        path = node.path
        if path.startswith("cuda.threadIdx."):
            return _exact(self._thread("xyz".index(path[-1])))
        if path == "cuda.laneid":
            return _exact(np.arange(self.threads) % 32)
        if path.startswith("cuda.blockDim."):
            return _constant(self.block["xyz".index(path[-1])], self.threads)
        if path == "cuda.grid":
            if isinstance(node.type, np.dtype):
                return _more(self._thread(0)) if _is_word(node.type) else None
            count = len(getattr(node.type, "elements", ()))
            return tuple(_more(self._thread(axis)) for axis in range(count))
        if path == "array.size" and getattr(node.arguments[0].type, "ndim", 0) == 1:
            sides = self._sides(node)
            return sides[0] if sides else None
        if path == "array.shape" or node.function is ARRAY_LENGTH or path.endswith("len"):
            return self._sides(node)
        if isinstance(node.type, RangeType):
            return self._range(node)
        if (path.startswith("numba.") or path == "builtin.int") and len(node.arguments) == 1:
            return self._operand(node.arguments[0], node.type)
        return None

    def _thread(self, axis: int) -> np.ndarray:
        threads, (x, y, _) = np.arange(self.threads), self.block
        return (threads % x, threads // x % y, threads // (x * y))[axis]

    def _sides(self, node: ir.Call) -> Known:
        array = node.arguments[0]
        if not isinstance(array, ir.Read) or not isinstance(array.type, ArrayType):
            return None
        name = array.variable
        if name not in self.code.parameters or name in self._set or array.type.space != "global":
            return None
        sides = tuple(
            Lanes(number={(f"shape {name} {axis}",): 1}) for axis in range(array.type.ndim)
        )
        return sides if node.path in ("array.shape", "array.size") else sides[0]

    def _range(self, node: ir.Call) -> Known:
        assert isinstance(node.type, RangeType)
        found = [self._operand(part, node.type.dtype) for part in node.arguments]
        zero, one = _constant(0, self.threads), _constant(1, self.threads)
        if len(found) == 1:
            return zero, found[0], one
        return (*found, one) if len(found) == 2 else tuple(found)


_ANYTHING: Any = Lanes()
"""Stands for what has not been found out yet."""


def _collect(body: ir.Block, found: dict[str | int, list[ir.Assign]]) -> None:
    for node in body:
        if isinstance(node, ir.Assign) and node.target is not None:
            found.setdefault(node.target, []).append(node)
        for each in fields(node):
            value = getattr(node, each.name)
            if isinstance(value, tuple) and value and isinstance(value[0], ir.Statement):
                _collect(value, found)


def _is_word(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iu" and dtype.itemsize == 8


def _fits(values: np.ndarray, dtype: Any) -> bool:
    """Whether a type holds some numbers, which are small enough to go on with."""
    low, high = int(values.min()), int(values.max())
    if not isinstance(dtype, np.dtype) or dtype.kind not in "iu":
        return False
    info = np.iinfo(dtype)
    return max(info.min, -MOST) <= low and high <= min(info.max, MOST)


def _exact(values: np.ndarray) -> Lanes:
    found = _more(values)
    found.exact = np.asarray(values, np.int64)
    if found.alike:
        found.number = {(): int(values[0])}
    return found


def _constant(value: int, threads: int) -> Lanes:
    if abs(value) > MOST:
        return Lanes()
    return _exact(np.full(threads, value, np.int64))


def _more(values: np.ndarray) -> Lanes:
    return Lanes(_without_zeros({(): np.asarray(values - values[0], np.int64)}))


def _without_zeros(more: dict[Word, np.ndarray]) -> dict[Word, np.ndarray]:
    return {word: each for word, each in more.items() if each.any()}


def _cast(found: Lanes, source: Any, target: Any) -> Known:
    """What is known of a number in another type."""
    if found is _ANYTHING or source == target:
        return found
    if found.exact is not None and _fits(found.exact, target):
        return found
    if _is_word(source) and _is_word(target):
        return Lanes(found.more)
    if not found.alike or not isinstance(target, np.dtype):
        return None
    return Lanes()


def _sum(left: Lanes, right: Lanes, sign: int) -> Known:
    more = dict(left.more)
    for word, each in right.more.items():
        more[word] = more.get(word, 0) + sign * each
    number = None
    if left.number is not None and right.number is not None:
        number = dict(left.number)
        for word, times in right.number.items():
            number[word] = number.get(word, 0) + sign * times
        number = _small(number)
    return _bounded(more, number)


def _product(lanes: Lanes, by: Lanes) -> Known:
    """What lanes have, times what all share."""
    if not by.alike:
        return None
    if by.number is None:
        return Lanes() if lanes.alike else None
    if lanes.alike:
        if lanes.number is None:
            return Lanes()
        number: Number = {}
        for one, times in lanes.number.items():
            for other, more_times in by.number.items():
                word = tuple(sorted(one + other))
                number[word] = number.get(word, 0) + times * more_times
        return Lanes(number=_small(number))
    more: dict[Word, np.ndarray] = {}
    for one, each in lanes.more.items():
        for other, times in by.number.items():
            word = tuple(sorted(one + other))
            more[word] = more.get(word, 0) + each * times
    return _bounded(more, None)


def _small(number: Number) -> Number | None:
    return number if all(abs(times) <= MOST for times in number.values()) else None


def _bounded(more: dict[Word, np.ndarray], number: Number | None) -> Known:
    more = _without_zeros(more)
    if any(int(np.abs(each).max()) > MOST for each in more.values()):
        return None
    return Lanes(more, None, number)


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "BitAnd": operator.and_,
    "BitOr": operator.or_, "BitXor": operator.xor,
    "FloorDiv": operator.floordiv, "Mod": operator.mod,
}  # fmt: skip


def _worked_out(name: str, left: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """Returns left op right, of numbers up to MOST; None where that is not known."""
    if name in ("FloorDiv", "Mod") and not (right > 0).all():
        return None
    if name in ("LShift", "RShift"):
        if not ((right >= 0) & (right < 31)).all():
            return None
        return left << right if name == "LShift" else left >> right
    return _OPERATORS[name](left, right) if name in _OPERATORS else None


def _met(one: Known, other: Known) -> Known:
    """What is known of a variable that is given one or the other."""
    if one is _ANYTHING or other is _ANYTHING:
        return other if one is _ANYTHING else one
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(map(_met, one, other))
    if not isinstance(one, Lanes) or not isinstance(other, Lanes):
        return None
    if one.more.keys() != other.more.keys():
        return None
    if not all(np.array_equal(each, other.more[word]) for word, each in one.more.items()):
        return None
    same = one.exact is not None and other.exact is not None
    same = same and np.array_equal(one.exact, other.exact)  # type: ignore[arg-type]
    number = one.number if one.number == other.number else None
    return Lanes(one.more, one.exact if same else None, number)


def _only_more(known: Known) -> Known:
    """What stays of a variable that is given more than once."""
    if known is _ANYTHING or known is None:
        return known
    if isinstance(known, tuple):
        return tuple(map(_only_more, known))
    return Lanes(known.more)


def _same(one: Known, other: Known) -> bool:
    if one is _ANYTHING or other is _ANYTHING or one is None or other is None:
        return one is other
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, tuple) or isinstance(other, tuple):
        return False
    return (
        (one.exact is None) == (other.exact is None)
        and one.number == other.number
        and one.more.keys() == other.more.keys()
    )
