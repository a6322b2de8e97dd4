"""One case of a puzzle, tried: fresh inputs, poisoned outputs, the launches in order."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import gpu_course
from gpu_course.errors import CatalogueError
from gpu_course.grading.diagnoses.patterns import Dim3, close
from gpu_course.grading.seeds import randomness
from gpu_course.puzzle import Case, KernelPuzzle, Launch
from simt.errors import KernelRefused
from simt.kernel import source
from simt.kernel.legality import check as check_kernel
from simt.kernel.source import Kernel
from simt.machine.launch import dim3, illegal
from simt.machine.schedule import Kind, Ranked
from simt.observe.shares import Shares, Steps, ThreadWork
from simt.report import Counters, Hazard, Report, ThreadPair, Touch
from simt.simulator import simulate

ORDERS = (None, 1)
"""Seeds of the orders a case is tried in: the blocks as they are numbered, and shuffled."""

STEP_BUDGET = 40_000
"""Statements a launch may execute: far beyond an honest answer, and over within seconds."""


Options = Callable[[Kind], dict[str, Any]]
"""How to run a launch in tasks of a kind."""

MORE_ORDERS: tuple[Options, ...] = (
    lambda tasks: {"order_seed": 2},
    lambda tasks: {"schedule": Ranked(tasks, "accesses", seed=2, turns=8)},
    lambda tasks: {"schedule": Ranked(tasks, "accesses", seed=3, turns=16)},
    lambda tasks: {"schedule": Ranked(tasks, "accesses", seed=4, turns=8)},
    lambda tasks: {"schedule": Ranked(tasks, "accesses", seed=11, turns=4)},
)
"""Further orders, for kernels on whose results the order may tell: atomics shuffled anew, and warps
that overtake each other. Beside them come those with one block resident: see `blocks_first`."""

MAX_THREADS_IN_MORE_ORDERS = 1024
MAX_THREADS_ONE_BLOCK_RESIDENT = 4096
"""These orders are quick enough for larger launches: their tasks hand on only where they wait."""
STEPS_IN_MORE_ORDERS = 10_000
MAX_BLOCKS_FIRST = 8
"""In so large a grid each block comes first once, where the kernel waits."""


def blocks_first(blocks: int, *, waits: bool) -> tuple[int | None, ...]:
    """Returns which block comes first in each order with one block resident; None: a drawn one.

    With room for one block the next starts when it has ended, so a block that waits for any other
    waits for ever once it comes first. A kernel that waits is run with each block first; in a
    larger grid with the first two, the last, one in the middle and a drawn one, since those that
    kernels name are the ends and the neighbours. In all of them the other blocks, and the warps of
    each, come in an order of their own.

    >>> blocks_first(3, waits=True), blocks_first(100, waits=True)
    ((0, 1, 2), (None, 0, 1, 50, 99))
    """
    if not waits:
        return (None,)
    if blocks <= MAX_BLOCKS_FIRST:
        return tuple(range(blocks))
    return (None, 0, 1, blocks // 2, blocks - 1)


_QUIET_NAN = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8000000000000}
_MARKS = (0xA5, 0x5A)


@dataclass(frozen=True)
class Given:
    """A case with its data: what every trial of it starts from.

    Attributes:
        case: the case; `launches` what is launched, in order.
        inputs: named inputs; `outputs` named arrays of the right shapes; neither is ever changed.
        expected: what each output is to hold; an output that is not in it is scratch space.
        seed: what the inputs were drawn by.
        puzzle: whose case it is.
    """

    case: Case
    launches: tuple[Launch, ...]
    inputs: Mapping[str, Any]
    outputs: Mapping[str, np.ndarray]
    expected: Mapping[str, np.ndarray]
    seed: int
    puzzle: KernelPuzzle = field(repr=False)

    @functools.cached_property
    def tolerances(self) -> Mapping[str, tuple[float, float]]:
        """How far (rtol, atol) each expected output may be off; worked out when it is asked."""
        return self.puzzle.tolerances(_copies(self.inputs), self.case, dict(self.expected))


@dataclass(frozen=True)
class Trial:
    """What one trial of a case left behind.

    Attributes:
        given: the case.
        got: the outputs afterwards.
        poisoned: for each output, bool: True where the poison is still there, bit for bit.
        changed: inputs that are no longer what they were, as they are now.
        reports: one Report per launch.
        parameters: for each function what the answer calls its parameters.
        shares: one tuple per launch: what each thread did to each array.
        steps: one per launch: how much each thread did.
        order: which of ORDERS it ran in; None for an order of another kind.
    """

    given: Given
    got: Mapping[str, np.ndarray]
    poisoned: Mapping[str, np.ndarray]
    changed: Mapping[str, np.ndarray]
    reports: tuple[Report, ...]
    parameters: Mapping[str, tuple[str, ...]]
    shares: tuple[tuple[ThreadWork, ...], ...] = ()
    steps: tuple[Steps, ...] = ()
    order: int | None = None

    @property
    def hazards(self) -> tuple[Hazard, ...]:
        """Every hazard of every launch, errors first."""
        found = [hazard for report in self.reports for hazard in report.hazards]
        return tuple(sorted(found, key=lambda hazard: hazard.severity != "error"))

    @property
    def counters(self) -> Counters:
        """The counters of all launches together."""
        return Counters.total([report.counters for report in self.reports])

    def own_names(self, launch: Launch, name: str) -> tuple[str, ...]:
        """Returns what the launched kernel calls an argument of the puzzle."""
        pairs = zip(self.parameters[launch.function], launch.args, strict=True)
        return tuple(own for own, given in pairs if given == name)


@dataclass(frozen=True)
class CellAccess:
    """Who touched a cell: the thread, and the line it did it on."""

    thread: ThreadPair
    line: int


def prepare(puzzle: KernelPuzzle, case: Case, seed: int) -> Given:
    """Returns a case with inputs drawn from a seed and the expected outputs.

    Raises:
        CatalogueError: the specification contradicts itself.
    """
    inputs = puzzle.inputs(randomness(puzzle, case, seed), case)
    with np.errstate(all="ignore"):
        found = puzzle.reference(_copies(inputs), case)
    expected = {name: np.asarray(value) for name, value in found.items()}
    outputs = puzzle.outputs(_copies(inputs), case, expected)
    launches = puzzle.launches(case)
    known = {*inputs, *outputs}
    for launch in launches:
        fact = illegal(dim3(launch.grid, "grid"), dim3(launch.block, "block"))
        if fact is not None:
            raise CatalogueError(f"a launch of {puzzle.name} asks for {fact}")
        if unknown := [name for name in launch.args if name not in known]:
            raise CatalogueError(f"a launch of {puzzle.name} names {unknown[0]}, which is nothing")
    return Given(case, launches, inputs, outputs, expected, seed, puzzle)


def attempt(
    given: Given,
    kernels: Mapping[str, Kernel],
    order: int,
    how: Mapping[int, Mapping[str, Any]] | None = None,
    *,
    counted: bool = True,
) -> Trial:
    """Returns what one trial of a case leaves behind.

    Args:
        given: the case.
        kernels: the answer's kernels by name.
        order: which of ORDERS to run in; each also has a poison of its own, so that a cell
            nobody wrote cannot be right by chance in all of them.
        how: for launches by their number in the case, what else `simulate` is told.
        counted: False for results and hazards alone: no counters, touches or shares.

    Raises:
        KernelRefused: a kernel that cannot run with these arguments.
    """
    values = _copies(given.inputs)
    pristine: dict[str, np.ndarray] = {}
    for name, array in given.outputs.items():
        # An array that is input and output at once starts as the input.
        pristine[name] = values[name].copy() if name in given.inputs else poison(array, order)
        values[name] = pristine[name].copy()
    reports: list[Report] = []
    shares: list[tuple[ThreadWork, ...]] = []
    steps: list[Steps] = []
    for number, launch in enumerate(given.launches):
        more = {
            "order_seed": ORDERS[order],
            "step_budget": STEP_BUDGET,
            "counters": counted,
            **(how or {}).get(number, {}),
        }
        watch = Shares()
        if counted:
            more["observers"] = (*more.get("observers", ()), watch)
        run = simulate(kernels[launch.function], **more)
        shape = (launch.grid, launch.block, 0, launch.shared_bytes)
        reports.append(run[shape](*(values[name] for name in launch.args)))
        shares.append(watch.found())
        steps.append(watch.steps())
        if any(hazard.kind in _NOTHING_AFTER for hazard in reports[-1].hazards):
            break
    changed = {
        name: values[name]
        for name, before in given.inputs.items()
        if name not in given.outputs
        and isinstance(before, np.ndarray)
        and not same_bits(before, values[name]).all()
    }
    got = {name: values[name] for name in given.outputs}
    poisoned = {name: same_bits(got[name], pristine[name]) for name in got}
    parameters = {name: kernel.parameters for name, kernel in kernels.items()}
    left = tuple(reports), parameters, tuple(shares), tuple(steps)
    return Trial(given, got, poisoned, changed, *left, order=order if how is None else None)


_NOTHING_AFTER = ("illegal-launch", "endless-loop")


def orders_of_blocks(given: Given, kernels: Mapping[str, Kernel]) -> Iterator[Trial]:
    """Yields trials in three more orders of blocks and atomics, whatever the kernel."""
    for seed in (2, 3, 4):
        yield attempt(
            given, kernels, 1, {n: {"order_seed": seed} for n in range(len(given.launches))}
        )


def more_orders(
    given: Given,
    kernels: Mapping[str, Kernel],
    fine: Callable[[Trial], bool],
    *,
    together: bool = False,
) -> Iterator[Trial]:
    """Yields trials in MORE_ORDERS, where the order may tell and the launches are small.

    An order that comes to no end within its smaller budget says nothing, unless it is proven that
    its threads wait for each other for ever.

    Args:
        given, kernels: see `attempt`.
        fine: whether there is nothing to tell of a trial. Where there is, it is made once more,
            counted: a message and its picture need more than results and hazards.
        together: see KernelPuzzle.
    """
    programs = {
        number: check_kernel(kernels[launch.function])
        for number, launch in enumerate(given.launches)
    }
    threads = {
        number: _blocks(launch) * int(np.prod(dim3(launch.block, "block")))
        for number, launch in enumerate(given.launches)
        if programs[number].order_matters
    }

    def up_to(most: int) -> list[int]:
        return [number for number, many in threads.items() if many <= most]

    small = up_to(MAX_THREADS_IN_MORE_ORDERS)
    orders: list[dict[int, Options]] = [dict.fromkeys(small, options) for options in MORE_ORDERS]
    first = {
        number: blocks_first(
            _blocks(given.launches[number]), waits=programs[number].may_wait and not together
        )
        for number in up_to(MAX_THREADS_ONE_BLOCK_RESIDENT)
    }
    for turn in range(max(map(len, first.values()), default=0)):
        firsts = {number: blocks[turn % len(blocks)] for number, blocks in first.items()}
        seed, resident = 1 + turn, int(not together)
        orders.insert(
            1 + turn, {n: _one_block_resident(seed, resident, block) for n, block in firsts.items()}
        )
    for options in filter(None, orders):
        tried = _in_order(given, kernels, options, fine)
        if tried is not None:
            yield tried


def _blocks(launch: Launch) -> int:
    return int(np.prod(dim3(launch.grid, "grid")))


def _one_block_resident(seed: int, resident: int, first: int | None) -> Options:
    return lambda tasks: {"schedule": Ranked(tasks, seed=seed, resident=resident, first=first)}


def _in_order(
    given: Given,
    kernels: Mapping[str, Kernel],
    options: Mapping[int, Options],
    fine: Callable[[Trial], bool],
) -> Trial | None:
    """Returns a trial in one further order; None where it says nothing."""
    tried = _in_tasks(given, kernels, options, counted=False)
    if tried is not None and not fine(tried):
        tried = _in_tasks(given, kernels, options, counted=True)
    if tried is not None and any(h.details.get("outside") for h in _unproven(tried)):
        # Blocks that find no room are no proof where a loop counts its turns: it may yet give up.
        # What has not ended within the whole budget is as endless as in the first two orders.
        return _in_tasks(given, kernels, options, steps=STEP_BUDGET, counted=True)
    return None if tried is None or _unproven(tried) else tried


def _unproven(tried: Trial) -> list[Hazard]:
    """The loops of a trial that came to no end within its budget, and might have."""
    endless = [hazard for hazard in tried.hazards if hazard.kind == "endless-loop"]
    return [h for h in endless if not (h.details.get("proven") or h.details.get("hopeless"))]


def _in_tasks(
    given: Given,
    kernels: Mapping[str, Kernel],
    options: Mapping[int, Options],
    *,
    steps: int = STEPS_IN_MORE_ORDERS,
    counted: bool,
) -> Trial | None:
    """Returns a trial warp by warp, or thread by thread where the lanes of a warp may wait.

    None where more threads would wait at a time than can be under way.
    """
    tasks: tuple[Kind, ...] = ("warps", "threads")
    for each in tasks:
        how = {n: {"step_budget": steps, **run(each)} for n, run in options.items()}
        with suppress(KernelRefused):
            return attempt(given, kernels, 1, how, counted=counted)
    return None


def reference_kernels(puzzle: KernelPuzzle) -> dict[str, Kernel]:
    """Returns the kernels of the reference solution by name.

    Raises:
        CatalogueError: the checkout has no solution of this puzzle.
    """
    module = source.load(_reference_file(puzzle))
    return {name: module.kernel(name) for name in puzzle.functions}


def _reference_file(puzzle: KernelPuzzle) -> Path:
    file = solutions_folder() / f"{puzzle.name}.py"
    if not file.is_file():
        raise CatalogueError(
            f"the reference solution of {puzzle.name} is missing, and answers are measured by it",
            "restore solutions/ of the checkout",
        )
    return file


def reference_trial(puzzle: KernelPuzzle, given: Given) -> Trial:
    """Returns what the reference solution does on a case; its reports hold no touches.

    A budget and a share ask for the same trial, and so does the next check: a listed case has the
    same inputs each time.

    Raises:
        CatalogueError: the checkout has no solution of this puzzle.
    """
    kernels = reference_kernels(puzzle)
    asked = _Asked(_digest(puzzle, given), kernels, given)
    return replace(_reference_trial(asked), given=given)


MAX_REFERENCES = 16
"""Trials of the reference that are kept: those of a puzzle's cases, and of the next puzzle's."""


@dataclass(frozen=True)
class _Asked:
    digest: bytes
    kernels: Mapping[str, Kernel] = field(compare=False)
    given: Given = field(compare=False)


@functools.lru_cache(maxsize=MAX_REFERENCES)
def _reference_trial(asked: _Asked) -> Trial:
    tried = attempt(asked.given, asked.kernels, 0)
    return replace(tried, reports=tuple(replace(each, touches=()) for each in tried.reports))


def _digest(puzzle: KernelPuzzle, given: Given) -> bytes:
    """What all of the reference's trial follows from: its text, the launches and the arrays."""
    whole = hashlib.blake2b(_reference_file(puzzle).read_bytes())
    whole.update(repr((puzzle.functions, given.launches)).encode())
    for name, value in given.inputs.items():
        whole.update(repr((name, _form(value))).encode())
        if isinstance(value, np.ndarray):
            whole.update(value.tobytes())
    whole.update(repr([(name, _form(value)) for name, value in given.outputs.items()]).encode())
    return whole.digest()


