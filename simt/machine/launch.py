"""Runs a grid, in batches of blocks, feeding the observers it is handed."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from simt.errors import UserError
from simt.kernel import inference, source, types
from simt.kernel.constants import as_dtype
from simt.kernel.ir import Code
from simt.kernel.legality import Program, defaults_of
from simt.kernel.lower import lower
from simt.kernel.types import best, show
from simt.machine import memory
from simt.machine.faults import STRICT, CannotGoOn, Fault, FaultLog, Policy
from simt.machine.interpreter import Interpreter
from simt.machine.lanes import WARP, Lanes
from simt.machine.memory import Array
from simt.machine.observer import Audience, Observer, Setting
from simt.machine.schedule import Schedule
from simt.machine.scheduler import Scheduler
from simt.machine.watchdog import EndlessLoop
from simt.report import Dim3, Printout
from simt.text import count
from simt.vocabulary.allocate import local_bytes, too_much
from simt.vocabulary.functions import cast
from simt.vocabulary.synchronise import GRID_BARRIER


class RunElsewhere(Exception):
    """Something else has run a launch from its beginning to its end, while it was interpreted."""


def bind_arguments(program: Program, arguments: Sequence[Any]) -> dict[str, Any]:
    """Returns parameter name -> NumPy array or NumPy scalar of Numba's type.

    Raises:
        UserError: the wrong number of arguments, or one that Numba cannot pass to a kernel.
    """
    names = program.kernel.parameters
    if len(arguments) < len(names) and program.kernel.tree.args.defaults:
        left_out = defaults_of(program.kernel)
        rest = [left_out[name].value for name in names[len(arguments) :] if name in left_out]
        arguments = (*arguments, *rest)
    if len(arguments) != len(names):
        raise UserError(
            f"{program.kernel.name} takes {count(len(names), 'argument')} "
            f"({', '.join(names)}) and was launched with {len(arguments)}",
            "pass one value per parameter",
        )
    given = {name: _argument(name, value) for name, value in zip(names, arguments, strict=True)}
    return _declared(program, given) if program.kernel.declared else given


def _declared(program: Program, given: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the best fitting signature of the kernel has them."""
    kernel, found = program.kernel, [type_of(value) for value in given.values()]
    signature = best(kernel.declared, found)
    if signature is None:
        raise kernel.refuse(
            kernel.tree,
            f"no signature of {kernel.name} takes ({', '.join(map(show, found))})",
            f"it declares {'; '.join(map(str, kernel.declared))}",
        )
    wanted = zip(given.items(), signature.converted(found), strict=True)
    return {
        name: value if isinstance(value, np.ndarray) else cast(value, type_)
        for (name, value), type_ in wanted
    }


