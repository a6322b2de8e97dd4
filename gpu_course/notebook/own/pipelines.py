"""What lessons on pipelines show: a run as a picture, a learner's own orders, and real ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gpu_course.errors import CourseError
from gpu_course.notebook.own.ranks import run_own
from gpu_course.notebook.pictures import Picture
from gpu_course.ranks.programs import called
from gpu_course.ranks.runner import run_function

if TYPE_CHECKING:
    from gpu_course.draw.training.pipelines import Step
    from gpu_course.measure.pipelines.actions import Schedule
    from gpu_course.measure.pipelines.timing import Run

AGREE = 1e-12
"""Gradients in float64 that differ by less are the same but for rounding."""


def steps_of(run: Run) -> list[Step]:
    """Returns a run as the picture takes it.

    Args:
        run: of any schedule.
    """
    from gpu_course.draw.training.pipelines import Step

    placement = run.schedule.placement
    chunk = [placement[:stage].count(rank) for stage, rank in enumerate(placement)]
    return [
        Step(
            span.rank,
            span.action.kind,
            chunk[span.action.stage],
            span.action.microbatch,
            span.start,
            span.end,
        )
        for spans in run.spans
        for span in spans
    ]


def picture_of(run: Run) -> Picture:
    """Returns a run as a picture: who does what when, who waits, and what is held.

    Args:
        run: of any schedule.
    """
    from gpu_course.draw.training.pipelines import draw_pipeline

    return Picture(draw_pipeline(steps_of(run), run.schedule.name, memory=run.memory))


def own_schedule(
    puzzle: str,
    microbatches: int,
    placement: Sequence[int] | None = None,
    ways: int = 1,
    **given: Any,
) -> Schedule:
    """Returns the orders that the learner's answer gives, once they can run.

    Args:
        puzzle: one whose answer returns an order for each rank.
        microbatches: how many there are.
        placement: for each stage its rank; default one stage on each rank.
        ways: how many pipelines share the ranks.
        given: what else the answer takes.

    Raises:
        CourseError: there is no answer, it raised, or its orders cannot run; the message says why.
    """
    from gpu_course.measure.pipelines.actions import parse
    from gpu_course.measure.pipelines.rules import faults

    asked = {"microbatches": microbatches} | given
    found = run_own(puzzle, called, 1, function=puzzle, asked=asked)
    schedule = parse(found.results[0], placement, microbatches, f"your {puzzle}", ways)
    if wrong := faults(schedule):
        raise CourseError(
            f"your {puzzle} cannot run: {wrong[0].sentence}", "pass the puzzle, then come back"
        )
    return schedule


def beside_one_process(schedule: Schedule) -> str:
    """Returns what becomes of a schedule on processes of its own, by the course and by PyTorch.

    Args:
        schedule: one that can run.
    """
    from gpu_course.measure.pipelines import beside_one_process as runs

    given = {
        "lines": schedule.lines(),
        "placement": list(schedule.placement),
        "microbatches": schedule.microbatches,
    }
    ranks = schedule.ranks
    lines = [f"{schedule.name}, {ranks} ranks, {schedule.microbatches} microbatches, in float64"]
    for who, engine in (("this course", runs.by_hand), ("PyTorch", runs.by_pytorch)):
        found = run_function(engine, ranks, given)
        far = max(float(result) for result in found.results)
        same = "as in one process" if far < AGREE else f"off by {far:.1e}"
        sent = sum(call.kind in ("send", "isend") for call in found.calls)
        lines.append(f"  followed by {who + ':':<13} gradients {same}; {sent} messages")
    return "\n".join(lines)
