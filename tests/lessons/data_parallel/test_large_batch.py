"""Large batches: optimizers against PyTorch and the puzzles' references, sharpness by search."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from gpu_course.lessons.data_parallel import large_batch as lb


@pytest.fixture(scope="module")
def rows() -> lb.Rows:
    return lb.draw_rows()


def test_a_seed_fixes_the_rows_and_a_tenth_of_the_labels_are_wrong(rows: lb.Rows) -> None:
    again = lb.draw_rows()
    assert torch.equal(rows.x, again.x) and torch.equal(rows.y, again.y)
    assert rows.x.dtype == torch.float64 and rows.x.shape == (lb.ROWS, lb.INPUTS)
    assert not torch.equal(rows.x, lb.draw_rows(1).x)


def test_sgd_is_that_of_pytorch() -> None:
    torch.manual_seed(0)
    mine = [torch.randn(3, 2, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    theirs = [each.detach().clone().requires_grad_() for each in mine]
    own = lb.Sgd(mine)
    other = torch.optim.SGD(theirs, lr=0.1, momentum=lb.MOMENTUM, weight_decay=lb.DECAY)
    for step in range(4):
        for a, b in zip(mine, theirs, strict=True):
            a.grad = torch.randn(3, 2, dtype=torch.float64)
            b.grad = a.grad.clone()
        own.step(0.1, step)
        other.step()
    assert all(torch.allclose(a, b) for a, b in zip(mine, theirs, strict=True))


@pytest.mark.parametrize("name", ["lars", "lamb"])
def test_lars_and_lamb_take_the_steps_of_the_puzzles(name: str) -> None:
    from gpu_course.lessons.data_parallel import lamb, lars
    from gpu_course.puzzle.specification import Case

    case = Case("", {"matrices": 2, "zeros": 0, "biases": 0, "rows": 3})
    puzzle = {"lars": lars.LARS, "lamb": lamb.LAMB}[name]
    given = puzzle.inputs(np.random.default_rng(0), case)
    given["decay"] = lb.DECAY
    if name == "lars":
        given.update(momentum=lb.MOMENTUM, trust=lb.Lars.TRUST)
        given["velocities"] = [0 * each for each in given["velocities"]]
    else:
        given.update(beta1=0.9, beta2=0.999, epsilon=1e-6, step=1)
        given["firsts"] = [0 * each for each in given["firsts"]]
        given["seconds"] = [0 * each for each in given["seconds"]]
    expected = puzzle.reference(given, case)["result"][0]
    mine = [torch.tensor(each, requires_grad=True) for each in given["weights"]]
    for each, gradient in zip(mine, given["gradients"], strict=True):
        each.grad = torch.tensor(gradient)
    lb.OPTIMIZERS[name](mine).step(given["rate"], 0)
    for each, wanted in zip(mine, expected, strict=True):
        assert np.allclose(each.detach().numpy(), wanted, rtol=1e-9)


def test_a_run_sees_every_row_equally_often_and_stops_at_its_goal(rows: lb.Rows) -> None:
    run = lb.train(rows, 256, lambda at: 0.1, epochs=2)
    assert run.steps == 2 * lb.ROWS // 256 and len(run.losses) == 3
    assert run.losses[0] > run.losses[-1] and not run.diverged
    early = lb.train(rows, 256, lambda at: 0.1, epochs=9, goal=run.losses[1])
    assert early.steps == lb.ROWS // 256 and early.losses == run.losses[:2]
    threads = torch.get_num_threads()
    assert lb.train(rows, 1024, lambda at: 1e3, epochs=1).diverged
    assert torch.get_num_threads() == threads


def test_the_rate_warms_up_along_a_line() -> None:
    rate = lb.warmed_up(1.0, 0.2, 4)
    assert [rate(at) for at in (0, 2, 4, 9)] == pytest.approx([0.2, 0.6, 1.0, 1.0])
    assert lb.warmed_up(1.0, 0.2, 0)(0) == 1.0


def test_sharpness_is_the_highest_loss_that_a_random_search_does_not_beat(rows: lb.Rows) -> None:
    run = lb.train(rows, 256, lambda at: 0.2, epochs=4)
    before = [each.detach().clone() for each in run.model.parameters()]
    sharp = lb.sharpness(run.model, rows.x, rows.y)
    after = list(run.model.parameters())
    assert all(torch.equal(a, b) for a, b in zip(before, after, strict=True))
    low = lb.mean_loss(run.model, rows.x, rows.y)
    generator = torch.Generator().manual_seed(0)
    found = []
    with torch.no_grad():
        for _ in range(20):
            for w, at in zip(run.model.parameters(), before, strict=True):
                side = torch.randint(0, 2, at.shape, generator=generator) * 2.0 - 1
                w.copy_(at + 5e-3 * (at.abs() + 1) * side)
            found.append(100 * (lb.mean_loss(run.model, rows.x, rows.y) - low) / (1 + low))
    assert 0 < max(found) < sharp


def test_a_rescaled_model_is_the_same_function_and_another_minimum(rows: lb.Rows) -> None:
    model = lb.train(rows, 256, lambda at: 0.2, epochs=4).model
    other = lb.rescaled(model, 10.0)
    with torch.no_grad():
        assert torch.allclose(model(rows.x), other(rows.x))
    assert lb.sharpness(other, rows.x, rows.y) > 2 * lb.sharpness(model, rows.x, rows.y)


def test_the_loss_is_the_mean_of_cross_entropies(rows: lb.Rows) -> None:
    model = lb.draw_model()
    with torch.no_grad():
        each = -functional.log_softmax(model(rows.x), 1)[torch.arange(lb.ROWS), rows.y]
    assert lb.mean_loss(model, rows.x, rows.y) == pytest.approx(float(each.mean()))
    assert lb.mean_loss(model, rows.x, rows.y) == pytest.approx(math.log(lb.CLASSES), rel=0.1)
