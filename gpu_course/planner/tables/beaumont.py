"""Optimal against equal segments: the average of Beaumont et al. 2019."""

from __future__ import annotations

from functools import lru_cache

from gpu_course.planner.published import Kind, Paper, Row

PAPER = Paper(
    "Beaumont 2019",
    "Optimal checkpointing for heterogeneous chains: how to train deep neural networks with "
    "limited memory",
    "https://arxiv.org/abs/1911.13214",
)


@lru_cache(maxsize=1)
def average_gain_percent() -> float:
    """Returns the average gain over equal segments on five ResNets, measured stage by stage."""
    from gpu_course.training.resnets import BLOCKS, resnet_chain
    from gpu_course.training.schedules.pareto import gain_percent

    return sum(gain_percent(resnet_chain(depth)) for depth in BLOCKS) / len(BLOCKS)


ROWS = (
    Row(
        PAPER,
        "average of all experiments",
        "throughput, checkpoint_sequential",
        "17.2",
        "%",
        average_gain_percent,
        "FLOP of equal segments over those of the best schedule in their memory, five ResNets",
        ("18_optimal_checkpointing",),
        Kind.measurement,
        verdict=False,
        note=(
            "Not the same experiment. Theirs: seconds on a GPU, many networks, image and batch "
            "sizes. Ours: FLOP, ResNets of 18 to 152 layers a quarter as wide, two images of 224 "
            "by 224, every number of segments from two on, and all networks count alike. The "
            "average moves with the choice of networks."
        ),
    ),
)
