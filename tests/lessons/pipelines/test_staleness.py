"""Pipelines that never drain, against PyTorch's gradients in float64 and against counting."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.lessons.pipelines.staleness import (
    POLICIES,
    data,
    loss_of,
    train,
    true_gradients,
)

ROUNDING = 1e-12
RATE, MANY = 0.5, 80


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_gradients_are_those_of_autograd(stages: int) -> None:
    weights, inputs, targets = data(stages, 3, seed=5)
    for x, target in zip(inputs, targets, strict=True):
        parts = [torch.tensor(weight, requires_grad=True) for weight in weights]
        y = torch.tensor(x)
        for number, part in enumerate(parts):
            y = y @ part if number == stages - 1 else torch.tanh(y @ part)
        loss = ((y - torch.tensor(target)) ** 2).mean() / 2
        assert float(loss.detach()) == pytest.approx(loss_of(y.detach().numpy(), target))
        loss.backward()  # type: ignore[no-untyped-call]
        for part, found in zip(parts, true_gradients(weights, x, target), strict=True):
            assert part.grad is not None
            np.testing.assert_allclose(found, part.grad, rtol=1e-11, atol=1e-15)


def test_without_a_stash_a_gradient_is_that_of_no_function() -> None:
    run = train("newest", 4, MANY, RATE)
    assert run.gradient_error[0] > run.gradient_error[1] > 0.01
    # A stage's gradient goes wrong on its way through later stages whose weights have changed.
    assert max(run.gradient_error[2:]) < ROUNDING
    assert run.versions == (1, 1, 1, 1)


@pytest.mark.parametrize("policy", ["stashed", "vertical", "drained"])
def test_with_the_weights_of_the_way_down_it_is_right_to_the_last_digits(policy: str) -> None:
    assert max(train(policy, 4, MANY, RATE).gradient_error) < ROUNDING


@pytest.mark.parametrize("stages", [1, 2, 3, 5])
def test_what_is_held_and_how_late_it_is(stages: int) -> None:
    behind = tuple(stages - 1 - stage for stage in range(stages))
    full = tuple([stages] * stages)
    none = tuple([0] * stages)
    expected = {
        "newest": (tuple([1] * stages), behind),
        "stashed": (tuple(1 + late for late in behind), behind),
        "vertical": (full, tuple([stages - 1] * stages)),
        "predicted": (tuple([1] * stages), behind),
        "drained": (tuple([1] * stages), none),
    }
    assert set(expected) == set(POLICIES)
    for policy, (versions, lag) in expected.items():
        run = train(policy, stages, 4 * stages)
        assert (run.versions, run.lag) == (versions, lag), policy
        assert run.held_bytes == tuple(each * run.weight_bytes for each in versions)


def test_a_version_is_a_copy_of_a_stage() -> None:
    run = train("stashed", 2, 4)
    assert run.weight_bytes == run.weights[0].nbytes == 6 * 6 * 8


def test_predicted_weights_are_closer_to_those_that_will_be() -> None:
    for seed in range(4):
        stashed = train("stashed", 4, MANY, RATE, seed=seed).drift
        predicted = train("predicted", 4, MANY, RATE, seed=seed).drift
        assert all(new < 0.6 * old for new, old in zip(predicted[:3], stashed[:3], strict=True)), (
            seed
        )
        assert predicted[3] == stashed[3] == 0


def test_without_momentum_nothing_tells_where_weights_will_be_but_the_last_step() -> None:
    with_it, without = (train("predicted", 4, MANY, RATE, momentum=each) for each in (0.9, 0.0))
    assert with_it.drift[0] < without.drift[0]


def test_draining_gives_the_steps_of_one_process() -> None:
    stages, microbatches, rate = 3, 12, 0.2
    run = train("drained", stages, microbatches, rate, momentum=0.0)
    weights, inputs, targets = data(stages, microbatches, seed=0)
    for first in range(0, microbatches, stages):
        sums = [np.zeros_like(weight) for weight in weights]
        for each in range(first, first + stages):
            for total, part in zip(
                sums, true_gradients(weights, inputs[each], targets[each]), strict=True
            ):
                total += part
        weights = [weight - rate * total for weight, total in zip(weights, sums, strict=True)]
    for ours, theirs in zip(run.weights, weights, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert run.drift == (0.0,) * stages


def test_one_stage_is_never_stale() -> None:
    runs = [train(policy, 1, 10) for policy in POLICIES]
    assert all(run.weights[0].tobytes() == runs[0].weights[0].tobytes() for run in runs)


def test_every_policy_learns() -> None:
    for policy in POLICIES:
        losses = train(policy, 4, 200, RATE).losses
        assert sum(losses[-20:]) < 0.5 * sum(losses[:20]), policy


def test_what_is_no_policy() -> None:
    with pytest.raises(CourseError, match="no policy is called 'oldest'"):
        train("oldest")
    with pytest.raises(CourseError, match="0 ranks"):
        train("stashed", stages=0)
