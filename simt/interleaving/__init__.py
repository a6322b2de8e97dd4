"""Orders of a kernel's own threads in which a race makes the result wrong."""

from simt.interleaving.experiment import Experiment, Run, launch_experiment
from simt.interleaving.search import MAX_TRIES, Replay, find_replay
from simt.interleaving.story import Culprit

__all__ = [
    "MAX_TRIES",
    "Culprit",
    "Experiment",
    "Replay",
    "Run",
    "find_replay",
    "launch_experiment",
]
