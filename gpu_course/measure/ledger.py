"""The ledger of a training run: every byte, when it is there, what it is, and whose it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gpu_course.measure.allocations import mark
from gpu_course.measure.ledger_notes import Notes, states_of
from gpu_course.measure.peak import Block, Peak, bytes_of, measure_peak

KINDS = ("parameters", "optimizer states", "gradients", "activations", "temporaries")
"""What a byte can be, in the order in which pictures stack them."""

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Entry:
    """One block of memory in the ledger.

    Attributes:
        kind: one of KINDS.
        owner: the module or parameter it belongs to; for a temporary of the backward pass, the
            module whose saved tensors were read last.
        bytes: its size.
        born, died: the moments between which it is there; died is None where it stays.
        operator: the innermost operator that took it.
    """

    kind: str
    owner: str
    bytes: int
    born: int
    died: int | None
    operator: str

    def alive(self, moment: int) -> bool:
        """True where it is there at a moment."""
        return self.born <= moment and (self.died is None or moment < self.died)


@dataclass(frozen=True)
class Phase:
    """A stretch of the run: its name, and its first and last moment."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class Ledger:
    """Bytes over time. A moment is one step of the allocator; moment 0 is before the first.

    Attributes:
        moments: how many there are.
        standing: bytes by kind that were there before the run and stay, with the batch among the
            activations, since the first module keeps it for its backward pass.
        entries: every block that was taken meanwhile.
        phases: forward, backward and update of each step.
        live: kind -> bytes at each moment.
    """

    moments: int
    standing: dict[str, int]
    entries: tuple[Entry, ...]
    phases: tuple[Phase, ...]
    live: dict[str, tuple[int, ...]]

    def total(self, moment: int) -> int:
        """Returns the bytes there are at a moment."""
        return sum(series[moment] for series in self.live.values())

    def by_kind(self, moment: int) -> dict[str, int]:
        """Returns {kind: bytes} at a moment."""
        return {kind: series[moment] for kind, series in self.live.items()}

    def at(self, moment: int) -> tuple[Entry, ...]:
        """Returns the entries alive at a moment, largest first."""
        alive = [entry for entry in self.entries if entry.alive(moment)]
        return tuple(sorted(alive, key=lambda entry: (-entry.bytes, entry.born)))

    def by_owner(self, moment: int, kind: str) -> dict[str, int]:
        """Returns {owner: bytes} of one kind at a moment, largest first."""
        found: dict[str, int] = {}
        for entry in self.at(moment):
            if entry.kind == kind:
                found[entry.owner] = found.get(entry.owner, 0) + entry.bytes
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    def phase(self, moment: int) -> str:
        """Returns the name of the phase a moment belongs to."""
        for each in self.phases:
            if each.first <= moment <= each.last:
                return each.name
        return "before" if moment == 0 else "after"

    @property
    def peak_moment(self) -> int:
        """The first moment with the most bytes."""
        return max(range(self.moments), key=lambda moment: (self.total(moment), -moment))

    @property
    def peak_bytes(self) -> int:
        """The most bytes there are at one moment, parameters and all."""
        return self.total(self.peak_moment)

    def last_of(self, phase: str) -> int:
        """Returns the last moment of the phase of that name, such as "step 1 forward".

        Raises:
            KeyError: there is no such phase.
        """
        for each in self.phases:
            if each.name == phase:
                return each.last
        raise KeyError(f"no phase is called {phase!r}: {[each.name for each in self.phases]}")


def keep_ledger(
    model: nn.Module,
    loss: Loss,
    batches: Sequence[Tensor],
    optimizer: torch.optim.Optimizer | None = None,
    *,
    steps: int = 2,
) -> Ledger:
    """Returns the ledger of some training steps of a real model.

    A step is: forward and backward for each batch, gradients adding up; update; gradients dropped.
    The model is trained for real, and its random numbers are drawn. Gradients it has already are
    dropped first.

    Args:
        model: called with a batch.
        loss: called with what the model gave and the batch; returns a number.
        batches: the microbatches of a step, the same in each.
        optimizer: None to leave the update out.
        steps: how many.

    Raises:
        CourseError: a profiler is running already.
    """
    model.zero_grad(set_to_none=True)
    book = Notes(model)
    standing = {
        "parameters": bytes_of(*model.parameters(), *model.buffers()),
        "optimizer states": bytes_of(*(tensor for _, tensor in states_of(optimizer, {}))),
        "gradients": 0,
        "activations": bytes_of(*batches),
        "temporaries": 0,
    }

    def run() -> None:
        for number in range(1, steps + 1):
            for part, batch in enumerate(batches, 1):
                name = f"step {number}" + (f".{part}" if len(batches) > 1 else "")
                _forward_backward(book, model, loss, batch, name)
            if optimizer is not None:
                with mark(f"phase step {number} update"):
                    optimizer.step()
                    book.states(optimizer)
            with mark(f"phase step {number} clear"):
                model.zero_grad(set_to_none=True)

    with book.open():
        peak = measure_peak(run)
    return _ledger(peak, book, standing)