def _form(value: Any) -> object:
    """What tells an array from others beside its bytes; a scalar as it is."""
    if isinstance(value, np.ndarray):
        return value.dtype.descr, value.shape
    return type(value), value


def solutions_folder() -> Path:
    """Returns solutions/ of the checkout this package lies in."""
    return Path(gpu_course.__path__[0]).parent / "solutions"


def poison(array: np.ndarray, order: int) -> np.ndarray:
    """Returns an array of the same shape and dtype, full of what no kernel would compute.

    Floats are NaN with a mark in their bits; whole numbers a bit pattern, and its complement in the
    other order; bools False, and True in the other order.
    """
    made = np.empty(array.shape, array.dtype)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind in "fc" and (part := size // (2 if kind == "c" else 1)) in _QUIET_NAN:
        made.reshape(-1).view(f"u{part}")[:] = _QUIET_NAN[part] | _MARKS[order]
    elif kind == "b":
        made[...] = bool(order)
    else:
        made.reshape(-1).view(np.uint8)[:] = _MARKS[order]
    return made


def is_right(trial: Trial, name: str, puzzle: KernelPuzzle) -> np.ndarray:
    """Returns where an output holds the expected value. NaN that nobody stored is none."""
    got, expected = trial.got[name], trial.given.expected[name]
    right = close(got, expected, trial.given.tolerances[name])
    if name in puzzle.signed_zeros:
        right &= (expected != 0) | (np.signbit(got) == np.signbit(expected))
    if name not in trial.given.inputs:
        right &= ~(trial.poisoned[name] & _is_nan(trial.given.expected[name]))
    return right


def _is_nan(array: np.ndarray) -> np.ndarray:
    return np.isnan(array) if array.dtype.kind in "fc" else np.zeros(array.shape, bool)


def alike(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Returns where two arrays hold the same value: 0 is -0, and one NaN is like another."""
    return (left == right) | (_is_nan(left) & _is_nan(right))


def written_cells(name: str, first: Trial, second: Trial) -> np.ndarray:
    """Returns where some thread stored to an output: seen as it happened, or by lost poison."""
    mask: np.ndarray = ~(first.poisoned[name] & second.poisoned[name]).reshape(-1)
    for _, touch in _touches(first, name):
        if touch.kind != "read":
            mask[touch.cells[(touch.cells >= 0) & (touch.cells < mask.size)]] = True
    return mask.reshape(first.got[name].shape)


def was_stored_to(trial: Trial, name: str) -> bool:
    """True where some thread stored to an output, whatever the value."""
    return any(touch.kind != "read" and touch.cells.size for _, touch in _touches(trial, name))


def last_write(trial: Trial, name: str, cell: int) -> CellAccess | None:
    """Returns the last write to a cell of an output (C order), or None where none was seen."""
    found = None
    for report, touch in _touches(trial, name):
        if touch.kind != "read":
            hits = np.flatnonzero(touch.cells == cell)
            if hits.size:
                found = CellAccess(thread_of(int(touch.threads[hits[-1]]), report), touch.line)
    return found


def first_use_unset(trial: Trial, name: str, cell: int | None = None) -> str:
    """Returns "read" or "atomic", as a cell that nothing was written to was first used, or "".

    Args:
        trial: what was tried.
        name: of an array that is unset at first.
        cell: the cell; None for any.
    """
    seen = np.empty(0, np.int64)
    for _, touch in _touches(trial, name):
        cells = touch.cells if cell is None else touch.cells[touch.cells == cell]
        if touch.kind != "write" and not np.isin(cells, seen).all():
            return touch.kind
        seen = np.union1d(seen, cells)
    return ""


def _touches(trial: Trial, name: str) -> Iterator[tuple[Report, Touch]]:
    for launch, report in zip(trial.given.launches, trial.reports, strict=False):
        own = trial.own_names(launch, name)
        for touch in report.touches:
            if touch.array in own:
                yield report, touch


def thread_of(number: int, report: Report) -> ThreadPair:
    """Returns (block xyz, thread xyz) of a thread's number in the launch."""
    (gx, gy, _), (bx, by, bz) = report.launch.grid, report.launch.block
    block, thread = divmod(number, bx * by * bz)
    return _axes(block, gx, gy), _axes(thread, bx, by)


def natural_thread(index: tuple[int, ...], grid: Dim3, block: Dim3) -> ThreadPair | None:
    """Returns the thread whose own index is that of a cell, or None where no thread has it.

    A cell of a vector is x; a cell of a table is (row, column) = (y, x).

    >>> natural_thread((9,), (3, 1, 1), (4, 1, 1))
    ((2, 0, 0), (1, 0, 0))
    """
    if len(index) > 2:
        return None
    y, x = (0, *index)[-2:]
    (gx, gy, _), (bx, by, _) = grid, block
    if x >= gx * bx or y >= gy * by:
        return None
    return (x // bx, y // by, 0), (x % bx, y % by, 0)


def _axes(number: int, x: int, y: int) -> Dim3:
    return number % x, number // x % y, number // (x * y)


def _copies(values: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in values.items()}


def same_bits(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Returns where two arrays of one shape and dtype hold the same bits."""
    size = left.dtype.itemsize
    a, b = (
        np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(-1, size) for x in (left, right)
    )
    return (a == b).all(axis=1).reshape(left.shape)
