"""Runs a grid, in batches of blocks, feeding the observers it is handed."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.simt import inference, memory
from gpu_course.simt.arguments import arrays_in, bind_arguments, bound, type_of
from gpu_course.simt.constants import Symbol
from gpu_course.simt.endless import EndlessLoop
from gpu_course.simt.faults import CannotGoOn, Fault, FaultLog
from gpu_course.simt.interpreter import Interpreter
from gpu_course.simt.lanes import WARP, Lanes
from gpu_course.simt.memory import Array
from gpu_course.simt.observer import Observer, Setting
from gpu_course.simt.policy import STRICT, Policy
from gpu_course.simt.printout import Printout
from gpu_course.simt.program import Program
from gpu_course.simt.report import Dim3
from gpu_course.simt.schedule import Schedule
from gpu_course.simt.state import State
from gpu_course.simt.strands import Strands
from gpu_course.simt.vocabulary.allocate import local_bytes, too_much

LANES_PER_BATCH = 1 << 15
LOCAL_BYTES_PER_BATCH = 1 << 28
MOST_LOCAL_BYTES_RESIDENT = 1 << 30
MOST_LANES = 1 << 27

# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same for every
# compute capability from 5.0 on.
MOST_THREADS_PER_BLOCK = 1024
MOST_PER_BLOCK_AXIS = (1024, 1024, 64)
MOST_PER_GRID_AXIS = (2**31 - 1, 65_535, 65_535)


def dim3(value: Any, what: str) -> Dim3:
    """Returns a grid or block given as an int or a tuple of 1 to 3 ints as (x, y, z).

    Raises:
        CourseError: it is neither.

    >>> dim3(8, "block"), dim3((4, 2), "grid")
    ((8, 1, 1), (4, 2, 1))
    """
    parts = tuple(value) if isinstance(value, tuple | list) else (value,)
    whole = all(isinstance(p, int | np.integer) and not isinstance(p, bool) for p in parts)
    if not whole or not 1 <= len(parts) <= 3:
        raise CourseError(
            f"the {what} {value!r} is not an int or a tuple of 1 to 3 ints",
            f"write kernel[grid, block](...), such as kernel[4, 128] with {what} a whole number",
        )
    x, y, z = (*map(int, parts), 1, 1)[:3]
    return x, y, z


def illegal(grid: Dim3, block: Dim3) -> str | None:
    """Returns why no GPU accepts this launch shape, or None when one does.

    >>> illegal((1, 1, 1), (2048, 1, 1))
    'a block of 2,048 threads: a block has at most 1,024'
    """
    for what, shape, most in (
        ("block", block, MOST_PER_BLOCK_AXIS),
        ("grid", grid, MOST_PER_GRID_AXIS),
    ):
        for axis, size, limit in zip("xyz", shape, most, strict=True):
            if size < 1:
                return f"a {what} of {size} along {axis}: a {what} has at least 1"
            if size > limit and what == "grid":
                return f"a grid of {size:,} blocks along {axis}: at most {limit:,} fit"
    threads = block[0] * block[1] * block[2]
    if threads > MOST_THREADS_PER_BLOCK:
        return f"a block of {threads:,} threads: a block has at most {MOST_THREADS_PER_BLOCK:,}"
    if block[2] > MOST_PER_BLOCK_AXIS[2]:
        return f"a block of {block[2]} along z: at most {MOST_PER_BLOCK_AXIS[2]} fit"
    return None


def check_size(name: str, grid: Dim3, block: Dim3) -> None:
    """Raises CourseError for a launch that a GPU runs and that is too large for the simulator."""
    warps = grid[0] * grid[1] * grid[2] * -(-(block[0] * block[1] * block[2]) // WARP)
    if warps * WARP > MOST_LANES:
        raise CourseError(
            f"{name} is launched with {warps * WARP:,} lanes: a GPU runs that many, and the "
            f"simulator at most {MOST_LANES:,}",
            "launch fewer blocks, or let each thread do more in a loop",
        )


def run(
    program: Program,
    grid: Dim3,
    block: Dim3,
    arguments: Sequence[Any],
    observers: Sequence[Observer],
    faults: FaultLog,
    *,
    order_seed: int | None = None,
    step_budget: int,
    dynamic_bytes: int = 0,
    policy: Policy = STRICT,
    printout: Printout | None = None,
    schedule: Schedule | None = None,
) -> None:
    """Runs a launch that is legal; arrays change in place, faults and observers fill up.

    Args:
        program: the kernel.
        grid, block: the shape as (x, y, z).
        arguments: NumPy arrays and numbers, one per parameter.
        observers: told of everything that happens.
        faults: what went wrong.
        order_seed: shuffles the order of blocks when not None.
        step_budget: statements each batch of blocks may execute.
        dynamic_bytes: dynamic shared memory of a block.
        policy: what counts as an error.
        printout: where the threads print.
        schedule: who runs next where strands take turns; None: all lanes in lockstep.

    Raises:
        CourseError: an argument a kernel cannot take.
        KernelRefused: the argument types do not fit the kernel.
        Waits: the threads wait for each other, and running them together leads nowhere; in
            strands of warps, the lanes of a warp do.
    """
    values = bind_arguments(program, arguments)
    arrays = memory.bind({k: v for n, a in values.items() for k, v in arrays_in(n, a).items()})
    inferred = inference.infer(program, [type_of(v) for v in values.values()])
    program = inferred.program or program
    fact = too_much(inferred.requests.values(), inferred.static_shared_bytes, dynamic_bytes)
    if fact is not None:
        line = program.kernel.tree.lineno
        faults.add(Fault("illegal-launch", line, np.empty(0, np.int64), {"fact": fact}))
        return
    _refuse_read_only(program, arrays)
    stored = frozenset(arrays[name].allocation.number for name in _stored(program, arrays))
    setting = Setting(program, grid, block, arrays, stored, faults, order_seed, policy)
    for observer in observers:
        observer.begin(setting)
    state = State(
        program,
        inferred,
        {name: bound(name, value, arrays) for name, value in values.items()},
        faults,
        dynamic_bytes,
        order_seed,
        printout,
        policy,
    )
    faults.most_errors = policy.most_errors
    whole = "cuda.cg.this_grid" in _names(program)
    own = local_bytes(inferred.requests.values())
    if schedule is not None or whole:
        _check_resident(program, grid, block, own)
    try:
        with np.errstate(all="ignore"):
            if schedule is not None:
                lanes = Lanes(grid, block, _blocks(grid))
                for observer in observers:
                    observer.batch(lanes)
                Strands(schedule, lanes, observers, step_budget, state).run()
                return
            for blocks in _batches(grid, block, order_seed, whole=whole, local_bytes=own):
                lanes = Lanes(grid, block, blocks)
                for observer in observers:
                    observer.batch(lanes)
                Interpreter(*state.of(lanes, observers, step_budget)).run()
    except CannotGoOn:
        pass
    except EndlessLoop as end:
        faults.most_errors = math.inf  # this one is the last
        faults.add(Fault("endless-loop", end.line, end.threads, end.facts))


def _check_resident(program: Program, grid: Dim3, block: Dim3, local: int) -> None:
    """Raises KernelRefused where all threads together hold more local memory than there may be."""
    threads = int(np.prod(grid)) * int(np.prod(block))
    if local * threads > MOST_LOCAL_BYTES_RESIDENT:
        raise program.kernel.refuse(
            program.kernel.tree,
            f"{threads:,} threads that have to be there at the same time hold "
            f"{local * threads:,} bytes of local memory: the simulator allows "
            f"{MOST_LOCAL_BYTES_RESIDENT:,}",
            "launch fewer threads, or declare smaller local arrays",
        )


def _stored(program: Program, arrays: dict[str, Array]) -> list[str]:
    """The arrays that the kernel may write to; those of a tuple as one."""
    return [name for name in arrays if name.partition("[")[0] in program.stored]


def _refuse_read_only(program: Program, arrays: dict[str, Array]) -> None:
    for name in _stored(program, arrays):
        if not arrays[name].writable:
            raise CourseError(
                f"{program.kernel.name} writes to {name}, which is a read-only array",
                "pass a copy that can be written",
            )


@functools.lru_cache(maxsize=256)
def _names(program: Program) -> frozenset[str]:
    """The dotted names a kernel and its device functions use."""
    meanings = [meaning for each in program.family() for meaning in each.meanings.values()]
    return frozenset(m.path for m in meanings if isinstance(m, Symbol))


def _blocks(grid: Dim3) -> np.ndarray:
    return np.arange(grid[0] * grid[1] * grid[2])


def _batches(
    grid: Dim3, block: Dim3, order_seed: int | None, *, whole: bool, local_bytes: int
) -> list[np.ndarray]:
    order = _blocks(grid)
    if order_seed is not None:
        np.random.default_rng(order_seed).shuffle(order)
    lanes = -(-(block[0] * block[1] * block[2]) // WARP) * WARP
    at_once = min(LANES_PER_BATCH, LOCAL_BYTES_PER_BATCH // max(local_bytes, 1))
    per_batch = order.size if whole else max(1, at_once // lanes)
    return [order[start : start + per_batch] for start in range(0, order.size, per_batch)]
