"""Small real networks cut into chains of stages, the last of which computes the loss."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.measure.model import MLP, Attention, Shape

Stages = list[nn.Module]


class Residual(nn.Module):
    """Its input plus what a module makes of it."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        """Returns x + inner(x)."""
        return x + self.inner(x)


class MeanSquare(nn.Module):
    """The mean of all squares: the plainest loss."""

    def forward(self, x: Tensor) -> Tensor:
        """Returns a number."""
        return (x * x).mean()


class Classify(nn.Module):
    """The last stage of a classifier: a mean over places, logits, and the loss for known labels."""

    def __init__(self, channels: int, labels: Tensor) -> None:
        super().__init__()
        self.head = nn.Linear(channels, 10)
        self.labels = labels

    def forward(self, x: Tensor) -> Tensor:
        """Returns the loss for x, (b, channels, height, width)."""
        return functional.cross_entropy(self.head(x.mean((2, 3))), self.labels)


class Embed(nn.Module):
    """The first stage of a language model: tokens and places become vectors."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        self.places = nn.Embedding(shape.sequence, shape.hidden)

    def forward(self, tokens: Tensor) -> Tensor:
        """Returns (b, s, h) for tokens (b, s)."""
        return self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))


class NextToken(nn.Module):
    """The last stage of a language model: norm, logits, and the loss for the tokens that follow."""

    def __init__(self, shape: Shape, following: Tensor) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(shape.hidden)
        self.head = nn.Linear(shape.hidden, shape.vocabulary, bias=False)
        self.following = following

    def forward(self, x: Tensor) -> Tensor:
        """Returns the loss for x, (b, s, h)."""
        return functional.cross_entropy(
            self.head(self.norm(x)).flatten(0, 1), self.following.flatten()
        )


def resnet(
    seed: int = 0, *, batch: int = 4, size: int = 24, blocks: int = 2
) -> tuple[Stages, Tensor]:
    """Returns a ResNet-like chain and a batch: images get smaller and channels more on the way.

    Args:
        seed: of parameters and data.
        batch: how many images.
        size: their side.
        blocks: residual blocks at each of three sizes.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        images = torch.randn(batch, 3, size, size)
        stages: Stages = [_convolution(3, 8)]
        for channels in (8, 16, 32):
            if channels > 8:
                stages.append(_convolution(channels // 2, channels, stride=2))
            stages += [Residual(_two_convolutions(channels)) for _ in range(blocks)]
        stages.append(Classify(32, torch.randint(0, 10, (batch,))))
    return stages, images


def transformer(
    seed: int = 0, *, batch: int = 2, sequence: int = 32, hidden: int = 32, layers: int = 4
) -> tuple[Stages, Tensor]:
    """Returns a transformer's chain and a batch of tokens: attention and MLP alternate as stages.

    Attention keeps scores, so the two kinds of stages differ in what they keep and what they cost.

    Args:
        seed: of parameters and data.
        batch, sequence, hidden, layers: the shape.
    """
    shape = Shape(hidden=hidden, heads=4, layers=layers, sequence=sequence, vocabulary=64)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        tokens = torch.randint(0, shape.vocabulary, (batch, sequence + 1))
        stages: Stages = [Embed(shape)]
        for _ in range(layers):
            for part in (Attention(hidden, shape.heads), MLP(hidden)):
                stages.append(Residual(nn.Sequential(nn.LayerNorm(hidden), part)))
        stages.append(NextToken(shape, tokens[:, 1:].clone()))
    return stages, tokens[:, :-1].clone()


def equal_stages(
    length: int, seed: int = 0, *, rows: int = 64, width: int = 64
) -> tuple[Stages, Tensor]:
    """Returns a chain of equal stages, the textbook's kind, and a batch.

    Args:
        length: how many stages; the last one computes the loss as well.
        seed: of parameters and data.
        rows, width: of the batch and of every output, in float32.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        stages: Stages = [nn.Sequential(nn.Linear(width, width), nn.Tanh()) for _ in range(length)]
        stages[-1] = nn.Sequential(stages[-1], MeanSquare())
        return stages, torch.randn(rows, width)


CHAINS: dict[str, Callable[[int], tuple[Stages, Tensor]]] = {
    "resnet": resnet,
    "transformer": transformer,
}


def real_chain(kind: str, length: int, seed: int) -> tuple[Stages, Tensor]:
    """Returns the stages and the batch of a kind of chain.

    Args:
        kind: a key of CHAINS, or "equal".
        length: how many stages; a chain of CHAINS has its own.
        seed: of parameters and data.
    """
    return CHAINS[kind](seed) if kind in CHAINS else equal_stages(length, seed)


def _convolution(before: int, after: int, stride: int = 1) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(before, after, 3, stride=stride, padding=1), nn.BatchNorm2d(after), nn.ReLU()
    )


def _two_convolutions(channels: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(channels, channels, 3, padding=1),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, channels, 3, padding=1),
        nn.BatchNorm2d(channels),
    )
