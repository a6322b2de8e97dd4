"""Chains cut into kernels: what is drawn of a cut is what the puzzle counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gpu_course.lessons.data_movement.fusion import cuts, groups_of, mlp_end
from gpu_course.lessons.data_movement.operations import (
    best_groups,
    bytes_of_groups,
    drawn_chain,
    encoder_layer,
    fewest_bytes,
    longest_groups,
    may_fuse,
)


def allowed(chain, groups) -> bool:
    operations = chain["operations"]
    assert list(itertools.chain(*groups)) == list(range(len(operations)))
    return all(may_fuse([operations[each]["kind"] for each in group]) for group in groups)


@pytest.mark.parametrize("seed", range(12))
def test_what_steps_read_and_write_is_what_their_kernel_moves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    chain = drawn_chain(rng, 8)
    ends = [bool(each) for each in rng.integers(0, 2, 7)]
    groups = groups_of(8, ends)
    for cut in cuts(**chain, groups=groups):
        tensors = [each for step in cut.steps for each in (*step.reads, *step.writes)]
        assert sum(size for _, size in tensors) == cut.moved_bytes
        assert len({name for step in cut.steps for name, _ in step.reads}) == sum(
            len(step.reads) for step in cut.steps
        )


@pytest.mark.parametrize("seed", range(12))
def test_the_best_groups_are_allowed_and_none_is_better(seed: int) -> None:
    chain = drawn_chain(np.random.default_rng(seed), 7)
    best = best_groups(**chain)
    assert allowed(chain, best)
    assert sum(bytes_of_groups(**chain, groups=best)) == fewest_bytes(**chain)
    every = (groups_of(7, ends) for ends in itertools.product((True, False), repeat=6))
    least = min(sum(bytes_of_groups(**chain, groups=g)) for g in every if allowed(chain, g))
    assert fewest_bytes(**chain) == least


def test_kernels_as_long_as_may_be_are_allowed() -> None:
    chain = encoder_layer(64, 48, 4, 192, 2)
    groups = longest_groups(chain["operations"])
    assert allowed(chain, groups) and len(groups) < len(chain["operations"])
    for one, next_one in itertools.pairwise(groups):
        kinds = [chain["operations"][each]["kind"] for each in (*one, next_one[0])]
        assert not may_fuse(kinds)


def test_four_operations_in_one_kernel_move_what_comes_and_what_is_kept() -> None:
    chain = mlp_end(64, 256)
    (whole,) = cuts(**chain, groups=[[0, 1, 2, 3]])
    array = 4 * 64 * 256
    assert whole.moved_bytes == 3 * array + 4 * 256 + 64 * 256
    assert [step.stays for step in whole.steps] == [("s",), ("a",), ("d",), ()]
