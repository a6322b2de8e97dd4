"""The puzzles of lesson 20: in order, their references against counts done otherwise."""

from __future__ import annotations

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


def test_galores_reference_agrees_with_one_in_plain_numpy() -> None:
    from gpu_course.lessons.smaller_states.galore_adam import _otherwise

    puzzle = PUZZLES["galore_adam"]
    for case in python_rules.cases_and_random(puzzle):
        inputs = puzzle.inputs(np.random.default_rng(3), case)
        expected = puzzle.reference(inputs, case)["weight"]
        np.testing.assert_allclose(_otherwise(inputs), expected, rtol=1e-9)


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
