"""What the lesson shows of a run: threads at work, the network of a scan, a look-back's states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.grading.answer_file import AnswerProblem
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import read_answer
from gpu_course.lessons.reductions_and_scans.pictures import draw_look_back, draw_scan, scan_steps
from gpu_course.lessons.reductions_and_scans.reduction_pictures import draw_activity
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.own.launch import record_answer
from gpu_course.notebook.pictures import showing
from gpu_course.puzzle import Case, KernelPuzzle, index
from simt.kernel.source import Kernel
from simt.machine.schedule import Ranked
from simt.observe.access_log import AccessEvent, AccessLog
from simt.report import Recording
from simt.stepping import record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOK_BACK = "scan_lookback"
"""The puzzle whose answer is run."""
TILES = 12
STATE = 3
"""The bits of a word that hold its state."""


@asks_for_answers
@showing
def show_activity(launch: Recording | str, array: str) -> Figure:
    """Shows which threads of a block work in each step of a reduction, and which warps diverge.

    Args:
        launch: a Recording, as `simt.stepping.record` makes it, of a launch of at most 256
            threads a block; or the name of a kernel puzzle, for your own answer on the visible
            example.
        array: the name of the array in the kernel whose cells are added up.
    """
    recording = record_answer(launch) if isinstance(launch, str) else launch
    return draw_activity(recording, array)


@asks_for_answers
@showing
def show_scan(kernel: Any, variable: str = "x", lanes: int = 8) -> Figure:
    """Shows who adds what in each step of a scan within a block.

    The kernel gets `(out, a)`, as many numbers as threads: powers of two, so that each sum tells
    which numbers are in it.

    Args:
        kernel: as for `simulate`.
        variable: the one that holds a thread's sum.
        lanes: threads of the block, at most 16.
    """
    a = (2.0 ** np.arange(lanes)).astype(np.float32)
    recording = record(kernel, watch=(variable,))[1, lanes](np.zeros_like(a), a)
    return draw_scan(scan_steps(recording, variable))


def states_over_time(events: Sequence[AccessEvent], array: str) -> list[list[int]]:
    """Returns the states of all tiles, at first and after each time one of them grew.

    Args:
        events: of a launch, in the order they happened.
        array: the kernel's name for the array of words, which atomics change. The last two bits
            of a word are the state.
    """
    found: list[list[int]] = []
    for event in events:
        if event.array != array or event.cells is None or event.values is None:
            continue
        assert event.found is not None
        now = found[-1] if found else [0] * int(np.prod(event.shape))
        found = found or [now]
        for cell, before, value in zip(event.cells, event.found, event.values, strict=True):
            # A word that is only asked for is left as it is: an addition of 0.
            if (state := int(value) & STATE) > int(before) & STATE:
                now = [*now[: int(cell)], state, *now[int(cell) + 1 :]]
                found.append(now)
    return found


@asks_for_answers
@showing
def show_look_back(seed: int = 2) -> Figure:
    """Shows how the tiles of `scan_lookback` learn of each other: of your answer once it is right.

    Args:
        seed: draws the order in which the GPU starts and interrupts the blocks.
    """
    puzzle = index.find(LOOK_BACK)
    assert isinstance(puzzle, KernelPuzzle)
    tile = int(puzzle.constants["TILE"])
    given = trial.prepare(puzzle, Case("a picture", {"size": TILES * tile}), 0)
    own = _run(puzzle, given, _own_kernels(puzzle), seed)
    moments = own or _run(puzzle, given, trial.reference_kernels(puzzle), seed)
    assert moments is not None
    whose = "your answer" if own else "ours, until your answer is right"
    words = f"{whose}; {TILES} tiles, the blocks in a drawn order"
    return draw_look_back(moments, words)


def _own_kernels(puzzle: KernelPuzzle) -> dict[str, Kernel] | None:
    try:
        return dict(read_answer(puzzle).kernels)
    except (AnswerProblem, CourseError):
        return None


def _run(
    puzzle: KernelPuzzle, given: trial.Given, kernels: dict[str, Kernel] | None, seed: int
) -> list[list[int]] | None:
    """Returns the states of a run, None where the answer is not right in it."""
    if kernels is None:
        return None
    log = AccessLog()
    schedule = Ranked(fineness="accesses", seed=seed, turns=6)
    try:
        tried = trial.attempt(given, kernels, 0, {0: {"schedule": schedule, "observers": (log,)}})
    except CourseError:
        return None
    right = all(trial.is_right(tried, name, puzzle).all() for name in given.expected)
    if not right or any(hazard.severity == "error" for hazard in tried.hazards):
        return None
    (launch,) = given.launches
    (own,) = tried.own_names(launch, "told")
    moments = states_over_time(log.events, own)
    return moments if moments and set(moments[-1]) == {2} else None
