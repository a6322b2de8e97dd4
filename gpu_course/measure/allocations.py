"""Every block the CPU allocator gives out and takes back while a function runs.

The allocator tells the profiler of each block, in order, with its address. That is the ground the
peak and the ledger stand on: a view is no block of its own, a buffer inside an operator is one, and
a block is counted from the moment it is there until the moment it is gone.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch

# The public record_function allocates 12 bytes of its own at every use, which would be counted.
from torch._C._profiler import _RecordFunctionFast
from torch.autograd.profiler import profile

from gpu_course.errors import CourseError

T = TypeVar("T")

MARK = "course:"
"""What the name of a mark begins with, so that no operator is taken for one."""

_ALLOCATION = "[memory]"
_STDERR = 2


@dataclass(frozen=True)
class AllocationEvent:
    """One step of the allocator, or a mark between two of them.

    Attributes:
        bytes: of the block: positive where it is taken, negative where it is given back, 0 at a
            mark.
        address: where the block begins; 0 at a mark.
        operators: what was running, outermost first: operators of PyTorch, nodes of autograd.
        marks: the marks that were open, outermost first.
        mark: the text of a mark that begins here, else "".
    """

    bytes: int
    address: int
    operators: tuple[str, ...]
    marks: tuple[str, ...] = ()
    mark: str = ""


@dataclass(frozen=True)
class Recording(Generic[T]):
    """What a function gave back, and what the allocator did meanwhile.

    Attributes:
        value: what the function returned.
        events: in the order in which they happened.
    """

    value: T
    events: tuple[AllocationEvent, ...]


def mark(text: str) -> Any:
    """Returns a context that leaves `text` among the events; it allocates nothing.

    Args:
        text: anything. A mark of a single moment is an empty context.
    """
    return _RecordFunctionFast(MARK + text)


def record(run: Callable[[], T], *, threads: int | None = 1) -> Recording[T]:
    """Returns what `run` gave back with every allocation and release on the CPU meanwhile.

    The same `run` gives the same events each time: it has a fixed number of threads, and the
    garbage collector is held back, so that an object in a cycle of references lives until `run`
    ends, whatever came before. What does not go through PyTorch's allocator is not there: NumPy's
    arrays, and the scratch memory that oneDNN keeps for itself.

    Where `run` gives back a block that is older than itself, PyTorch writes a warning to stderr,
    once a second at most; nothing else is written there.

    Args:
        run: called once, without arguments.
        threads: how many threads an operator may use meanwhile; None leaves it as it is.

    Raises:
        CourseError: a profiler is running already; PyTorch has one per process.
    """
    if not _recording:
        with _quiet(threads):
            return Recording(run(), ())
    if torch.autograd._profiler_enabled():
        raise CourseError(
            "a profiler is running already, and PyTorch has one at a time",
            "measure outside `with profile(...)`, and never inside another measurement",
        )
    with _quiet(threads):
        profiler = profile(profile_memory=True)
        with _hushed():
            profiler.__enter__()
        try:
            value = run()
        finally:
            with _hushed():
                profiler.__exit__(None, None, None)
        tree = profiler.kineto_results.experimental_event_tree()  # type: ignore[union-attr]
    found: list[tuple[int, AllocationEvent]] = []
    _walk(tree, (), (), found)
    # Children come in order below each operator; the clock puts the operators in order.
    found.sort(key=lambda pair: pair[0])
    return Recording(value, tuple(event for _, event in found))


_recording = True


@contextmanager
def nothing_recorded() -> Iterator[None]:
    """Returns a context in which `record` runs what it is given and leaves no events.

    A record of many steps takes more memory than the steps themselves: in the way where somebody
    else, such as the kernel, counts what the process holds.
    """
    global _recording
    before, _recording = _recording, False
    try:
        yield
    finally:
        _recording = before


def _walk(
    nodes: Sequence[Any],
    operators: tuple[str, ...],
    marks: tuple[str, ...],
    found: list[tuple[int, AllocationEvent]],
) -> None:
    for node in nodes:
        name = node.name
        if name == _ALLOCATION:
            block = node.extra_fields
            if block.device.type == "cpu":
                event = AllocationEvent(block.alloc_size, block.ptr, operators, marks)
                found.append((node.start_time_ns, event))
        elif name.startswith(MARK):
            text = name.removeprefix(MARK)
            found.append((node.start_time_ns, AllocationEvent(0, 0, operators, marks, text)))
            _walk(node.children, operators, (*marks, text), found)
        else:
            _walk(node.children, (*operators, name), marks, found)


@contextmanager
def _hushed() -> Iterator[None]:
    """Returns a context in which nothing reaches the process's stderr.

    The profiler's library writes lines of its own to it when it starts and stops, past Python.
    """
    try:
        kept = os.dup(_STDERR)
    except OSError:
        yield  # there is no stderr
        return
    nowhere = _nowhere()
    try:
        os.dup2(nowhere[-1], _STDERR)
        yield
    finally:
        os.dup2(kept, _STDERR)
        for descriptor in (kept, *nowhere):
            os.close(descriptor)


def _nowhere() -> tuple[int, ...]:
    """Returns descriptors to close later; what is written to the last of them is lost."""
    try:
        return (os.open(os.devnull, os.O_WRONLY),)
    except OSError:
        # A process that may open no file: a pipe nobody reads, and that never waits when full.
        ends = os.pipe()
        os.set_blocking(ends[1], False)
        return ends


@contextmanager
def _quiet(threads: int | None) -> Iterator[None]:
    before, collecting = torch.get_num_threads(), gc.isenabled()
    gc.disable()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        if collecting:
            gc.enable()
