"""ResNets of the five usual depths as real chains, a fraction as wide as the originals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from gpu_course.lessons.optimal_checkpointing.measured_chain import measure_chain
from gpu_course.measure.schedules.chain import Chain

BLOCKS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}
"""Blocks in each of the four parts, by depth: He and others, arXiv 1512.03385, Table 1."""
BOTTLENECKS_FROM = 50
STEM = 3
"""Stages before the first block: convolution, norm and ReLU, pooling."""


class Block(nn.Module):
    """A residual block: some convolutions with norms, and the way around them.

    Args:
        before, after: channels.
        inner: channels of a bottleneck; 0 for two convolutions of 3 x 3.
        stride: 2 halves the image.
    """

    def __init__(self, before: int, after: int, inner: int, stride: int) -> None:
        super().__init__()
        if inner:
            shapes = [(before, inner, 1, 1), (inner, inner, 3, stride), (inner, after, 1, 1)]
        else:
            shapes = [(before, after, 3, stride), (after, after, 3, 1)]
        layers: list[nn.Module] = []
        for shape in shapes:
            layers += [*_convolution(*shape), nn.ReLU(inplace=True)]
        self.body = nn.Sequential(*layers[:-1])
        self.around = nn.Sequential()
        if before != after or stride > 1:
            self.around = nn.Sequential(*_convolution(before, after, 1, stride))

    def forward(self, x: Tensor) -> Tensor:
        """Returns (b, after, height / stride, width / stride) for x, (b, before, height, width)."""
        return functional.relu(self.body(x) + self.around(x), inplace=True)


class Logits(nn.Module):
    """The last stage: logits of 1,000 classes, and the loss for known labels."""

    def __init__(self, channels: int, labels: Tensor) -> None:
        super().__init__()
        self.head = nn.Linear(channels, 1000)
        self.labels = labels

    def forward(self, x: Tensor) -> Tensor:
        """Returns the loss for x, (b, channels, 1, 1)."""
        return functional.cross_entropy(self.head(x.flatten(1)), self.labels)


@dataclass(frozen=True)
class Images:
    """What a ResNet is measured with.

    Attributes:
        size: the side of an image.
        batch: how many of them.
        width: channels after the first convolution; 64 in the paper.
    """

    size: int = 224
    batch: int = 2
    width: int = 16


def resnet_stages(
    blocks: tuple[int, ...], bottleneck: bool, images: Images, seed: int = 0
) -> tuple[list[nn.Module], Tensor]:
    """Returns the stages of a ResNet, a block each, and a batch.

    Args:
        blocks: in each part; each part but the first halves the image and doubles the channels.
        bottleneck: blocks of 1 x 1, 3 x 3 and 1 x 1 instead of two of 3 x 3.
        images: their size and number, and the network's width.
        seed: of parameters and data.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        convolution, norm = _convolution(3, images.width, 7, 2)
        stages = [
            convolution,
            nn.Sequential(norm, nn.ReLU(inplace=True)),
            nn.MaxPool2d(3, stride=2, padding=1),
        ]
        channels = images.width
        for part, count in enumerate(blocks):
            inner = images.width * 2**part
            after = 4 * inner if bottleneck else inner
            for number in range(count):
                stride = 2 if part and not number else 1
                stages.append(Block(channels, after, inner if bottleneck else 0, stride))
                channels = after
        labels = torch.randint(0, 1000, (images.batch,))
        stages += [nn.AdaptiveAvgPool2d(1), Logits(channels, labels)]
        return stages, torch.randn(images.batch, 3, images.size, images.size)


def resnet_chain(depth: int, images: Images | None = None) -> Chain:
    """Returns the measured chain of a ResNet.

    Behind the first block of a part all blocks are alike and get inputs of one shape, so a network
    with two blocks in each part holds every kind of stage there is. That one is measured, and its
    second blocks are repeated.

    Args:
        depth: a key of BLOCKS.
        images: default those of `Images`.
    """
    short = _shortest(depth >= BOTTLENECKS_FROM, images or Images()).stages
    stages = list(short[:STEM])
    for part, count in enumerate(BLOCKS[depth]):
        first, other = short[STEM + 2 * part : STEM + 2 * part + 2]
        stages += [first] + [other] * (count - 1)
    return Chain((*stages, *short[-2:]))


@lru_cache(maxsize=4)
def _shortest(bottleneck: bool, images: Images) -> Chain:
    return measure_chain(*resnet_stages((2, 2, 2, 2), bottleneck, images))


def _convolution(before: int, after: int, kernel: int, stride: int) -> list[nn.Module]:
    """A convolution that keeps the image's size but for its stride, and its norm."""
    return [
        nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(after),
    ]
