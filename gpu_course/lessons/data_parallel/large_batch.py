"""The same rows in larger and larger batches: what becomes of a small model, and of its minima.

A classifier learns labels that a random network has given, some of them wrong on purpose. All runs
see the same rows equally often, so a batch k times as large takes k times fewer steps. Everything
is float64 and drawn with a seed: what is printed comes out the same on every CPU, as long as a run
has no more than some three thousand steps. Behind that a difference in the last digit has grown.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

INPUTS, HIDDEN, CLASSES = 20, 48, 5
ROWS, TEST_ROWS = 2048, 2048
WRONG = 0.1
BASE_BATCH, BASE_RATE, MOMENTUM, DECAY = 32, 0.1, 0.9, 1e-4


@dataclass(frozen=True)
class Rows:
    """Rows to learn from and rows to be tested on.

    Attributes:
        x, y: (rows, INPUTS) and (rows,).
        test_x, test_y: the same, with no label that is wrong on purpose.
    """

    x: Tensor
    y: Tensor
    test_x: Tensor
    test_y: Tensor


def draw_rows(seed: int = 0) -> Rows:
    """Returns rows whose labels a random network gave, a tenth of the training ones wrong."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    inner, outer = normal(INPUTS, 12) / INPUTS**0.5, normal(12, CLASSES)
    x = normal(ROWS + TEST_ROWS, INPUTS)
    y = ((2 * x @ inner).tanh() @ outer).argmax(1)
    wrong = torch.rand(ROWS, generator=generator) < WRONG
    other = torch.randint(0, CLASSES, (ROWS,), generator=generator)
    noisy = torch.where(wrong, other, y[:ROWS])
    return Rows(x[:ROWS], noisy, x[ROWS:], y[ROWS:])


def draw_model(seed: int = 0, hidden: int = HIDDEN) -> nn.Sequential:
    """Returns a classifier of three layers in float64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(
            nn.Linear(INPUTS, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, CLASSES),
        ).double()


Rate = Callable[[int], float]
"""Number of a step -> its rate."""


class Sgd:
    """SGD with momentum; the decay is a part of the gradient, and spares biases.

    Args:
        parameters: of the model.
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.parameters = list(parameters)
        self.velocities = [torch.zeros_like(each) for each in self.parameters]

    def local_rate(self, w: Tensor, g: Tensor) -> float:
        """Returns the rate of a layer as a multiple of the rate of all."""
        return 1.0

    def step(self, rate: float, at: int) -> None:
        """Takes step number `at`, the first one being 0."""
        with torch.no_grad():
            for w, v in zip(self.parameters, self.velocities, strict=True):
                assert w.grad is not None
                decay = DECAY if w.ndim > 1 else 0.0
                local = self.local_rate(w, w.grad)
                v.mul_(MOMENTUM).add_(rate * local * (w.grad + decay * w))
                w.sub_(v)


class Lars(Sgd):
    """LARS: each layer's rate in proportion to its weights over its gradient.

    Source: You, Gitman, Ginsburg 2017.
    """

    TRUST = 0.02

    def local_rate(self, w: Tensor, g: Tensor) -> float:
        """Returns trust ||w|| / (||g|| + decay ||w||), 1 for a bias or where a norm is 0."""
        long, steep = float(w.norm()), float(g.norm())
        if w.ndim < 2 or not long or not steep:
            return 1.0
        return self.TRUST * long / (steep + DECAY * long)


class Lamb:
    """LAMB: Adam's direction, in each layer as long as its weights.

    Args:
        parameters: of the model.

    Source: You and others 2019.
    """

    def __init__(self, parameters: Sequence[Tensor]) -> None:
        self.parameters = list(parameters)
        self.firsts = [torch.zeros_like(each) for each in self.parameters]
        self.seconds = [torch.zeros_like(each) for each in self.parameters]

    def step(self, rate: float, at: int) -> None:
        """Takes step number `at`, the first one being 0."""
        one, two, number = 0.9, 0.999, at + 1
        with torch.no_grad():
            for w, m, v in zip(self.parameters, self.firsts, self.seconds, strict=True):
                assert w.grad is not None
                m.mul_(one).add_((1 - one) * w.grad)
                v.mul_(two).add_((1 - two) * w.grad**2)
                u = m / (1 - one**number) / ((v / (1 - two**number)).sqrt() + 1e-6) + DECAY * w
                long, far = float(w.norm()), float(u.norm())
                w.sub_(rate * (long / far if long and far else 1.0) * u)


