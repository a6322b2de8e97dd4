"""Megatron-LM's pipeline schedules as tables of our own, counted as its code counts them.

    megatron(ranks=4, microbatches=8)                       # one stage on each rank: 1F1B
    megatron(ranks=4, microbatches=8, chunks=2)             # interleaved
    megatron(ranks=4, microbatches=8, chunks=2, group=8)    # more microbatches before a chunk ends

Megatron-LM holds no table of actions: each rank counts its warm-up passes, and looks up which
microbatch and which chunk its k-th pass is of. Here those counts are written out. Its `group` is
`microbatch_group_size_per_vp_stage`, by default the number of ranks.

Source: NVIDIA/Megatron-LM d98e8a6 (2026-08-22), megatron/core/pipeline_parallel/schedules.py:
`get_pp_rank_microbatches`, `get_schedule_table`, and the two loops that follow them.
"""

from __future__ import annotations

from gpu_course.errors import CourseError
from gpu_course.measure.pipelines.actions import BACKWARD, FORWARD, Action, Schedule, looped


def megatron(ranks: int, microbatches: int, chunks: int = 1, group: int | None = None) -> Schedule:
    """Returns what Megatron-LM's ranks do, in order.

    Args:
        ranks, microbatches: of the pipeline.
        chunks: stages on each rank; 1 is its schedule without interleaving.
        group: how many microbatches a chunk sees before the next chunk's turn; default `ranks`.

    Raises:
        CourseError: a group smaller than the ranks, which Megatron-LM refuses too.

    >>> megatron(2, 3).lines()
    ['0F0 0F1 0B0 0F2 0B1 0B2', '1F0 1B0 1F1 1B1 1F2 1B2']
    """
    size = ranks if group is None else group
    if chunks > 1 and size < ranks:
        raise CourseError(
            f"a group of {size} microbatches is smaller than the {ranks} ranks",
            "the first microbatch would not be round when its next chunk begins: give as many as "
            "there are ranks, or more",
        )
    table = _table(microbatches, chunks, size)
    orders = []
    for rank in range(ranks):
        warm = ranks - rank - 1 if chunks == 1 else 2 * (ranks - rank - 1) + (chunks - 1) * size
        warm = min(warm, len(table))
        order = [_pass(FORWARD, table[k], rank, ranks, chunks) for k in range(warm)]
        for k in range(len(table) - warm):
            order.append(_pass(FORWARD, table[k + warm], rank, ranks, chunks))
            order.append(_pass(BACKWARD, table[k], rank, ranks, chunks))
        order += [_pass(BACKWARD, each, rank, ranks, chunks) for each in table[len(table) - warm :]]
        orders.append(tuple(order))
    return Schedule(looped(ranks, chunks), tuple(orders), microbatches, "Megatron-LM")


def _table(microbatches: int, chunks: int, group: int) -> list[tuple[int, int]]:
    """Returns for a rank's k-th pass its (microbatch, chunk), counted downwards for a pass back."""
    return [
        (each, chunk)
        for first in range(0, microbatches, group)
        for chunk in range(chunks)
        for each in range(first, min(first + group, microbatches))
    ]


def _pass(kind: str, at: tuple[int, int], rank: int, ranks: int, chunks: int) -> Action:
    microbatch, chunk = at
    own = chunk if kind == FORWARD else chunks - 1 - chunk
    return Action(own * ranks + rank, kind, microbatch)
