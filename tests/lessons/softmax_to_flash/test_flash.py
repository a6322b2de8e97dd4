"""The flash kernels beside torch's own attention, their traffic, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.attention.bias import causal_lower_right

from gpu_course import check
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import mistake_answer, read_answer
from gpu_course.lessons.softmax_to_flash.flash import ROWS, SCALE, D, queries_and_keys
from gpu_course.lessons.softmax_to_flash.flash_attention_causal import keys_read
from gpu_course.puzzle import Case, KernelPuzzle, Mistake, index
from tests.course.puzzles.by_hand import SOLUTIONS


def puzzle_called(name: str) -> KernelPuzzle:
    found = index.find(name)
    assert isinstance(found, KernelPuzzle)
    return found


def ran(name: str, case: Case, answer: str = "") -> trial.Trial:
    """Returns what the solution, or a named mistake, leaves behind in a case."""
    puzzle = puzzle_called(name)
    kernels = read_answer(puzzle, SOLUTIONS / f"{puzzle.name}.py").kernels
    if answer:
        kernels = mistake_answer(puzzle, mistake_called(puzzle, answer), SOLUTIONS)
    return trial.attempt(trial.prepare(puzzle, case, 0), kernels, 0)


def mistake_called(puzzle: KernelPuzzle, function: str) -> Mistake:
    (found,) = (mistake for mistake in puzzle.mistakes if mistake.function == function)
    return found


def tensors(values: Mapping[str, object], *names: str) -> list[torch.Tensor]:
    return [torch.from_numpy(values[name]).double()[None] for name in names]  # type: ignore[arg-type]


def assert_as_torch(tried: trial.Trial, name: str, right: torch.Tensor) -> None:
    _, atol = tried.given.tolerances[name]
    np.testing.assert_allclose(tried.got[name], right.detach().numpy(), 0, 2 * atol, err_msg=name)


SIZES = [(40, 70), (1, 1), (33, 5), (5, 64)]


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_out_is_what_torch_computes(n: int, m: int) -> None:
    tried = ran("flash_attention", queries_and_keys("against torch", n, m))
    q, k, v = tensors(tried.given.inputs, "q", "k", "v")
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=float(SCALE))
    assert_as_torch(tried, "out", out[0])
    lse = torch.logsumexp(q[0] @ k[0].T * float(SCALE), dim=1)
    assert_as_torch(tried, "lse", lse)


@pytest.mark.parametrize(("n", "m"), [(40, 70), (1, 9), (64, 64)])
def test_the_causal_mask_has_torchs_lower_right_corner(n: int, m: int) -> None:
    tried = ran("flash_attention_causal", queries_and_keys("against torch", n, m))
    q, k, v = tensors(tried.given.inputs, "q", "k", "v")
    mask = torch.ones(n, m, dtype=torch.bool).tril(m - n)
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=float(SCALE))
    assert_as_torch(tried, "out", out[0])
    biased = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, causal_lower_right(n, m), scale=float(SCALE)
    )
    assert_as_torch(tried, "out", biased[0])


def test_torchs_is_causal_has_the_corner_that_the_named_mistake_has() -> None:
    case = queries_and_keys("against torch", 40, 70)
    tried = ran("flash_attention_causal", case, "corner_at_the_top_left")
    q, k, v = tensors(tried.given.inputs, "q", "k", "v")
    out = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, is_causal=True, scale=float(SCALE)
    )
    assert_as_torch(tried, "out", out[0])
    right = trial.is_right(tried, "out", puzzle_called("flash_attention_causal"))
    assert not right[0].any() and not right[-1].any()


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_gradients_are_those_of_autograd(n: int, m: int) -> None:
    tried = ran("flash_backward", queries_and_keys("against torch", n, m))
    q, k, v, dout = tensors(tried.given.inputs, "q", "k", "v", "dout")
    for each in (q, k, v):
        each.requires_grad_()
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=float(SCALE))
    out.backward(dout)
    for name, tensor in (("dq", q), ("dk", k), ("dv", v)):
        assert tensor.grad is not None
        # out and lse came to the kernels as float32.
        np.testing.assert_allclose(tried.got[name], tensor.grad[0].numpy(), 1e-5, 1e-5)


@pytest.mark.parametrize(("m", "splits"), [(300, 3), (1, 1), (130, 4)])
def test_a_split_query_is_what_torch_computes(m: int, splits: int) -> None:
    case = queries_and_keys("against torch", 1, m, splits=splits, chunk=128)
    tried = ran("flash_decode", case)
    q, k, v = tensors(tried.given.inputs, "q", "k", "v")
    out = torch.nn.functional.scaled_dot_product_attention(q[:, None], k, v, scale=float(SCALE))
    assert_as_torch(tried, "out", out[0, 0])


def test_flash_attention_loads_each_key_once_for_every_block() -> None:
    tried = ran("flash_attention", queries_and_keys("100 of each", 100, 100))
    blocks = math.ceil(100 / ROWS)
    assert tried.counters.global_load.bytes == 4 * D * (100 + 2 * 100 * blocks) == 115_200
    assert tried.counters.global_store.bytes == 4 * 100 * (D + 1)
    assert tried.counters.global_load.excess_sectors == 0


def test_keys_for_each_query_cost_what_no_tile_saves() -> None:
    case = queries_and_keys("100 of each", 100, 100)
    tried = ran("flash_attention", case, "keys_for_each_query")
    assert tried.counters.global_load.bytes == 4 * D * (100 + 2 * 100 * 100)
    assert tried.counters.global_load.bytes > 22 * 115_200


def test_causal_attention_leaves_hidden_tiles_in_memory() -> None:
    tried = ran("flash_attention_causal", queries_and_keys("128 of each", 128, 128))
    assert keys_read(128, 128) == 32 * (1 + 2 + 3 + 4)
    assert tried.counters.global_load.bytes == 4 * D * (128 + 2 * 320)


@pytest.mark.parametrize("name", ["flash_attention", "flash_attention_causal"])
def test_a_nan_that_came_through_is_wrong_and_its_row_is_named(name: str) -> None:
    """No NaN passes for a number: not in rows that must have none, nor the other way round."""
    puzzle = puzzle_called(name)
    answer = mistake_answer(puzzle, mistake_called(puzzle, "begins_with_infinity"), SOLUTIONS)
    verdict = check(puzzle, answer=answer, seed=0)
    assert verdict.diagnosis == "nan-of-infinities"
    first = verdict.message.splitlines()[0]
    assert first.startswith(("out[", "lse[")) and "is nan" in first


def test_a_thread_for_each_query_pays_in_sectors_and_is_refused() -> None:
    case = queries_and_keys("few", 33, 40)
    tried = ran("flash_attention", case, "a_thread_for_each_query")
    assert all(trial.is_right(tried, each, tried.given.puzzle).all() for each in ("out", "lse"))
    best = ran("flash_attention", case)
    assert tried.counters.global_load.excess_sectors > best.counters.global_load.sectors / 4
    assert tried.counters.global_store.excess_sectors > best.counters.global_store.sectors / 4


def test_rounding_is_held_to_twice_the_naive_ways(tmp_path: Path) -> None:
    """Ten times the rounding is refused, though a usual tolerance would let it pass."""
    puzzle = puzzle_called("flash_attention")
    text = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    file = tmp_path / "flash_attention.py"
    rough = "out[row, lane] = sums[j] / total * float32(1.000002) if"
    file.write_text(text.replace("out[row, lane] = sums[j] / total if", rough), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text
    assert check(puzzle, answer=file, seed=0).reason == "wrong-result"
    loose = replace(puzzle, naive=None, tolerance=(1e-4, 1e-5))
    tried = trial.attempt(
        trial.prepare(loose, puzzle.cases[0], 0), read_answer(puzzle, file).kernels, 0
    )
    assert trial.is_right(tried, "out", loose).all()
