"""What went wrong in one order of the threads: which read, of which cell, and what became of it.

Every thread does the same statements in every order until it finds another value than before. So
the first read, in time, that differs from the same read of a right run is where it went wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simt.interleaving.experiment import same
from simt.report import Recording, StepAccess

EARLY, LATE, UNSEEN, LAST = "early", "late", "unseen", "last"


@dataclass(frozen=True)
class Moment:
    """One thread's access to one cell.

    Attributes:
        step: the number of its step in the recording; `turn` of its access within the step.
        thread, line: who, and where.
        kind: "read", "write" or "atomic".
        value: what it found or left.
    """

    step: int
    turn: int
    thread: int
    line: int
    kind: str
    value: Any

    def before(self, other: Moment) -> bool:
        """True when this came first."""
        return (self.step, self.turn) < (other.step, other.turn)


@dataclass(frozen=True)
class Culprit:
    """Where an order went wrong.

    Attributes:
        kind: "early", a read before the write it needs; "late", a read after the cell was written
            anew; "unseen", a read of what was written and not yet made visible; "last", two writes
            of which the wrong one came last.
        array, cell: what was read or written; `block` whose copy, of shared memory.
        shape: of the array.
        at: the read, or the write that came last.
        other: the write it should have found, or that came in between; None where none is known.
        wanted: the value it should have been.
    """

    kind: str
    array: str
    cell: int
    shape: tuple[int, ...]
    at: Moment
    other: Moment | None
    wanted: Any


@dataclass(frozen=True)
class Damage:
    """What became wrong in an output.

    Attributes:
        array, cell, shape: the first wrong cell, or one that the culprit wrote.
        got, wanted: its values.
        cells: how many cells of this output are wrong.
        later: True for an output that the launch itself does not take: a later launch writes it.
    """

    array: str
    cell: int
    shape: tuple[int, ...]
    got: Any
    wanted: Any
    cells: int
    later: bool = False


def find_culprit(
    wrong: Recording, right: Recording, damage: Damage, blamed: Collection[int]
) -> Culprit | None:
    """Returns where a wrong run went another way than a right one, or None.

    Args:
        wrong, right: the two runs.
        damage: what became wrong.
        blamed: the threads that wrote what is wrong; what they read comes first, since others may
            have read wrongly and done no harm.
    """
    first: Culprit | None = None
    for at, access, wanted in _other_reads(wrong, right):
        if first is None or at.thread in blamed:
            cell = int(access.cells[access.threads == at.thread][0])
            found = _explain(wrong, right, access, cell, at, wanted)
            if at.thread in blamed:
                return found
            first = first or found
    if first is None and wrong.whole and right.whole:
        return _last_writer(wrong, right, damage)
    return first


def _other_reads(wrong: Recording, right: Recording) -> Iterator[tuple[Moment, StepAccess, Moment]]:
    """Every read of the wrong run that finds another value than in the right run, in time."""
    reads = _reads(right)
    turns: dict[tuple[int, int, str], int] = {}
    for number, step in enumerate(wrong.steps):
        for index, access in enumerate(step.accesses):
            if access.kind != "read":
                continue
            for thread, cell, value in zip(
                access.threads.tolist(), access.cells.tolist(), access.values, strict=True
            ):
                key = thread, step.line, access.array
                turn = turns[key] = turns.get(key, -1) + 1
                wanted = reads.get((*key, turn))
                if wanted is None or wanted[0] != cell or bool(same(value, wanted[1].value)):
                    continue
                yield Moment(number, index, thread, step.line, "read", value), access, wanted[1]


def _reads(recording: Recording) -> dict[tuple[int, int, str, int], tuple[int, Moment]]:
    """(thread, line, array, which time) -> (cell, the read)."""
    found: dict[tuple[int, int, str, int], tuple[int, Moment]] = {}
    turns: dict[tuple[int, int, str], int] = {}
    for number, step in enumerate(recording.steps):
        for index, access in enumerate(step.accesses):
            if access.kind == "read":
                for thread, cell, value in zip(
                    access.threads.tolist(), access.cells.tolist(), access.values, strict=True
                ):
                    key = thread, step.line, access.array
                    turn = turns[key] = turns.get(key, -1) + 1
                    read = Moment(number, index, thread, step.line, "read", value)
                    found[*key, turn] = cell, read
    return found


def writes_to(recording: Recording, array: str, cell: int, block: int | None) -> list[Moment]:
    """Returns the writes and atomic updates of one cell, in order.

    Args:
        recording: the run.
        array, cell: the cell.
        block: whose copy of a shared array; None for global memory.
    """
    found = []
    for number, step in enumerate(recording.steps):
        for index, access in enumerate(step.accesses):
            if access.kind == "read" or access.array != array:
                continue
            here = access.cells == cell
            if block is not None:
                here &= access.threads // recording.threads_per_block == block
            for thread, value in zip(
                access.threads[here].tolist(), access.values[here], strict=True
            ):
                found.append(Moment(number, index, thread, step.line, access.kind, value))
    return found


def _copy_of(recording: Recording, array: str, thread: int) -> int | None:
    shared = recording.arrays[array].space == "shared"
    return thread // recording.threads_per_block if shared else None


def _explain(
    wrong: Recording,
    right: Recording,
    access: StepAccess,
    cell: int,
    at: Moment,
    instead: Moment,
) -> Culprit:
    array, shape = access.array, access.shape
    block = _copy_of(wrong, array, at.thread)
    before = [w for w in writes_to(right, array, cell, block) if w.before(instead)]
    needed = before[-1] if before else None
    mine = writes_to(wrong, array, cell, block)
    done = [w for w in mine if w.before(at)]
    kind, other = LATE, done[-1] if done else None
    if needed is not None:
        # The write it needs, as it happens in this run: the same thread, line and turn.
        turn = sum(_same_place(w, needed) for w in before) - 1
        again = [w for w in mine if _same_place(w, needed)]
        match = again[turn] if turn < len(again) else None
        if match is None or at.before(match):
            kind, other = EARLY, match or needed
        elif done and done[-1] is match:
            kind, other = UNSEEN, match
    return Culprit(kind, array, cell, shape, at, other, instead.value)


def _same_place(one: Moment, other: Moment) -> bool:
    return (one.thread, one.line) == (other.thread, other.line)


def _last_writer(wrong: Recording, right: Recording, damage: Damage) -> Culprit | None:
    if damage.later or damage.array not in wrong.arrays:
        return None
    mine = writes_to(wrong, damage.array, damage.cell, None)
    others = writes_to(right, damage.array, damage.cell, None)
    if not mine or not others or _same_place(mine[-1], others[-1]):
        return None
    wanted = others[-1]
    match = next((w for w in reversed(mine) if _same_place(w, wanted)), None)
    return Culprit(LAST, damage.array, damage.cell, damage.shape, mine[-1], match, wanted.value)


def damage_at(
    name: str,
    own_name: str | None,
    cell: int,
    got: np.ndarray,
    wanted: np.ndarray,
    wrong: np.ndarray,
) -> Damage:
    """Returns the Damage of one cell of an output.

    Args:
        name, own_name: the output's, and what the launched kernel calls it, if it takes it.
        cell: the cell, in C order.
        got, wanted: the output as it is, and as it should be.
        wrong: bool, where it is wrong.
    """
    return Damage(
        array=own_name or name,
        cell=cell,
        shape=got.shape,
        got=got.reshape(-1)[cell],
        wanted=wanted.reshape(-1)[cell],
        cells=int(np.count_nonzero(wrong)),
        later=own_name is None,
    )
