"""One model on many ranks is one model; PyTorch's own composition as well."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.isolation import servers
from gpu_course.lessons.meshes.whole_model import losses_and_gradients
from gpu_course.measure.every_axis import parts
from gpu_course.measure.every_axis.configuration import Configuration, Shape
from gpu_course.measure.every_axis.run import run
from gpu_course.ranks import runner
from tests.lessons.meshes import on_ranks

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def _drawn() -> tuple[Shape, dict[str, np.ndarray], np.ndarray]:
    shape, rng = Shape(), np.random.default_rng(1)
    weights = parts.drawn(rng, shape)
    return shape, weights, rng.integers(0, shape.vocabulary, (shape.batch, shape.sequence + 1))


def test_one_rank_computes_what_the_model_written_apart_does() -> None:
    """Experts one by one there, in buffers here; PyTorch's attention there, written out here."""
    shape, weights, tokens = _drawn()
    losses, gradients = losses_and_gradients(shape, weights, tokens)
    step = run(Configuration(), shape, weights, tokens, lambda name: [])
    assert step.loss == pytest.approx(losses.mean(), rel=1e-12)
    for (layer, name), found in step.gradients.items():
        right = gradients[name][layer] if layer >= 0 else gradients[name]
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-13)


def test_the_gradient_is_that_of_the_loss() -> None:
    """By a difference: one weight of each kind is moved a little."""
    shape, weights, tokens = _drawn()
    _, gradients = losses_and_gradients(shape, weights, tokens)
    for name in parts.NAMES:
        at = tuple(size // 2 for size in weights[name].shape)
        ends = []
        for step in (1e-6, -1e-6):
            moved = weights[name].copy()
            moved[at] += step
            ends.append(losses_and_gradients(shape, {**weights, name: moved}, tokens)[0].mean())
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradients[name][at], rel=1e-4, abs=1e-8)


@NEEDS_RANKS
@pytest.mark.parametrize(
    "line", ["dp=2 tp=2 cp=2 sp", "tp=2 cp=2 pp=2", "cp=2 pp=2 ep=2", "dp=2 zero3 tp=2 pp=2"]
)
def test_three_axes_at_once_have_the_loss_of_one_process(line: str) -> None:
    shape, weights, tokens = _drawn()
    losses, _ = losses_and_gradients(shape, weights, tokens)
    found = runner.run_function(on_ranks.loss, 8, {"line": line}).results
    assert sum(found) == pytest.approx(losses.mean(), rel=1e-12)


@NEEDS_RANKS
def test_sizes_that_are_not_the_ranks_are_named() -> None:
    with pytest.raises(runner.RankFailed, match="takes 4 ranks, and there are 2"):
        runner.run_function(on_ranks.loss, 2, {"line": "dp=2 tp=2"})


@NEEDS_RANKS
@pytest.mark.parametrize("sizes", [(2, 2, 1), (1, 2, 2), (2, 1, 2), (2, 2, 2)], ids=str)
def test_pytorchs_three_kinds_compose_and_no_gradient_is_lost(sizes: tuple[int, int, int]) -> None:
    """fully_shard x parallelize_module x pipelining, in float64 beside one process."""
    dp, tp, pp = sizes
    given = {"dp": dp, "tp": tp, "pp": pp}
    results = runner.run_function(on_ranks.composed, dp * tp * pp, given).results
    assert all(each["lost"] == () or each["lost"] == [] for each in results)
    assert all(each["gradients"] == 12 and each["off"] < 1e-12 for each in results)
    assert len({each["loss"] for each in results if each["loss"] is not None}) == dp
