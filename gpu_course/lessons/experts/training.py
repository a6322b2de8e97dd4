"""A small model with experts, trained three ways: who balances them, and what becomes of the load.

Its text is drawn from a table of which token follows which two, with some tokens far more frequent
than others, as words are. So some experts are asked for far more than others, unless something
sees to it that they are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from gpu_course.measure.threads import one_thread

EXPERTS, CHOSEN, TOKENS, STEPS = 8, 2, 512, 400
VOCABULARY, WIDTH, INNER = 64, 32, 16
AUXILIARY = 0.01
"""What the auxiliary loss is multiplied by."""
SEED = 29
"""Of the model's first weights. Others end elsewhere; the order of the three ways stays."""
RATE = 0.003
"""How far the bias moves in a step."""
LAST = 100
"""Steps at the end over which is averaged."""

Choose = Callable[[Tensor, Tensor, int, float], tuple[Tensor, Tensor, Tensor]]
"""(logits, bias, experts of a token, rate) -> (experts, weights, new bias), as `bias_balance`."""


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
        self.up = drawn(EXPERTS, WIDTH, INNER, scale=narrow)
        self.down = drawn(EXPERTS, INNER, WIDTH, scale=INNER**-0.5)
        self.head = drawn(WIDTH, VOCABULARY, scale=narrow)

    def router_logits(self, before: Tensor, last: Tensor) -> tuple[Tensor, Tensor]:
        """Returns (tokens as they enter the layer, what the router says of them)."""
        x = self.before[before] + self.last[last]
        return x, x @ self.router

    def forward(self, x: Tensor, experts: Tensor, weights: Tensor) -> Tensor:
        """Returns logits of the next tokens.

        All experts compute all tokens here: that is quicker for so few numbers, and the same.
        """
        of_all = x.new_zeros(len(x), EXPERTS).scatter(1, experts, weights)
        made = (x @ self.up).relu() @ self.down  # (experts, tokens, width)
        y = x + (made * of_all.T[..., None]).sum(0)
        return y @ self.head


def unbalanced(logits: Tensor, bias: Tensor, k: int, rate: float) -> tuple[Tensor, Tensor, Tensor]:
    """Returns (experts, weights, bias): the best by their sigmoids, and a bias that stays."""
    scores = logits.sigmoid()
    chosen, experts = scores.topk(k, dim=1)
    return experts, chosen / chosen.sum(1, keepdim=True), bias


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


@lru_cache(maxsize=1)
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
    choose: Choose = unbalanced,
    auxiliary: float = 0.0,
    steps: int = STEPS,
    rate: float = RATE,
    seed: int = SEED,
) -> Balance:
    """Returns what became of the load in a run, the same each time.

    Args:
        choose: the experts of each token, and the next step's bias.
        auxiliary: what the auxiliary loss is multiplied by; 0 for none.
        steps: how many.
        rate: of the bias.
        seed: of the model's first weights.
    """
    with one_thread():
        return _train(choose, auxiliary, steps, rate, seed)


def _train(choose: Choose, auxiliary: float, steps: int, rate: float, seed: int) -> Balance:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Experts()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    bias = torch.zeros(EXPERTS, dtype=torch.float64)
    text = [each.split(TOKENS) for each in _text(steps)]
    loads, losses = [], []
    for before, last, after in zip(*text, strict=True):
        x, logits = model.router_logits(before, last)
        experts, weights, bias = choose(logits, bias, CHOSEN, rate)
        loss = cross_entropy(model(x, experts, weights), after)
        load = torch.bincount(experts.flatten(), minlength=EXPERTS)
        total = loss + auxiliary * auxiliary_loss(logits.sigmoid(), load) if auxiliary else loss
        optimizer.zero_grad()
        total.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        loads.append(load.tolist())
        losses.append(loss.item())
    return Balance(loads, losses)
