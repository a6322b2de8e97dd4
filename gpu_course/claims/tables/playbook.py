"""Bytes per parameter: the table of the Ultra-Scale Playbook."""

from __future__ import annotations

from gpu_course.claims.models import model
from gpu_course.measure.state_formulas import (
    MIXED_ADAM,
    MIXED_ADAM_ACCUMULATING,
    Recipe,
    state_bytes,
)
from gpu_course.units import GB

RECIPES = {"bfloat16": MIXED_ADAM, "float32 accumulation": MIXED_ADAM_ACCUMULATING}


@model(recipe=RECIPES)
def states_gb(parameters: float, recipe: Recipe) -> float:
    """Returns GB of parameters, gradients and optimizer states."""
    return state_bytes(parameters, recipe) / GB
