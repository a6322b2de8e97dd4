"""An answer in Python started as its puzzle asks: in a process of its own, or on ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.child import Child
from gpu_course.grading.python.ranked import RankedChild, ranked_child
from gpu_course.isolation import processes
from gpu_course.puzzle import PythonPuzzle


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
        with ranked_child(puzzle, answer, seed) as ranked:
            yield ranked
        return
    libraries = "torch" if puzzle.torch else "numpy"
    with processes.started(libraries, warm=warm) as process:
        yield Child(process, puzzle, answer, seed)
