"""What lesson 26 shows: pipelines as they run, orders that cannot, real ranks that follow one."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import Schedule, looped, parse
from gpu_course.measure.pipelines.megatron import megatron
from gpu_course.measure.pipelines.pytorch import SCHEDULES, pytorch_schedule
from gpu_course.measure.pipelines.rules import faults
from gpu_course.measure.pipelines.timing import Costs, Run, simulate
from gpu_course.notebook.interactive.pipeline_board import Board, board
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import Note, telling
from gpu_course.notebook.own.pipelines import beside_one_process, own_schedule, picture_of
from gpu_course.notebook.pictures import Picture

ORDERS = ("GPipe", "1F1B", "interleaved", "breadth-first")
"""The orders of this lesson, by name."""


def schedule_of(order: str, ranks: int, microbatches: int, chunks: int = 2) -> Schedule:
    """Returns an order of this lesson, or one of PyTorch's.

    Args:
        order: a name of ORDERS, or of PyTorch's schedules.
        ranks, microbatches: of the pipeline; the interleaved order takes the next multiple.
        chunks: stages on each rank, where the order lets one choose.

    Raises:
        CourseError: no order has this name.
    """
    if order == "GPipe":
        return orders.gpipe(ranks, microbatches)
    if order == "1F1B":
        return orders.one_f_one_b(ranks, microbatches)
    if order == "interleaved":
        return orders.interleaved(ranks, -(-microbatches // ranks) * ranks, chunks)
    if order == "breadth-first":
        return orders.breadth_first(ranks, microbatches, chunks)
    if order in SCHEDULES:
        return pytorch_schedule(order, ranks, microbatches, chunks)
    raise CourseError(
        f"no order is called {order!r}", f"there are {', '.join((*ORDERS, *SCHEDULES))}"
    )


def costs_of(schedule: Schedule, message: float = 0.0) -> Costs:
    """Returns what actions take where a forward pass through a rank's stages takes 1, back 2.

    Args:
        schedule: with as many stages on each rank.
        message: what a message takes, in the same unit.
    """
    part = schedule.stages // schedule.ranks
    return Costs(1 / part, 1 / part, 1 / part, message, 1 / part, 0.5 / part)


def run_of(order: str, ranks: int, microbatches: int, chunks: int = 2, message: float = 0.0) -> Run:
    """Returns an order as it runs, with a forward pass through a rank's stages of 1, back of 2.

    Args:
        order, ranks, microbatches, chunks: as for `schedule_of`.
        message: what a message takes, in the same unit.
    """
    schedule = schedule_of(order, ranks, microbatches, chunks)
    return simulate(schedule, costs_of(schedule, message))


@telling
def pipeline(
    order: str = "1F1B", ranks: int = 4, microbatches: int = 8, chunks: int = 2, message: float = 0
) -> Picture:
    """Returns a picture of an order: who does what when, who waits, and what is held.

    Args:
        order, ranks, microbatches, chunks, message: as for `run_of`.
    """
    run = run_of(order, ranks, microbatches, chunks, message)
    return picture_of(run)


@telling
def by_groups(group: int = 4, ranks: int = 4, microbatches: int = 8, chunks: int = 2) -> Picture:
    """Returns a picture of Megatron-LM's order for some size of its groups.

    Args:
        group: how many microbatches a chunk sees before the next chunk's turn, from `ranks` on.
        ranks, microbatches, chunks: of the pipeline.
    """
    schedule = megatron(ranks, microbatches, chunks, group)
    return picture_of(simulate(schedule, costs_of(schedule)))


@telling
def judged(lines: Sequence[str], chunks: int = 1) -> Picture | Note:
    """Returns what becomes of orders that you wrote down: a picture, or why they cannot run.

    Args:
        lines: for each rank its actions, such as "0F0 0F1 0B0 0B1".
        chunks: how many stages each rank holds.
    """
    schedule = parse(lines, looped(len(lines), chunks), name="your orders")
    if found := faults(schedule):
        more = f" There are {len(found) - 1} more." if len(found) > 1 else ""
        return Note(f"It cannot run: {found[0].sentence}.{more}", "trouble")
    return picture_of(simulate(schedule, costs_of(schedule)))


@telling
def in_hand(
    order: str = "1F1B", ranks: int = 4, microbatches: int = 6, limit: float | None = None
) -> Board | Note:
    """Returns a board with the orders of this lesson, to be moved by hand and by keys.

    Args:
        order: the one to begin with.
        ranks, microbatches: of the pipeline.
        limit: how many microbatches a rank may hold.
    """
    names = [order, *(each for each in ORDERS if each != order)]
    given = {name: schedule_of(name, ranks, microbatches) for name in names}
    return board(given, costs_of, limit)


@telling
def on_real_ranks(order: str, ranks: int = 2, microbatches: int = 4, chunks: int = 2) -> str:
    """Returns what becomes of an order on processes of its own, beside one process and PyTorch.

    Args:
        order, ranks, microbatches, chunks: as for `schedule_of`.
    """
    return beside_one_process(schedule_of(order, ranks, microbatches, chunks))


@asks_for_answers
@telling
def own_on_real_ranks(puzzle: str = "one_f_one_b", ranks: int = 2, microbatches: int = 4) -> str:
    """Returns what becomes of the orders your answer gives, on processes of their own.

    Args:
        puzzle: gpipe_order or one_f_one_b.
        ranks, microbatches: what your answer is asked for.
    """
    return beside_one_process(own_schedule(puzzle, microbatches, ranks=ranks))
