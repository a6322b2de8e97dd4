"""The whole idea in one file: a GPU made of Python generators, and the races of a kernel found.

A kernel says what *one* thread does. So each thread becomes a generator that runs the kernel's own
Python text and stops (`yield`) at each barrier. The threads of a block take turns: every one of
them runs to its next barrier, then all go on. Blocks run one after the other. That alone gives the
right results of a right kernel.

To find what is wrong, each access to a cell of memory is noted, with its thread and its *epoch*:
the number of barriers that this thread has passed. Two accesses by different threads are a race if
one of them changes the cell, they are not both atomic, and no barrier stands between them:

    >>> import numpy as np
    >>> def neighbour(out, a):
    ...     tile = cuda.shared.array(4, np.int64)
    ...     t = cuda.threadIdx.x
    ...     tile[t] = a[t]
    ...     out[t] = tile[3 - t]
    >>> found = run(neighbour, 1, 4, np.zeros(4), np.arange(4))
    >>> print(found.races[0])
    tile[2] is read by thread 1 of block 0 (line 5), written by thread 2 of block 0 (line 4)

Threads ran in one order here, and on a GPU they come in any. So it does not count which of the two
came first, or whether a number was wrong: nothing puts them in order, and a `cuda.syncthreads()`
between the two lines would.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import operator
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np

Shape = tuple[int, int, int]
AT_ITS_END = 0
"""Stands for a barrier's line where a thread has come to none."""
FILE = "a kernel"
"""What a traceback calls the text of a kernel."""

# 1. A launch: each thread runs to its next barrier, then all threads of its block go on


@dataclass
class Thread:
    """One thread: its block, its number in there, and how many barriers it has passed."""

    block: int
    number: int
    place: Shape
    body: Any  # a generator: it yields the line of each barrier that the thread comes to
    epoch: int = 0


@dataclass
class Found:
    """What a launch showed.

    Attributes:
        races: one for each cell that has any.
        missed: line of a barrier -> how many threads of a block did not come to it. The block ends
            there.
    """

    races: list[Race] = field(default_factory=list)
    missed: dict[int, int] = field(default_factory=dict)


def run(kernel: Any, grid: int | Shape, block: int | Shape, *arguments: Any) -> Found:
    """Runs a kernel, which changes arrays in place, and returns what was wrong with it.

    Args:
        kernel: a function, with or without `cuda.jit`. What it calls is plain Python.
        grid, block: how many blocks, and how many threads in each: along x, or along x, y and z.
        arguments: arrays and numbers.
    """
    function = getattr(kernel, "py_func", kernel)
    text = textwrap.dedent(inspect.getsource(function))
    code = compiled(text, function.__name__, first_line=function.__code__.co_firstlineno)
    names = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    gpu = Gpu(_shape(grid), _shape(block))
    return launch(code, function.__name__, gpu, *arguments, names=names)


def launch(code: CodeType, name: str, gpu: Gpu, *arguments: Any, names: dict[str, Any]) -> Found:
    """Runs the kernel of that name in a compiled text, which finds `names` beside itself."""
    names = {**names, "cuda": gpu}
    exec(code, names)
    given = [gpu.watched(argument) for argument in arguments]
    for number, block_place in enumerate(_places(gpu.gridDim)):
        gpu.block_place = block_place
        places = enumerate(_places(gpu.blockDim))
        threads = [Thread(number, k, place, names[name](*given)) for k, place in places]
        all_met = True
        while all_met:
            lines = [gpu.turn(thread) for thread in threads]
            all_met = lines[0] != AT_ITS_END and len(set(lines)) == 1
            if not all_met:  # who waits for a barrier that not all come to waits for ever
                for line in set(lines) - {AT_ITS_END}:
                    gpu.found.missed[line] = len(lines) - lines.count(line)
            for thread in threads:
                thread.epoch += 1
    return gpu.found


def _shape(sizes: int | Shape) -> Shape:
    given = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    x, y, z = (*given, 1, 1)[:3]
    return x, y, z


