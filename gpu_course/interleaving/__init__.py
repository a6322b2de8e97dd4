"""Orders of a kernel's own threads in which a race makes the result wrong."""

from gpu_course.interleaving.experiment import Experiment, Run, launch_experiment
from gpu_course.interleaving.search import MOST_TRIES, Replay, find_replay
from gpu_course.interleaving.story import Culprit

__all__ = [
    "MOST_TRIES",
    "Culprit",
    "Experiment",
    "Replay",
    "Run",
    "find_replay",
    "launch_experiment",
]
