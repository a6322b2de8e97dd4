"""The deep ResNet's bytes: a block of the formula against a real block, and who gets how many."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from gpu_course.lessons.checkpointing.deep_resnet import (
    SHARES,
    SIDES_AND_WIDTHS,
    deep_resnet,
    shared_out,
)
from gpu_course.measure.saved import saved_by
from gpu_course.measure.schedules import plans
from gpu_course.measure.schedules.chain import Stage
from gpu_course.measure.schedules.operations import account
from gpu_course.units import GB


class Bottleneck(nn.Module):
    """Three convolutions with batch norm, and ReLU in place, as the paper of 2015 draws it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = width // 4
        self.inside = nn.Sequential(
            nn.Conv2d(width, inner, 1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU(inplace=True),
            nn.Conv2d(inner, inner, 3, padding=1, bias=False),
            nn.BatchNorm2d(inner),
            nn.ReLU(inplace=True),
            nn.Conv2d(inner, width, 1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return (self.inside(x) + x).relu_()


@pytest.mark.parametrize("part", range(len(SIDES_AND_WIDTHS)))
def test_a_block_of_the_formula_is_what_a_real_block_keeps(part: int) -> None:
    side, width = SIDES_AND_WIDTHS[part]
    alone = [0, 0, 0, 0]
    alone[part] = 1
    (block,) = deep_resnet(layers=4, shares=alone, batch=1).stages
    x = torch.zeros(1, width, side, side, requires_grad=True)
    kept = saved_by(Bottleneck(width), x)
    # Its input is the output of the block before it; statistics are one number per channel.
    statistics = sum(saved.bytes for saved in kept if len(saved.shape) == 1)
    assert sum(saved.bytes for saved in kept) - x.nbytes - statistics == (
        block.output_bytes + block.saved_bytes
    )


@pytest.mark.parametrize("shares", SHARES.values(), ids=list(SHARES))
def test_a_thousand_layers_are_333_blocks_however_they_are_shared_out(shares) -> None:
    chain = deep_resnet(shares=shares)
    assert len(chain) == 333
    sizes = [stage.output_bytes for stage in chain.stages]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == 4


def test_equal_parts_hold_the_most_of_all_shares() -> None:
    def kept(stages: tuple[Stage, ...]) -> int:
        return sum(stage.output_bytes + stage.saved_bytes for stage in stages)

    equal, *others = (kept(deep_resnet(shares=shares).stages) for shares in SHARES.values())
    assert all(other < 0.8 * equal for other in others)


@given(st.integers(1, 400), st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_nothing_is_lost_in_sharing_out_and_nobody_is_a_whole_block_off(blocks, shares) -> None:
    counts = shared_out(blocks, shares)
    assert sum(counts) == blocks
    for count, share in zip(counts, shares, strict=True):
        assert abs(count - blocks * share / sum(shares)) < 1


def test_deep_resnets_have_their_blocks_shared_out() -> None:
    chain = deep_resnet(101, batch=1)
    assert len(chain) == 33
    sizes = [stage.output_bytes for stage in chain.stages]
    assert sorted(set(sizes), reverse=True) == sizes[:1] + [sizes[0] // n for n in (2, 4, 8)]


def test_other_shares_come_to_34_to_48_gb_as_the_lesson_says() -> None:
    chains = [deep_resnet(shares=shares) for shares in SHARES.values()]
    peaks = [account(chain, plans.keep_everything(len(chain))).peak / GB for chain in chains]
    assert (round(min(peaks)), round(max(peaks))) == (34, 48)
