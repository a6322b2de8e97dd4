"""Runs a block as one generator per thread, and judges it interval by interval: slow and obvious.

It is the oracle for kernels with barriers, shuffles, votes and atomics: it shares no line with the
simulator. Between two barriers nothing is ordered, so a cell that one thread writes there and
another one touches is a race, whatever order the generators happened to run in; unless both are
atomic. `syncwarp` orders the lanes of one warp alone; shuffles and votes order nothing.
"""

from __future__ import annotations

import ast
import itertools
import math
import types
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch, Mistake
from tests.course.puzzles import whole_numbers
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.whole_numbers import dtype_of

Thread = tuple[Any, Any]
"""(block, thread), both (z, y, x)."""


WARP = 32
WARP_CALLS = ("shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "ballot_sync",
              "any_sync", "all_sync", "syncwarp")  # fmt: skip


class _Barriers(ast.NodeTransformer):
    """Barriers become `yield LINE`, and what a warp does together `yield (LINE, what, ...)`.

    A call that makes an array says which call it is, and what a function of the file does becomes
    a part of who calls it.
    """

    def __init__(self, functions: set[str]) -> None:
        self.functions = functions

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        if ast.unparse(node.value) == "cuda.syncthreads()":
            return ast.copy_location(ast.Expr(ast.Yield(ast.Constant(node.lineno))), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = ast.unparse(node.func).removeprefix("cuda.")
        if name in WARP_CALLS:
            told = [ast.Constant(node.lineno), ast.Constant(name), *node.args]
            return ast.copy_location(ast.Yield(ast.Tuple(told, ast.Load())), node)
        if ast.unparse(node.func) == "cuda.shared.array":
            node.args.insert(0, ast.Constant(node.lineno))
        return ast.copy_location(ast.YieldFrom(node), node) if name in self.functions else node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list = []
        node.body = ast.parse("if False:\n    yield").body + node.body
        return node


def kernels(path: Path) -> dict[str, Callable[..., Any]]:
    """Returns the functions of an answer file as generator functions, not yet bound to a thread."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree = _Barriers({n.name for n in tree.body if isinstance(n, ast.FunctionDef)}).visit(tree)
    tree.body = [node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom)]
    scope: dict[str, Any] = {"math": _Math(), **whole_numbers.NAMES}
    scope |= {name: getattr(np, name) for name in ("float32", "float64", "int64")}
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), scope)
    return {n.name: scope[n.name] for n in tree.body if isinstance(n, ast.FunctionDef)}


class _Math:
    """Python's `math`, with a GPU's answer where Python has none, as of the logarithm of 0."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(math, name)
        if not callable(function):
            return function

        def answer(*arguments: float) -> Any:
            try:
                return function(*arguments)
            except (ValueError, OverflowError):
                with np.errstate(all="ignore"):
                    return float(getattr(np, name)(*map(np.float64, arguments)))

        return answer


@dataclass
class _Watched:
    """An array that checks indices and keeps, per cell, who touched it in which interval."""

    values: np.ndarray
    world: _World
    shared: bool = False
    touched: dict[tuple[int, ...], set[_Touch]] = field(default_factory=lambda: defaultdict(set))
    written: set[tuple[int, ...]] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def size(self) -> int:
        return self.values.size

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def _touch(self, index: Any, write: bool) -> tuple[int, ...] | None:
        world, sides = self.world, self.values.shape
        cell = tuple(map(int, index)) if isinstance(index, tuple) else (int(index),)
        if len(cell) != len(sides) or not all(map(_within, cell, sides)):
            world.found.add("out-of-bounds")
            return None
        if write:
            self.written.add(cell)
        elif self.shared and cell not in self.written:
            world.found.add("uninitialised-read")
        block, thread = world.running
        warp, round_ = world.warp, world.rounds[world.warp]
        touch = _Touch(block, world.interval, thread, warp, round_, write, world.atomic)
        self.touched[cell].add(touch)
        return cell

    def __getitem__(self, index: Any) -> Any:
        cell = self._touch(index, write=False)
        if cell is None:
            whole = np.issubdtype(self.values.dtype, np.integer)
            return self.values.dtype.type(0) if whole else np.float32(np.nan)
        return self.values[cell]

    def __setitem__(self, index: Any, value: Any) -> None:
        cell = self._touch(index, write=True)
        if cell is not None:
            self.values[cell] = value

    def raced(self) -> bool:
        for seen in self.touched.values():
            writes = [access for access in seen if access.wrote]
            few = writes[:3] + [one for one in writes if not one.atomic][:3]
            if any(_unordered(one, other) for one in few for other in seen):
                return True
        return False


def _within(i: int, side: int) -> bool:
    return 0 <= i < side


class _Touch(NamedTuple):
    """One access: by whom, in which interval of the block, and in which round of the warp.

    A round ends where the lanes of a warp meet at a `syncwarp`.
    """

    block: Any
    interval: int
    thread: Any
    warp: int
    round: int
    wrote: bool
    atomic: bool


def _unordered(one: _Touch, other: _Touch) -> bool:
    if one.atomic and other.atomic:
        return False
    if one.block != other.block:
        return True
    if one.interval != other.interval or one.thread == other.thread:
        return False
    return one.warp != other.warp or one.round == other.round


@dataclass
class _World:
    """What is going on: which thread runs, in which interval of its block, and what was found."""

    found: set[str] = field(default_factory=set)
    running: Thread = ((), ())
    interval: int = 0
    warp: int = 0
    rounds: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    atomic: bool = False


def _run_block(
    function: Callable[..., Any], launch: Launch, block: Any, world: _World, args: list[Any]
) -> None:
    sides, grid = _three(launch.block), _three(launch.grid)
    tiles: dict[int, _Watched] = {}

    def array(line: int, shape: Any, dtype: Any) -> _Watched:
        return tiles.setdefault(line, _Watched(_unset(shape, dtype), world, shared=True))

    threads: dict[Any, Generator[Any, Any, None]] = {}
    ranks: dict[Any, int] = {}
    for number, thread in enumerate(itertools.product(*(range(side) for side in sides[::-1]))):
        ranks[thread] = number
        cuda = types.SimpleNamespace(
            threadIdx=_xyz(thread[::-1]),
            blockIdx=_xyz(block[::-1]),
            blockDim=_xyz(sides),
            gridDim=_xyz(grid),
            laneid=number % WARP,
            shared=types.SimpleNamespace(array=array),
            local=types.SimpleNamespace(
                array=lambda shape, dtype: np.full(shape, np.nan, dtype_of(dtype))
            ),
            libdevice=whole_numbers.LIBDEVICE,
            threadfence_block=lambda: None,
            atomic=_atomics(world),
            threadfence=lambda: None,
            popc=lambda bits: (int(bits) & 0xFFFFFFFF).bit_count(),
        )
        place = [b * n + t for b, n, t in zip(block[::-1], sides, thread[::-1], strict=True)]
        size = [n * b for n, b in zip(grid, sides, strict=True)]
        cuda.grid = lambda n, place=place: place[0] if n == 1 else tuple(place[:n])
        cuda.gridsize = lambda n, size=size: size[0] if n == 1 else tuple(size[:n])
        scope = {**function.__globals__, "cuda": cuda}  # type: ignore[attr-defined]
        scope |= {
            name: types.FunctionType(each.__code__, scope)
            for name, each in scope.items()
            if isinstance(each, types.FunctionType)
        }
        bound = types.FunctionType(function.__code__, scope)  # type: ignore[attr-defined]
        threads[thread] = bound(*args)
    world.interval, world.rounds = 0, defaultdict(int)
    everyone = len(threads)
    while threads:
        lines: dict[Any, int] = {}
        for warp in sorted({ranks[thread] // WARP for thread in threads}):
            mine = {t: g for t, g in threads.items() if ranks[t] // WARP == warp}
            lanes = {thread: ranks[thread] % WARP for thread in mine}
            lines |= _run_warp(mine, lanes, block, warp, world)
            threads = {t: g for t, g in threads.items() if t not in mine or t in lines}
        if lines and (len(lines) < everyone or len(set(lines.values())) > 1):
            world.found.add("barrier-divergence")
        world.interval += 1
    if any(tile.raced() for tile in tiles.values()):
        world.found.add("race")


def _run_warp(
    threads: dict[Any, Generator[Any, Any, None]],
    lanes: dict[Any, int],
    block: Any,
    warp: int,
    world: _World,
) -> dict[Any, int]:
    """Runs the threads of a warp up to a barrier or their end; returns the barriers' lines.

    Where lanes stand at several shuffles or votes, those at the first line go on first.
    """
    answers: dict[Any, Any] = dict.fromkeys(threads)
    waiting: dict[Any, Any] = {}
    barriers: dict[Any, int] = {}
    while answers:
        for thread, answer in answers.items():
            world.running, world.warp = (block, thread), warp
            try:
                said = threads[thread].send(answer)
            except StopIteration:
                continue
            if isinstance(said, tuple):
                waiting[thread] = said
            else:
                barriers[thread] = said
        answers = {}
        if waiting:
            first = min(line for line, *_ in waiting.values())
            meeting = {t: waiting.pop(t) for t in list(waiting) if waiting[t][0] == first}
            there = {lanes[t]: told for t, told in meeting.items()}
            for thread, told in meeting.items():
                answers[thread] = _together(lanes[thread], told, there, set(lanes.values()), world)
            if any(told[1] == "syncwarp" for told in meeting.values()):
                world.rounds[warp] += 1
    return barriers


def _together(
    lane: int, told: tuple[Any, ...], there: dict[int, Any], lanes: set[int], world: _World
) -> Any:
    """Returns what one lane gets from a shuffle or a vote, and notes lanes that are missing."""
    _, what, *arguments = told
    mask = int(arguments[0]) if arguments else 0xFFFFFFFF
    named = {k for k in lanes if mask >> k & 1}
    if named - there.keys() or lane not in named:
        world.found.add("inactive-lane")
    if what == "syncwarp":
        return None
    votes = {k: bool(other[3]) for k, other in there.items() if k in named}
    if what == "ballot_sync":
        bits = sum(1 << k for k, yes in votes.items() if yes)
        return bits - (1 << 32) if bits >> 31 else bits
    if what == "any_sync":
        return any(votes.values())
    if what == "all_sync":
        return all(votes.values())
    operand = int(arguments[2])
    source = {
        "shfl_sync": operand % WARP,
        "shfl_up_sync": lane - operand,
        "shfl_down_sync": lane + operand,
        "shfl_xor_sync": lane ^ operand,
    }[what]
    if not 0 <= source < WARP:
        source = lane
    if source not in there:
        world.found.add("inactive-lane")
        return arguments[1]
    return there[source][3]


def _atomics(world: _World) -> types.SimpleNamespace:
    """What `cuda.atomic` offers: each call gives back what the cell held before."""

    def change(array: _Watched, index: Any, make: Callable[[Any], Any]) -> Any:
        world.atomic = True
        before = array[index]
        array[index] = make(before)
        world.atomic = False
        return before

    return types.SimpleNamespace(
        add=lambda a, i, value: change(a, i, lambda old: old + value),
        sub=lambda a, i, value: change(a, i, lambda old: old - value),
        max=lambda a, i, value: change(a, i, lambda old: max(old, value)),
        min=lambda a, i, value: change(a, i, lambda old: min(old, value)),
        exch=lambda a, i, value: change(a, i, lambda old: value),
        cas=lambda a, i, want, value: change(a, i, lambda old: value if old == want else old),
    )


def _unset(shape: Any, dtype: Any) -> np.ndarray:
    """An array that no thread has filled."""
    made = np.zeros(shape, dtype_of(dtype))
    if made.dtype.kind == "O":
        made[...] = -77
    else:
        made[...] = np.nan if made.dtype.kind == "f" else np.array(-77).astype(made.dtype)
    return made


def _xyz(sides: Any) -> types.SimpleNamespace:
    x, y, z = _three(sides)
    return types.SimpleNamespace(x=x, y=y, z=z)


def _three(sides: Any) -> tuple[int, int, int]:
    full = tuple(sides) if isinstance(sides, tuple) else (sides,)
    return (*full, 1, 1)[:3]  # type: ignore[return-value]


@dataclass(frozen=True)
class Outcome:
    """What one case led to: the hazards that were found, and whether the results are right."""

    hazards: frozenset[str]
    right: bool


def run_case(puzzle: KernelPuzzle, functions: dict[str, Any], case: Case, seed: int = 0) -> Outcome:
    """Returns how an answer does on one case."""
    inputs = puzzle.inputs(np.random.default_rng(seed), case)
    outputs = puzzle.outputs(inputs, case)
    world = _World()
    values: dict[str, Any] = dict(inputs)
    for name, value in {**inputs, **outputs}.items():
        if isinstance(value, np.ndarray):
            # What is an input and an output at once starts as the input.
            fresh = inputs[name].copy() if name in inputs else _unset(value.shape, value.dtype)
            values[name] = _Watched(fresh, world)
    with np.errstate(all="ignore"):
        _run_launches(puzzle, functions, case, world, values)
    expected = puzzle.reference(inputs, case)
    got = {name: values[name].values for name in outputs}
    within = puzzle.tolerances(inputs, case, expected)
    right = all(np.allclose(got[n], expected[n], *within[n], equal_nan=True) for n in expected)
    return Outcome(frozenset(world.found), right)


def _run_launches(
    puzzle: KernelPuzzle,
    functions: dict[str, Any],
    case: Case,
    world: _World,
    values: dict[str, Any],
) -> None:
    for launch in puzzle.launches(case):
        for array in (v for v in values.values() if isinstance(v, _Watched)):
            array.touched.clear()
        args = [values[name] for name in launch.args]
        for block in itertools.product(*(range(side) for side in _three(launch.grid)[::-1])):
            _run_block(functions[launch.function], launch, block, world, args)
        if any(array.raced() for array in args if isinstance(array, _Watched)):
            world.found.add("race")


def outcome_of(puzzle: KernelPuzzle, mistake: Mistake) -> Outcome:
    """Returns the outcome of the first case a mistake fails, or of the last one."""
    functions = kernels(SOLUTIONS / f"{puzzle.name}.py")
    path = SOLUTIONS / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    functions[mistake.stands_for or puzzle.functions[0]] = kernels(path)[mistake.function]
    for case in puzzle.cases:
        outcome = run_case(puzzle, functions, case)
        if outcome.hazards or not outcome.right:
            break
    return outcome
