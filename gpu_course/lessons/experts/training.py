"""A small model with experts, trained three ways: who balances them, and what becomes of the load.

Its text is drawn from a table of which token follows which two, with some tokens far more frequent
than others, as words are. So some experts are asked for far more than others, unless something
sees to it that they are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

EXPERTS, CHOSEN, TOKENS, STEPS = 8, 2, 512, 400
VOCABULARY, WIDTH = 64, 32
AUXILIARY = 0.02
"""What the auxiliary loss is multiplied by."""
SPEED = 0.003
"""How much a bias moves in a step."""
LAST = 100
"""Steps at the end over which is averaged."""

Update = Callable[[Tensor, Tensor, float], Tensor]
"""(biases, tokens that each expert got, speed) -> new biases."""


@dataclass(frozen=True)
class Balance:
    """What became of the load in a run.

    Attributes:
        loads: for each step, the tokens that each expert got.
        losses: for each step, of the next token alone.
    """

    loads: list[list[int]]
    losses: list[float]

    @property
    def over(self) -> list[float]:
        """For each step, how far the most loaded expert is over the mean: 1.0 is twice it."""
        return [max(load) * len(load) / sum(load) - 1 for load in self.loads]

    @property
    def over_at_the_end(self) -> float:
        """The mean of the last steps."""
        return sum(self.over[-LAST:]) / LAST

    @property
    def loss_at_the_end(self) -> float:
        """The mean of the last steps."""
        return sum(self.losses[-LAST:]) / LAST


class Experts(nn.Module):
    """Embeddings of two tokens, a router, experts of two layers, and logits of the next token."""

    def __init__(self) -> None:
        super().__init__()

        def drawn(*shape: int, scale: float) -> nn.Parameter:
            return nn.Parameter(torch.randn(*shape, dtype=torch.float64) * scale)

        narrow = WIDTH**-0.5
        self.last = drawn(VOCABULARY, WIDTH, scale=2 * narrow)
        self.before = drawn(VOCABULARY, WIDTH, scale=2 * narrow)
        self.router = drawn(WIDTH, EXPERTS, scale=narrow)
        self.up = drawn(EXPERTS, WIDTH, WIDTH, scale=narrow)
        self.down = drawn(EXPERTS, WIDTH, WIDTH, scale=narrow)
        self.head = drawn(WIDTH, VOCABULARY, scale=narrow)

    def forward(self, before: Tensor, last: Tensor, bias: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns (logits, the router's scores, the experts of each token).

        The bias chooses, and weighs nothing. All experts compute all tokens here: that is quicker
        for so few numbers, and the same.
        """
        x = self.before[before] + self.last[last]
        scores = (x @ self.router).sigmoid()
        experts = (scores.detach() + bias).topk(CHOSEN, dim=1).indices
        chosen = scores.gather(1, experts)
        weights = torch.zeros_like(scores).scatter(
            1, experts, chosen / chosen.sum(1, keepdim=True)
        )
        given = (x @ self.up).relu() @ self.down  # (experts, tokens, width)
        y = x + (given * weights.T[..., None]).sum(0)
        return y @ self.head, scores, experts


def auxiliary_loss(scores: Tensor, load: Tensor) -> Tensor:
    """Returns what is added to the loss so that the load gets even.

    For each expert, its share of the tokens times its mean score: it is least where both are even,
    and only the scores have a gradient.

    Args:
        scores: (tokens, experts), of the router, above 0.
        load: (experts,), how many tokens each got.

    Source: Fedus, Zoph and Shazeer 2021, arXiv 2101.03961, section 2.2.
    """
    shares = load / load.sum()
    mean = (scores / scores.sum(1, keepdim=True)).mean(0)
    return len(load) * (shares * mean).sum()


def _text(steps: int) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (tokens before, last tokens, next tokens) of all steps, drawn from one table."""
    draws = torch.Generator().manual_seed(28)
    frequent = 1 / torch.arange(1, VOCABULARY + 1, dtype=torch.float64)
    taste = torch.randn(VOCABULARY, VOCABULARY, generator=draws, dtype=torch.float64)
    follows = (frequent.log() + 1.5 * taste).softmax(1)
    number = steps * TOKENS
    before = torch.multinomial(frequent, number, replacement=True, generator=draws)
    last = torch.multinomial(follows[before], 1, generator=draws)[:, 0]
    both = follows[last] + follows.roll(7, 0)[before]
    after = torch.multinomial(both, 1, generator=draws)[:, 0]
    return before, last, after


def train(
    update: Update | None = None,
    auxiliary: float = 0.0,
    steps: int = STEPS,
    speed: float = SPEED,
) -> Balance:
    """Returns what became of the load in a run, the same each time.

    Args:
        update: makes new biases after each step; None leaves them 0.
        auxiliary: what the auxiliary loss is multiplied by; 0 for none.
        steps: how many.
        speed: of the biases.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(29)
        model = Experts()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    bias = torch.zeros(EXPERTS, dtype=torch.float64)
    text = [each.split(TOKENS) for each in _text(steps)]
    loads, losses = [], []
    for before, last, after in zip(*text, strict=True):
        logits, scores, experts = model(before, last, bias)
        load = torch.bincount(experts.flatten(), minlength=EXPERTS)
        loss = cross_entropy(logits, after)
        total = loss + auxiliary * auxiliary_loss(scores, load) if auxiliary else loss
        optimizer.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if update is not None:
            bias = update(bias, load, speed)
        loads.append(load.tolist())
        losses.append(loss.item())
    return Balance(loads, losses)
