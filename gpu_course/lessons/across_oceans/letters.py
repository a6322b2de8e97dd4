"""Sentences about ranks and warps, letter by letter, and the tiny GPT that learns to write them.

Whoever writes them draws subject, verb, object and manner from small lists, so a loss that no model
can go below is known. Each island has sentences of its own, and what is tested, none has seen.
All of it is float64 and drawn with a seed.
"""

from __future__ import annotations

import math
import random
from functools import lru_cache

import torch
from torch import Tensor

from gpu_course.measure.model import GPT, Shape, drawn_gpt, next_token_loss

SUBJECTS = ("the warp", "a rank", "the grid", "one block", "the host", "a lane")
VERBS = ("reads", "sends", "holds", "counts", "waits for", "sums")
OBJECTS = ("a sector", "the bytes", "its shard", "the gradient", "a token", "its weights")
MANNERS = ("", " at once", " in turn", " by the ring")
LETTERS = "".join(sorted(set("".join(SUBJECTS + VERBS + OBJECTS + MANNERS) + ". ")))
SHAPE = Shape(hidden=32, heads=2, layers=1, sequence=32, vocabulary=len(LETTERS), dropout=0.0)
BATCH, STEPS, TESTED = 8, 256, 64
INNER = {"lr": 0.01, "fused": True}
"""What AdamW is given beside the parameters."""


def written(seed: int, letters: int) -> str:
    """Returns so many letters of sentences drawn with a seed.

    >>> written(0, 24)
    'one block counts a secto'
    """
    draw, text = random.Random(seed), ""
    while len(text) < letters:
        parts = [draw.choice(each) for each in (SUBJECTS, VERBS, OBJECTS, MANNERS)]
        text += f"{parts[0]} {parts[1]} {parts[2]}{parts[3]}. "
    return text[:letters]


def as_tokens(text: str) -> Tensor:
    """Returns the places of a text's letters in LETTERS, int64."""
    return torch.tensor([LETTERS.index(letter) for letter in text])


@lru_cache(maxsize=4)
def _read_by(rank: int) -> Tensor:
    return as_tokens(written(10 + rank, 20_000))


def own_batches(rank: int, steps: int = STEPS) -> list[Tensor]:
    """Returns an island's batches, each (BATCH, sequence) of int64."""
    generator, text = torch.Generator().manual_seed(33 + rank), _read_by(rank)
    reach = torch.arange(SHAPE.sequence)
    last = len(text) - SHAPE.sequence
    starts = torch.randint(0, last, (steps, BATCH), generator=generator)
    return [text[each[:, None] + reach] for each in starts]


@lru_cache(maxsize=1)
def tested() -> Tensor:
    """Returns sequences (TESTED, sequence) that nobody learns from."""
    return as_tokens(written(99, TESTED * SHAPE.sequence)).view(TESTED, SHAPE.sequence)


def tiny_gpt() -> GPT:
    """Returns the model that each island begins with."""
    return drawn_gpt(SHAPE, fused=True)


def loss_of(model: torch.nn.Module, batch: Tensor) -> Tensor:
    """Returns the mean cross-entropy of each letter given those before it."""
    return next_token_loss(model(batch), batch)


def tested_loss(model: torch.nn.Module) -> float:
    """Returns the loss on what nobody learns from."""
    with torch.no_grad():
        return float(loss_of(model, tested()))


def guessing_loss() -> float:
    """Returns the loss of who takes all letters for equally likely."""
    return math.log(len(LETTERS))
