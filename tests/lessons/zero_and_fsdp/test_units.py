"""A GPT cut into units is the GPT: its loss and its gradient, piece by piece."""

from __future__ import annotations

import torch

from gpu_course.lessons.zero_and_fsdp.alive import Alive
from gpu_course.lessons.zero_and_fsdp.units import flat, tiny
from gpu_course.measure.model import GPT, Shape, next_token_loss

SHAPE = Shape(hidden=8, heads=2, layers=3, sequence=5, vocabulary=11, dropout=0.0)


def test_units_together_are_the_model() -> None:
    units, weights, tokens = tiny(rank=1, shape=SHAPE)
    torch.manual_seed(0)
    model = GPT(SHAPE).double()
    parameters = list(model.parameters())
    assert torch.equal(torch.cat(weights), flat(parameters))
    loss = next_token_loss(model(tokens), tokens)
    expected = flat(torch.autograd.grad(loss, parameters))

    inputs, x = [], tokens
    for unit, each in zip(units, weights, strict=True):
        inputs.append(x)
        x = unit.forward(each, x)
    assert torch.allclose(x, loss.detach())
    gradient, found = torch.ones_like(x), []
    for k in reversed(range(len(units))):
        further, of_weights = units[k].backward(weights[k], inputs[k], gradient)
        found.insert(0, of_weights)
        if further is not None:
            gradient = further
    assert further is None
    torch.testing.assert_close(torch.cat(found), expected)


def test_ranks_have_one_model_and_batches_of_their_own() -> None:
    (_, ours, here), (_, theirs, there) = tiny(0, SHAPE), tiny(1, SHAPE)
    assert all(map(torch.equal, ours, theirs)) and not torch.equal(here, there)


def test_drawing_a_model_leaves_the_random_state_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    tiny(0, SHAPE)
    assert torch.equal(torch.get_rng_state(), before)


def test_alive_is_what_somebody_holds() -> None:
    given = torch.zeros(1000)
    with Alive() as alive:
        view = given[:500]
        made = given + 1
        part = made[:10]
        assert alive.bytes() == 4000
        del made
        assert alive.bytes() == 4000, "a view keeps all of it"
        part = part.clone()
        assert alive.bytes() == 40
        given.add_(1)
        assert alive.bytes() == 40
        assert alive.bytes_settled(0) == 40
        del part
        assert alive.bytes() == 0
    assert len(view) == 500


def test_a_backward_pass_is_seen() -> None:
    leaf = torch.ones(100, dtype=torch.float64, requires_grad=True)
    with Alive() as alive:
        (leaf * 2).sum().backward()
        assert alive.bytes() == 800
        leaf.grad = None
        assert alive.bytes() == 0
