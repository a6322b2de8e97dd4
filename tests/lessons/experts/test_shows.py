"""What lesson 28 shows: real runs on ranks, a model that is trained, copies of busy experts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gpu_course.errors import CourseError
from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.isolation import servers
from gpu_course.lessons.experts import grouped, replicas, shows, training
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture
from tests.gpu_course.notebook.tutor.test_feedback import SOLUTIONS

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


# Copies of busy experts


@pytest.mark.parametrize("layer", [0, 1])
def test_the_printed_example_comes_out_place_by_place(layer: int) -> None:
    e = replicas.EPLB_EXAMPLE
    found = replicas.place(e.loads[layer], e.places, e.groups, e.nodes, e.gpus)
    assert tuple(found) == e.printed[layer]
    printed, ours = shows.printed_places(layer).splitlines()
    assert printed.split()[1:] == ours.split()[1:]


def test_a_group_stays_in_one_node_and_every_expert_has_a_place() -> None:
    loads = np.random.default_rng(0).integers(1, 100, 24).tolist()
    held = replicas.place(loads, 32, 6, 2, 4)
    assert set(held) == set(range(24))
    for half in (held[:16], held[16:]):
        groups = {expert // 4 for expert in half}
        assert len(groups) == 3
    assert sum(replicas.gpu_loads(loads, held, 4)) == pytest.approx(sum(loads))


def test_copies_are_as_good_as_any_by_brute_force() -> None:
    """Who has most for a copy gets the next: no other way leaves the busiest copy with less."""
    from itertools import combinations_with_replacement

    loads = [13, 5, 8, 2]
    for places in (4, 5, 6, 7, 8):
        held = replicas.copy_busiest(loads, places)
        ours = max(loads[e] / held.count(e) for e in held)
        ways = combinations_with_replacement(range(4), places - 4)
        best = min(max(load / (1 + way.count(e)) for e, load in enumerate(loads)) for way in ways)
        assert ours == best


def test_counts_that_do_not_divide_are_refused() -> None:
    with pytest.raises(CourseError, match="12 experts in 5 groups"):
        replicas.place([1] * 12, 16, 5, 2, 8)
    with pytest.raises(CourseError, match="8 places"):
        replicas.place([1] * 12, 8, 4, 2, 8)


# One call for all experts


def test_a_loop_asks_for_a_product_of_each_expert_and_the_other_for_one() -> None:
    rows, weights, sizes = grouped.example(experts=6, tokens=40)
    assert sum(sizes) == 40 and len(rows) == 40
    assert grouped.products(lambda: grouped.looped(rows, weights, sizes)) == 6
    assert grouped.products(lambda: grouped.grouped(rows, weights, sizes)) == 1
    left, right = (way(rows, weights, sizes) for way in (grouped.looped, grouped.grouped))
    assert torch.allclose(left, right, atol=1e-5)


# A model that is trained


def test_an_even_load_has_the_least_auxiliary_loss_and_its_gradient_helps() -> None:
    scores = torch.full((6, 3), 0.5, dtype=torch.float64, requires_grad=True)
    even = training.auxiliary_loss(scores, torch.tensor([4, 4, 4]))
    uneven = training.auxiliary_loss(scores, torch.tensor([8, 3, 1]))
    assert even.item() == pytest.approx(1) and uneven.item() == pytest.approx(1)
    uneven.backward()
    assert scores.grad is not None
    # Those of the busiest go down, of the idle up.
    assert (scores.grad[:, 0] > 0).all() and (scores.grad[:, 2] < 0).all()


def test_a_run_is_the_same_again_and_learns() -> None:
    one, other = training.train(steps=30), training.train(steps=30)
    assert one == other
    assert sum(one.losses[-5:]) < sum(one.losses[:5])
    assert all(sum(load) == 512 * 2 for load in one.loads)
    assert one.over[0] == max(one.loads[0]) / 128 - 1


def test_a_bias_evens_out_the_load() -> None:
    def choose(
        logits: torch.Tensor, bias: torch.Tensor, k: int, rate: float
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        scores = logits.sigmoid()
        experts = (scores + bias).topk(k).indices
        load = torch.bincount(experts.flatten(), minlength=len(bias)).double()
        weights = scores.gather(1, experts)
        return (
            experts,
            weights / weights.sum(1, keepdim=True),
            bias + rate * (load.mean() - load).sign(),
        )

    plain, even = training.train(steps=60), training.train(choose, steps=60)
    assert sum(even.over[-20:]) < sum(plain.over[-20:]) / 2


# The learner's own answers


@NEEDS_RANKS
def test_ones_own_answers_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(SOLUTIONS))
    layer = shows.own_layer(ranks=2, tokens=6, experts=4, width=4)
    assert isinstance(layer, str) and layer.endswith("gradients too: yes")
    picture = shows.own_flow(room=1.0)
    assert isinstance(picture, Picture)
    assert f"{shows.dropped_copies(room=1.0)} of 128 copies dropped" in repr(picture)
    limit = shows.own_limit(tokens=64, experts=32, chosen=4, nodes=8)
    assert isinstance(limit, str)
    reached = [float(line.split()[1]) for line in limit.splitlines()[1:]]
    assert reached == sorted(reached, reverse=True) and reached[2] <= 2


def test_without_an_answer_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ANSWERS_VARIABLE, str(tmp_path))
    for show in (shows.own_flow, shows.own_layer, shows.own_limit):
        assert isinstance(show(), Note)
    assert isinstance(shows.own_balance({}), Note) and isinstance(shows.own_load({}), Note)
