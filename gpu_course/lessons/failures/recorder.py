"""PyTorch's flight recorder on gloo: what each rank called, and who called another thing.

The recorder keeps the last collectives of a process. Under NCCL each entry says whether its kernel
was started and ended; under gloo it stays "scheduled" for ever, so nothing in one rank's own list
shows what went wrong. Lists of all ranks, laid side by side by the number of the collective, do.
"""

from __future__ import annotations

import os
import pickle
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_course.errors import CourseError

SIZE_VARIABLE = "TORCH_FR_BUFFER_SIZE"
KEPT = 200
"""Entries that the recorder keeps; it is off while the variable is 0 or not set."""
_LIBRARY = ("distributed_c10d.py", "c10d_logger.py")


@dataclass(frozen=True)
class Entry:
    """A collective as a rank's recorder has it.

    Attributes:
        group: the name of its process group.
        number: the how-manieth of its group, from 1.
        name: such as "all_reduce".
        sizes: of the tensors that went in.
        state: "scheduled", "started" or "completed"; always the first on gloo.
        place: file and line of the program that called it.
    """

    group: str
    number: int
    name: str
    sizes: tuple[tuple[int, ...], ...]
    state: str
    place: str

    @property
    def what(self) -> str:
        """The call as the ranks must agree on it."""
        return f"{self.name} of {' + '.join(_shape(each) for each in self.sizes) or 'nothing'}"


@dataclass(frozen=True)
class Difference:
    """The first collective on which the ranks do not agree.

    Attributes:
        group, number: of the collective.
        called: {rank: entry, or None where the rank never came to it}.
        odd: the ranks that are on their own, fewer than half; all of them where no most agree.
    """

    group: str
    number: int
    called: Mapping[int, Entry | None]
    odd: tuple[int, ...]

    def __str__(self) -> str:
        who = ", ".join(map(str, self.odd))
        lines = [f"collective {self.number}: look at rank{'s' * (len(self.odd) > 1)} {who}"]
        for rank, entry in self.called.items():
            mark = "  <--" if rank in self.odd else ""
            told = f"{entry.what}, {entry.place}" if entry else "has not come here"
            lines.append(f"  rank {rank}: {told}{mark}")
        return "\n".join(lines)


def switch_on() -> None:
    """Has this process record; it must come before the first collective."""
    os.environ[SIZE_VARIABLE] = str(KEPT)


def dumped() -> bytes:
    """Returns what this process's recorder holds, in PyTorch's own form, with lines of code."""
    from torch._C._distributed_c10d import _dump_fr_trace  # type: ignore[attr-defined]

    trace: bytes = _dump_fr_trace(True, True, False)
    return trace


def entries(trace: bytes, group: str = "") -> list[Entry]:
    """Returns the collectives of a trace, the oldest first.

    Args:
        trace: of one's own ranks alone: PyTorch writes a pickle, and reading one runs it.
        group: of which process group; "" for all.

    Raises:
        CourseError: the recorder was off.
    """
    told = pickle.loads(trace)
    if "entries" not in told:
        raise CourseError(
            "the flight recorder has recorded nothing",
            f"set {SIZE_VARIABLE} before the first collective of each rank",
        )
    found = [_entry(each) for each in told["entries"] if not each["is_p2p"]]
    return [each for each in found if not group or each.group == group]


def _entry(told: Mapping[str, Any]) -> Entry:
    return Entry(
        group=told["process_group"][0],
        number=told["collective_seq_id"],
        name=told["profiling_name"].partition(":")[2],
        sizes=tuple(map(tuple, told["input_sizes"])),
        state=told["state"],
        place=_place(told.get("frames", ())),
    )


def _place(frames: Sequence[Mapping[str, Any]]) -> str:
    """Returns the innermost frame that is not PyTorch's."""
    for frame in frames:
        file = Path(frame["filename"]).name
        if file not in _LIBRARY:
            return f"{file}:{frame['line']}"
    return "an unknown line"


def first_difference(ranks: Sequence[Sequence[Entry]]) -> Difference | None:
    """Returns the first collective that is not the same on all ranks; None where all agree.

    Args:
        ranks: the entries of each rank, in which every group has all of the ranks.
    """
    tables = [{(each.group, each.number): each for each in own} for own in ranks]
    for key in sorted(set().union(*tables)):
        called = {rank: table.get(key) for rank, table in enumerate(tables)}
        kinds = Counter(entry.what if entry else "" for entry in called.values())
        if len(kinds) == 1:
            continue
        most, times = kinds.most_common(1)[0]
        all_odd = 2 * times <= len(called)
        odd = [
            rank
            for rank, entry in called.items()
            if all_odd or (entry.what if entry else "") != most
        ]
        return Difference(*key, called, tuple(odd))
    return None


def _shape(sides: Sequence[int]) -> str:
    return "x".join(map(str, sides)) or "1"
