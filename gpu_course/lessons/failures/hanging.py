"""Loops in which one rank does something else, and what each rank's recorder has of it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from gpu_course.lessons.failures import recorder

ODD_RANK = 1
GIVEN_UP_S = 1.0
"""So long the last call is waited for; what the recorder holds does not hang on it."""


def hang(fault: str) -> dict[str, Any]:
    """Returns what this rank recorded of three sums, in the last of which rank 1 goes its own way.

    Args:
        fault: "another call", "another size", "skipped", or "" for a loop that is right.
    """
    recorder.switch_on()
    group: Any = dist.new_group(backend="gloo")
    error = ""
    try:
        _loop(fault, dist.get_rank(), group)
    except RuntimeError:
        # Its time is over, or the connection to one who gave up before is closed.
        error = "gave up waiting"
    found = recorder.entries(recorder.dumped(), str(group.group_name))
    return {"entries": [asdict(each) for each in found], "error": error}


def _loop(fault: str, rank: int, group: Any) -> None:
    loss = torch.ones(4)
    for step in range(3):
        odd = rank == ODD_RANK and step == 2
        if odd and fault == "skipped":
            return
        if odd and fault == "another call":
            work: Any = dist.broadcast(loss, 0, group=group, async_op=True)
        elif odd and fault == "another size":
            work = dist.all_reduce(loss[:3].clone(), group=group, async_op=True)
        else:
            work = dist.all_reduce(loss, group=group, async_op=True)
        if step < 2:
            work.wait()
        else:
            work.wait(timedelta(seconds=GIVEN_UP_S))
