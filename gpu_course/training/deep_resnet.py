"""The bytes of a very deep ResNet's feature maps, block by block, by formula."""

from __future__ import annotations

from gpu_course.training.schedules.chain import Chain, Stage

SIDES_AND_WIDTHS = ((56, 256), (28, 512), (14, 1024), (7, 2048))
"""Of the four parts of a ResNet for images of 224 by 224; bottlenecks are a quarter as wide."""


def deep_resnet(layers: int = 1000, *, batch: int = 32, element_bytes: int = 4) -> Chain:
    """Returns the bottleneck blocks of a ResNet as a chain, its depth shared out among four parts.

    Each convolution's output is kept, and each normalised one, which ReLU changes in place; the
    block's output takes the place of its last normalised one.

    Args:
        layers: convolutions, three to a block, and one more.
        batch: images of 224 by 224.
        element_bytes: of one number.

    Source: He and others, "Deep Residual Learning", arXiv 1512.03385, Table 1.
    """
    blocks = (layers - 1) // 3
    stages = []
    for part, (side, width) in enumerate(SIDES_AND_WIDTHS):
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
        stages += [stage] * (blocks // 4 + (part < blocks % 4))
    return Chain(tuple(stages))
