"""The table of `rotor` beside the search that tries everything, on one chain or on many."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from gpu_course.errors import CourseError
from gpu_course.lessons.optimal_checkpointing.dynamic_program import solve
from gpu_course.lessons.optimal_checkpointing.exhaustive import Searched, search
from gpu_course.measure.chains import MeanSquare, Stages
from gpu_course.measure.schedules.chain import Chain, Stage


@dataclass(frozen=True)
class ScheduleComparison:
    """What three ways to plan one chain in one memory cost.

    Attributes:
        table: the least cost by the dynamic programme, inf where nothing fits.
        persistent: what trying every persistent schedule found.
        unrestricted: what trying every schedule found, with checkpoints dropped at will.
    """

    table: float
    persistent: Searched
    unrestricted: Searched

    @property
    def gap_percent(self) -> float:
        """How much more the table's schedule costs than the best of all, in percent.

        inf where only a schedule that drops a checkpoint fits, nan where none fits.
        """
        if math.isinf(self.unrestricted.cost):
            return math.nan
        return 100 * (self.table / self.unrestricted.cost - 1)


def compare(chain: Chain, memory: int) -> ScheduleComparison:
    """Returns the costs of a chain's best schedules: by the table, and by trying everything.

    Args:
        chain: sizes in whole units, at most `exhaustive.LONGEST` stages.
        memory: in the chain's unit.
    """
    return ScheduleComparison(
        solve(chain, memory).best_cost(),
        search(chain, memory),
        search(chain, memory, persistent=False),
    )


def random_chain(length: int, seed: int) -> Chain:
    """Returns a chain whose stages differ in what they keep, need and cost, in whole slots.

    Args:
        length: how many stages.
        seed: of all sizes and costs.
    """
    rng = np.random.default_rng(seed)
    return Chain(tuple(_random_stage(rng) for _ in range(length)))


def narrow_start(seed: int = 0, *, rows: int = 256) -> tuple[Stages, Tensor]:
    """Returns a chain of four perceptrons and a batch: an expensive first one, narrow output.

    In some memories its best schedule drops a checkpoint early: what the first stage gives is small
    to keep and expensive to make again, and in the way of a stage behind it.

    Args:
        seed: of parameters and data.
        rows: of the batch.
    """
    widths = (256, 48, 96, 96, 96)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        stages: Stages = [
            nn.Sequential(nn.Linear(before, after), nn.Tanh())
            for before, after in itertools.pairwise(widths)
        ]
        stages[-1] = nn.Sequential(stages[-1], MeanSquare())
        return stages, torch.randn(rows, widths[0])


def tightest(chain: Chain, memory: int = 300) -> int:
    """Returns the least memory in which a persistent schedule fits.

    Args:
        chain: sizes in whole units.
        memory: where to stop looking.

    Raises:
        CourseError: nothing fits in that memory.
    """
    least = solve(chain, memory).least_memory()
    if least is None:
        raise CourseError(f"no schedule fits in a memory of {memory:,}", "look further")
    return least


def _random_stage(rng: np.random.Generator) -> Stage:
    output, saved = int(rng.integers(1, 9)), int(rng.integers(0, 30))
    forward = int(rng.integers(1, 50))
    return Stage(
        output_bytes=output,
        saved_bytes=saved,
        forward_bytes=output + int(rng.integers(0, 5)),
        forward_saving_bytes=output + saved + int(rng.integers(0, 5)),
        backward_bytes=int(rng.integers(0, 12)),
        output_gradient_bytes=output,
        forward_cost=forward,
        backward_cost=2 * forward,
    )
