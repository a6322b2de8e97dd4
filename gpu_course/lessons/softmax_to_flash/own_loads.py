"""What the learner's own attention kernels load, as an observer of their launch sees it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu_course.errors import CourseError, NotBegun
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.grading.seeds import LISTED_SEED
from gpu_course.lessons.softmax_to_flash.key_loads import Band, Loads
from gpu_course.puzzle import KernelPuzzle, index
from gpu_course.puzzle.builders import sized
from simt.machine.observer import Access, Observer, Setting
from simt.report import WARP
from simt.simulator import simulate

SIDE = 96
"""Queries and keys: more than one block of any kernel, and a picture has room for each."""
ATTENTION = ("attention_naive", "flash_attention", "flash_attention_causal")


class KeyLoads(Observer):
    """Keeps which block loads which row of `k` when, and which rows it writes of anything else.

    A warp's load of a row is one: its lanes share it.
    """

    def __init__(self) -> None:
        self.threads_per_block = 1
        self.happened = 0
        self.turns: dict[int, list[tuple[int, int]]] = {}
        self.written: dict[int, set[int]] = {}

    def begin(self, setting: Setting) -> None:
        """Notes how many threads a block has."""
        x, y, z = setting.block
        self.threads_per_block = x * y * z

    def access(self, access: Access) -> None:
        """Keeps a load of k, or a store."""
        array = access.array
        if array.space != "global" or len(array.shape) != 2 or access.kind == "atomic":
            return
        stored = access.kind == "store"
        if not stored and array.name != "k":
            return
        pairs = np.stack([access.threads // WARP, access.cells // array.shape[1]])
        warps_per_block = -(-self.threads_per_block // WARP)
        for warp, row in np.unique(pairs, axis=1).T.tolist():
            block = warp // warps_per_block
            if stored:
                self.written.setdefault(block, set()).add(row)
            else:
                self.turns.setdefault(block, []).append((self.happened, row))
        self.happened += 1

    def bands(self, keys: int) -> tuple[Band, ...]:
        """Returns what was kept, block by block."""
        return tuple(
            Band(min(rows), len(rows), _table(self.turns.get(block, []), keys))
            for block, rows in sorted(self.written.items())
        )


def _table(turns: list[tuple[int, int]], keys: int) -> np.ndarray:
    """Turns of every key as rows of one array, counted from the block's first on."""
    rank = {turn: number for number, turn in enumerate(sorted({turn for turn, _ in turns}))}
    each: list[list[int]] = [[] for _ in range(keys)]
    for turn, key in turns:
        each[key].append(rank[turn])
    table = np.full((max(1, *map(len, each)), keys), -1)
    for key, own in enumerate(each):
        table[: len(own), key] = own
    return table


def own_loads(name: str, answer: Any = None) -> Loads:
    """Returns what an answer loads of k, for as many queries as keys.

    Args:
        name: one of ATTENTION.
        answer: as for `check`; default the learner's own file.

    Raises:
        CourseError: an answer that cannot be run, or is not begun.
    """
    puzzle = index.find(name)
    if puzzle.short_name not in ATTENTION or not isinstance(puzzle, KernelPuzzle):
        raise CourseError(f"{name} is none of the kernels drawn", f"name {', '.join(ATTENTION)}")
    try:
        kernels = read_answer(puzzle, answer).kernels
    except AnswerProblem as problem:
        kind = NotBegun if problem.status == "not-started" else CourseError
        raise problem.error(kind) from None
    case = sized(f"{SIDE} queries and keys", n=SIDE, m=SIDE, doublings=-20)
    given = trial.prepare(puzzle, case, LISTED_SEED)
    values: dict[str, Any] = {**given.outputs, **given.inputs}
    watch, loaded = KeyLoads(), 0
    for number, launch in enumerate(given.launches):
        observers = () if number else (watch,)
        kernel = simulate(kernels[launch.function], observers=observers)
        report = kernel[launch.grid, launch.block](*(values[each] for each in launch.args))
        if not report.ok:
            raise CourseError(f"{name} ends with a hazard", f'check("{name}") says which')
        loaded += report.counters.global_load.bytes
    return Loads(name, SIDE, SIDE, watch.bands(SIDE), loaded)
