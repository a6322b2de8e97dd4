"""The puzzles of lesson 23 against PyTorch and brute force; other right answers, and lazy ones."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from gpu_course.grading.check import check
from gpu_course.isolation import servers
from gpu_course.lessons.zero_and_fsdp import small_gpt
from gpu_course.lessons.zero_and_fsdp.memory_per_rank import MEMORY_PER_RANK, memory
from gpu_course.lessons.zero_and_fsdp.pieces import (
    BETA_1,
    BETA_2,
    EPSILON,
    RATE,
    adam,
)
from gpu_course.lessons.zero_and_fsdp.reshard import RESHARD, reads
from gpu_course.lessons.zero_and_fsdp.zero1 import ZERO1
from gpu_course.lessons.zero_and_fsdp.zero2 import ZERO2, owners_of
from gpu_course.lessons.zero_and_fsdp.zero3 import ZERO3
from gpu_course.measure.model import GPT, Shape, next_token_loss
from gpu_course.puzzle import index
from gpu_course.puzzle.on_ranks import ranks_of
from tests.course.puzzles.by_hand import SOLUTIONS
from tests.course.puzzles.python_rules import cases_and_random

pytestmark = pytest.mark.long(23)

LESSON = index.lesson("zero_and_fsdp")

NEEDS_RANKS = pytest.mark.skipif(
    not servers.available(), reason="ranks are forked, which only Linux does safely"
)


def test_the_lesson_brings_its_six_puzzles() -> None:
    assert [puzzle.short_name for puzzle in LESSON.puzzles] == [
        "memory_per_rank", "zero1", "zero2", "zero3", "estimate", "reshard",
    ]  # fmt: skip
    assert sum(puzzle.minutes for puzzle in LESSON.puzzles) < LESSON.minutes


def test_adam_is_that_of_pytorch() -> None:
    rng = np.random.default_rng(3)
    weights = rng.standard_normal(40)
    leaf = torch.from_numpy(weights.copy()).requires_grad_()
    theirs = torch.optim.Adam([leaf], lr=RATE, betas=(BETA_1, BETA_2), eps=EPSILON)
    m, v = np.zeros(40), np.zeros(40)
    for step in range(1, 4):
        gradient = rng.standard_normal(40)
        leaf.grad = torch.from_numpy(gradient.copy())
        theirs.step()
        weights, m, v = adam(weights, gradient, m, v, step)
        np.testing.assert_allclose(weights, leaf.detach().numpy(), rtol=1e-12)


def test_zero1_asks_for_the_step_of_one_process() -> None:
    for case in cases_and_random(ZERO1, 4):
        inputs = ZERO1.inputs(np.random.default_rng(2), case)
        length = case.sizes["length"]
        m = np.concatenate(inputs["m"].parts)[:length]
        v = np.concatenate(inputs["v"].parts)[:length]
        mean = np.mean(inputs["gradient"].parts, axis=0)
        whole, m, v = adam(inputs["parameters"], mean, m, v, inputs["step"])
        for rank, (got, own_m, own_v) in enumerate(ZERO1.reference(inputs, case)["result"]):
            np.testing.assert_allclose(got, whole, rtol=1e-12)
            size = len(own_m)
            real = max(0, min(length - rank * size, size))
            np.testing.assert_allclose(own_m[:real], m[rank * size : rank * size + real])
            np.testing.assert_allclose(own_v[:real], v[rank * size : rank * size + real])
            assert not own_m[real:].any() and not own_v[real:].any()


def test_zero2_asks_for_the_steps_of_pytorch_on_all_batches() -> None:
    case = ZERO2.cases[0]
    inputs = ZERO2.inputs(np.random.default_rng(2), case)
    model = GPT(Shape(**small_gpt.shape_of(case), dropout=0.0)).double()
    parameters = list(model.parameters())
    torch.nn.utils.vector_to_parameters(torch.from_numpy(inputs["weights"].copy()), parameters)
    theirs = torch.optim.Adam(parameters, lr=RATE, betas=(BETA_1, BETA_2), eps=EPSILON)
    batches = [torch.from_numpy(each) for each in inputs["tokens"].parts]
    for _ in range(2):
        theirs.zero_grad()
        sum(next_token_loss(model(each), each) for each in batches).backward()
        for parameter in parameters:
            parameter.grad /= len(batches)
        theirs.step()
    expected = torch.nn.utils.parameters_to_vector(parameters).detach().numpy()
    for got in ZERO2.reference(inputs, case)["result"]:
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-11)


def test_parameters_are_counted_as_the_model_has_them() -> None:
    for case in small_gpt.CASES:
        model = GPT(Shape(**small_gpt.shape_of(case), dropout=0.0))
        sizes = [size for unit in small_gpt.unit_sizes(case) for size in unit]
        assert sizes == [parameter.numel() for parameter in model.parameters()]


def test_owners_are_dealt_out_evenly() -> None:
    sizes = [size for unit in small_gpt.unit_sizes(small_gpt.CASES[1]) for size in unit]
    owners = owners_of(sizes, 3)
    held = [sum(s for s, o in zip(sizes, owners, strict=True) if o == r) for r in range(3)]
    assert max(held) - min(held) <= max(sizes)


def test_what_zero3_may_hold_is_less_than_the_model() -> None:
    for case in small_gpt.CASES:
        if ranks_of(case) == 1 or case.sizes["layers"] < 3:
            continue
        inputs = ZERO3.inputs(np.random.default_rng(1), case)
        whole = 8 * sum(map(sum, small_gpt.unit_sizes(case)))
        assert max(forward for forward, _ in inputs["room"]) < whole


def test_memory_is_what_a_list_of_all_that_is_held_says() -> None:
    for case in cases_and_random(MEMORY_PER_RANK, 12):
        given = MEMORY_PER_RANK.inputs(np.random.default_rng(5), case)
        units, ranks, stage = given["units"], given["ranks"], given["stage"]
        slices = [(unit + ranks - 1) // ranks for unit in units]
        one_piece, by_unit = (sum(units) + ranks - 1) // ranks, sum(slices)
        mine = by_unit if stage == 3 else one_piece
        held = [2 * (mine if stage > 2 else sum(units)), 2 * (mine if stage > 1 else sum(units))]
        held.append(12 * (mine if stage > 0 else sum(units)))
        if ranks > 1 and stage == 2:
            held.append(2 * min(sum(units), given["bucket"]))
        if ranks > 1 and stage == 3:
            whole = [ranks * each for each in slices]
            held += [2 * max([whole[0], *(a + b for a, b in pairwise(whole))]), 2 * max(whole)]
        assert memory(**given) == sum(held)


def test_what_is_read_is_the_new_slice_number_by_number() -> None:
    for case in cases_and_random(RESHARD, 20):
        length, saved, ranks, rank = (case.sizes[k] for k in ("length", "saved", "ranks", "rank"))
        size = -(-length // saved)
        files = [list(range(length))[f * size : (f + 1) * size] for f in range(saved)]
        found = [n for file, first, end in reads(**case.sizes) for n in files[file][first:end]]
        mine = -(-length // ranks)
        assert found == list(range(length))[rank * mine : (rank + 1) * mine]


def answer(tmp_path: Path, name: str, *changes: tuple[str, str]) -> str:
    """The solution with pieces of it replaced."""
    text = (SOLUTIONS / f"23_zero_and_fsdp/{name}.py").read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = tmp_path / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    return str(path)


OTHERWISE = {
    "zero1 with lists": (
        "zero1",
        (
            "    dist.reduce_scatter_single(mine, torch.cat([gradient, filling]))\n",
            (
                "    parts = list(torch.cat([gradient, filling]).chunk(n))\n"
                "    dist.reduce_scatter(mine, parts)\n"
            ),
        ),
    ),
    "zero1 by messages": (
        "zero1",
        (
            "    dist.all_gather_single(everything, weights)\n",
            (
                "    parts = list(everything.chunk(n))\n"
                "    parts[r].copy_(weights)\n"
                "    works = [dist.isend(weights, k) for k in range(n) if k != r]\n"
                "    works += [dist.irecv(parts[k], k) for k in range(n) if k != r]\n"
                "    for work in works:\n"
                "        work.wait()\n"
            ),
        ),
    ),
    "zero2 one behind": (
        "zero2",
        (
            (
                "        dist.reduce(parameter.grad, owner_of[parameter])\n"
                "        if owner_of[parameter] == r:\n"
            ),
            (
                "        work = dist.reduce(parameter.grad, owner_of[parameter], async_op=True)\n"
                "        work.wait()\n"
                "        del work\n"
                "        if owner_of[parameter] == r:\n"
            ),
        ),
    ),
    "zero3 gathers the last one again": (
        "zero3",
        (
            "        if k < last:\n            weights = arrived(coming, k)\n",
            (
                "        if k == last:\n            del weights\n            coming = begin(k)\n"
                "        weights = arrived(coming, k)\n"
            ),
        ),
    ),
}


@NEEDS_RANKS
@pytest.mark.parametrize("name", OTHERWISE)
def test_another_right_answer_passes(tmp_path: Path, name: str) -> None:
    puzzle, *changes = OTHERWISE[name]
    verdict = check(puzzle, answer=answer(tmp_path, puzzle, *changes))
    assert verdict.status == "passed", verdict.message


KEPT_OUT_OF_SIGHT = (
    (
        "    def begin(k):\n",
        (
            "    seen = {}\n\n    def begin(k):\n        if k in seen:\n"
            "            return torch.from_numpy(seen[k]), None\n"
        ),
    ),
    (
        "        work.wait()\n",
        (
            "        if work is not None:\n            work.wait()\n"
            "            seen[k] = whole.numpy().copy()\n"
        ),
    ),
)
LAZY = {
    "zero1 does nothing": (
        "zero1",
        "wrong-result",
        ("    # answer\n", "    # answer\n    return parameters.clone(), m.clone(), v.clone()\n"),
    ),
    "zero2 never trains": (
        "zero2",
        "wrong-result",
        ("    # answer\n", "    # answer\n    return\n"),
    ),
    "zero3 gives zeros": (
        "zero3",
        "wrong-result",
        ("    # answer\n", "    # answer\n    return [torch.zeros_like(s) for s in shards]\n"),
    ),
    "zero3 keeps units out of sight": ("zero3", "over-budget", *KEPT_OUT_OF_SIGHT),
}


@NEEDS_RANKS
@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_answer_is_refused(tmp_path: Path, name: str) -> None:
    puzzle, reason, *changes = LAZY[name]
    verdict = check(puzzle, answer=answer(tmp_path, puzzle, *changes))
    assert (verdict.status, verdict.reason) == ("failed", reason), verdict.message
