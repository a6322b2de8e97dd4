"""The most memory a computation holds at one time, measured to the byte."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from gpu_course.measure.allocations import AllocationEvent, record

T = TypeVar("T")


@dataclass(frozen=True)
class Block:
    """One piece of memory from the moment it is taken to the moment it is given back.

    Attributes:
        bytes: its size.
        born, died: numbers of the events that took it and gave it back; died is None where it
            outlives the measurement.
        operators, marks: what was running when it was taken, outermost first.
    """

    bytes: int
    born: int
    died: int | None
    operators: tuple[str, ...]
    marks: tuple[str, ...]

    def alive(self, moment: int) -> bool:
        """True where the block is there right after event `moment`."""
        return self.born <= moment and (self.died is None or moment < self.died)


@dataclass(frozen=True)
class Peak(Generic[T]):
    """What a measured computation held, above what there was before it began.

    Attributes:
        value: what the computation returned; it is held, so its bytes are counted to the end.
        events: the steps of the allocator, with the marks between them.
        live_bytes: after each event, the bytes of all blocks taken since the beginning and not yet
            given back.
        blocks: all blocks taken, in order.
    """

    value: T
    events: tuple[AllocationEvent, ...]
    live_bytes: tuple[int, ...]
    blocks: tuple[Block, ...]

    @cached_property
    def peak_bytes(self) -> int:
        """The most bytes alive at one time."""
        return max(self.live_bytes, default=0)

    @property
    def left_bytes(self) -> int:
        """The bytes still alive at the end: what the computation returned or stored."""
        return self.live_bytes[-1] if self.live_bytes else 0

    @property
    def peak_moment(self) -> int:
        """The number of the event after which the peak is reached for the first time."""
        return self.live_bytes.index(self.peak_bytes) if self.live_bytes else 0

    def at_peak(self) -> tuple[Block, ...]:
        """Returns the blocks that make up the peak, largest first."""
        return self.at(self.peak_moment)

    def at(self, moment: int) -> tuple[Block, ...]:
        """Returns the blocks alive right after an event, largest first.

        Args:
            moment: the number of the event.
        """
        alive = [block for block in self.blocks if block.alive(moment)]
        return tuple(sorted(alive, key=lambda block: (-block.bytes, block.born)))

    def between(self, first: int, last: int) -> int:
        """Returns the most bytes alive after any event from `first` to `last`, both included."""
        return max(self.live_bytes[first : last + 1])

    def moments(self, mark: str) -> tuple[int, ...]:
        """Returns the numbers of the events at which a mark of that text begins."""
        return tuple(number for number, event in enumerate(self.events) if event.mark == mark)


def measure_peak(run: Callable[[], T], *, threads: int | None = 1) -> Peak[T]:
    """Returns what `run` holds while it runs: every byte it takes from the CPU's allocator.

    The baseline is what is there when `run` begins: give it the parameters, their gradients (see
    `allocate_gradients`) and the batch, and all the rest is counted: activations, gradients on
    their way, the buffers inside operators. A block that is older than `run` is never counted, even
    where `run` gives it back. The result is the same in every repetition, to the byte.

    Args:
        run: the computation, called once.
        threads: as for `record`: operators take a buffer per thread, so the number is fixed.

    Raises:
        CourseError: a profiler is running already.

    >>> x = torch.zeros(1000)  # the baseline: not counted
    >>> peak = measure_peak(lambda: x.cos().sin().sum())
    >>> peak.peak_bytes  # the cosine and its sine are alive at the same time
    8000
    >>> peak.left_bytes  # the sum
    4
    """
    recording = record(run, threads=threads)
    live, lines = 0, []
    blocks: list[Block] = []
    open_blocks: dict[int, int] = {}
    for number, event in enumerate(recording.events):
        # A block that another thread gave back is seen to be gone where the next one lies there.
        if event.bytes and event.address in open_blocks:
            place = open_blocks.pop(event.address)
            blocks[place] = replace(blocks[place], died=number)
            live -= blocks[place].bytes
        if event.bytes > 0:
            open_blocks[event.address] = len(blocks)
            blocks.append(Block(event.bytes, number, None, event.operators, event.marks))
            live += event.bytes
        lines.append(live)
    return Peak(recording.value, recording.events, tuple(lines), tuple(blocks))


def allocate_gradients(module: nn.Module) -> None:
    """Gives every parameter that is trained a gradient of zeros, so that none is born in a run.

    With the gradients in place a backward pass adds to them, and each new gradient is counted on
    its way there, as it is from the second microbatch on in any real run.
    """
    for parameter in module.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.zeros_like(parameter)


def bytes_of(*tensors: Any) -> int:
    """Returns the bytes behind tensors, each storage counted once; what is no tensor counts 0.

    >>> x = torch.zeros(10)
    >>> bytes_of(x, x[:3], x.view(2, 5))
    40
    """
    storages = {
        storage._cdata: storage.nbytes()  # one StorageImpl of PyTorch, however many tensors show it
        for tensor in tensors
        if isinstance(tensor, torch.Tensor)
        for storage in [tensor.untyped_storage()]
    }
    return sum(storages.values())
