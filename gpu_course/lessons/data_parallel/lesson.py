"""The puzzles of lesson 22 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.data_parallel.bucketed import BUCKETED
from gpu_course.lessons.data_parallel.ddp import DDP
from gpu_course.lessons.data_parallel.lamb import LAMB
from gpu_course.lessons.data_parallel.lars import LARS
from gpu_course.lessons.data_parallel.linear_scaling_warmup import LINEAR_SCALING_WARMUP
from gpu_course.lessons.data_parallel.no_sync import NO_SYNC
from gpu_course.lessons.data_parallel.parameter_server import PARAMETER_SERVER
from gpu_course.lessons.data_parallel.predictions import PREDICTIONS
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="22_data_parallel",
    title="Data parallelism",
    part=4,
    minutes=180,
    goal=(
        "You can keep a model the same on every rank, hide what that sends behind the backward "
        "pass, and say how large a batch may get and what it then costs."
    ),
    puzzles=(DDP, BUCKETED, NO_SYNC, LINEAR_SCALING_WARMUP, LARS, LAMB, PARAMETER_SERVER),
    predictions=PREDICTIONS,
)
