"""The problem that `accumulate` is checked on."""

from __future__ import annotations

import pytest
import torch

from gpu_course.lessons.memory_ledger.accumulation import (
    flat_gradient,
    full_gradient,
    peak_bytes_of_rows,
    problem,
)


def test_the_loss_is_a_mean_over_rows_so_parts_weigh_by_their_rows() -> None:
    model, loss, x, y = problem(rows=13, width=4, seed=3)
    whole = loss(model(x), y)
    parts = [loss(model(a), b) * len(a) / 13 for a, b in zip(x.split(5), y.split(5), strict=True)]
    assert torch.allclose(torch.stack(parts).sum(), whole, rtol=1e-12)


def test_the_full_gradient_is_the_slope_of_the_loss() -> None:
    model, loss, x, y = problem(rows=6, width=3, seed=0)
    gradient = full_gradient(6, 3, 0)
    at, step = 0, 1e-6
    for parameter in model.parameters():
        flat = parameter.data.view(-1)
        flat[0] += step
        up = loss(model(x), y).item()
        flat[0] -= 2 * step
        down = loss(model(x), y).item()
        flat[0] += step
        assert gradient[at].item() == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-9)
        at += parameter.numel()
    assert at == len(gradient)


def test_a_missing_gradient_is_none() -> None:
    model, *_ = problem(rows=2, width=3, seed=0)
    assert flat_gradient(model) is None


def test_the_peak_falls_with_the_rows_and_has_a_floor() -> None:
    peaks = [peak_bytes_of_rows(rows, width=8, seed=0) for rows in (256, 64, 16, 4, 1)]
    assert peaks == sorted(peaks, reverse=True)
    assert peaks[0] > 3 * peaks[1]
    # The largest weight's gradient is in flight whatever the rows.
    assert peaks[-1] > 32 * 32 * 8
