"""What a pipeline schedule is made of: a placement, and for each rank an ordered list of actions.

An action is written as PyTorch's pipeline engine writes it: the stage, what is done, the
microbatch. "2F0" is the forward pass of microbatch 0 through stage 2, "2B0" its whole backward
pass. A backward pass may be split: "2I0" takes the gradient to the stage's input, which the stage
before waits for, and "2W0" takes those of its weights, which nobody waits for.

    schedule = parse(["0F0 0F1 0B0 0B1", "1F0 1B0 1F1 1B1"])
    schedule.placement                   # which rank holds a stage: here (0, 1)
    schedule.orders[1][0]                # 1F0

Nothing here says that a schedule can run: `rules.faults` does.

Source: the letters are those of torch.distributed.pipelining; the split is that of Qi et al.,
"Zero Bubble Pipeline Parallelism" (arXiv 2401.10241), whose B is I here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpu_course.errors import CourseError

FORWARD, BACKWARD, INPUT, WEIGHT = "F", "B", "I", "W"
KINDS = {
    FORWARD: "the forward pass",
    BACKWARD: "the whole backward pass",
    INPUT: "the gradient to a stage's input",
    WEIGHT: "the gradients of a stage's weights",
}
"""The letter of an action -> what is done."""
_WRITTEN = re.compile(r"([0-9]{1,9})([FBIW])([0-9]{1,9})")


@dataclass(frozen=True, order=True)
class Action:
    """One step of a rank.

    Attributes:
        stage: number of the stage, 0 is the first.
        kind: a letter of KINDS.
        microbatch: number of the microbatch, 0 is the first.
    """

    stage: int
    kind: str
    microbatch: int

    def __str__(self) -> str:
        return f"{self.stage}{self.kind}{self.microbatch}"


@dataclass(frozen=True)
class Schedule:
    """What each rank does, in order.

    Attributes:
        placement: for each stage the rank that holds it.
        orders: for each rank its actions.
        microbatches: how many there are.
        name: how pictures and messages call it.
    """

    placement: tuple[int, ...]
    orders: tuple[tuple[Action, ...], ...]
    microbatches: int
    name: str = field(default="", compare=False)

    @property
    def stages(self) -> int:
        """How many stages there are."""
        return len(self.placement)

    @property
    def ranks(self) -> int:
        """How many ranks there are."""
        return len(self.orders)

    def lines(self) -> list[str]:
        """Returns a line for each rank, as `parse` reads it."""
        return [" ".join(map(str, order)) for order in self.orders]

    def csv(self) -> str:
        """Returns the table as PyTorch's engine reads it: a row for each rank."""
        return "".join(",".join(map(str, order)) + "\n" for order in self.orders)


def straight(ranks: int) -> tuple[int, ...]:
    """Returns the placement of one stage on each rank.

    >>> straight(4)
    (0, 1, 2, 3)
    """
    return tuple(range(ranks))


def looped(ranks: int, chunks: int) -> tuple[int, ...]:
    """Returns the placement that goes round the ranks again and again, `chunks` times.

    >>> looped(2, 3)
    (0, 1, 0, 1, 0, 1)
    """
    return tuple(range(ranks)) * chunks


def v_shaped(ranks: int) -> tuple[int, ...]:
    """Returns the placement that goes down the ranks and comes back: rank 0 has both ends.

    >>> v_shaped(3)
    (0, 1, 2, 2, 1, 0)
    """
    down = tuple(range(ranks))
    return down + down[::-1]


def parse(
    lines: Iterable[str | Sequence[Any]],
    placement: Sequence[int] | None = None,
    microbatches: int | None = None,
    name: str = "",
) -> Schedule:
    """Returns a schedule from what was written for each rank.

    Args:
        lines: for each rank its actions, "0F0 0F1 0B0" or ["0F0", "0F1", "0B0"], with spaces or
            commas between them.
        placement: for each stage its rank; default one stage on each rank.
        microbatches: how many there are; default as many as are named.
        name: of the schedule.

    Raises:
        CourseError: no list of orders, or something in it is no action; the message says where and
            what it would be.

    >>> parse(["0F0 0B0", "1F0,1B0"]).lines()
    ['0F0 0B0', '1F0 1B0']
    """
    if isinstance(lines, str | Mapping) or not isinstance(lines, Iterable):
        raise CourseError(
            f"{lines!r:.40} is no list of orders", "give a list with an order for each rank"
        )
    orders = tuple(
        tuple(_action(word, rank, step) for step, word in enumerate(_words(line, rank)))
        for rank, line in enumerate(lines)
    )
    named = {action.microbatch for order in orders for action in order}
    return Schedule(
        placement=straight(len(orders)) if placement is None else tuple(placement),
        orders=orders,
        microbatches=max(named, default=-1) + 1 if microbatches is None else microbatches,
        name=name,
    )


def _words(line: str | Sequence[Any], rank: int) -> list[Any]:
    if isinstance(line, str):
        return re.split(r"[\s,]+", line.strip()) if line.strip() else []
    if isinstance(line, Sequence):
        return list(line)
    raise CourseError(
        f"the order of rank {rank} is {line!r:.40}, no list of actions",
        'write it as "0F0 0F1 0B0 0B1": stage, what is done, microbatch',
    )


def _action(word: Any, rank: int, step: int) -> Action:
    if isinstance(word, Action):
        return word
    found = _WRITTEN.fullmatch(word.strip()) if isinstance(word, str) else None
    if found is None:
        raise CourseError(
            f"rank {rank}, step {step}: {word!r:.40} is no action",
            "an action is a stage, one of F B I W, and a microbatch: 2F0 is the forward pass of "
            "microbatch 0 through stage 2",
        )
    return Action(int(found[1]), found[2], int(found[3]))
