"""How long each checkpoint of a schedule is there, and where one is made again after a drop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_course.measure.schedules.operations import Kind, Operation


@dataclass(frozen=True)
class Life:
    """A checkpoint from the operation that keeps it to the one that lets it go.

    Attributes:
        stage: whose input it is.
        born, ended: numbers of those operations.
        dropped: True where it went before its backward pass.
        again: the operation that computes it anew after a drop, None where none does.
    """

    stage: int
    born: int
    ended: int
    dropped: bool = False
    again: int | None = None


def lives(schedule: Sequence[Operation]) -> tuple[Life, ...]:
    """Returns the lives of all checkpoints of a schedule but the batch, in the order they end.

    Args:
        schedule: as `operations.account` accepts it.

    >>> from gpu_course.measure.schedules.plans import segmented
    >>> [(life.stage, life.born, life.ended) for life in lives(segmented(3, [0, 1]))]
    [(2, 2, 3), (1, 1, 4)]
    """
    born: dict[int, int] = {}
    found = []
    for number, operation in enumerate(schedule):
        kind, stage = operation.kind, operation.stage
        if kind in (Kind.keep_input, Kind.save_all):
            born.setdefault(stage, number)
        elif kind in (Kind.backward, Kind.drop) and stage in born:
            dropped = kind is Kind.drop
            again = _computed_again(schedule, stage, number) if dropped else None
            found.append(Life(stage, born.pop(stage), number, dropped, again))
    return tuple(life for life in found if life.stage)


def _computed_again(schedule: Sequence[Operation], stage: int, after: int) -> int | None:
    forward = (Kind.forward, Kind.keep_input, Kind.save_all)
    return next(
        (
            number
            for number, operation in enumerate(schedule)
            if number > after and operation.stage == stage - 1 and operation.kind in forward
        ),
        None,
    )
