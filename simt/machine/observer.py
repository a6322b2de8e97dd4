"""Whoever watches a launch: what observers are told, and of which launch.

There is one event per access; a loop that repeats an access repeats its pattern, so that what has
been counted for the first turn holds for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np

from simt.kernel.ir import Code, Statement
from simt.kernel.source import Kernel
from simt.machine.faults import STRICT, FaultLog, Policy
from simt.machine.lanes import Lanes, Mask
from simt.machine.memory import Array
from simt.machine.values import Variable, pick
from simt.report import Dim3, Printout

T = TypeVar("T")


FEWEST_IN_RUN = 1024
"""Lanes for which it pays to look whether their elements follow one another."""


class AccessPattern:
    """Where lanes stand when a line touches an array; a loop repeats it, all lanes moved together.

    Args:
        array, indices, mask: of the first access; lanes that take part were all in bounds.
        threads: int64 (mask.count,), their global linear thread numbers.
        elements: int64 (mask.count,), elements of `array.flat` in the first access.
        uniform: True where all the lanes that are there take part, and are at one element.

    Attributes:
        memo: what has been counted of it; see `Access.counted`.
    """

    __slots__ = (
        "_in_copy", "_ranges", "_run", "array", "elements", "indices", "mask", "memo", "threads",
        "uniform",
    )  # fmt: skip

    def __init__(
        self,
        array: Array,
        indices: tuple[Any, ...],
        mask: Mask,
        threads: np.ndarray,
        elements: np.ndarray,
        uniform: bool,
    ) -> None:
        self.array = array
        self.indices = indices
        self.mask = mask
        self.threads = threads
        self.elements = elements
        self.uniform = uniform
        self.memo: dict[tuple[str, int], Any] = {}
        self._ranges: dict[int, tuple[int, int]] = {}
        self._in_copy: np.ndarray | None = None
        self._run: bool | None = None if elements.size >= FEWEST_IN_RUN else False

    @property
    def run(self) -> bool:
        """True where many lanes stand at elements that follow one another, as a slice has them."""
        if self._run is None:
            elements, steps = self.elements, self.elements.size - 1
            self._run = bool(
                elements[-1] - elements[0] == steps
                and np.count_nonzero(elements[1:] - elements[:-1] == 1) == steps
            )
        return self._run

    @property
    def in_copy(self) -> np.ndarray:
        """`elements`, counted within the block's or the lane's own copy of the memory."""
        if self._in_copy is None:
            self._in_copy = self._within_copy()
        return self._in_copy

    def _within_copy(self) -> np.ndarray:
        whole = self.array.root or self.array
        if not whole.per_copy:
            return self.elements
        origin = whole.origin
        if isinstance(origin, np.ndarray) and not self.mask.full:
            origin = origin[self.mask.lanes]
        return np.asarray(self.elements - origin)

    def distance(self, array: Array, indices: tuple[Any, ...], mask: Mask) -> int | None:
        """Returns by how many elements all lanes have moved since; None for another pattern."""
        if array is not self.array or mask is not self.mask:
            return None
        moved = 0
        for axis, (at, before) in enumerate(zip(indices, self.indices, strict=True)):
            if at is before:
                continue
            size, stride = array.shape[axis], array.strides[axis]
            if isinstance(size, np.ndarray) or isinstance(stride, np.ndarray):
                return None
            steps = _steps(before, at)
            if steps is None:
                return None
            low, high = self._range(axis)
            if low < 0 or not 0 <= low + steps <= high + steps < size:
                return None  # one that was counted from the end lies elsewhere
            moved += steps * stride
        return moved

    def _range(self, axis: int) -> tuple[int, int]:
        """The smallest and the largest index along an axis, of the lanes that take part."""
        known = self._ranges.get(axis)
        if known is None:
            at = pick(self.indices[axis], self.mask)
            known = self._ranges[axis] = int(at.min()), int(at.max())
        return known


def _steps(before: Any, now: Any) -> int | None:
    """By how much an index has grown, where it is as much for all lanes; else None."""
    if not isinstance(now, np.ndarray):
        return None if isinstance(before, np.ndarray) else int(now) - int(before)
    if not isinstance(before, np.ndarray):
        return None
    steps = int(now[0]) - int(before[0])
    if int(now[-1]) - int(before[-1]) != steps:
        return None  # so that most of those that differ cost little
    return steps if np.count_nonzero(now - before == steps) == now.size else None


@dataclass(eq=False, slots=True)
class Access:
    """One line's access by all lanes that take part, in bounds.

    Attributes:
        kind: "load", "store" or "atomic".
        array: the Array.
        mask: the lanes that take part.
        line: the line of the access.
        kernel: the kernel or device function that has this line.
        pattern: the Pattern it repeats.
        moved: by how many elements the lanes have moved since the pattern was first seen.
        find_cells: computes `cells` where elements do not say them: of a view, or out of order.
        values: (mask.count,) or a scalar, what a store writes; None for a load.
        returns: False for an atomic whose old value nobody asks for.
        expected: (mask.count,) or a scalar, what a compare-and-swap must find in order to write.
        turns: int64 (mask.count,), the order in which lanes take their turn at an atomic.
        caller: the line of the kernel's own file that led into a function of another one; else "".
    """

    kind: str
    array: Array
    mask: Mask
    line: int
    kernel: Kernel
    pattern: AccessPattern
    moved: int
    find_cells: Callable[[], np.ndarray] | None = None
    values: Any = None
    returns: bool = True
    expected: Any = None
    turns: Any = None
    caller: str = ""
    _elements: np.ndarray | None = field(default=None, init=False)

    @property
    def threads(self) -> np.ndarray:
        """int64 (mask.count,), global linear thread numbers."""
        return self.pattern.threads

    @property
    def elements(self) -> np.ndarray:
        """int64 (mask.count,), elements of `array.flat`."""
        if self._elements is None:
            first = self.pattern.elements
            self._elements = first + self.moved if self.moved else first
        return self._elements

    @property
    def places(self) -> slice | np.ndarray:
        """The elements as the quickest index: a slice where they follow one another."""
        if not self.pattern.run:
            return self.elements
        first = int(self.pattern.elements[0]) + self.moved
        return slice(first, first + self.pattern.elements.size)

    def found(self) -> np.ndarray:
        """Returns what the lanes find in memory, (mask.count,)."""
        if self.pattern.run:
            return self.array.flat[self.places].copy()
        if self.moved < 0:
            return self.array.flat.take(self.elements)
        # Moving the start of the memory is as good as moving each lane, and free.
        return self.array.flat[self.moved :].take(self.pattern.elements)

    @property
    def addresses(self) -> np.ndarray:
        """int64 (mask.count,), the first byte each lane touches."""
        array = self.array
        return np.asarray(array.address + self.in_copy * array.dtype.itemsize)

    @property
    def in_copy(self) -> np.ndarray:
        """int64 (mask.count,), elements counted within the block's or the lane's own copy."""
        first = self.pattern.in_copy
        return first + self.moved if self.moved else first

    @property
    def cells(self) -> np.ndarray:
        """int64 (mask.count,), C-order indices within the array, as a person counts."""
        if self.find_cells is not None:
            return self.find_cells()
        # More than 1 apart for a field of structures.
        apart = self.array.strides[-1] if self.array.per_copy else 1
        return self.in_copy if apart == 1 else self.in_copy // apart

    def counted(self, what: str, period: int, count: Callable[[Access], T]) -> T:
        """Returns `count(self)`, or what that was for an earlier access in the same pattern.

        Args:
            what: a name for what is counted.
            period: bytes; all lanes moving on by a multiple of it leave the count as it is.
            count: counts.
        """
        key = what, self.moved * self.array.dtype.itemsize % period if self.moved else 0
        memo = self.pattern.memo
        known = memo.get(key)
        if known is None:
            known = memo[key] = count(self)
        return known  # type: ignore[no-any-return]

    @property
    def warps(self) -> np.ndarray:
        """int64 (mask.count,), the warp of each lane within the batch."""
        return self.mask.warps


class Followed(Protocol):
    """What an observer that follows every statement may ask of whoever executes it."""

    lanes: Lanes

    @property
    def kernel(self) -> Kernel:
        """Returns the kernel or device function it is in."""

    @property
    def depth(self) -> int:
        """Returns how many calls lie above that."""

    @property
    def variables(self) -> dict[str, Variable]:
        """Returns what its variables hold."""


class Observer:
    """Whoever watches a launch; each method is called in the order things happen.

    Attributes:
        follows: True for one that is told of every statement, which takes time.
    """

    follows: bool = False

    def begin(self, setting: Setting) -> None:
        """The launch starts."""

    def batch(self, lanes: Lanes) -> None:
        """A batch of blocks starts."""

    def statement(self, machine: Followed, node: Statement, mask: Mask, turn: bool) -> None:
        """Lanes of `mask` come to a statement, or (`turn`) to a turn of a loop."""

    def access(self, access: Access) -> None:
        """Lanes load, store or update atomically."""

    def branch(self, line: int, mask: Mask, taken: Mask, *, select: bool = False) -> None:
        """Lanes of `mask` met a condition; those of `taken` found it true.

        With `select`, of an `if` that is compiled to selects: nobody waits for anybody.
        """

    def barrier(self, line: int, mask: Mask, blocks: np.ndarray) -> None:
        """The blocks of the batch that are True in `blocks` (bool) met at a barrier."""

    def warp_barrier(self, line: int, mask: Mask) -> None:
        """Lanes of `mask` met within their warps: those of a warp, all with each other."""

    def grid_barrier(self, line: int) -> None:
        """All threads of the grid met."""

    def fence(self, line: int, mask: Mask, *, within_block: bool = False) -> None:
        """Lanes of `mask` made what they did before visible before what they do next.

        To all threads of the GPU; or, `within_block`, to those of their block only.
        """

    def shuffle(self, line: int, mask: Mask) -> None:
        """Lanes of `mask` exchanged values within their warps."""

    def exchange(
        self, mask: Mask, sources: np.ndarray | None, sent: np.ndarray, received: np.ndarray
    ) -> None:
        """What lanes of `mask` gave and got in a shuffle or a vote: told to those who follow.

        Args:
            mask: the lanes that take part.
            sources: (mask.count,), the lane of its warp that each reads from; None for a vote.
            sent: (mask.count,), what each lane brought.
            received: (mask.count,), what each lane got.
        """

    def operations(self, line: int, kind: str, lanes: int) -> None:
        """So many lanes did one operation of a kind.

        Arithmetic is "float32", "float64" or "fma"; then there is "float64_comparison".
        """


EVENTS = tuple(name for name, what in vars(Observer).items() if callable(what))


class Audience(Observer):
    """Observers as one: each is told only of the events that it does something about.

    Args:
        observers: those who watch a launch.
    """

    def __init__(self, observers: Iterable[Observer]) -> None:
        everybody = list(observers)
        self.follows = any(observer.follows for observer in everybody)
        for event in EVENTS:
            methods = [getattr(observer, event) for observer in everybody]
            idle = getattr(Observer, event)
            listeners = [m for m in methods if getattr(m, "__func__", None) is not idle]
            self.__dict__[event] = listeners[0] if len(listeners) == 1 else _each(listeners)


def _each(listeners: list[Callable[..., None]]) -> Callable[..., None]:
    def tell(*what: Any, **more: Any) -> None:
        for listener in listeners:
            listener(*what, **more)

    return tell


@dataclass(frozen=True)
class Setting:
    """A launch, as those get to know it who run it and who watch it.

    Attributes:
        code: the kernel, lowered.
        grid, block: the shape as (x, y, z).
        arguments: parameter -> what it is given: an Array, a NumPy scalar, or a tuple of these.
        arrays: the array arguments by the names messages have for them.
        stored: allocations that the kernel may write to, by number.
        faults: where everybody reports what they find.
        order_seed: shuffles the order of blocks, and of lanes at atomics, when not None.
        policy: what counts as an error.
        dynamic_bytes: dynamic shared memory of a block.
        printout: where the threads print.
    """

    code: Code
    grid: Dim3
    block: Dim3
    arguments: Mapping[str, Any]
    arrays: dict[str, Array]
    stored: frozenset[int]
    faults: FaultLog
    order_seed: int | None = None
    policy: Policy = STRICT
    dynamic_bytes: int = 0
    printout: Printout = field(default_factory=Printout)
