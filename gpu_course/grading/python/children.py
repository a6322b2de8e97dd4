"""Where an answer in Python runs: in one process, or in one for each rank."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.child import Child
from gpu_course.isolation import processes
from gpu_course.puzzle import PythonPuzzle

if TYPE_CHECKING:
    from gpu_course.grading.python.ranked import RankedChild


@contextmanager
def child_of(
    puzzle: PythonPuzzle, answer: PythonAnswer, seed: int, *, warm: bool = True
) -> Iterator[Child | RankedChild]:
    """Yields an answer in a process of its own, or on ranks; at the end nothing of it is left.

    Args:
        puzzle, answer, seed: see Child.
        warm: False to start Python anew where a forkserver could fork.
    """
    if puzzle.ranks is not None:
        from gpu_course.grading.python.ranked import ranked_child

        with ranked_child(puzzle, answer, seed) as ranked:
            yield ranked
        return
    libraries = "torch" if puzzle.torch else "numpy"
    with processes.started(libraries, warm=warm) as process:
        yield Child(process, puzzle, answer, seed)
