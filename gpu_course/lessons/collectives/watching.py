"""An all-reduce that is watched: what each rank sent and got.

It runs in a rank. The number at place j of rank r holds 1 in r's own bits, and j above all of them.
In a sum the bits count how often each rank is in it, and j comes as often: so from any message it
can be read which places it holds, and whose numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from gpu_course.lessons.collectives.tagged import tags


def watch(function: Callable[..., Any], length: int, *more: Any) -> dict[str, Any]:
    """Returns what a rank sent and got while it ran a function on tagged numbers.

    Args:
        function: takes a float64 tensor of (length,) and `more`.
        length: how many numbers.
        more: whatever else it takes.

    Returns:
        "told": a list of [what, peer, numbers], in order, "send" as it begins and "got" when it has
        been waited for; "result": the numbers that the function returned, or None.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    group: Any = distributed_c10d._get_default_group()
    told: list[list[Any]] = []
    send, receive = group.send, group.recv

    def tell_send(tensors: list[torch.Tensor], peer: int, tag: int) -> Any:
        told.append(["send", peer, _numbers(tensors)])
        return send(tensors, peer, tag)

    def tell_received(tensors: list[torch.Tensor], peer: int, tag: int) -> Any:
        work = receive(tensors, peer, tag)
        wait = work.wait

        def waited(*arguments: Any) -> Any:
            done = wait(*arguments)
            told.append(["got", peer, _numbers(tensors)])
            return done

        work.wait = waited
        return work

    # This one group of this one process, which ends with the run.
    group.send, group.recv = tell_send, tell_received
    result = function(torch.tensor(tags(rank, ranks, length), dtype=torch.float64), *more)
    is_tensor = isinstance(result, torch.Tensor)
    return {"told": told, "result": _numbers([result]) if is_tensor else None}


def _numbers(tensors: list[torch.Tensor]) -> list[float]:
    return [float(v) for each in tensors for v in each.detach().reshape(-1).tolist()]
