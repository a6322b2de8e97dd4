"""What the programs that lessons print for a cluster share: how many ranks run them, what is right.

What the program of a lesson is to return stands in `tests/lessons/TOPIC/program.py`, as `right`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import torch

from gpu_course.measure.model import Shape, drawn_gpt, next_token_loss, random_tokens

RANKS = 2


def right(lesson: str, rank: int) -> Any:
    """Returns what the program of a lesson is to return on a rank."""
    topic = lesson.partition("_")[2]
    return importlib.import_module(f"tests.lessons.{topic}.program").right(rank)


def lessons_with_a_program() -> set[str]:
    """Returns the topics of the lessons whose tests say what their program returns."""
    return {
        path.parent.name for path in (Path(__file__).parents[1] / "lessons").glob("*/program.py")
    }


def trained_by_one(shape: Shape) -> float:
    """Returns the sum of a GPT's weights after three steps on what all ranks train on."""
    model = drawn_gpt(shape)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        for rank in range(RANKS):
            tokens = random_tokens(shape, 2, rank)
            (next_token_loss(model(tokens), tokens) / RANKS).backward()
        optimizer.step()
        optimizer.zero_grad()
    return sum(parameter.sum().item() for parameter in model.parameters())
