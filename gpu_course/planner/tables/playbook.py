"""Bytes per parameter: the table of the Ultra-Scale Playbook."""

from __future__ import annotations

from functools import partial

from gpu_course.planner.published import Kind, Paper, Row
from gpu_course.training.state_formulas import (
    MIXED_ADAM,
    MIXED_ADAM_ACCUMULATING,
    Recipe,
    state_bytes,
)
from gpu_course.units import GB

PAPER = Paper(
    "Ultra-Scale Playbook",
    "The Ultra-Scale Playbook: Training LLMs on GPU Clusters, Hugging Face, 2025",
    "https://huggingface.co/spaces/nanotron/ultrascale-playbook",
)

PARAMETERS = {"1B": 1e9, "7B": 7e9, "70B": 70e9, "405B": 405e9}

# GB: without and with gradients added up in float32.
STATES = {
    "1B": ("16", "20"),
    "7B": ("112", "140"),
    "70B": ("1120", "1400"),
    "405B": ("6480", "8100"),
}


def states_gb(parameters: float, recipe: Recipe) -> float:
    """Returns GB of parameters, gradients and optimizer states."""
    return state_bytes(parameters, recipe) / GB


ROWS = tuple(
    Row(
        PAPER,
        "Memory for weights, gradients and optimizer states",
        f"{model}, {words}",
        digits[number],
        "GB",
        partial(states_gb, PARAMETERS[model], recipe),
        f"{recipe.bytes_per_parameter} bytes per parameter: {recipe.name}",
        ("16_memory_ledger",),
        Kind.identity,
    )
    for model, digits in STATES.items()
    for number, (words, recipe) in enumerate(
        (
            ("bfloat16", MIXED_ADAM),
            ("float32 accumulation", MIXED_ADAM_ACCUMULATING),
        )
    )
)
