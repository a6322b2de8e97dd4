"""Runs a launch as one generator per thread that stops at every atomic, in drawn orders.

It is the oracle for kernels whose blocks tell each other something: it shares no line with the
simulator. Each thread carries a clock that says what it knows of the others; a barrier joins the
clocks of a block or a warp, a fence before an atomic hands the clock over, and one after it takes
it up. Two accesses to a cell, one of them a write and not both atomic, race unless one is known to
the other.
"""

from __future__ import annotations

import ast
import types
from collections import defaultdict
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.puzzle.specification import Case, KernelPuzzle, Launch

WARP = 32
MEETINGS = ("syncthreads", "syncthreads_count", "syncthreads_or")
WARP_MEETINGS = (
    "syncwarp", "ballot_sync", "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync",
)  # fmt: skip
MAX_TURNS = 40_000

MAX_ACCESSES = 2_000
"""Of a thread between two stops; one that polls by plain loads never stops by itself."""


class Spins(Exception):
    """A thread goes round in a loop without a stop."""


LIBDEVICE = types.SimpleNamespace(
    float_as_int=lambda x: np.float32(x).view(np.int32),
    int_as_float=lambda bits: np.int32(bits).view(np.float32),
)

Clock = dict[int, int]
"""Thread -> how many of its doings are known."""


