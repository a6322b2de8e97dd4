"""ResNets put together from measured kinds of stages, against all of their stages measured."""

from __future__ import annotations

import pytest
import torch

from gpu_course.lessons.optimal_checkpointing.measured_chain import measure_chain
from gpu_course.lessons.optimal_checkpointing.resnets import (
    BLOCKS,
    Images,
    resnet_chain,
    resnet_stages,
)

SMALL = Images(size=64, batch=1, width=8)


@pytest.mark.parametrize(("depth", "bottleneck"), [(34, False), (50, True)])
def test_repeating_a_measured_block_gives_what_measuring_all_gives(
    depth: int, bottleneck: bool
) -> None:
    whole = measure_chain(*resnet_stages(BLOCKS[depth], bottleneck, SMALL))
    assert resnet_chain(depth, SMALL) == whole


@pytest.mark.parametrize("depth", BLOCKS)
def test_a_depth_counts_its_layers(depth: int) -> None:
    layers = 2 + sum(BLOCKS[depth]) * (3 if depth >= 50 else 2)
    assert layers == depth
    assert len(resnet_chain(depth, SMALL)) == 3 + sum(BLOCKS[depth]) + 2


@pytest.mark.parametrize("bottleneck", [False, True])
def test_images_shrink_and_channels_grow(bottleneck: bool) -> None:
    stages, x = resnet_stages((1, 1, 1, 1), bottleneck, SMALL)
    shapes = []
    for stage in stages[:-1]:
        x = stage(x)
        shapes.append(tuple(x.shape[1:]))
    wide = 4 if bottleneck else 1
    assert shapes == [(8, 32, 32), (8, 32, 32), (8, 16, 16)] + [
        (8 * 2**part * wide, 16 // 2**part, 16 // 2**part) for part in range(4)
    ] + [(64 * wide, 1, 1)]
    assert stages[-1](x).dim() == 0
    # The same seed, the same network.
    again, _ = resnet_stages((1, 1, 1, 1), bottleneck, SMALL)
    assert all(
        torch.equal(a, b)
        for a, b in zip(stages[3].parameters(), again[3].parameters(), strict=True)
    )
