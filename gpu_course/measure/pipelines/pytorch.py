"""The pipeline schedules that PyTorch brings, as tables of our own.

    schedule = pytorch_schedule("ZBVZeroBubble", ranks=4, microbatches=8)
    run_on_pytorch(schedule, stages, batch, targets, loss)       # any table of ours, on its engine

PyTorch writes them down when a schedule is made, before anything runs; stages that are no more than
numbers are enough for that, so no process group is needed. What is read here is private to
torch.distributed.pipelining (seen in 2.13): this module alone touches it.

What is read is given back as it stands. In 2.13 the table of "1F1B" sends microbatches 1 to m
through the last stage, not 0 to m - 1; `rules.faults` says so. Its run does not use that table.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from torch import Tensor, nn

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import (
    KINDS,
    Action,
    Schedule,
    looped,
    straight,
    v_shaped,
)

SCHEDULES = {
    "GPipe": 1,
    "1F1B": 1,
    "Interleaved1F1B": 0,
    "LoopedBFS": 0,
    "InterleavedZeroBubble": 0,
    "ZBVZeroBubble": 2,
    "DualPipeV": 2,
}
"""The names PyTorch gives -> how many stages a rank holds; 0 where one may choose."""
_V_SHAPED = ("ZBVZeroBubble", "DualPipeV")


def pytorch_schedule(name: str, ranks: int, microbatches: int, chunks: int = 2) -> Schedule:
    """Returns one of PyTorch's schedules.

    Args:
        name: a name of SCHEDULES.
        ranks, microbatches: of the pipeline.
        chunks: how many stages a rank holds, where the schedule lets one choose.

    Raises:
        CourseError: there is no such schedule, or PyTorch refuses these numbers; its words follow.

    >>> pytorch_schedule("GPipe", ranks=2, microbatches=2).lines()
    ['0F0 0F1 0B0 0B1', '1F0 1F1 1B0 1B1']
    """
    from torch.distributed.pipelining import schedules

    if name not in SCHEDULES:
        raise CourseError(f"PyTorch has no schedule {name!r}", f"it has {', '.join(SCHEDULES)}")
    held = SCHEDULES[name] or chunks
    placement = _placement(name, ranks, held)
    made = schedules.get_schedule_class(name)
    stages = [_stage(number, ranks, placement) for number, rank in enumerate(placement) if not rank]
    single = issubclass(made, schedules.PipelineScheduleSingle)
    more = {"loss_fn": _no_loss} if "loss_fn" in inspect.signature(made).parameters else {}
    try:
        schedule = made(stages[0] if single else stages, n_microbatches=microbatches, **more)
        table = schedule.pipeline_order
    except (ValueError, AssertionError, RuntimeError) as refused:
        raise CourseError(
            f"PyTorch refuses {name} of {ranks} ranks and {microbatches} microbatches: {refused}",
            "most of its schedules want at least as many microbatches as ranks, or a multiple",
        ) from None
    read = [_actions(table[rank]) for rank in range(ranks)]
    pairs = tuple(frozenset(pairs) for _, pairs in read)
    return Schedule(
        placement,
        tuple(tuple(order) for order, _ in read),
        microbatches,
        f"PyTorch's {name}",
        pairs=pairs if any(pairs) else (),
    )


def _placement(name: str, ranks: int, held: int) -> tuple[int, ...]:
    if name in _V_SHAPED:
        return v_shaped(ranks)
    return looped(ranks, held) if held > 1 else straight(ranks)


def _stage(number: int, ranks: int, placement: tuple[int, ...]) -> Any:
    """Returns what a schedule asks a stage for while it is written down."""
    return SimpleNamespace(
        stage_index=number,
        num_stages=len(placement),
        group_size=ranks,
        group_rank=0,
        group=None,
        is_first=number == 0,
        is_last=number == len(placement) - 1,
        has_backward=True,
        submod=None,
    )


def _no_loss(*_: Any) -> None:
    """Stands for a loss: a schedule without one has no backward passes."""


def _actions(order: Iterable[Any]) -> tuple[list[Action], list[int]]:
    """Returns a rank's actions, in order and without pauses, and at which of them a pair begins."""
    made: list[Action] = []
    pairs = []
    for each in order:
        if each is None:
            continue
        if each.sub_actions:
            pairs.append(len(made))
        for part in each.sub_actions or [each]:
            if (kind := part.computation_type.value) in KINDS:
                made.append(Action(part.stage_index, kind, part.microbatch_index))
    return made, pairs


def run_on_pytorch(
    schedule: Schedule,
    stages: Mapping[int, nn.Module],
    batch: Tensor | None,
    targets: Tensor | None,
    loss: Callable[[Tensor, Tensor], Tensor],
) -> list[float]:
    """Returns what `execute.execute` does, followed by PyTorch's own pipeline engine.

    Args:
        schedule: as `rules.faults` accepts it, of as many ranks as the process group has.
        stages: of this rank, by number.
        batch: all microbatches one after the other, on the rank of stage 0; None elsewhere.
        targets: the same for the loss, on the rank of the last stage; None elsewhere.
        loss: of the last stage's output and a target.
    """
    import torch
    from torch.distributed.pipelining import PipelineStage, schedules

    holders = dict(enumerate(schedule.placement))
    made = []
    for number, module in sorted(stages.items()):
        stage = PipelineStage(module, number, schedule.stages, torch.device("cpu"))
        stage.stage_index_to_group_rank = holders
        made.append(stage)
    engine = schedules._PipelineScheduleRuntime(
        made, schedule.microbatches, loss_fn=loss, scale_grads=False
    )
    engine.stage_index_to_group_rank = holders
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "schedule.csv"
        table.write_text(schedule.csv(), encoding="utf-8")
        engine._load_csv(str(table), format="compute_only")
    losses: list[Tensor] = []
    engine.step(*([] if batch is None else [batch]), target=targets, losses=losses)
    return [float(each.detach()) for each in losses]
