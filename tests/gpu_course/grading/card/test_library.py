"""PyTorch's call for the same work gives what the puzzle expects, on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gpu_course.grading.card.library import CALLS, results, tensors, without_tf32
from gpu_course.grading.diagnoses.patterns import close
from gpu_course.grading.kernel.trial import prepare
from gpu_course.puzzle import KernelPuzzle, index


@pytest.mark.parametrize("name", CALLS)
def test_a_call_does_the_work_of_its_puzzle(name: str) -> None:
    puzzle = index.find(name)
    assert isinstance(puzzle, KernelPuzzle) and puzzle.short_name == name
    for case in (*puzzle.cases[:1], puzzle.random_case(np.random.default_rng(3))):
        given = prepare(puzzle, case, seed=3)
        found = results(CALLS[name].run(torch, tensors(torch, given.inputs, "cpu")))
        wanted = list(given.expected.values())
        assert 1 <= len(found) <= len(wanted)
        for got, expected in zip(found, wanted, strict=False):
            assert got.shape == expected.shape
            assert close(got, expected, (1e-4, 1e-4)).all()


def test_products_of_float32_are_not_rounded_to_tf32() -> None:
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        without_tf32(torch)
        assert not torch.backends.cuda.matmul.allow_tf32
        assert not torch.backends.cudnn.allow_tf32
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before
