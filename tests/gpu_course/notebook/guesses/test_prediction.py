"""Guesses: given, missing, right, wrong, and of every kind."""

from __future__ import annotations

import ipywidgets
import numpy as np
import pytest

from gpu_course.errors import CourseError
from gpu_course.notebook.guesses import prediction as prediction_module
from gpu_course.notebook.guesses.prediction import Prediction, predict
from gpu_course.puzzle.specification import Sealed

pytestmark = pytest.mark.usefixtures("answers")


def asked(choices=None, unit="", answer=None):
    prediction = Prediction("how many", choices, unit)
    prediction.panel()
    if answer is not None:
        prediction.field.value = answer
    return prediction


TEXTS = [
    (None, "", None, 8, "It is 8."),
    (None, "", "4", 8, "You said 4. It is 8."),
    (None, "", "8", 8, "You said 8, and that is right."),
    (None, "sectors", "4", 8, "You said 4 sectors. It is 8 sectors."),
    (None, "bytes", "4,096", 4096, "You said 4,096 bytes, and that is right."),
    (None, "", "many", 8, "It is 8."),
    (None, "", "inf", 8, "It is 8."),
    (None, "", "0.3", 0.1 + 0.2, "You said 0.3, and that is right."),
    (None, "", "8.0", np.int64(8), "You said 8, and that is right."),
    (None, "", "0.25", np.float32(0.5), "You said 0.25. It is 0.5."),
    ([2, 4, 8], "", 4, 8, "You said 4. It is 8."),
    ([2, 4, 8], "", 8, np.int64(8), "You said 8, and that is right."),
    ([2, 4, 8], "", None, 8, "It is 8."),
    (["(6, 4)", "both"], "", "both", "(6, 4)", "You said “both”. The answer is (6, 4)."),
    ([True, False], "", False, True, "You said False. The answer is True."),
    (["yes", "no"], "", "yes", "yes", "You said “yes”, and that is right."),
    (["yes", "no"], "", None, "no", "The answer is “no”."),
    (["a", "b"], "", "a", 8, "You said “a”. It is 8."),
    # A choice stands for the number that it is rounded from.
    ([9, 27, 50], "%", 27, 27.2727, "You said 27 %, and that is right."),
    ([9, 27, 50], "%", 9, 27.2727, "You said 9 %. It is 27 %."),
    ([9, 27, 50], "%", None, np.float64(27.2727), "It is 27 %."),
    ([0.01, 0.1], "", 0.1, 0.101962, "You said 0.1, and that is right."),
    # The number of a run that is near to none of them stays.
    ([8, 80, 300], "", 80, 140, "You said 80. It is 140."),
    ([0, 7], "", 7, 0, "You said 7. It is 0."),
    ([10, 11], "", 10, 10.5, "You said 10. It is 10.5."),
    ([27, True], "", 27, 27.3, "You said 27, and that is right."),
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
    panel = prediction.panel()
    assert "is a &lt; b?" in panel.children[0].value
    assert repr(panel) == "Your prediction: is a < b? (yes, no)"


def test_outside_a_notebook_the_question_is_printed_and_nothing_waits(capsys):
    prediction = predict("How many sectors?", unit="sectors")
    assert capsys.readouterr().out == "Your prediction: How many sectors? [sectors]\n"
    assert prediction.answer is None
    prediction.compare(8)
    assert capsys.readouterr().out == "It is 8 sectors.\n"


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
    assert "Fits in" in repr(asked().comparison(8))  # for those who only read, too


def test_a_star_between_numbers_is_a_star(kept):
    kept["how many"] = Sealed("32 * (1 + 4) there, 4 + 32 * 4 here, and *that* is **all** of it.")
    html = asked().comparison(8)._repr_html_()
    assert "32 * (1 + 4) there, 4 + 32 * 4 here, and <i>that</i> is <b>all</b> of it." in html


def test_a_number_and_its_sign_stay_on_one_line(kept):
    together = "\N{NO-BREAK SPACE}"
    kept["how many"] = Sealed(f"It is inside\nits margin, which is {'x' * 30} of 10{together}%.")
    told = asked().comparison(8)
    assert f"inside its margin, which is {'x' * 30} of 10{together}%." in told._repr_html_()
    assert repr(told).splitlines()[-1] == "10 %."


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


def status(prediction):
    return prediction._status.value


def test_a_guess_is_kept_and_is_there_again_on_another_day():
    asked([2, 4, 8], answer=4)
    again = asked([2, 4, 8])
    assert again.field.value == 4 and not again.field.disabled and status(again) == ""
    asked(answer="4,096")
    assert asked().field.value == "4,096"
    # Where the choices are others by now, no guess is made up.
    assert asked(["few", "many"]).field.value is None


def test_a_guess_stands_once_the_answer_was_shown(capsys):
    made = asked([2, 4, 8], answer=4)
    made.compare(8)
    assert made.field.disabled and "your guess stands" in status(made)
    again = asked([2, 4, 8])
    assert again.field.value == 4 and again.field.disabled and "stands" in status(again)
    again.compare(8)
    assert capsys.readouterr().out == "You said 4. It is 8.\n" * 2


def test_what_is_no_number_is_told_and_is_no_guess():
    made = asked(answer="many")
    assert "“many” is no number" in status(made) and made.waits
    made.field.value = "8"
    assert status(made) == "" and not made.waits
    # The first digit of 12 is not the answer: Enter gives it.
    assert made.field.continuous_update is False


def test_a_comma_before_decimals_is_told_and_makes_no_number_ten_times_as_large():
    made = asked(answer="0,5")
    assert "“0,5” is no number: write a point before decimals, 0.5." in status(made)
    assert made.waits
    made.field.value = "1,024"
    assert status(made) == "" and made.answer == 1024
    made.field.value = "a,b"
    assert "type it in digits" in status(made)


def test_predictions_made_are_counted_for_each_lesson():
    question = "How many times is the last line carried out?"
    lesson = "00_start_here"
    (_, of) = prediction_module.predictions_made()[lesson]
    assert prediction_module.predictions_made()[lesson] == (0, of) and of > 2
    for number in (0, 1):
        made = Prediction(question, [1, 8], "")
        made.panel()
        made.field.value = made.choices[number]
    assert prediction_module.predictions_made()[lesson] == (1, of)


def test_an_answer_that_was_only_read_is_no_prediction():
    question = "How many times is the last line carried out?"
    made = Prediction(question, [1, 8], "")
    made.panel()
    made.compare(8)
    made.only_read()
    made.field.value = 8
    assert "not counted" in status(made)
    made.compare(8)
    assert made.told and prediction_module.predictions_made()["00_start_here"][0] == 0


def test_where_nobody_is_asked_the_answer_is_told_and_nothing_remembered(
    monkeypatch, capsys, answers
):
    monkeypatch.setenv("GPU_COURSE_GUESSES", "off")
    made = asked([2, 8])
    made.compare(8)
    assert capsys.readouterr().out == "It is 8.\n"
    assert not (answers.parent / ".gpu_course").exists()


def test_a_state_that_cannot_be_written_keeps_nobody_from_guessing(answers, capsys):
    (answers.parent / ".gpu_course").write_text("a file in the way")
    made = asked([2, 8], answer=2)
    assert "Your guess is not kept" in status(made)
    made.compare(8)
    assert capsys.readouterr().out.startswith("You said 2. It is 8.\nYour guess is not kept")
