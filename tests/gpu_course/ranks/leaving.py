"""Calls that a rank makes with tensors that nobody else has, and what it holds while it does."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.distributed as dist

from gpu_course.measure.allocations import record
from gpu_course.measure.peak import measure_peak

TIMES = 40
NUMBERS = 1000


def new(tensors: int) -> torch.Tensor:
    return torch.zeros(tensors, NUMBERS)


def polled(k: int, n: int) -> None:
    under_way = dist.all_reduce(new(1), async_op=True)
    while not under_way.is_completed():
        pass


def all_gathered(k: int, n: int) -> None:
    dist.all_gather(list(new(n)), new(1)[0])


def awaited(k: int, n: int) -> None:
    dist.broadcast(new(1), k % n, async_op=True).wait()


# A name -> (call k on n ranks, the tensors that n ranks hold each meanwhile).
CALLS: dict[str, tuple[Callable[[int, int], object], Callable[[int], int]]] = {
    "broadcast": (lambda k, n: dist.broadcast(new(1), k % n), lambda n: 1),
    "a row of two": (lambda k, n: dist.broadcast(new(2)[1], k % n), lambda n: 2),
    "a parameter": (lambda k, n: dist.all_reduce(torch.nn.Parameter(new(1))), lambda n: 1),
    "all_reduce": (lambda k, n: dist.all_reduce(new(1)), lambda n: 1),
    "reduce": (lambda k, n: dist.reduce(new(1), k % n), lambda n: 1),
    # gloo puts the parts side by side, before it deals them out.
    "all_gather": (all_gathered, lambda n: 2 * n + 1),
    "all_to_all": (lambda k, n: dist.all_to_all_single(new(n), new(n)), lambda n: 2 * n),
    "begun and waited for": (awaited, lambda n: 1),
    "begun and asked about": (polled, lambda n: 1),
}


def main() -> dict[str, tuple[int, int]]:
    """Returns of each call the most bytes held while it is made TIMES times, and those after."""
    peaks = {}
    for name, (call, _) in CALLS.items():

        def calls(call: Callable[[int, int], object] = call) -> None:
            for k in range(TIMES):
                call(k, dist.get_world_size())

        peaks[name] = measure_peak(calls)
    return {name: (peak.peak_bytes, peak.left_bytes) for name, peak in peaks.items()}


def futures() -> list[list[float]]:
    """Returns what the futures of calls hold that are over while what is allocated is recorded."""
    return record(_futures).value


def _futures() -> list[list[float]]:
    r = dist.get_rank()
    summed, gathered = torch.full((1,), r + 1.0), [torch.zeros(1) for _ in range(2)]
    works = [dist.all_reduce(summed, async_op=True)]
    works += [dist.all_gather(gathered, torch.full((1,), float(r)), async_op=True)]
    before = [work.get_future() for work in works]
    for work in works:
        work.wait()
    works += [dist.all_reduce(summed, async_op=True)]
    works += [dist.all_gather(gathered, torch.full((1,), float(r)), async_op=True)]
    for work in works[2:]:
        work.wait()
    after = [work.get_future() for work in works[2:]]
    return [[float(each) for each in future.wait()] for future in before + after]


def waits_twice() -> list[float]:
    """Returns what comes from the left, once the rank has waited twice for each message."""
    n, r = dist.get_world_size(), dist.get_rank()
    own, got = torch.full((1,), float(r)), torch.zeros(1)
    works = [dist.isend(own, (r + 1) % n), dist.irecv(got, (r - 1) % n)]
    for work in works + works:
        work.wait()
    assert all(work.is_completed() for work in works)
    return [float(each) for each in got]
