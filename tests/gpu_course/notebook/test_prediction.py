"""Guesses: given, missing, right, wrong, and of every kind."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.notebook import prediction as prediction_module
from gpu_course.notebook.prediction import Prediction, _panel, predict
from gpu_course.puzzle.specification import Sealed


def asked(choices=None, unit="", answer=None):
    prediction = Prediction("how many", choices, unit)
    _panel(prediction)
    if answer is not None:
        prediction.field.value = answer
    return prediction


TEXTS = [
    (None, "", None, 8, "No guess yet. It is 8."),
    (None, "", "4", 8, "You said 4. It is 8."),
    (None, "", "8", 8, "You said 8, and that is right."),
    (None, "sectors", "4", 8, "You said 4 sectors. It is 8 sectors."),
    (None, "bytes", "4,096", 4096, "You said 4,096 bytes, and that is right."),
    (None, "", "many", 8, "No guess yet. It is 8."),
    (None, "", "inf", 8, "No guess yet. It is 8."),
    (None, "", "0.3", 0.1 + 0.2, "You said 0.3, and that is right."),
    (None, "", "8.0", np.int64(8), "You said 8, and that is right."),
    (None, "", "0.25", np.float32(0.5), "You said 0.25. It is 0.5."),
    ([2, 4, 8], "", 4, 8, "You said 4. It is 8."),
    ([2, 4, 8], "", 8, np.int64(8), "You said 8, and that is right."),
    ([2, 4, 8], "", None, 8, "No guess yet. It is 8."),
    (["(6, 4)", "both"], "", "both", "(6, 4)", "You said “both”. The answer is (6, 4)."),
    ([True, False], "", False, True, "You said False. The answer is True."),
    (["yes", "no"], "", "yes", "yes", "You said “yes”, and that is right."),
    (["yes", "no"], "", None, "no", "No guess yet. The answer is “no”."),
    (["a", "b"], "", "a", 8, "You said “a”. It is 8."),
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
    assert capsys.readouterr().out == "No guess yet. It is 8 sectors.\n"


def test_inside_a_notebook_the_field_is_shown(shell):
    shell.run("from gpu_course.notebook import predict")
    [shown] = shell.run("guess = predict('How many?', choices=[1, 2, 8])")
    assert shown == "Your prediction: How many? (1, 2, 8)"
    shell.names()["guess"].field.value = 2
    assert shell.run("guess.compare(8)") == ["You said 2. It is 8."]


SEEN = Sealed("Fits in `a < b` *two* **words**.\n\nSecond\nparagraph.")


@pytest.fixture
def kept(monkeypatch):
    """Predictions of a lesson that is none of ours."""
    made = {"how many": SEEN}
    monkeypatch.setattr(prediction_module, "sealed", made.get)
    return made


def test_what_was_seen_comes_with_the_answer(kept):
    assert "two" not in repr(asked())
    shown = asked(answer="4").comparison(8)
    assert repr(shown) == (
        "You said 4. It is 8.\n\nFits in `a < b` *two* **words**.\n\nSecond paragraph."
    )
    html = shown._repr_html_()
    assert "<code>a &lt; b</code> <i>two</i> <b>words</b>." in html
    assert html.count("<p ") == 2 and "You said 4. It is 8." in html
    assert "Fits in" in repr(asked().comparison(8))  # without a guess, too


def test_a_star_between_numbers_is_a_star(kept):
    kept["how many"] = Sealed("32 * (1 + 4) there, 4 + 32 * 4 here, and *that* is **all** of it.")
    html = asked().comparison(8)._repr_html_()
    assert "32 * (1 + 4) there, 4 + 32 * 4 here, and <i>that</i> is <b>all</b> of it." in html


def test_a_right_answer_no_run_can_give_lives_with_the_prediction(kept):
    kept["how many"] = Sealed("So it is.", answer="many")
    assert repr(asked(["few", "many"], answer="few").comparison()).startswith(
        "You said “few”. The answer is “many”."
    )
    kept["how many"] = Sealed("So it is.", answer=lambda share: "many" if share > 0.5 else "few")
    right = asked(["few", "many"], answer="many").comparison(0.7)
    assert right.kind == "right" and "many" in right.text


def test_nothing_to_compare_with_is_said(kept, capsys):
    with pytest.raises(CourseError, match="give compare\\(\\) the value"):
        asked().comparison()
    asked().compare()
    assert "no answer to compare with" in capsys.readouterr().out
