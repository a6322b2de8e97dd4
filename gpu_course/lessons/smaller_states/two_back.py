"""A small language with a rule that is known, and a small model that learns it.

Each token depends on the two before it and on luck. The luck is known, so the least loss that any
model can reach is known too, and the loss of a model is worked out over all contexts, not sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.measure.threads import one_thread

LUCK = (0.6, 0.25, 0.1, 0.05)
"""The probabilities of the four tokens that may follow a context."""


class Optimizer(Protocol):
    """What makes an update from the gradients it finds."""

    def step(self) -> Any: ...


@dataclass(frozen=True)
class Language:
    """For every two tokens, how probable each token is behind them.

    Attributes:
        probabilities: (tokens * tokens, tokens) float32; row p * tokens + q is the context p, q.
    """

    probabilities: Tensor

    @property
    def tokens(self) -> int:
        """How many different tokens there are."""
        return self.probabilities.shape[1]

    @property
    def entropy(self) -> float:
        """The mean loss, in nats, of a model that knows the language: none can have less.

        >>> round(language().entropy, 4)
        1.0331
        """
        return -torch.special.xlogy(self.probabilities, self.probabilities).sum(1).mean().item()

    def batch(self, rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Returns (contexts (rows, 2), the tokens behind them (rows,)), drawn."""
        rows_of = torch.randint(0, len(self.probabilities), (rows,), generator=generator)
        behind = torch.multinomial(self.probabilities[rows_of], 1, generator=generator)
        return _contexts(rows_of, self.tokens), behind[:, 0]

    def loss(self, model: nn.Module) -> float:
        """Returns the model's mean loss over all contexts and all that may follow, in nats."""
        with torch.no_grad():
            rows = torch.arange(len(self.probabilities))
            logits = model(_contexts(rows, self.tokens))
        return functional.cross_entropy(logits, self.probabilities).item()


def _contexts(rows: Tensor, tokens: int) -> Tensor:
    return torch.stack([rows // tokens, rows % tokens], dim=1)


def language(tokens: int = 8, seed: int = 0) -> Language:
    """Returns a language whose rule is drawn with a seed.

    Args:
        tokens: how many there are, at least as many as LUCK has.
        seed: of the rule.
    """
    generator = torch.Generator().manual_seed(seed)
    order = torch.rand(tokens * tokens, tokens, generator=generator).argsort(dim=1)
    luck = torch.tensor([*LUCK, *(0.0 for _ in range(tokens - len(LUCK)))])
    return Language(luck[order])


class Block(nn.Module):
    """Two linear layers with GELU between them, behind a layer norm and beside their input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Returns (rows, width) for x of (rows, width)."""
        return x + self.down(functional.gelu(self.up(self.norm(x))))


class TwoBack(nn.Module):
    """Embeds two tokens side by side, sends them through blocks, and gives logits for the next.

    Args:
        tokens: how many different ones there are.
        width: of the blocks, an even number.
        blocks: the blocks, or a module that stands for them; default two of them.
    """

    def __init__(self, tokens: int = 8, width: int = 64, blocks: nn.Module | int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, width // 2)
        if isinstance(blocks, int):
            blocks = nn.Sequential(*(Block(width) for _ in range(blocks)))
        self.blocks: nn.Module = blocks
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens, bias=False)

    def forward(self, contexts: Tensor) -> Tensor:
        """Returns logits (rows, tokens) for contexts (rows, 2) of int64."""
        return self.head(self.norm(self.blocks(self.embedding(contexts).flatten(1))))


def two_back(seed: int = 0, *, width: int = 64, blocks: nn.Module | int = 2) -> TwoBack:
    """Returns a fresh model, its parameters drawn with a seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TwoBack(width=width, blocks=blocks)


def matrices(model: TwoBack) -> list[nn.Parameter]:
    """Returns the matrices of the blocks: what GaLore and LoRA take hold of."""
    return [parameter for parameter in model.blocks.parameters() if parameter.ndim == 2]


def others(model: TwoBack) -> list[nn.Parameter]:
    """Returns the parameters that are not among the blocks' matrices."""
    taken = {id(parameter) for parameter in matrices(model)}
    return [parameter for parameter in model.parameters() if id(parameter) not in taken]


def train(
    model: nn.Module,
    optimizers: Iterable[Optimizer],
    source: Language,
    *,
    steps: int = 200,
    rows: int = 256,
    every: int = 25,
    seed: int = 1,
    after: Callable[[], None] | None = None,
) -> list[float]:
    """Returns the loss over all contexts before training and after each `every` steps.

    With one thread the result is the same every time.

    Args:
        model: trained in place.
        optimizers: each makes its update in every step.
        source: the language.
        steps, rows: how many updates, and contexts in each batch.
        every: steps between two losses.
        seed: of the batches.
        after: called after each update, such as to count bytes.
    """
    with one_thread():
        return _train(model, list(optimizers), source, steps, rows, every, seed, after)


def _train(
    model: nn.Module,
    optimizers: list[Optimizer],
    source: Language,
    steps: int,
    rows: int,
    every: int,
    seed: int,
    after: Callable[[], None] | None,
) -> list[float]:
    generator = torch.Generator().manual_seed(seed)
    losses = [source.loss(model)]
    for step in range(1, steps + 1):
        contexts, behind = source.batch(rows, generator)
        for parameter in model.parameters():
            parameter.grad = None
        functional.cross_entropy(model(contexts), behind).backward()
        for optimizer in optimizers:
            optimizer.step()
        if after is not None:
            after()
        if step % every == 0:
            losses.append(source.loss(model))
    return losses
