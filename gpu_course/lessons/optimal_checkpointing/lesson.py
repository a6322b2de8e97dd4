"""The puzzles of lesson 18 in the order the lesson brings them."""

from __future__ import annotations

from gpu_course.lessons.checkpointing.predictions import OPTIMAL
from gpu_course.lessons.optimal_checkpointing.best_cost import BEST_COST
from gpu_course.lessons.optimal_checkpointing.rotor import ROTOR
from gpu_course.lessons.optimal_checkpointing.schedule_peak import SCHEDULE_PEAK
from gpu_course.lessons.optimal_checkpointing.selective_plan import SELECTIVE_PLAN
from gpu_course.puzzle.specification import Lesson

LESSON = Lesson(
    name="18_optimal_checkpointing",
    title="Optimal checkpointing",
    part=3,
    minutes=140,
    goal=(
        "You can find the cheapest way to train a given network in a given memory, prove that it "
        "fits by measuring, and say what PyTorch's selective checkpointing costs."
    ),
    puzzles=(SCHEDULE_PEAK, BEST_COST, ROTOR, SELECTIVE_PLAN),
    predictions=OPTIMAL,
)
