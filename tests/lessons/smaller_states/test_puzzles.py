"""The puzzles of lesson 20: in order, their references against counts done otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gpu_course.puzzle import index
from tests.course.puzzles import python_rules

LESSON = index.lesson("smaller_states")

PUZZLES = {puzzle.short_name: puzzle for puzzle in LESSON.puzzles}


def test_the_lesson_brings_its_puzzles() -> None:
    assert list(PUZZLES) == [
        "galore_project",
        "galore_adam",
        "lora",
        "block_quantise_state",
        "shared_layers",
    ]


@pytest.mark.parametrize("name", PUZZLES)
def test_every_diagnosis_belongs_to_a_mistake(name: str) -> None:
    puzzle = PUZZLES[name]
    own = {mistake.diagnosis for mistake in puzzle.mistakes}
    assert set(puzzle.diagnoses) - own <= {"first-pass-only", "large-state"}


def in_plain_numpy(inputs: dict[str, Any]) -> np.ndarray:
    import torch

    from gpu_course.lessons.smaller_states.projection import from_the_left, main_directions

    weight, first, second = inputs["weight"].copy(), 0.0, 0.0
    by_left = from_the_left(weight.shape)
    basis = np.zeros(0)
    for step, gradient in enumerate(inputs["gradients"]):
        if step % inputs["refresh"] == 0:
            basis = main_directions(torch.from_numpy(gradient), inputs["rank"]).numpy()
        small = basis.T @ gradient if by_left else gradient @ basis
        first = 0.9 * first + 0.1 * small
        second = 0.999 * second + 0.001 * small**2
        mean, spread = first / (1 - 0.9 ** (step + 1)), second / (1 - 0.999 ** (step + 1))
        change = mean / (np.sqrt(spread) + 1e-8)
        change = basis @ change if by_left else change @ basis.T
        weight = weight - inputs["rate"] * inputs["scale"] * change
    return weight


def test_galores_reference_agrees_with_one_in_plain_numpy() -> None:
    puzzle = PUZZLES["galore_adam"]
    for case in python_rules.cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        expected = puzzle.reference(inputs, case)["weight"]
        np.testing.assert_allclose(in_plain_numpy(inputs), expected, rtol=1e-9)


def test_codes_agree_with_the_courses_own() -> None:
    import torch

    from gpu_course.lessons.smaller_states.quantised_states import dequantise, quantise

    puzzle = PUZZLES["block_quantise_state"]
    for case in python_rules.cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(5), case)
        expected = puzzle.reference(inputs, case)
        block, power = inputs["block"], inputs["power"]
        codes, scales = quantise(torch.from_numpy(inputs["values"]), block, power)
        np.testing.assert_array_equal(codes.numpy(), expected["codes"])
        np.testing.assert_allclose(scales.numpy(), expected["scales"], rtol=1e-6)
        back = dequantise(codes, scales, block, power)
        np.testing.assert_allclose(back.numpy(), expected["restored"], rtol=1e-5)
