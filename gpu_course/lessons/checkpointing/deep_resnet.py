"""The bytes of a very deep ResNet's feature maps, block by block, by formula."""

from __future__ import annotations

from collections.abc import Sequence

from gpu_course.measure.schedules.chain import Chain, Stage

SIDES_AND_WIDTHS = ((56, 256), (28, 512), (14, 1024), (7, 2048))
"""Of the four parts of a ResNet for images of 224 by 224; bottlenecks are a quarter as wide."""

SHARES = {
    "equal": (1, 1, 1, 1),
    "as in the example code, 3 : 24 : 36 : 3": (3, 24, 36, 3),
    "as in ResNet-152, 3 : 8 : 36 : 3": (3, 8, 36, 3),
}
"""How many blocks each of the four parts has; the example code is dmlc/mxnet-memonger's."""


def deep_resnet(
    layers: int = 1000,
    *,
    shares: Sequence[int] = (1, 1, 1, 1),
    batch: int = 32,
    element_bytes: int = 4,
) -> Chain:
    """Returns the bottleneck blocks of a ResNet as a chain, its depth shared out among four parts.

    Each convolution's output is kept, and each normalised one, which ReLU changes in place; the
    block's output takes the place of its last normalised one. Weights and the few blocks that halve
    the images are left out.

    Args:
        layers: convolutions, three to a block, and one more.
        shares: of the four parts in the blocks, as proportions.
        batch: images of 224 by 224.
        element_bytes: of one number.

    Source: He and others, "Deep Residual Learning", arXiv 1512.03385, Table 1.
    """
    stages = []
    counts = shared_out((layers - 1) // 3, shares)
    for (side, width), blocks in zip(SIDES_AND_WIDTHS, counts, strict=True):
        places, inner = side * side * batch, width // 4
        narrow, wide = (places * channels * element_bytes for channels in (inner, width))
        weights = width * inner + 9 * inner * inner + inner * width
        stage = Stage(
            output_bytes=wide,
            saved_bytes=4 * narrow + wide,
            forward_bytes=wide + 2 * narrow,
            forward_saving_bytes=4 * narrow + 2 * wide,
            backward_bytes=wide,
            output_gradient_bytes=wide,
            forward_cost=2 * places * weights,
            backward_cost=4 * places * weights,
        )
        stages += [stage] * blocks
    return Chain(tuple(stages))


def shared_out(blocks: int, shares: Sequence[int]) -> list[int]:
    """Returns how many blocks each part gets: by its share, what is left over to the largest rests.

    >>> shared_out(333, (1, 1, 1, 1)), shared_out(66, (3, 24, 36, 3))
    ([84, 83, 83, 83], [3, 24, 36, 3])
    """
    whole = [blocks * share // sum(shares) for share in shares]
    rests = [blocks * share % sum(shares) for share in shares]
    first = sorted(range(len(shares)), key=lambda part: -rests[part])[: blocks - sum(whole)]
    return [count + (part in first) for part, count in enumerate(whole)]
