"""Runs a block as one generator per thread, and judges it interval by interval: slow and obvious.

It is the oracle for kernels with barriers: it shares no line with the simulator. Between two
barriers nothing is ordered, so a cell that one thread writes there and another one touches is a
race, whatever order the generators happened to run in.
"""

from __future__ import annotations

import ast
import itertools
import types
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.catalog.specification import Case, KernelPuzzle, Launch, Mistake
from tests.catalog.by_hand import SOLUTIONS

Thread = tuple[Any, Any]
"""(block, thread), both (z, y, x)."""


class _Barriers(ast.NodeTransformer):
    """Barriers become `yield LINE`; a call that makes an array says which call it is."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        self.generic_visit(node)
        if ast.unparse(node.value) == "cuda.syncthreads()":
            return ast.copy_location(ast.Expr(ast.Yield(ast.Constant(node.lineno))), node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if ast.unparse(node.func) == "cuda.shared.array":
            node.args.insert(0, ast.Constant(node.lineno))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list = []
        node.body = ast.parse("if False:\n    yield").body + node.body
        return node


def kernels(path: Path) -> dict[str, Callable[..., Any]]:
    """Returns the functions of an answer file as generator functions, not yet bound to a thread."""
    tree = _Barriers().visit(ast.parse(path.read_text(encoding="utf-8")))
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom)]
    scope: dict[str, Any] = {"float32": np.float32}
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), scope)
    return {n.name: scope[n.name] for n in tree.body if isinstance(n, ast.FunctionDef)}


@dataclass
class _Watched:
    """An array that checks indices and keeps, per cell, who touched it in which interval."""

    values: np.ndarray
    world: _World
    shared: bool = False
    touched: dict[tuple[int, ...], set[tuple[Any, int, Any, bool]]] = field(
        default_factory=lambda: defaultdict(set)
    )

    def _touch(self, index: Any, write: bool) -> tuple[int, ...] | None:
        cell = tuple(int(i) for i in (index if isinstance(index, tuple) else (index,)))
        sides = self.values.shape
        if len(cell) != len(sides) or any(
            not 0 <= i < side for i, side in zip(cell, sides, strict=True)
        ):
            self.world.found.add("out-of-bounds")
            return None
        (block, thread), seen = self.world.running, self.touched[cell]
        if self.shared and not write and not any(wrote for *_, wrote in seen):
            self.world.found.add("uninitialised-read")
        seen.add((block, self.world.interval, thread, write))
        return cell

    def __getitem__(self, index: Any) -> Any:
        cell = self._touch(index, write=False)
        return np.float32(np.nan) if cell is None else self.values[cell]

    def __setitem__(self, index: Any, value: Any) -> None:
        cell = self._touch(index, write=True)
        if cell is not None:
            self.values[cell] = value

    def raced(self) -> bool:
        for seen in self.touched.values():
            writes = [access for access in seen if access[3]]
            if any(_unordered(one, other) for one in writes[:3] for other in seen):
                return True
        return False


def _unordered(one: tuple[Any, int, Any, bool], other: tuple[Any, int, Any, bool]) -> bool:
    if one[0] != other[0]:
        return True
    return one[1] == other[1] and one[2] != other[2]


@dataclass
class _World:
    """What is going on: which thread runs, in which interval of its block, and what was found."""

    found: set[str] = field(default_factory=set)
    running: Thread = ((), ())
    interval: int = 0


def _run_block(
    function: Callable[..., Any], launch: Launch, block: Any, world: _World, args: list[Any]
) -> None:
    sides, grid = _three(launch.block), _three(launch.grid)
    tiles: dict[int, _Watched] = {}

    def array(line: int, shape: Any, dtype: Any) -> _Watched:
        return tiles.setdefault(line, _Watched(np.full(shape, np.nan, dtype), world, shared=True))

    threads: dict[Any, Generator[int, None, None]] = {}
    for thread in itertools.product(*(range(side) for side in sides[::-1])):
        cuda = types.SimpleNamespace(
            threadIdx=_xyz(thread[::-1]),
            blockIdx=_xyz(block[::-1]),
            blockDim=_xyz(sides),
            gridDim=_xyz(grid),
            shared=types.SimpleNamespace(array=array),
            syncwarp=lambda: None,
            threadfence_block=lambda: None,
        )
        place = [b * n + t for b, n, t in zip(block[::-1], sides, thread[::-1], strict=True)]
        cuda.grid = lambda n, place=place: place[0] if n == 1 else tuple(place[:n])
        bound = types.FunctionType(function.__code__, {**function.__globals__, "cuda": cuda})  # type: ignore[attr-defined]
        threads[thread] = bound(*args)
    world.interval = 0
    everyone = len(threads)
    while threads:
        lines = {}
        for thread, generator in list(threads.items()):
            world.running = (block, thread)
            line = next(generator, None)
            if line is None:
                del threads[thread]
            else:
                lines[thread] = line
        if lines and (len(lines) < everyone or len(set(lines.values())) > 1):
            world.found.add("barrier-divergence")
        world.interval += 1
    if any(tile.raced() for tile in tiles.values()):
        world.found.add("race")


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
    diagnosis: str | None = None


def run_case(puzzle: KernelPuzzle, functions: dict[str, Any], case: Case, seed: int = 0) -> Outcome:
    """Returns how an answer does on one case."""
    inputs = puzzle.inputs(np.random.default_rng(seed), case)
    outputs = puzzle.outputs(inputs, case)
    world = _World()
    values: dict[str, Any] = dict(inputs)
    for name, value in {**inputs, **outputs}.items():
        if isinstance(value, np.ndarray):
            fresh = np.full_like(value, np.nan) if name in outputs else value.copy()
            values[name] = _Watched(fresh, world)
    for launch in puzzle.launches(case):
        for array in (v for v in values.values() if isinstance(v, _Watched)):
            array.touched.clear()
        args = [values[name] for name in launch.args]
        for block in itertools.product(*(range(side) for side in _three(launch.grid)[::-1])):
            _run_block(functions[launch.function], launch, block, world, args)
        if any(array.raced() for array in args if isinstance(array, _Watched)):
            world.found.add("race")
    expected = puzzle.reference(inputs, case)
    got = {name: values[name].values for name in outputs}
    rtol, atol = puzzle.tolerance
    right = all(np.allclose(got[n], expected[n], rtol, atol) for n in expected)
    key = puzzle.diagnose(inputs, case, expected, got) if puzzle.diagnose and not right else None
    return Outcome(frozenset(world.found), right, key)


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