def _places(size: SimpleNamespace) -> Iterator[Shape]:
    for z, y, x in itertools.product(range(size.z), range(size.y), range(size.x)):
        yield x, y, z


# 2. A kernel's text: where it says `cuda.syncthreads()`, its generator stops


class Stopping(ast.NodeTransformer):
    """Writes a barrier as `yield`, and into each call that makes an array where it stands."""

    def visit_Expr(self, node: ast.Expr) -> Any:
        self.generic_visit(node)
        if ast.unparse(node.value) == "cuda.syncthreads()":
            node.value = ast.Yield(ast.Constant(node.lineno))
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if ast.unparse(node.func) in ("cuda.shared.array", "cuda.local.array"):
            node.args.insert(0, ast.Constant(f"{node.lineno}:{node.col_offset}"))
        return node


def compiled(
    text: str, name: str, *, first_line: int = 1, stopping: type[Stopping] = Stopping
) -> CodeType:
    """Returns the code of a text whose function `name` is a generator, with barriers or without."""
    tree = ast.increment_lineno(ast.parse(text), first_line - 1)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name == name:
            function.body = [*ast.parse("if False:\n    yield").body, *function.body]
    tree = ast.fix_missing_locations(stopping().visit(tree))
    return compile(tree, FILE, "exec")


# 3. Memory: a race is two accesses to one cell that nothing puts in order


@dataclass(frozen=True)
class Access:
    """What a thread did with a cell: "read" it, had it "written", or "updated" it by an atomic."""

    kind: str
    block: int
    thread: int
    epoch: int
    line: int

    def races_with(self, other: Access) -> bool:
        """True for two threads of which one changes the cell, with no barrier between them."""
        if (self.block, self.thread) == (other.block, other.thread):
            return False  # a thread is in order with itself
        if self.kind == other.kind != "written":
            return False  # both read, or both are atomic
        # A barrier orders the threads of one block, and nothing orders two blocks.
        return self.block != other.block or self.epoch == other.epoch

    def __str__(self) -> str:
        return f"{self.kind} by thread {self.thread} of block {self.block} (line {self.line})"


@dataclass(frozen=True)
class Race:
    """Two accesses to a cell of an array, which the kernel calls by this name."""

    array: str
    index: tuple[int, ...]
    first: Access
    second: Access

    def __str__(self) -> str:
        return f"{self.array}[{', '.join(map(str, self.index))}] is {self.first}, {self.second}"


class Watched(np.ndarray):
    """An array whose every access is noted. A cell is its address: all views agree on it."""

    gpu: Gpu | None

    def __array_finalize__(self, whole: Any) -> None:
        self.gpu = getattr(whole, "gpu", None)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        if not isinstance(found, np.ndarray):  # a number, and not a view
            self.note("read", index)
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        self.note("written", index)

    def note(self, kind: str, index: Any) -> None:
        """Notes an access to the cell, or the cells, at an index."""
        if self.gpu is None:
            return
        cells = self.view(np.ndarray)[(*index, ...) if isinstance(index, tuple) else (index, ...)]
        for place in np.ndindex(cells.shape):
            self.gpu.note(kind, _address(cells) + sum(map(operator.mul, place, cells.strides)))


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


# 4. What a kernel calls `cuda`, as the thread that is running sees it


UPDATES: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "max": max,
    "min": min,
    "and_": operator.and_,
    "or_": operator.or_,
    "xor": operator.xor,
    "exch": lambda old, new: new,
    "cas": lambda old, expected, new: new if old == expected else old,
}


