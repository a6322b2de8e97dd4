"""The puzzle of lesson 00 against a loop in plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_course.catalog.lesson_00_start_here import LESSON
from gpu_course.catalog.start_here.add_ten import ADD_TEN
from tests.catalog import rules


def test_the_reference_is_a_loop():
    for case in rules.cases_and_random(ADD_TEN):
        inputs = ADD_TEN.inputs(np.random.default_rng(3), case)
        expected = [float(number) + 10 for number in inputs["a"]]
        assert ADD_TEN.reference(inputs, case)["out"].tolist() == expected


def test_there_are_exactly_as_many_threads_as_cells():
    for case in rules.cases_and_random(ADD_TEN):
        (launch,) = ADD_TEN.launches(case)
        assert (launch.grid, launch.block) == (1, case.sizes["size"])
        assert launch.block <= 1024


@pytest.mark.parametrize(
    "rule",
    [
        rules.assert_solution_passes,
        rules.assert_parameters_agree,
        rules.assert_cases_tell_much,
        rules.assert_inputs_show_mistakes,
        rules.assert_outputs_fit,
        rules.assert_words_are_in_order,
        rules.assert_the_work_is_shared,
    ],
)
def test_the_specification_holds_together(rule):
    for puzzle in LESSON.puzzles:
        rule(puzzle)


@pytest.mark.parametrize("mistake", ADD_TEN.mistakes, ids=lambda mistake: mistake.function)
def test_each_mistake_is_told_apart(mistake):
    rules.assert_mistake_is_told_apart(ADD_TEN, mistake)