@contextmanager
def one_thread() -> Iterator[None]:
    """Has PyTorch add up in one order, whatever the machine; small tensors are quicker so, too."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


OPTIMIZERS: dict[str, type[Sgd] | type[Lamb]] = {"sgd": Sgd, "lars": Lars, "lamb": Lamb}


@dataclass(frozen=True)
class Trained:
    """A run.

    Attributes:
        model: at its end.
        losses: of all training rows, before the run and after each epoch.
        test_percent: test rows whose label the model gives.
        steps: how many.
    """

    model: nn.Sequential
    losses: tuple[float, ...]
    test_percent: float
    steps: int

    @property
    def diverged(self) -> bool:
        """Whether the loss is no number any more, or above the one of guessing."""
        return not math.isfinite(self.losses[-1]) or self.losses[-1] > math.log(CLASSES)


def train(
    rows: Rows,
    batch: int,
    rate: Rate,
    *,
    optimizer: str = "sgd",
    epochs: int = 20,
    goal: float = 0.0,
    seed: int = 0,
) -> Trained:
    """Returns a run over all rows, so many times, in an order drawn anew each time.

    Args:
        rows: to learn from.
        batch: rows of a step; a divisor of ROWS.
        rate: of each step.
        optimizer: a key of OPTIMIZERS.
        epochs: how often each row is seen.
        goal: the loss of all training rows that ends it earlier.
        seed: of the model and of the order.
    """
    with one_thread():
        return _train(rows, batch, rate, optimizer, epochs, goal, seed)


def _train(
    rows: Rows, batch: int, rate: Rate, optimizer: str, epochs: int, goal: float, seed: int
) -> Trained:
    model = draw_model(seed)
    taken = OPTIMIZERS[optimizer](list(model.parameters()))
    generator = torch.Generator().manual_seed(seed + 1)
    losses, at = [mean_loss(model, rows.x, rows.y)], 0
    for _ in range(epochs):
        order = torch.randperm(ROWS, generator=generator)
        for place in range(0, ROWS, batch):
            own = order[place : place + batch]
            model.zero_grad()
            functional.cross_entropy(model(rows.x[own]), rows.y[own]).backward()  # type: ignore[no-untyped-call]
            taken.step(rate(at), at)
            at += 1
        losses.append(mean_loss(model, rows.x, rows.y))
        if losses[-1] <= goal:
            break
    with torch.no_grad():
        right = float((model(rows.test_x).argmax(1) == rows.test_y).double().mean())
    return Trained(model, tuple(losses), 100 * right, at)


def mean_loss(model: nn.Module, x: Tensor, y: Tensor) -> float:
    """Returns the mean cross-entropy."""
    with torch.no_grad():
        return float(functional.cross_entropy(model(x), y))


def warmed_up(full: float, start: float, steps: int) -> Rate:
    """Returns rates on a line from `start` to `full` in so many steps, and `full` from there on."""
    return lambda at: start + (full - start) * min(1.0, at / steps) if steps else full


def sharpness(
    model: nn.Module, x: Tensor, y: Tensor, reach: float = 5e-3, steps: int = 20
) -> float:
    """Returns by how much the loss can rise near the weights, in % of 1 + loss.

    Each weight w may move by reach (|w| + 1). The highest loss in that box is looked for by going
    up along the signs of the gradient; nothing is drawn at random. The model is left as it was.

    Args:
        model: at a minimum.
        x, y: the rows of the loss.
        reach: how far a weight may move.
        steps: of the search.

    Source: Keskar and others 2017, metric 2.1, with sign steps for L-BFGS-B.
    """
    with one_thread():
        return _sharpness(model, x, y, reach, steps)


def _sharpness(model: nn.Module, x: Tensor, y: Tensor, reach: float, steps: int) -> float:
    parameters = list(model.parameters())
    start = [each.detach().clone() for each in parameters]
    room = [reach * (each.abs() + 1) for each in start]
    low = highest = mean_loss(model, x, y)
    for _ in range(steps):
        model.zero_grad()
        functional.cross_entropy(model(x), y).backward()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            for w, at, far in zip(parameters, start, room, strict=True):
                assert w.grad is not None
                moved = w + far / 4 * w.grad.sign()
                w.copy_(torch.minimum(torch.maximum(moved, at - far), at + far))
        highest = max(highest, mean_loss(model, x, y))
    with torch.no_grad():
        for w, at in zip(parameters, start, strict=True):
            w.copy_(at)
    model.zero_grad()
    return 100 * (highest - low) / (1 + low)


def rescaled(model: nn.Sequential, factor: float) -> nn.Sequential:
    """Returns another model of the same function: its first layer larger, the next one smaller.

    A ReLU of k times a number is k times its ReLU, so the factor cancels.

    Args:
        model: as `draw_model` gives it.
        factor: above 0.

    Source: Dinh and others 2017, "Sharp Minima Can Generalize For Deep Nets", section 4.
    """
    other = copy.deepcopy(model)
    with torch.no_grad():
        for each in other[0].parameters():
            each.mul_(factor)
        next(other[2].parameters()).div_(factor)
    return other
