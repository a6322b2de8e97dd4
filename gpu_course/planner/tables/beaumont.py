"""Optimal against equal segments: the average of Beaumont et al. 2019."""

from __future__ import annotations

from functools import lru_cache

from gpu_course.planner.published import Paper, Row

PAPER = Paper(
    "Beaumont 2019",
    "Optimal checkpointing for heterogeneous chains: how to train deep neural networks with "
    "limited memory",
    "https://arxiv.org/abs/1911.13214",
)


@lru_cache(maxsize=1)
def average_gain_percent() -> float:
    """Returns the average gain over equal segments on the course's two small real chains."""
    from gpu_course.training.chains import CHAINS
    from gpu_course.training.schedules.measured import measure_chain
    from gpu_course.training.schedules.pareto import gain_percent

    gains = [gain_percent(measure_chain(*make(0))) for make in CHAINS.values()]
    return sum(gains) / len(gains)


ROWS = (
    Row(
        PAPER,
        "Abstract",
        "throughput over checkpoint_sequential",
        "17.2",
        "%",
        average_gain_percent,
        "FLOP of equal segments over those of the best schedule in their memory, two small chains",
        ("18_optimal_checkpointing",),
        within=15.0,
        note=(
            "Not the same experiment: theirs is an average over large networks timed on a GPU, "
            "ours over all segment counts of a ResNet-like and a transformer chain of ten stages, "
            "in FLOP. Short chains with stages of similar shape leave less to win."
        ),
    ),
)
