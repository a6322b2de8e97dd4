"""Forward gradients against gradients by backprop, and their memory against the depth."""

from __future__ import annotations

import pytest
import torch

from gpu_course.lessons.forward_gradients.flat_model import (
    Flat,
    deep_problem,
    half_moons,
    moons_model,
)
from gpu_course.lessons.forward_gradients.forward_step import ForwardStep
from gpu_course.lessons.forward_gradients.jvp import (
    DIRECTIONS,
    averaged,
    curvature,
    draw,
    forward_gradient,
    measured_variance,
    slope,
    spread_out,
    total_variance,
)
from gpu_course.measure.ledger import keep_ledger
from gpu_course.measure.peak import measure_peak
from gpu_course.measure.shared_model import Shared


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
    for _ in range(500):
        point = point - 0.05 * forward_gradient(loss, point, draw(len(point), generator))
    assert loss(point) < 0.25


@pytest.mark.parametrize("kind", DIRECTIONS)
def test_only_two_kinds_of_directions_are_right_as_they_are(kind: str) -> None:
    v = DIRECTIONS[kind](torch.randn(20_000, 3, generator=torch.Generator().manual_seed(0)))
    moment = v.mT @ v / len(v)
    fits = (moment - torch.eye(3)).abs().max() < 0.05
    assert fits == (kind in ("normal numbers", "signs"))
    # Too short can be mended by a factor; numbers that are never below zero cannot.
    mended = moment / moment.diagonal().mean()
    assert ((mended - torch.eye(3)).abs().max() < 0.05) == (kind != "even, from 0 to 1")


@pytest.mark.parametrize("directions", ["normal", "signs", "right angles"])
@pytest.mark.parametrize(("d", "k"), [(1, 1), (5, 2), (12, 12), (20, 3)])
def test_the_measured_variance_is_that_of_the_law(directions: str, d: int, k: int) -> None:
    generator = torch.Generator().manual_seed(0)
    law = total_variance(torch.eye(d)[0], k, directions)
    found = measured_variance(d, k, directions, generator, draws=4000)
    assert found == pytest.approx(law, rel=0.15, abs=1e-6)


def step_of(depth: int) -> tuple[torch.nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.Tanh())
    return Shared(layer, depth).double(), torch.randn(9, 6).double()


def test_a_forward_step_leaves_the_forward_gradient() -> None:
    model, x = step_of(depth=3)
    estimate, again = (ForwardStep(model, lambda y: y.square().mean(), seed=4)(x) for _ in range(2))
    v = dict(again._direction)
    estimate.backward()
    found = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    value = model(x).square().mean()
    value.backward()
    along = sum((p.grad * v[name]).sum() for name, p in model.named_parameters())
    assert estimate.value.item() == pytest.approx(value.item())
    assert estimate.slope.item() == pytest.approx(along.item(), rel=1e-10)
    assert found.keys() == v.keys()
    assert all(torch.allclose(found[name], along * v[name], rtol=1e-9) for name in v)


def test_the_ledger_of_a_forward_step_is_flat_and_keeps_no_activation() -> None:
    def ledger(depth: int):
        model, x = step_of(depth)
        step = ForwardStep(model, lambda y: y.square().mean())
        return keep_ledger(step, lambda estimate, _: estimate, [x], steps=1), x

    (short, x), (long, _) = ledger(4), ledger(32)
    assert short.peak_bytes == long.peak_bytes
    batch = x.numel() * x.element_size()
    assert set(long.live["activations"]) == {batch}  # the batch itself, and nothing is added
    assert max(long.live["gradients"]) == max(long.live["parameters"])
    model, x = step_of(32)
    plain = keep_ledger(model, lambda y, _: y.square().mean(), [x], steps=1)
    assert plain.peak_bytes > 3 * long.peak_bytes


def test_curvature_is_the_hessians_and_says_which_rates_are_safe() -> None:
    loss, point = deep_problem(depth=2, width=3, rows=9, seed=0)
    values = torch.linalg.eigvalsh(torch.autograd.functional.hessian(loss, point))
    assert curvature(loss, point) == pytest.approx((values[-1].item(), values.sum().item()))

    # A valley with two steep directions of nine: the edge of both kinds of steps, by many draws.
    steep = torch.tensor([4.0, 2.0, *[0.0] * 7], dtype=torch.float64)

    def valley(p: torch.Tensor) -> torch.Tensor:
        return 0.5 * (steep * p * p).sum()

    start = torch.zeros(9, dtype=torch.float64)
    start[0] = 1.0  # the gradient points along the steepest direction
    largest, trace = curvature(valley, start)
    v = torch.randn(200_000, 9, generator=torch.Generator().manual_seed(0)).double()
    gradient = steep * start
    for share, lower in ((0.9, True), (1.1, False)):
        step = start - share * 2 / (2 * largest + trace) * (v @ gradient)[:, None] * v
        assert ((0.5 * steep * step**2).sum(1).mean() < valley(start)) == lower
        assert (valley(start - share * 2 / largest * gradient) < valley(start)) == lower