def _argument(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.names:
            _check_structure(name, value.dtype)
        elif value.dtype.kind not in "biufc" or value.dtype.str[1:] in ("f16", "c32"):
            raise UserError(
                f"the simulator does not know arrays of {value.dtype} (argument {name})",
                "use bool, integers, floats of 2, 4 or 8 bytes, or complex numbers",
            )
        return value
    if value is None or isinstance(value, types.Held):
        return value
    if isinstance(value, np.void) and value.dtype.names:
        return _argument(name, np.array(value))
    if isinstance(value, bool | int | float | complex | np.generic):
        type_ = inference.of_value(value)
        if isinstance(type_, np.dtype) and type_.kind in "biufc":
            return type_.type(value)
    if isinstance(value, tuple):
        parts = tuple(_argument(f"{name}[{k}]", part) for k, part in enumerate(value))
        return type(value)(*parts) if hasattr(value, "_fields") else parts
    found = source.of_live(name, value)
    if isinstance(found, source.Kernel):
        return types.FunctionType(found.name, found.place[:2], found)
    dtype = as_dtype(found)
    if dtype is not None:
        return types.DtypeType(dtype)
    raise UserError(
        f"a kernel cannot take a {type(value).__name__} (argument {name})",
        "pass NumPy arrays, numbers, and tuples of them",
    )


def arrays_in(name: str, value: Any) -> dict[str, np.ndarray]:
    """Returns the arrays of an argument by the names that messages have for them.

    >>> list(arrays_in("pair", (np.zeros(2), 3, np.zeros(1))))
    ['pair[0]', 'pair[2]']
    """
    if isinstance(value, np.ndarray):
        return {name: value}
    if not isinstance(value, tuple):
        return {}
    parts = [arrays_in(f"{name}[{k}]", part) for k, part in enumerate(value)]
    return {key: array for part in parts for key, array in part.items()}


def bound(name: str, value: Any, arrays: dict[str, Array]) -> Any:
    """Returns an argument with the kernel's arrays in the place of NumPy's."""
    if isinstance(value, tuple):
        return tuple(bound(f"{name}[{k}]", part, arrays) for k, part in enumerate(value))
    return arrays.get(name, value)


def _check_structure(name: str, dtype: np.dtype[Any]) -> None:
    for field, (whole, *_) in (dtype.fields or {}).items():
        type_ = whole.base  # of what an array in a field holds
        if type_.kind not in "biufc" or type_.str[1:] in ("f16", "c32"):
            raise UserError(
                f"the simulator does not know the field {field} of {name}, a {type_}",
                "use structures of numbers and of arrays of them",
            )


def type_of(value: Any) -> types.Type:
    """Returns the type Numba infers for an argument that `bind_arguments` gave."""
    if isinstance(value, np.ndarray):
        return types.ArrayType(value.dtype, value.ndim)
    if isinstance(value, tuple):
        return types.TupleType(tuple(map(type_of, value)), getattr(value, "_fields", ()))
    if value is None or isinstance(value, types.Held):
        return value
    return value.dtype  # type: ignore[no-any-return]


# Vectors of a launch come and go by the thousand. The C library would give their memory back each
# time and take fresh pages for the next one; it keeps pieces up to the largest that it has freed so
# far. This one is never written to, and so takes no memory: mallopt(3), M_MMAP_THRESHOLD.
np.empty(1 << 24, np.uint8)

LANES_PER_BATCH = 1 << 15
SMALL_LANES = 1 << 12
LOCAL_BYTES_PER_BATCH = 1 << 28
MAX_LOCAL_BYTES_RESIDENT = 1 << 30
MAX_LANES = 1 << 27

# CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the same for every
# compute capability from 5.0 on.
MAX_THREADS_PER_BLOCK = 1024
MAX_PER_BLOCK_AXIS = (1024, 1024, 64)
MAX_PER_GRID_AXIS = (2**31 - 1, 65_535, 65_535)


def dim3(value: Any, what: str) -> Dim3:
    """Returns a grid or block given as an int or a tuple of 1 to 3 ints as (x, y, z).

    Raises:
        UserError: it is neither.

    >>> dim3(8, "block"), dim3((4, 2), "grid")
    ((8, 1, 1), (4, 2, 1))
    """
    parts = tuple(value) if isinstance(value, tuple | list) else (value,)
    whole = all(isinstance(p, int | np.integer) and not isinstance(p, bool) for p in parts)
    if not whole or not 1 <= len(parts) <= 3:
        raise UserError(
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
        ("block", block, MAX_PER_BLOCK_AXIS),
        ("grid", grid, MAX_PER_GRID_AXIS),
    ):
        for axis, size, limit in zip("xyz", shape, most, strict=True):
            if size < 1:
                return f"a {what} of {size} along {axis}: a {what} has at least 1"
            if size > limit and what == "grid":
                return f"a grid of {size:,} blocks along {axis}: at most {limit:,} fit"
    threads = block[0] * block[1] * block[2]
    if threads > MAX_THREADS_PER_BLOCK:
        return f"a block of {threads:,} threads: a block has at most {MAX_THREADS_PER_BLOCK:,}"
    if block[2] > MAX_PER_BLOCK_AXIS[2]:
        return f"a block of {block[2]} along z: at most {MAX_PER_BLOCK_AXIS[2]} fit"
    return None


def check_size(name: str, grid: Dim3, block: Dim3) -> None:
    """Raises UserError for a launch that a GPU runs and that is too large for the simulator."""
    warps = grid[0] * grid[1] * grid[2] * -(-(block[0] * block[1] * block[2]) // WARP)
    if warps * WARP > MAX_LANES:
        raise UserError(
            f"{name} is launched with {warps * WARP:,} lanes: a GPU runs that many, and the "
            f"simulator at most {MAX_LANES:,}",
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
    instead: Callable[[Setting], bool] | None = None,
    meanwhile: Callable[[int, int], float] | None = None,
) -> int:
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
        schedule: who runs next where warps or threads take turns; None: all lanes in lockstep.
        instead: asked before anything runs; returns whether it has run the launch itself.
        meanwhile: asked while batches run in lockstep: (steps, batches that are done) -> after how
            many more steps to ask again. It raises RunElsewhere where it has run the launch itself.

    Returns:
        The steps that batches of blocks have taken; 0 where something else has run them.

    Raises:
        UserError: an argument a kernel cannot take.
        KernelRefused: the argument types do not fit the kernel.
        Waits: the threads wait for each other, and running them together leads nowhere; in
            turns of warps, the lanes of a warp do.
    """
    values = bind_arguments(program, arguments)
    arrays = memory.bind({k: v for n, a in values.items() for k, v in arrays_in(n, a).items()})
    code = lower(program.written, tuple(type_of(v) for v in values.values()))
    fact = too_much(code.arrays, code.static_shared_bytes, dynamic_bytes)
    if fact is not None:
        line = code.kernel.tree.lineno
        faults.add(Fault("illegal-launch", line, np.empty(0, np.int64), {"fact": fact}))
        faults.finished = False
        return 0
    _refuse_read_only(code, arrays)
    captured = {f"{array.name} (beside the kernel)": array for array in code.captured}
    setting = Setting(
        code=code,
        grid=grid,
        block=block,
        arguments={name: bound(name, value, arrays) for name, value in values.items()},
        arrays=arrays | captured,
        stored=frozenset(arrays[name].allocation.number for name in _stored(code, arrays))
        | {array.allocation.number for array in code.captured},
        faults=faults,
        order_seed=order_seed,
        policy=policy,
        dynamic_bytes=dynamic_bytes,
        printout=printout or Printout(),
    )
    if instead is not None and instead(setting):
        return 0
    audience = Audience(observers)
    audience.begin(setting)
    faults.most_errors = policy.most_errors
    whole = GRID_BARRIER in code.names
    own = local_bytes(code.arrays)
    if schedule is not None or whole:
        _check_resident(code, grid, block, own)
    steps = 0
    try:
        with np.errstate(all="ignore"):
            if schedule is not None:
                lanes = Lanes(grid, block, _blocks(grid))
                audience.batch(lanes)
                Scheduler(schedule, lanes, audience, step_budget, setting).run()
                return 0
            order = blocks_in_order(grid, order_seed)
            at_once = order.size if whole else blocks_together(block, own)
            for start in range(0, order.size, at_once):
                lanes = _lanes(grid, block, order[start : start + at_once])
                audience.batch(lanes)
                interpreter = Interpreter(setting, lanes, audience, step_budget)
                if meanwhile is not None:
                    interpreter.ask(_since(meanwhile, steps, start // at_once))
                interpreter.run()
                steps += interpreter.steps_taken
    except RunElsewhere:
        return 0
    except CannotGoOn:
        faults.finished = False
    except EndlessLoop as end:
        faults.finished = False
        faults.most_errors = math.inf  # this one is the last
        faults.add(
            Fault(
                "endless-loop",
                end.line,
                end.threads,
                end.facts,
                kernel=end.kernel,
                caller=end.caller,
            )
        )
    finally:
        _give_back(arguments, values.values())
    return steps


def _since(meanwhile: Callable[[int, int], float], steps: int, done: int) -> Callable[[int], float]:
    return lambda more: meanwhile(steps + more, done)


def _give_back(arguments: Sequence[Any], values: Iterable[Any]) -> None:
    """Hands back what a kernel changed in a structure, which it got as a copy of its own."""
    for given, value in zip(arguments, values, strict=False):
        if isinstance(given, np.void) and isinstance(value, np.ndarray):
            for name in given.dtype.names or ():
                given[name] = value[name]


def _check_resident(code: Code, grid: Dim3, block: Dim3, local: int) -> None:
    """Raises KernelRefused where all threads together hold more local memory than there may be."""
    threads = int(np.prod(grid)) * int(np.prod(block))
    if local * threads > MAX_LOCAL_BYTES_RESIDENT:
        raise code.kernel.refuse(
            code.kernel.tree,
            f"{threads:,} threads that have to be there at the same time hold "
            f"{local * threads:,} bytes of local memory: the simulator allows "
            f"{MAX_LOCAL_BYTES_RESIDENT:,}",
            "launch fewer threads, or declare smaller local arrays",
        )


def _stored(code: Code, arrays: dict[str, Array]) -> list[str]:
    """The arrays that the kernel may write to; those of a tuple as one."""
    return [name for name in arrays if name.partition("[")[0] in code.stored]


def _refuse_read_only(code: Code, arrays: dict[str, Array]) -> None:
    for name in _stored(code, arrays):
        if not arrays[name].writable:
            raise UserError(
                f"{code.kernel.name} writes to {name}, which is a read-only array",
                "pass a copy that can be written",
            )


def _blocks(grid: Dim3) -> np.ndarray:
    return np.arange(grid[0] * grid[1] * grid[2])


def _lanes(grid: Dim3, block: Dim3, blocks: np.ndarray) -> Lanes:
    """The lanes of some blocks; of a launch in one batch, which is often one of many, kept."""
    whole = len(blocks) == grid[0] * grid[1] * grid[2]
    count = len(blocks) * block[0] * block[1] * block[2]
    if not whole or count > LANES_PER_BATCH:
        return Lanes(grid, block, blocks)
    keep = _small_lanes if count <= SMALL_LANES else _large_lanes
    return keep(grid, block, tuple(blocks.tolist()))


def _new_lanes(grid: Dim3, block: Dim3, blocks: tuple[int, ...]) -> Lanes:
    return Lanes(grid, block, np.array(blocks))


# A lane takes some 50 bytes in all.
_small_lanes = functools.lru_cache(maxsize=64)(_new_lanes)
_large_lanes = functools.lru_cache(maxsize=4)(_new_lanes)


def blocks_in_order(grid: Dim3, order_seed: int | None) -> np.ndarray:
    """Returns the numbers of all blocks, in the order in which they run."""
    order = _blocks(grid)
    if order_seed is not None:
        np.random.default_rng(order_seed).shuffle(order)
    return order


def blocks_together(block: Dim3, local_bytes: int) -> int:
    """Returns how many blocks run in one batch.

    Args:
        block: the threads of one.
        local_bytes: the local memory of a thread.
    """
    lanes = -(-(block[0] * block[1] * block[2]) // WARP) * WARP
    at_once = min(LANES_PER_BATCH, LOCAL_BYTES_PER_BATCH // max(local_bytes, 1))
    return max(1, at_once // lanes)
