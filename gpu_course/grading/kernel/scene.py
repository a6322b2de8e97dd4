"""The launch behind a verdict, so that a picture can have it run once more, with somebody watching.

A check keeps what every verdict needs; what one line after the other did is kept by nobody. Who
draws the verdict runs the launch again, on the same data and in the same order, as often as there
is a picture and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.trial import Trial
from gpu_course.puzzle import Case, KernelPuzzle, index
from simt.kernel import source
from simt.kernel.source import Kernel
from simt.machine.launch import dim3
from simt.machine.observer import Observer
from simt.observe.recorder import Recorder
from simt.report import Recording
from simt.stepping import threads_to_record


@dataclass(frozen=True)
class Scene:
    """What it takes to run a case of a puzzle again. It crosses between processes, without `own`.

    Attributes:
        puzzle: its full name.
        case, seed: what the data are drawn by; `order`, which of `trial.ORDERS` it ran in.
        launch: which launch of the case is the one to look at.
        functions: for each of the puzzle's functions the file of its kernel, and its name there.
        files: what stood in each file.
        own: in this process alone, the puzzle and its kernels, where these are functions of a
            program that runs, or the puzzle is none of the course.
    """

    puzzle: str
    case: Case
    seed: int
    order: int
    launch: int
    functions: Mapping[str, tuple[str, str]]
    files: Mapping[str, str]
    own: tuple[KernelPuzzle, Mapping[str, Kernel]] | None = None

    def run(self, watch: Callable[[int], tuple[Observer, ...]]) -> Trial:
        """Returns the case tried once more; `watch` gives who watches a launch, by its number."""
        puzzle, kernels = self.own or self._read()
        given = trial.prepare(puzzle, self.case, self.seed)
        how: dict[int, dict[str, Any]] = {
            number: {"observers": watch(number), "detect_races": False}
            for number in range(len(given.launches))
        }
        return trial.attempt(given, kernels, self.order, how, counted=False)

    def record(self, block: int = 0) -> Recording:
        """Returns the launch, kept statement by statement.

        Args:
            block: the first block that is kept, where the launch has more than 1,024 threads.
        """
        puzzle, _ = self.own or self._read()
        launch = puzzle.launches(self.case)[self.launch]
        shape = dim3(launch.grid, "grid"), dim3(launch.block, "block")
        recorder = Recorder((), threads_to_record(*shape, block))
        tried = self.run(lambda number: (recorder,) if number == self.launch else ())
        return recorder.recording(tried.reports[self.launch])

    def _read(self) -> tuple[KernelPuzzle, Mapping[str, Kernel]]:
        puzzle = index.find(self.puzzle)
        assert isinstance(puzzle, KernelPuzzle)
        kernels = {
            function: source.read(Path(file), self.files[file]).kernel(name)
            for function, (file, name) in self.functions.items()
        }
        return puzzle, kernels


def scene_of(
    puzzle: KernelPuzzle, kernels: Mapping[str, Kernel], tried: Trial, launch: int
) -> Scene | None:
    """Returns how a launch of a trial can be run again; None where its order was of another kind.

    Args:
        puzzle, kernels: the puzzle, and the answer's kernels by its functions.
        tried: the trial, and `launch` which of its reports is looked at.
    """
    if tried.order is None:
        return None
    alive = any(isinstance(each.scope, source.LiveScope) for each in kernels.values())
    own = alive or not index.is_of_the_course(puzzle)
    files = {each.file: "\n".join(each.lines.values()) for each in kernels.values()}
    return Scene(
        puzzle.name,
        tried.given.case,
        tried.given.seed,
        tried.order,
        launch % len(tried.reports),
        {name: (each.file, each.name) for name, each in kernels.items()},
        {} if own else files,
        (puzzle, kernels) if own else None,
    )
