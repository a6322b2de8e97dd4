"""What lesson 15 tries out: what the text says of it holds, and roundings are torch's."""

from __future__ import annotations

import numpy as np
import torch

from gpu_course.lessons.number_formats import experiments
from gpu_course.lessons.number_formats.formats import BF16, E4M3, FP16, rounded
from gpu_course.lessons.number_formats.quantise_fp8_tiles import quantised


def test_bf16_alone_stalls_and_both_cures_do_not() -> None:
    losses = experiments.stalled_training()
    ends = {name: run[-1] for name, run in losses.items()}
    assert ends["bf16 alone"] > 100 * ends["bf16, float32 master"]
    assert ends["bf16 alone"] > 100 * ends["bf16, drawn"]
    assert ends["float32"] < ends["bf16, float32 master"]
    assert all(run[0] > 100 for run in losses.values())
    late = losses["bf16 alone"][-50:]
    assert (late == late[0]).all(), "it has come to rest"


def test_a_draw_goes_to_a_neighbour_and_is_right_in_the_mean() -> None:
    rng = np.random.default_rng(0)
    x = np.full(20_000, 1 + 1 / 512)
    found = experiments.rounded_by_draw(x, BF16, rng)
    assert set(np.unique(found)) == {1.0, 1 + 1 / 128}
    assert abs(found.mean() - x[0]) < 1e-4


def test_gradients_need_a_scale_in_fp16_and_none_in_bf16() -> None:
    gradients = experiments.gradients_of_a_training()
    size = np.abs(gradients)
    assert (size < FP16.smallest_normal).mean() > 0.5
    assert (size < BF16.smallest_normal).mean() == 0
    assert np.array_equal(gradients, experiments.gradients_of_a_training())


def test_tiles_keep_what_one_scale_for_all_loses() -> None:
    a = experiments.tensor_with_outliers(times=2.0**17)
    whole, tiles = (experiments.lost_by_scale(a, tile) for tile in (0, 128))
    assert whole > 10 * tiles
    even = experiments.tensor_with_outliers(times=1.0)
    assert abs(experiments.lost_by_scale(even, 0) - experiments.lost_by_scale(even, 128)) < 0.01


def test_a_short_sum_that_is_handed_on_is_more_exact() -> None:
    plain = experiments.error_of_a_short_sum(1024)
    assert experiments.error_of_a_short_sum(1024, promote=128) < plain / 4
    wide = experiments.error_of_a_short_sum(1024, form=experiments.Format("wide", 8, 40, 1e30))
    assert wide < 1e-9 < plain


def test_quantised_tiles_are_what_torch_makes_of_them() -> None:
    rng = np.random.default_rng(4)
    a = (rng.standard_normal((5, 384)) * 2.0 ** rng.integers(-20, 4, (5, 384))).astype(np.float32)
    a[1, :128] = 0
    a[2, ::5] *= -0.0
    q, scale = quantised(a, 3)
    given = torch.from_numpy(a).view(5, 3, 128)
    own = given.abs().amax(2).clamp(1e-4) / 448
    theirs = (given / own[..., None]).to(torch.float8_e4m3fn).view(torch.uint8).view(5, 384)
    np.testing.assert_array_equal(scale, own.numpy())
    np.testing.assert_array_equal(q, theirs.numpy())


def test_cutting_goes_towards_zero() -> None:
    x = np.array([1.99, -1.99, 0.3])
    found = experiments.cut(x, E4M3)
    assert (np.abs(found) <= np.abs(x)).all()
    assert not np.array_equal(found, rounded(x, E4M3))
