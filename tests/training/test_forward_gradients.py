"""Forward gradients against gradients by backprop, and their memory against the depth."""

from __future__ import annotations

import pytest
import torch

from gpu_course.training.flat_model import Flat, deep_problem, half_moons, moons_model
from gpu_course.training.forward_gradients import (
    averaged,
    draw,
    forward_gradient,
    slope,
    spread_out,
    total_variance,
)
from gpu_course.training.peak import measure_peak


def by_backprop(loss, point: torch.Tensor) -> torch.Tensor:
    at = point.clone().requires_grad_()
    return torch.autograd.grad(loss(at), at)[0]


def test_a_slope_is_the_gradient_along_the_direction() -> None:
    loss, point = deep_problem(depth=5, width=4, rows=7, seed=0)
    v = torch.randn(16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    gradient = by_backprop(loss, point)
    assert slope(loss, point, v).item() == pytest.approx((gradient @ v).item(), rel=1e-12)
    assert torch.allclose(forward_gradient(loss, point, v), (gradient @ v) * v, rtol=1e-12)


def test_memory_is_flat_in_the_depth_and_a_backward_pass_is_not() -> None:
    def peaks(depth: int) -> tuple[int, int]:
        loss, point = deep_problem(depth, 8, 32, 0)
        v = torch.ones_like(point)
        forward = measure_peak(lambda: slope(loss, point, v)).peak_bytes
        return forward, measure_peak(lambda: by_backprop(loss, point)).peak_bytes

    assert peaks(4)[0] == peaks(32)[0]
    assert peaks(32)[1] > 4 * peaks(4)[1]


@pytest.mark.parametrize(("k", "exact"), [(16, True), (15, False)])
def test_as_many_right_angles_as_parameters_give_the_gradient(k: int, exact: bool) -> None:
    loss, point = deep_problem(depth=3, width=4, rows=7, seed=0)
    normals = torch.randn(k, 16, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    frame = spread_out(normals)
    assert torch.allclose(frame @ frame.mT, 16 * torch.eye(k, dtype=torch.float64), atol=1e-10)
    found = averaged(loss, point, frame)
    assert torch.allclose(found, by_backprop(loss, point), rtol=1e-9) == exact


@pytest.mark.parametrize("size", [1, 5, 50])
def test_the_law_grows_with_the_parameters_and_falls_with_the_directions(size: int) -> None:
    unit = torch.eye(size)[0]
    assert total_variance(unit, 1, "normal") == size + 1
    assert total_variance(unit, 4, "normal") == pytest.approx((size + 1) / 4)
    assert total_variance(unit, size, "right angles") == 0
    with pytest.raises(KeyError):
        total_variance(unit, 1, "a box")


def test_a_flat_model_computes_what_the_model_does() -> None:
    x, y = half_moons(20)
    model = moons_model(hidden=3)
    flat = Flat(model, torch.nn.functional.cross_entropy)
    assert len(flat.point()) == 17
    loss = flat.at(x, y)(flat.point())
    assert loss.item() == pytest.approx(torch.nn.functional.cross_entropy(model(x), y).item())


def test_it_trains_to_the_goal_of_the_lesson() -> None:
    x, y = half_moons(128)
    flat = Flat(moons_model(), torch.nn.functional.cross_entropy)
    loss, point = flat.at(x, y), flat.point()
    generator = torch.Generator().manual_seed(0)
    for _ in range(1000):
        point = point - 0.05 * forward_gradient(loss, point, draw(len(point), generator))
    assert loss(point) < 0.25