class Gpu:
    """The names of `cuda`, and the memory of a launch."""

    def __init__(self, grid: Shape, block: Shape) -> None:
        self.gridDim, self.blockDim = _xyz(grid), _xyz(block)
        self.shared = SimpleNamespace(array=self._shared_array)
        self.local = SimpleNamespace(array=lambda call, shape, dtype: np.zeros(shape, dtype))
        updates = {name: partial(self._update, update) for name, update in UPDATES.items()}
        self.atomic = SimpleNamespace(**updates)
        self.thread: Thread
        self.block_place: Shape
        self.found = Found()
        self._tiles: dict[tuple[int, str], Any] = {}
        # Cell -> (kind, block, epoch) -> accesses of two threads. They stand for all others that
        # did the same: who races with a third of them races with one of these.
        self._noted: dict[int, dict[tuple[str, int, int], list[Access]]] = {}
        self._racing: set[int] = set()

    threadIdx = property(lambda self: _xyz(self.thread.place))  # noqa: N815 - CUDA's name
    blockIdx = property(lambda self: _xyz(self.block_place))  # noqa: N815 - CUDA's name

    def turn(self, thread: Thread) -> int:
        """Runs a thread to its next barrier, and returns that barrier's line."""
        self.thread = thread
        return next(thread.body, AT_ITS_END)

    def grid(self, ndim: int) -> Any:
        """Returns where the running thread stands in the whole grid."""
        sizes = vars(self.blockDim).values()
        axes = zip(self.block_place, sizes, self.thread.place, strict=True)
        here = tuple(block * size + thread for block, size, thread in axes)
        return here[0] if ndim == 1 else here[:ndim]

    def gridsize(self, ndim: int) -> Any:
        """Returns how many threads the whole grid has."""
        sizes = [*map(operator.mul, vars(self.gridDim).values(), vars(self.blockDim).values())]
        return sizes[0] if ndim == 1 else tuple(sizes[:ndim])

    @staticmethod
    def jit(function: Any = None, **_: Any) -> Any:
        """Returns a function as it is: what has to be done is done to its text."""
        return function or (lambda decorated: decorated)

    def watched(self, array: Any) -> Any:
        """Returns an array of numbers as one whose accesses are noted; all else as it is."""
        if type(array) is not np.ndarray or array.dtype.fields:
            return array
        found = array.view(Watched)
        found.gpu = self
        return found

    def _shared_array(self, call: str, shape: Any, dtype: Any) -> Any:
        """One array for each call in the text, and each block: its threads share it."""
        key = self.thread.block, call
        if key not in self._tiles:
            self._tiles[key] = self.watched(np.zeros(shape, dtype))
        return self._tiles[key]

    def _update(self, update: Callable[..., Any], array: Any, index: Any, *given: Any) -> Any:
        """cuda.atomic.add(array, index, value): no other thread comes between."""
        cells = array.view(np.ndarray)
        old = cells[index]
        cells[index] = update(old, *given)
        if isinstance(array, Watched):
            array.note("updated", index)
        return old

    def note(self, kind: str, cell: int) -> None:
        """Notes what the running thread does with a cell, and the race that this may be."""
        me, frame = self.thread, self.thread.body.gi_frame
        access = Access(kind, me.block, me.number, me.epoch, frame.f_lineno)
        noted = self._noted.setdefault(cell, {})
        if cell not in self._racing:
            others = filter(access.races_with, itertools.chain(*noted.values()))
            for other in itertools.islice(others, 1):
                self._racing.add(cell)
                self.found.races.append(Race(*_called(cell, frame.f_locals), other, access))
        alike = noted.setdefault((kind, me.block, me.epoch), [])
        if len(alike) < 2 and me.number not in [other.thread for other in alike]:
            alike.append(access)


def _called(cell: int, names: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    """What a kernel calls a cell: the first of its arrays in which the cell lies, and its index."""
    for name, array in names.items():
        if isinstance(array, Watched) and 0 <= cell - _address(array) < array.nbytes:
            index = np.unravel_index((cell - _address(array)) // array.itemsize, array.shape)
            return name, tuple(map(int, index))
    return "an array", ()


def _xyz(sizes: Shape) -> SimpleNamespace:
    return SimpleNamespace(x=sizes[0], y=sizes[1], z=sizes[2])
