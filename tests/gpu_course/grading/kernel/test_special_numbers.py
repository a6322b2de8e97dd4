"""NaN among the expected numbers: it has to be stored, and storing it is enough."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_course.grading import check
from gpu_course.puzzle import Case
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.toy import guarded


def _inputs(rng, case):
    inputs = toy.TOY.inputs(rng, case)
    if case.name == "special":
        inputs["a"][[0, 3, -1]] = np.nan, -np.inf, np.inf
    return inputs


SPECIAL = replace(
    toy.TOY,
    cases=(*toy.TOY.cases, Case("special", {"size": 20, "block": 8})),
    inputs=_inputs,
)


def verdict_on(text: str, tmp_path, puzzle=SPECIAL):
    file = tmp_path / "answer.py"
    file.write_text(text)
    return check(puzzle, answer=file, seed=0)


def test_a_right_answer_passes(tmp_path) -> None:
    assert verdict_on(toy.RIGHT, tmp_path).passed


@pytest.mark.parametrize(
    ("body", "diagnosis"),
    [
        (["if a[i] == a[i]:", "    out[i] = a[i] + 10"], "unusual-numbers"),  # NaN is not stored
        (["out[i] = a[i] + 10 * (1 - a[i] * 0)"], "not-a-number"),
        (["out[i] = a[i] + 10 if a[i] == a[i] else 0"], "unusual-numbers"),
    ],
)
def test_what_is_wrong_of_special_numbers_alone_is_wrong(body, diagnosis, tmp_path) -> None:
    verdict = verdict_on(guarded(*body), tmp_path)
    assert (verdict.reason, verdict.diagnosis) == ("wrong-result", diagnosis), verdict.message
    assert "special" in verdict.message
    assert verdict_on(guarded(*body), tmp_path, toy.TOY).passed


def test_an_input_with_nan_that_was_changed_names_the_cell_that_was(tmp_path) -> None:
    verdict = verdict_on(guarded("out[i] = a[i] + 10", "if i == 2:", "    a[i] = 0"), tmp_path)
    assert verdict.reason == "input-changed"
    text = guarded("out[i] = a[i] + 10", "if a[i] < -1000:", "    a[i] = 0")
    verdict = verdict_on(text, tmp_path)
    assert verdict.message.splitlines()[0] == "the input a was changed: a[3] was -inf, is 0"