class _Stops(ast.NodeTransformer):
    """Calls at which a thread stops become `yield (what, line, arguments)`."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = ast.unparse(node.func).removeprefix("cuda.")
        if name == "shared.array":
            node.args.insert(0, ast.Constant((node.lineno, node.col_offset)))
        if name in (*MEETINGS, *WARP_MEETINGS) or name.startswith("atomic."):
            asked = [
                ast.Constant(name),
                ast.Constant(node.lineno),
                ast.Tuple(node.args, ast.Load()),
            ]
            return ast.copy_location(ast.Yield(ast.Tuple(asked, ast.Load())), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list = []
        node.body = ast.parse("if False:\n    yield").body + node.body
        return node


def kernels(path: Path) -> dict[str, Any]:
    """Returns the functions of an answer file as generator functions, not yet bound to a thread."""
    tree = _Stops().visit(ast.parse(path.read_text(encoding="utf-8")))
    tree.body = [node for node in tree.body if not isinstance(node, ast.ImportFrom)]
    scope: dict[str, Any] = {
        "float32": np.float32, "float64": np.float64, "int32": np.int32, "int64": np.int64,
        "uint32": int,
    }  # fmt: skip
    exec(compile(ast.fix_missing_locations(tree), str(path), "exec"), scope)
    return {n.name: scope[n.name] for n in tree.body if isinstance(n, ast.FunctionDef)}


@dataclass
class _Cells:
    """An array: its values, and for each cell who touched it and when."""

    values: np.ndarray
    world: _World
    touched: dict[int, dict[tuple[int, bool, bool], int]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    told: dict[int, Clock] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.values)

    def touch(self, index: Any, write: bool, atomic: bool) -> int | None:
        cell = int(index)
        if not 0 <= cell < self.values.size:
            self.world.found.add("out-of-bounds")
            return None
        self.world.busy += 1
        if self.world.busy > MAX_ACCESSES:
            raise Spins
        me = self.world.running
        clock = self.world.clocks[me]
        for (who, wrote, was_atomic), when in self.touched[cell].items():
            harmless = who == me or not (write or wrote) or (atomic and was_atomic)
            if not harmless and clock.get(who, 0) < when:
                self.world.found.add("race")
        clock[me] = clock.get(me, 0) + 1
        self.touched[cell][me, write, atomic] = clock[me]
        return cell

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _From(self, min(int(index.start), len(self)))
        cell = self.touch(index, write=False, atomic=False)
        return self.values.dtype.type(0) if cell is None else self.values[cell]

    def __setitem__(self, index: Any, value: Any) -> None:
        cell = self.touch(index, write=True, atomic=False)
        if cell is not None:
            self.values[cell] = value


@dataclass
class _From:
    """What an array holds from one place on: `a[first:]`."""

    cells: _Cells
    first: int

    def __getitem__(self, index: Any) -> Any:
        return self.cells[self.first + index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.cells[self.first + index] = value


@dataclass
class _World:
    found: set[str] = field(default_factory=set)
    running: int = 0
    busy: int = 0
    clocks: dict[int, Clock] = field(default_factory=dict)
    fenced: dict[int, Clock] = field(default_factory=dict)
    heard: dict[int, Clock] = field(default_factory=dict)

    def fence(self) -> None:
        """What was done is ready to be told, and what was heard is known from now on."""
        me = self.running
        _join(self.clocks[me], self.heard.get(me, {}))
        self.fenced[me] = dict(self.clocks[me])

    def atomic(self, name: str, array: _Cells, index: Any, *given: Any) -> Any:
        me = self.running
        cell = array.touch(index, write=True, atomic=True)
        if cell is None:
            return 0
        old = array.values[cell]
        _join(self.heard.setdefault(me, {}), array.told.get(cell, {}))
        _join(array.told.setdefault(cell, {}), self.fenced.get(me, {}))
        array.values[cell] = {
            "add": lambda: old + given[0],
            "exch": lambda: given[0],
            "max": lambda: max(old, given[0]),
        }[name.removeprefix("atomic.")]()
        return old


def _join(clock: Clock, other: Clock) -> None:
    for who, when in other.items():
        clock[who] = max(clock.get(who, 0), when)


def run_launch(
    function: Callable[..., Any],
    launch: Launch,
    args: list[Any],
    world: _World,
    rng: np.random.Generator,
    resident: int = 0,
    until: str = "",
) -> None:
    """Runs a launch: a drawn thread goes on to its next stop, of the blocks there is room for.

    It ends with the launch, or as soon as what is looked for is found.
    """
    size, blocks = int(launch.block), int(launch.grid)  # type: ignore[call-overload]
    room = resident or blocks
    waiting = rng.permutation(blocks).tolist()
    there: dict[int, dict[int, Generator[Any, Any, None]]] = {}
    answers: dict[int, Any] = {}
    stopped: dict[int, tuple[str, int, Any]] = {}
    world.clocks, world.fenced, world.heard = {}, {}, {}
    for _ in range(MAX_TURNS):
        while waiting and len(there) < room:
            block = waiting.pop()
            there[block] = _threads(function, launch, block, args, world)
            for thread in there[block]:
                world.clocks[thread], answers[thread] = {}, None
        if not there or until in world.found:
            return
        ready = [t for threads in there.values() for t in threads if t in answers]
        if not ready:
            world.found.add("barrier-divergence")
            return
        me = int(rng.choice(ready))
        world.running, world.busy, block = me, 0, me // size
        try:
            asked = there[block][me].send(answers.pop(me))
        except (StopIteration, Spins) as end:
            if isinstance(end, Spins):
                world.found.add("endless-loop")
            del there[block][me]
            if not there[block]:
                del there[block]
                continue
            _meet(there[block], stopped, answers, world, size)
            continue
        name, _, given = asked
        if name.startswith("atomic."):
            answers[me] = world.atomic(name, *given)
        else:
            stopped[me] = asked
            _meet(there[block], stopped, answers, world, size)
    world.found.add("endless-loop")


def _threads(
    function: Callable[..., Any], launch: Launch, block: int, args: list[Any], world: _World
) -> dict[int, Generator[Any, Any, None]]:
    size, tiles = int(launch.block), {}  # type: ignore[call-overload]

    def array(place: Any, shape: int, dtype: Any) -> _Cells:
        return tiles.setdefault(place, _Cells(np.full(shape, -77, dtype), world))

    found = {}
    for t in range(size):
        cuda = types.SimpleNamespace(
            threadIdx=types.SimpleNamespace(x=t),
            blockIdx=types.SimpleNamespace(x=block),
            blockDim=types.SimpleNamespace(x=size),
            gridDim=types.SimpleNamespace(x=launch.grid),
            laneid=t % WARP,
            shared=types.SimpleNamespace(array=array),
            local=types.SimpleNamespace(array=lambda shape, dtype: np.full(shape, -77, dtype)),
            libdevice=LIBDEVICE,
            threadfence=world.fence,
            popc=lambda word: int(word).bit_count(),
            ffs=lambda word: (int(word) & -int(word)).bit_length(),
            lanemask_lt=lambda t=t: (1 << t % WARP) - 1,
            grid=lambda _, t=t: block * size + t,
        )
        bound = types.FunctionType(function.__code__, {**function.__globals__, "cuda": cuda})  # type: ignore[attr-defined]
        found[block * size + t] = bound(*args)
    return found


def _meet(
    threads: dict[int, Any],
    stopped: dict[int, tuple[str, int, Any]],
    answers: dict[int, Any],
    world: _World,
    size: int,
) -> None:
    """Lets those go on that have all met: the block at a barrier, a warp at its operation."""
    here = {t: stopped[t] for t in threads if t in stopped}
    if len(here) == len(threads) and {name for name, *_ in here.values()} <= set(MEETINGS):
        if len(threads) < size or len({line for _, line, _ in here.values()}) > 1:
            world.found.add("barrier-divergence")
        _join_all([world.clocks[thread] for thread in here])
        given = [bool(asked[0]) if asked else False for _, _, asked in here.values()]
        for thread, (name, *_) in here.items():
            del stopped[thread]
            answers[thread] = sum(given) if name == "syncthreads_count" else any(given)
    warps: dict[tuple[int, str, int], dict[int, Any]] = defaultdict(dict)
    for thread, (name, line, asked) in here.items():
        if name in WARP_MEETINGS:
            warps[thread % size // WARP, name, line][thread % size % WARP] = (thread, asked)
    for (_, name, _), lanes in warps.items():
        if len(lanes) == WARP:
            if name == "syncwarp":
                _join_all([world.clocks[thread] for thread, _ in lanes.values()])
            for lane, (thread, asked) in lanes.items():
                del stopped[thread]
                answers[thread] = _exchanged(name, lane, asked, lanes)


def _join_all(clocks: list[Clock]) -> None:
    known: Clock = {}
    for clock in clocks:
        _join(known, clock)
    for clock in clocks:
        _join(clock, known)


def _exchanged(name: str, lane: int, asked: Any, lanes: dict[int, Any]) -> Any:
    if name == "syncwarp":
        return None
    if name == "ballot_sync":
        return sum(1 << k for k, (_, given) in lanes.items() if given[1])
    step = asked[2]
    other = {
        "shfl_sync": step % WARP,
        "shfl_up_sync": lane - step if lane >= step else lane,
        "shfl_down_sync": lane + step if lane + step < WARP else lane,
        "shfl_xor_sync": lane ^ step,
    }[name]
    return lanes[other][1][1]


def run_case(
    puzzle: KernelPuzzle,
    functions: dict[str, Any],
    case: Case,
    seed: int,
    resident: int = 0,
    until: str = "",
) -> tuple[frozenset[str], bool]:
    """Returns what was found in one case, and whether all outputs are right.

    Where one finding is looked for, the case ends as soon as it is there: a kernel that races may
    well wait for ever after it.
    """
    rng = np.random.default_rng(seed)
    inputs = puzzle.inputs(np.random.default_rng(0), case)
    world = _World()
    values: dict[str, Any] = dict(inputs)
    for name, value in {**puzzle.outputs(inputs, case), **inputs}.items():
        if isinstance(value, np.ndarray):
            fresh = value.copy() if name in inputs else np.full_like(value, -77)
            values[name] = _Cells(fresh, world)
    for launch in puzzle.launches(case):
        for array in (v for v in values.values() if isinstance(v, _Cells)):
            array.touched.clear()
            array.told.clear()
        args = [values[name] for name in launch.args]
        run_launch(functions[launch.function], launch, args, world, rng, resident, until)
        if world.found & {"endless-loop", "barrier-divergence", until}:
            return frozenset(world.found), False
    expected = puzzle.reference(inputs, case)
    within = puzzle.tolerances(inputs, case, expected)
    right = all(
        np.allclose(values[n].values, expected[n], *within[n], equal_nan=True) for n in expected
    )
    return frozenset(world.found), right