def _forward_backward(book: Notes, model: nn.Module, loss: Loss, batch: Tensor, name: str) -> None:
    with mark(f"phase {name} forward"):
        value = loss(model(batch), batch)
    with mark(f"phase {name} backward"):
        value.backward()
        book.gradients()


def _ledger(peak: Peak[None], book: Notes, standing: dict[str, int]) -> Ledger:
    # Moment m is after the m-th step of the allocator: marks take no time.
    moment_of = [0]
    for event in peak.events:
        moment_of.append(moment_of[-1] + (event.bytes != 0))
    reading = _Readings(peak)
    labels = _recomputed(peak) | _labels(peak, book)
    entries = []
    for number, block in enumerate(peak.blocks):
        kind, owner = labels.get(number) or ("temporaries", reading.owner(block))
        died = None if block.died is None else moment_of[block.died + 1]
        operator = block.operators[-1] if block.operators else ""
        entries.append(Entry(kind, owner, block.bytes, moment_of[block.born + 1], died, operator))
    moments = moment_of[-1] + 1
    return Ledger(
        moments,
        standing,
        tuple(entries),
        _phases(peak, moment_of),
        _live(entries, standing, moments),
    )


def _labels(peak: Peak[None], book: Notes) -> dict[int, tuple[str, str]]:
    """{number of a block: (kind, owner)}, by what lay at the noted address at the noted time."""
    at_address: dict[int, int] = {}
    born = {block.born: number for number, block in enumerate(peak.blocks)}
    labels: dict[int, tuple[str, str]] = {}
    for number, event in enumerate(peak.events):
        if event.bytes > 0:
            at_address[event.address] = born[number]
        elif event.bytes < 0:
            at_address.pop(event.address, None)
        elif event.mark.startswith("note "):
            kind, owner, address = book.entries[int(event.mark.removeprefix("note "))]
            if address in at_address:
                # The first note stands: an activation is its first keeper's.
                labels.setdefault(at_address[address], (kind, owner))
    return labels


def _recomputed(peak: Peak[None]) -> dict[int, tuple[str, str]]:
    """{number of a block: ("activations", owner)} of what a checkpoint makes again.

    PyTorch's checkpoint hides from other hooks what its second run saves. But a block that was
    taken while a module ran forward in the backward pass, and is still there once that run is over,
    is kept for the way back. Its keeper isn't seen, so it goes to the module that made it.
    """
    labels = {}
    for number, block in enumerate(peak.blocks):
        places = [place for place, name in enumerate(block.marks) if name.startswith("module ")]
        if not places or not block.marks[0].endswith(" backward"):
            continue
        run = block.marks[: places[0] + 1]
        over = next(
            moment
            for moment in range(block.born, len(peak.events))
            if peak.events[moment].marks[: len(run)] != run
        )
        if block.died is None or block.died > over:
            owner = block.marks[places[-1]].removeprefix("module ")
            labels[number] = "activations", owner
    return labels


class _Readings:
    """Who a temporary belongs to: the running module, or the one whose tensors were read last."""

    def __init__(self, peak: Peak[None]) -> None:
        self.last: list[str] = []
        owner = ""
        for event in peak.events:
            if event.mark.startswith("reading "):
                owner = event.mark.removeprefix("reading ")
            elif event.mark.startswith("phase "):
                owner = ""
            self.last.append(owner)

    def owner(self, block: Block) -> str:
        modules = [name for name in block.marks if name.startswith("module ")]
        return modules[-1].removeprefix("module ") if modules else self.last[block.born]


def _phases(peak: Peak[None], moment_of: Sequence[int]) -> tuple[Phase, ...]:
    starts = [
        (event.mark.removeprefix("phase "), moment_of[number] + 1)
        for number, event in enumerate(peak.events)
        if event.mark.startswith("phase ")
    ]
    ends = [first - 1 for _, first in starts[1:]] + [moment_of[-1]]
    # A phase in which nothing was taken or given back has no moment.
    return tuple(
        Phase(name, first, last)
        for (name, first), last in zip(starts, ends, strict=True)
        if last >= first
    )


def _live(
    entries: Sequence[Entry], standing: dict[str, int], moments: int
) -> dict[str, tuple[int, ...]]:
    change = {kind: [0] * (moments + 1) for kind in KINDS}
    for entry in entries:
        change[entry.kind][entry.born] += entry.bytes
        if entry.died is not None:
            change[entry.kind][entry.died] -= entry.bytes
    live = {}
    for kind in KINDS:
        level, series = standing[kind], []
        for step in change[kind][:moments]:
            level += step
            series.append(level)
        live[kind] = tuple(series)
    return live
