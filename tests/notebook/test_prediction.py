"""Guesses: given, missing, right, wrong, and of every kind."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest

from gpu_course.notebook.prediction import Prediction, _panel, predict


def asked(choices=None, unit="", answer=None):
    prediction = Prediction("how many", choices, unit)
    _panel(prediction)
    if answer is not None:
        prediction.field.value = answer
    return prediction


TEXTS = [
    (None, "", None, 8, "No guess yet: it is 8."),
    (None, "", "4", 8, "You said 4. It is 8."),
    (None, "", "8", 8, "You said 8, and that is right."),
    (None, "sectors", "4", 8, "You said 4 sectors. It is 8 sectors."),
    (None, "bytes", "4,096", 4096, "You said 4,096 bytes, and that is right."),
    (None, "", "many", 8, "No guess yet: it is 8."),
    (None, "", "inf", 8, "No guess yet: it is 8."),
    (None, "", "0.3", 0.1 + 0.2, "You said 0.3, and that is right."),
    (None, "", "8.0", np.int64(8), "You said 8, and that is right."),
    (None, "", "0.25", np.float32(0.5), "You said 0.25. It is 0.5."),
    ([2, 4, 8], "", 4, 8, "You said 4. It is 8."),
    ([2, 4, 8], "", 8, np.int64(8), "You said 8, and that is right."),
    ([2, 4, 8], "", None, 8, "No guess yet: it is 8."),
    (["(6, 4)", "both"], "", "both", "(6, 4)", "You said both. The answer is (6, 4)."),
    ([True, False], "", False, True, "You said False. The answer is True."),
    (["a", "b"], "", "a", 8, "You said a. It is 8."),
    (["yes", "no"], "", "yes", "yes", "You said yes, and that is right."),
    (["yes", "no"], "", "no", "yes", "You said no. The answer is yes."),
]


@pytest.mark.parametrize(("choices", "unit", "answer", "value", "text"), TEXTS)
def test_comparison(choices, unit, answer, value, text):
    assert repr(asked(choices, unit, answer).comparison(value)) == text


def test_the_field_fits_the_question():
    assert isinstance(asked([1, 2]).field, ipywidgets.RadioButtons)
    assert asked([1, 2]).field.options == (("1", 1), ("2", 2))
    assert isinstance(asked().field, ipywidgets.Text)
    assert asked(unit="sectors").field.description == "sectors"
    assert asked([1, 2]).field.tooltip == "how many"


def test_the_panel_escapes_the_question_and_reads_as_text():
    prediction = Prediction("is a < b?", ["yes", "no"], "")
    panel = _panel(prediction)
    assert "is a &lt; b?" in panel.children[0].value
    assert repr(panel) == "Your prediction: is a < b? (yes, no)"


def test_outside_a_notebook_the_question_is_printed_and_nothing_waits(capsys):
    prediction = predict("How many sectors?", unit="sectors")
    assert capsys.readouterr().out == "Your prediction: How many sectors? [sectors]\n"
    assert prediction.answer is None
    prediction.compare(8)
    assert capsys.readouterr().out == "No guess yet: it is 8 sectors.\n"


def test_inside_a_notebook_the_field_is_shown(shell):
    shell.run("from gpu_course.notebook import predict")
    [shown] = shell.run("guess = predict('How many?', choices=[1, 2, 8])")
    assert shown == "Your prediction: How many? (1, 2, 8)"
    shell.names()["guess"].field.value = 2
    assert shell.run("guess.compare(8)") == ["You said 2. It is 8."]
