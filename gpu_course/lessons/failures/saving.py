"""A checkpoint written behind the back of the training loop, on a disk that waits to be told."""

from __future__ import annotations

import threading
import time
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import FileSystemWriter

SAVED_AT = 3
STEPS = 6


class HeldDisk(FileSystemWriter):
    """A disk that writes nothing until `go` is set: as slow as one likes, without a clock.

    Args:
        path: the folder of the checkpoint.
        events: told when writing begins.
    """

    def __init__(self, path: str, events: list[str]) -> None:
        super().__init__(path)
        self.go = threading.Event()
        self._events = events

    def write_data(self, plan: Any, planner: Any) -> Any:
        """Waits, and writes."""
        self.go.wait()
        self._events.append("the disk begins to write")
        return super().write_data(plan, planner)


def behind(path: str, copied: bool = True) -> dict[str, Any]:
    """Returns the order of events round a checkpoint of step 3, and which step it holds.

    Every rank calls it. Step k sets the weights to k.

    Args:
        path: a folder that is not there yet.
        copied: by `async_save`, which copies first; else by a thread that is handed the weights.
    """
    events: list[str] = []
    disk = HeldDisk(path, events)
    saver: Any = dist.new_group(backend="gloo")
    weights = torch.zeros(1000)
    future: Any = None
    for step in range(1, STEPS + 1):
        weights.fill_(step)
        events.append(f"step {step}")
        if step == SAVED_AT:
            save = dcp.async_save if copied else _handed_over
            future = save({"weights": weights}, storage_writer=disk, process_group=saver)
            events.append("the call returns, " + ("done" if future.done() else "not done"))
    disk.go.set()
    future.result()
    events.append("the checkpoint is whole")
    loaded = {"weights": torch.zeros(1000)}
    dcp.load(loaded, checkpoint_id=path, process_group=saver)
    return {"events": events, "holds": float(loaded["weights"].mean())}


def timed(path: str, numbers: int) -> dict[str, float]:
    """Returns the seconds until `async_save` returned, and until all was written.

    Args:
        path: a folder that is not there yet.
        numbers: float32 that each rank saves.
    """
    saver: Any = dist.new_group(backend="gloo")
    state = {f"weights of rank {dist.get_rank()}": torch.randn(numbers)}
    began = time.perf_counter()
    future: Any = dcp.async_save(state, checkpoint_id=path, process_group=saver)
    returned = time.perf_counter()
    future.result()
    return {"returned_s": returned - began, "whole_s": time.perf_counter() - began}


def _handed_over(state: dict[str, Any], **where: Any) -> Any:
    """Returns the future of a save in a thread, which has the weights themselves and no copy."""
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(1)
    future = pool.submit(dcp.save, state, **where)
    pool.shutdown(wait=False)
    return future
