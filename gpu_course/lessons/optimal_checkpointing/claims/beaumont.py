"""Optimal against equal segments: the average of Beaumont et al. 2019."""

from __future__ import annotations

from functools import lru_cache

from gpu_course.claims.models import model


@model("rate")
@lru_cache(maxsize=1)
def average_gain_percent() -> float:
    """Returns the average gain over equal segments on five ResNets, measured stage by stage."""
    from gpu_course.lessons.optimal_checkpointing.pareto import gain_percent
    from gpu_course.lessons.optimal_checkpointing.resnets import BLOCKS, resnet_chain

    return sum(gain_percent(resnet_chain(depth)) for depth in BLOCKS) / len(BLOCKS)
