"""What lesson 22 shows of stale gradients: how old they are, and where descent with them ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpu_course.lessons.data_parallel.parameter_server import PULL, PUSH, versions
from simt.text import count

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def round_robin(workers: int, pushes: int) -> list[tuple[str, int]]:
    """Returns the order in which equally fast workers reach a parameter server.

    Each pulls again right after its push.

    Args:
        workers: how many.
        pushes: how many in all.
    """
    events = [(PULL, worker) for worker in range(workers)]
    for number in range(pushes):
        events += [(PUSH, number % workers), (PULL, number % workers)]
    return events


def staleness(workers: int, pushes: int = 40) -> list[int]:
    """Returns how many versions old the gradients of equally fast workers are.

    Args:
        workers: how many.
        pushes: how many in all.
    """
    one = np.eye(1)
    return versions(np.ones(1), one, np.zeros(1), 0.1, pushes, round_robin(workers, pushes))[1]


def stale_descent(workers: int, rate: float, pushes: int = 120) -> list[float]:
    """Returns the distances from the minimum of a parabola of curvature 1, push by push.

    Args:
        workers: how many, all equally fast.
        rate: of a step.
        pushes: how many.
    """
    events = round_robin(workers, pushes)
    history, _ = versions(np.ones(1), np.eye(1), np.zeros(1), rate, pushes, events)
    return [abs(float(each[0])) for each in history]


def stale(workers: int = 8, rate: float = 0.15) -> Figure:
    """Returns descent with stale gradients beside descent with fresh ones.

    Args:
        workers: how many, all equally fast.
        rate: of a step.
    """
    from gpu_course.draw.training.training_runs import draw_losses

    every = 4
    runs = {
        f"{count(workers, 'worker')}": stale_descent(workers, rate)[::every],
        "1 worker": stale_descent(1, rate)[::every],
    }
    if workers == 1:
        runs = {"1 worker": runs["1 worker"]}
    return draw_losses(runs, every)
