"""A chain of operations cut into kernels: what each reads, writes, and keeps in registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpu_course.lessons.data_movement.operations import MAP, Operation, bytes_of_groups

Tensors = tuple[tuple[str, int], ...]
"""Names, and the bytes of each."""


@dataclass(frozen=True)
class Step:
    """One operation within its kernel.

    Attributes:
        name: of the operation.
        reads: tensors that its kernel fetches from memory here for the first time.
        writes: tensors that it makes and that go to memory.
        stays: names of tensors that it makes and that never leave the registers.
    """

    name: str
    reads: Tensors
    writes: Tensors
    stays: tuple[str, ...]


@dataclass(frozen=True)
class Cut:
    """One kernel of a chain.

    Attributes:
        steps: its operations.
        moved_bytes: what it reads and writes, tensor by tensor.
        counted_bytes: what a kernel that was run for it asked for; None where none was.
    """

    steps: tuple[Step, ...]
    moved_bytes: int
    counted_bytes: int | None = None


def cuts(
    operations: Sequence[Operation],
    sizes: Mapping[str, int],
    keep: Sequence[str],
    groups: Sequence[Sequence[int]],
    counted: Sequence[int] = (),
) -> tuple[Cut, ...]:
    """Returns the kernels that groups of operations become.

    Args:
        operations, sizes, keep: a chain, as in operations.py.
        groups: numbers of operations, kernel by kernel.
        counted: bytes that somebody counted of each kernel; none where nobody did.
    """
    moved = bytes_of_groups(operations, sizes, keep, groups)
    found = []
    for turn, group in enumerate(groups):
        made = {name for number in group for name in operations[number]["writes"]}
        outside = {
            name
            for number, each in enumerate(operations)
            if number not in group
            for name in each["reads"]
        }
        fetched: set[str] = set()
        steps = []
        for number in group:
            each = operations[number]
            new = [name for name in each["reads"] if name not in made | fetched]
            fetched |= set(new)
            leaves = [name for name in each["writes"] if name in outside or name in keep]
            stays = tuple(name for name in each["writes"] if name not in leaves)
            reads, writes = (tuple((name, sizes[name]) for name in x) for x in (new, leaves))
            steps.append(Step(each["name"], reads, writes, stays))
        found.append(Cut(tuple(steps), moved[turn], counted[turn] if counted else None))
    return tuple(found)


def mlp_end(rows: int, cols: int) -> dict[str, Any]:
    """Returns four operations behind a product: bias, GELU, dropout and the residual.

    Args:
        rows, cols: of the float32 arrays; a mask has a byte for each number.
    """
    array = 4 * rows * cols
    steps = (
        ("bias", "x b", "s"),
        ("gelu", "s", "a"),
        ("dropout", "a", "d mask"),
        ("residual", "d r", "out"),
    )
    return {
        "operations": [
            {"name": name, "kind": MAP, "reads": reads.split(), "writes": writes.split()}
            for name, reads, writes in steps
        ],
        "sizes": dict.fromkeys(["x", "s", "a", "d", "r", "out"], array)
        | {"b": 4 * cols, "mask": rows * cols},
        "keep": ["out", "mask"],
    }


def groups_of(count: int, ends: Sequence[bool]) -> list[list[int]]:
    """Returns groups of consecutive operations.

    Args:
        count: operations.
        ends: for each but the last, whether its kernel ends there.

    >>> groups_of(4, [True, False, True])
    [[0], [1, 2], [3]]
    """
    groups = [[0]]
    for number, ended in enumerate(ends[: count - 1], 1):
        if ended:
            groups.append([number])
        else:
            groups[-1].append(number)
    return groups
