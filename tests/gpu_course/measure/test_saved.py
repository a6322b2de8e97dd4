"""What modules keep, against lists written by hand and against the allocator's own count."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gpu_course.lessons.memory_ledger.samples import MODULES, Square, packed, sample
from gpu_course.measure.model import GPT, Layer, Shape
from gpu_course.measure.peak import bytes_of, measure_peak
from gpu_course.measure.saved import following, saved_by, saved_bytes


def test_a_linear_layer_keeps_its_input() -> None:
    (kept,) = saved_by(nn.Linear(3, 5), torch.zeros(2, 3))
    assert (kept.shape, kept.dtype, kept.bytes, kept.owner) == ((2, 3), "float32", 24, "")


def test_owners_are_the_innermost_modules_and_shapes_are_as_saved() -> None:
    net = nn.Sequential(nn.Linear(3, 5), nn.Sequential(nn.Tanh(), nn.Dropout(0.5)))
    kept = saved_by(net, torch.zeros(2, 3))
    assert [(k.owner, k.shape) for k in kept] == [
        ("0", (2, 3)),
        ("1.0", (2, 5)),
        ("1.1", (2, 5)),
    ]


def test_one_storage_saved_often_counts_once() -> None:
    x = torch.zeros(4, 5, requires_grad=True)
    kept = saved_by(Square(), x)
    assert [(k.bytes, k.times) for k in kept] == [(80, 2), (80, 1)]


def test_a_small_view_counts_as_all_it_keeps_alive() -> None:
    module, x = sample("first columns", rows=5, width=4, seed=0)
    kept = saved_by(module, x)
    assert [(k.shape, k.bytes) for k in kept] == [((5, 4), 80), ((5, 3), 5 * 32 * 4)]


def test_parameters_and_buffers_are_left_out() -> None:
    net = nn.BatchNorm1d(6)
    kept = saved_by(net, torch.randn(5, 6))
    # The batch, and mean and inverse deviation per column; running statistics are buffers.
    assert sorted(k.bytes for k in kept) == [24, 24, 120]


def test_packed_parameters_lie_in_one_storage_and_are_left_out() -> None:
    torch.manual_seed(3)
    plain = nn.Linear(4, 5)
    values = [parameter.detach().clone() for parameter in plain.parameters()]
    net = packed(plain)
    (storage,) = {parameter.untyped_storage().data_ptr() for parameter in net.parameters()}
    assert all(parameter.data_ptr() != storage for parameter in net.parameters())
    assert all(map(torch.equal, net.parameters(), values))
    x = torch.zeros(2, 4, requires_grad=True)
    # Backward needs the batch and, since the batch asks for a gradient, the weight.
    assert [kept.bytes for kept in saved_by(net, x)] == [2 * 4 * 4]
    net(x).sum().backward()
    assert [parameter.grad.shape for parameter in net.parameters()] == [(5, 4), (5,)]


def test_without_a_gradient_nothing_is_kept() -> None:
    assert saved_by(nn.Tanh(), torch.zeros(3)) == ()


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("rows", [2, 7])
def test_the_allocator_agrees_with_the_hooks(kind, rows) -> None:
    """An independent count: blocks alive after the forward pass, the output's own taken off."""
    module, x = sample(kind, rows, width=8, seed=1)
    kept = saved_bytes(module, x)
    forward = measure_peak(lambda: module(x))
    output = forward.value.untyped_storage()
    held: list[torch.UntypedStorage] = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda t: held.append(t.untyped_storage()) or t, lambda t: t
    ):
        again = module(x)
    batch_is_kept = any(storage._cdata == x.untyped_storage()._cdata for storage in held)
    output_is_kept = any(s._cdata == again.untyped_storage()._cdata for s in held)
    born = kept - (bytes_of(x) if batch_is_kept else 0)
    expected = born + (0 if output_is_kept else output.nbytes())
    # The one thing that hooks aren't shown: a Python number that became a tensor of 8 bytes.
    scalars = 8 if kind == "transformer layer" else 0
    assert forward.left_bytes == expected + scalars


def test_a_gpt_keeps_the_same_in_every_layer() -> None:
    model = GPT(Shape(layers=3))
    kept = saved_by(model, torch.randint(0, 128, (2, 32)))
    per_layer = [
        [(k.shape, k.bytes) for k in kept if k.owner.startswith(f"layers.{number}.")]
        for number in range(3)
    ]
    assert per_layer[0] == per_layer[1] == per_layer[2]
    assert saved_bytes(Layer(64, 4), torch.randn(2, 32, 64)) == sum(b for _, b in per_layer[0])


def test_following_leaves_no_hook_behind_even_after_an_error() -> None:
    class Broken(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ZeroDivisionError

    net = nn.Sequential(nn.Tanh(), Broken())
    with following(net) as running, pytest.raises(ZeroDivisionError):
        net(torch.zeros(1))
    assert running == [""]
    assert not any(each._forward_hooks or each._forward_pre_hooks for each in net.modules())
