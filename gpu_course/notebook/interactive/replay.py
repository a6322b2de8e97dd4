"""A race replayed: an order of the learner's own threads that makes the result wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpu_course.draw.steps.parts import View
from gpu_course.errors import CourseError
from gpu_course.grading.kernel.replaying import replay_answer
from gpu_course.notebook.interactive.step_through import Stepper
from gpu_course.notebook.interactive.tries import Tries
from gpu_course.notebook.note import Note, telling, trouble
from simt.interleaving import Replay, find_replay, launch_experiment
from simt.simulator import simulate


class Replayer:
    """A kernel ready to be launched and replayed: `replay(kernel)[grid, block](*args)`."""

    def __init__(self, kernel: Any, watch: Sequence[str]) -> None:
        self.kernel = simulate(kernel).kernel
        self.watch = watch

    def __getitem__(self, configuration: Any) -> Callable[..., Stepper | Note]:
        def replay_launch(*arguments: Any) -> Stepper | Note:
            try:
                experiment = launch_experiment(self.kernel, configuration, arguments)
                with Tries() as tries:
                    found = find_replay(experiment, self.watch, tries)
                return shown(found)
            except CourseError as error:
                return trouble(error)

        return replay_launch


@telling
def replay(
    kernel: Any, watch: Sequence[str] = (), *, answer: Any = None, seed: int | None = None
) -> Any:
    """Returns a widget that steps through an order of the threads in which a race does harm.

    `replay(kernel)[grid, block](*args)` searches the orders of a launch, the simplest first, for
    two that leave different results; the arrays handed over stay as they are.
    `replay("pooling")` takes your own answer to a puzzle, on the case at which its check finds the
    race, and searches for an order in which the output is not what the puzzle asks for. Where no
    such order is found, a Note says how many were tried.

    Args:
        kernel: as for `simulate`; or the name of a kernel puzzle.
        watch: variables and arrays to show; none shows the first local variables, and the array
            that is raced for.
        answer, seed: of a puzzle, as for `check`.

    Raises:
        KernelRefused: the kernel cannot be compiled.
    """
    if not isinstance(kernel, str) or ".py:" in kernel:
        return Replayer(kernel, watch)
    try:
        with Tries() as tries:
            found = replay_answer(kernel, answer, watch=watch, seed=seed, told=tries)
        return shown(found)
    except CourseError as error:
        return trouble(error)


def shown(found: Replay) -> Stepper | Note:
    """Returns a replay as a widget, or as a Note where no order was found."""
    if found.recording is None:
        return Note(found.story)
    view = View(costs=False)
    if found.culprit is not None:
        about, other = found.culprit, found.culprit.other
        told = (about.at.thread,) if other is None else (about.at.thread, other.thread)
        view = View(costs=False, threads=told, array=about.array, cell=about.cell)
    return Stepper(found.recording, found.warps, found.start, found.story, view)
