"""`record`: a launch on the simulator, kept statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simt.errors import UserError
from simt.kernel import source
from simt.kernel.legality import Program
from simt.machine import launch
from simt.machine.lanes import WARP
from simt.observe.recorded import local_names
from simt.observe.recorder import MAX_THREADS, Recorder
from simt.report import Dim3, Recording
from simt.simulator import simulate


class Recordable:
    """A kernel ready to be launched and recorded: `record(kernel)[grid, block](*args)`."""

    def __init__(self, kernel: source.Kernel, watch: tuple[str, ...], block: int) -> None:
        self.kernel = kernel
        self.watch = watch
        self.block = block

    def __getitem__(self, configuration: Any) -> Callable[..., Recording]:
        shape = simulate(self.kernel)[configuration]
        fact = launch.illegal(shape.grid, shape.block)
        if fact is not None:
            raise UserError(f"no GPU accepts this launch: {fact}", "choose another grid or block")
        launch.check_size(self.kernel.name, shape.grid, shape.block)
        recorder = Recorder(self.watch, threads_to_record(shape.grid, shape.block, self.block))
        recorded = simulate(self.kernel, observers=(recorder,))[configuration]

        def record_launch(*arguments: Any) -> Recording:
            return recorder.recording(recorded(*arguments))

        return record_launch


def record(kernel: Any, watch: Sequence[str] = (), *, block: int = 0) -> Recordable:
    """Returns a kernel ready to launch; the launch changes the arrays and returns a Recording.

    Args:
        kernel: as for `simulate`.
        watch: variables and arrays to keep; none asks for the first local variables.
        block: the linear number of the first block to record, where a launch has more threads than
            the 1,024 that are kept.

    Raises:
        KernelRefused: the kernel cannot be compiled.
        UserError: a name to watch that the kernel does not have.

    >>> import numpy as np
    >>> def add_ten(out, a):
    ...     i = cuda.grid(1)
    ...     out[i] = a[i] + 10
    >>> made = record(add_ten)[1, 8](np.zeros(8), np.arange(8.0))  # doctest: +SKIP
    """
    program = simulate(kernel).program
    names = (watch,) if isinstance(watch, str) else tuple(watch)
    known = names_in(program)
    for name in names:
        if name not in known:
            raise UserError(
                f"{program.kernel.name} has no variable {name}", f"watch some of {', '.join(known)}"
            )
    return Recordable(program.kernel, names, block)


def names_in(program: Program) -> tuple[str, ...]:
    """Returns the parameters and variables of a kernel and its device functions, by name."""
    found: dict[str, None] = {}
    for function in program.functions:
        found |= dict.fromkeys(function.parameters)
        found |= dict.fromkeys(local_names(function, most=None))
    return tuple(found)


def threads_to_record(grid: Dim3, block: Dim3, first_block: int = 0) -> range:
    """Returns the threads a recording keeps: all, or whole blocks from one on.

    >>> len(threads_to_record((100, 1, 1), (256, 1, 1), 3))
    1024
    """
    blocks, size = int(np.prod(grid)), int(np.prod(block))
    if not 0 <= first_block < blocks:
        raise UserError(
            f"there is no block {first_block}", f"this launch has blocks 0 to {blocks - 1}"
        )
    per_block = -(-size // WARP) * WARP
    first = 0 if blocks * per_block <= MAX_THREADS else first_block
    last = min(first + max(MAX_THREADS // per_block, 1), blocks)
    return range(first * size, last * size)
