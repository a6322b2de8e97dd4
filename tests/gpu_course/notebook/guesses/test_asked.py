"""An answer waits for its guess, and with it what its cell shows; nothing of it leaks before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ipywidgets
import nbformat
import pytest
from IPython.utils.capture import RichOutput
from nbclient import NotebookClient

from gpu_course.claims.published import forecast_row
from gpu_course.notebook.guesses.asked import ONLY_READ, _latest, _reads_all
from gpu_course.puzzle.lesson_cells import cell_id
from tests.gpu_course.notebook.shells import Shell

ROOT = Path(__file__).parents[4]
SECRET = "31415"
ROW = forecast_row("h100-add-large")
PREDICT = f"guess = predict('How many?', choices=[1, {SECRET[:-2]}, 8])"
FORECAST = "guess = forecast('h100-add-large')"
COMPARE = "guess.compare(int('31') * 1000 + 415)"


@pytest.fixture
def lesson(shell: Shell) -> Iterator[Shell]:
    """A shell in which a question of each kind can be asked, and that was asked none yet."""
    ipywidgets.Widget.close_all()
    shell.run("from gpu_course.notebook import predict, forecast")
    yield shell
    _latest.clear()
    _reads_all.clear()


def everything(outputs: list[RichOutput]) -> str:
    """All that a front end, or a stored notebook, gets to know: outputs, and states of widgets."""
    told = [[each.data, each.metadata, each.transient] for each in outputs]
    return json.dumps([told, ipywidgets.Widget.get_manager_state()], default=str)


def updates(outputs: list[RichOutput]) -> dict[str, Any]:
    """{display id: the text that now stands there}."""
    return {
        each.transient["display_id"]: each.data["text/plain"] for each in outputs if each.update
    }


def read_only(lesson: Shell) -> Callable[[], None]:
    """What a person does who presses the button below the last question."""
    press: Callable[[], None] = lesson.names()["guess"]._waiting[-1].button.click
    return press


def test_without_a_guess_the_answer_is_nowhere(lesson: Shell) -> None:
    lesson.run(PREDICT)
    shown = lesson.outputs(COMPARE)
    assert len(shown) == 1 and shown[0].data["text/plain"] == "The answer waits for your guess."
    assert SECRET not in everything(shown) and "31,415" not in everything(shown)
    assert ONLY_READ in everything(shown)


def test_it_comes_as_soon_as_the_field_is_filled(lesson: Shell) -> None:
    lesson.run(PREDICT)
    (waiting,) = lesson.outputs(COMPARE)
    told = lesson.outputs(lambda: setattr(lesson.names()["guess"].field, "value", 8))
    assert updates(told) == {waiting.transient["display_id"]: "You said 8. It is 31,415."}
    # What is stored from now on needs no kernel.
    (answer,) = told
    assert set(answer.data) == {"text/plain", "text/html"} and "31,415" in answer.data["text/html"]
    assert lesson.run(COMPARE) == ["You said 8. It is 31,415."]


def test_it_comes_at_the_press_of_a_button(lesson: Shell) -> None:
    lesson.run(PREDICT)
    (waiting,) = lesson.outputs(COMPARE)
    press = read_only(lesson)
    told = lesson.outputs(press)
    assert updates(told) == {waiting.transient["display_id"]: "It is 31,415."}
    assert not lesson.names()["guess"].field.disabled
    assert lesson.outputs(press) == []


def test_the_question_stands_where_its_answer_waits(lesson: Shell) -> None:
    lesson.run(PREDICT)
    lesson.outputs(COMPARE)
    prediction = lesson.names()["guess"]
    (waiting,) = prediction._waiting
    assert prediction.field in waiting.panel.children
    assert "How many?" in waiting.panel.children[1].value


def test_a_question_that_is_asked_again_brings_the_answer_too(lesson: Shell) -> None:
    lesson.run(PREDICT)
    first = lesson.names()["guess"]
    (waiting,) = lesson.outputs(COMPARE)
    lesson.run(PREDICT)
    again = lesson.names()["guess"]
    assert again is not first
    told = lesson.outputs(lambda: setattr(again.field, "value", 8))
    assert updates(told) == {waiting.transient["display_id"]: "You said 8. It is 31,415."}


def test_every_cell_that_compares_gets_its_own_answer(lesson: Shell) -> None:
    lesson.run(PREDICT)
    (one,), (two,) = lesson.outputs("guess.compare(7)"), lesson.outputs("guess.compare(8)")
    told = updates(lesson.outputs(lambda: setattr(lesson.names()["guess"].field, "value", 8)))
    assert told[one.transient["display_id"]] == "You said 8. It is 7."
    assert told[two.transient["display_id"]] == "You said 8, and that is right."


def test_a_forecast_waits_in_the_same_way(lesson: Shell) -> None:
    lesson.run(FORECAST)
    shown = lesson.outputs("guess.compare()")
    (waiting,) = shown
    assert waiting.data["text/plain"].startswith("The answer waits for your forecast.")
    assert f"{ROW.printed} ms" not in everything(shown)
    fields = lesson.names()["guess"].fields
    assert lesson.outputs(lambda: setattr(fields[0], "value", "4")) == []
    assert lesson.outputs(lambda: setattr(fields[1], "value", "3")) == []
    told = lesson.outputs(lambda: setattr(fields[2], "value", "5"))
    (text,) = updates(told).values()
    assert text.startswith("You said 4 (3 to 5). It is 4.1 ms: your interval held.")


HELD = """
from IPython.display import display, HTML
print('before', 31400 + 15)
display(HTML(f'<b>{31400 + 15}</b>'))
guess.compare(31400 + 15)
print('after', 31400 + 15)
f'{31400 + 15}'
"""


PRINTED = "before 31415\nafter 31415\n"


def test_what_a_cell_shows_waits_with_the_answer_in_it(lesson: Shell) -> None:
    lesson.run(PREDICT)
    shown = lesson.outputs(HELD)
    assert SECRET not in everything(shown) and "31,415" not in everything(shown)
    assert [each.data["text/plain"] for each in shown if each.data["text/plain"]] == [
        "The answer waits for your guess.\n\nWhat this cell prints and draws waits with it."
    ]
    told = updates(lesson.outputs(lambda: setattr(lesson.names()["guess"].field, "value", 8)))
    assert [told[each.transient["display_id"]] for each in shown] == [
        "before 31415\n",
        "<IPython.core.display.HTML object>",
        "You said 8. It is 31,415.",
        "after 31415\n",
        "'31415'",
    ]


def test_with_a_guess_a_cell_shows_what_it_shows(lesson: Shell) -> None:
    lesson.run(PREDICT)
    lesson.names()["guess"].field.value = 8
    shown = lesson.outputs(HELD)
    assert shown[0].data["text/plain"] == f"{PRINTED}Out[0]: '31415'\n"
    assert "You said 8. It is 31,415." in everything(shown)


def test_where_nobody_is_asked_a_cell_shows_what_it_shows(
    lesson: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPU_COURSE_GUESSES", "off")
    lesson.run(PREDICT)
    shown = lesson.outputs(HELD)
    assert shown[0].data["text/plain"] == f"{PRINTED}Out[0]: '31415'\n"
    assert shown[-1].data["text/plain"] == "It is 31,415."


def test_a_cell_that_raises_holds_nothing_back(lesson: Shell) -> None:
    lesson.run(PREDICT)
    shown = lesson.outputs("print('seen')\nguess.compare(8)\nprint('this too')\n1 / 0")
    texts = [each.data["text/plain"] for each in shown]
    assert "seen\nthis too\n" in texts[0] and "ZeroDivisionError" in texts[0]
    assert "The answer waits for your guess." in texts
    # The answer waits still, and the cells below it with it.
    (below,) = lesson.outputs("print('and the next one')")
    assert below.data["text/plain"] == BELOW
    assert updates(lesson.outputs(read_only(lesson)))[below.transient["display_id"]] == (
        "and the next one\n"
    )


def test_a_cell_that_compares_nothing_in_the_end_shows_what_it_shows(lesson: Shell) -> None:
    lesson.run(PREDICT)
    assert lesson.run("print('seen')\nif False:\n    guess.compare(8)") == ["seen\n"]


def test_cells_within_a_held_one_are_held_with_it(lesson: Shell, tmp_path: Path) -> None:
    lesson.run(PREDICT)
    inner = "_ = get_ipython().run_cell('print(31400 + 15)')\n"
    shown = lesson.outputs(f"{inner}guess.compare(31400 + 15)\n{inner}")
    assert SECRET not in everything(shown)
    told = updates(lesson.outputs(read_only(lesson)))
    assert sorted(told.values()) == [f"{SECRET}\n", f"{SECRET}\n", "It is 31,415."]


UPDATING = """
from IPython.display import clear_output, display
print('gone')
clear_output()
handle = display('1 of 2 tried', display_id=True)
handle.update('2 of 2 tried')
guess.compare(8)
_, Out
"""


def test_what_a_cell_changes_or_clears_while_it_runs_is_changed_and_cleared(lesson: Shell) -> None:
    lesson.run(PREDICT)
    shown = lesson.outputs(UPDATING)
    assert "tried" not in everything(shown)
    texts = [*updates(lesson.outputs(read_only(lesson))).values()]
    assert "'2 of 2 tried'" in texts and "'1 of 2 tried'" not in texts
    assert not any("gone" in text for text in texts)


BELOW = """\
Waits for your guess above: “How many?”
Answer there, or press “I only read: show me”, and it is shown here."""
AFTER = "out = int('31') * 1000 + 415\nprint(out)"


def texts(outputs: list[RichOutput]) -> list[str]:
    """The plain text of each output."""
    return [each.data["text/plain"] for each in outputs]


def guess_8(lesson: Shell) -> list[RichOutput]:
    """What is shown when the latest question is answered."""
    return lesson.outputs(lambda: setattr(lesson.names()["guess"].field, "value", 8))


def test_what_the_cells_below_show_waits_as_well(lesson: Shell) -> None:
    lesson.run(PREDICT)
    lesson.outputs(COMPARE)
    shown = [*lesson.outputs(AFTER), *lesson.outputs(HELD.replace("guess.compare(31400 + 15)", ""))]
    assert SECRET not in everything(shown)
    assert texts(shown) == [BELOW, BELOW, "", "", ""]
    told = updates(guess_8(lesson))
    assert [told[each.transient["display_id"]] for each in shown] == [
        f"{SECRET}\n",
        f"before {SECRET}\n",
        "<IPython.core.display.HTML object>",
        f"after {SECRET}\n",
        f"'{SECRET}'",
    ]
    assert lesson.run(AFTER) == [f"{SECRET}\n"]


def test_a_cell_that_is_held_has_run(lesson: Shell) -> None:
    lesson.run(PREDICT)
    lesson.outputs(COMPARE)
    lesson.outputs(AFTER)
    assert lesson.names()["out"] == int(SECRET)
    # Where there is nothing to show, nothing is said.
    assert lesson.outputs("twice = 2 * out") == [] and lesson.names()["twice"] == 2 * int(SECRET)
    failed = lesson.outputs("print('seen')\nout.no_such_name")
    assert "seen\n" in texts(failed)[0] and "AttributeError" in texts(failed)[0]


def test_before_the_answer_comes_nothing_waits(lesson: Shell) -> None:
    lesson.run(PREDICT)
    assert lesson.run("print('think of this')") == ["think of this\n"]


def test_cells_wait_down_to_the_next_question(lesson: Shell) -> None:
    lesson.run(PREDICT)
    lesson.outputs(COMPARE)
    assert texts(lesson.outputs(AFTER)) == [BELOW]
    assert "And now?" in lesson.run("guess = predict('And now?', choices=[1, 8])")[0]
    assert lesson.run(AFTER) == [f"{SECRET}\n"]


def test_a_question_without_a_guess_holds_nothing_back_of_the_next(lesson: Shell) -> None:
    lesson.run(PREDICT)
    lesson.outputs(COMPARE)
    lesson.outputs(AFTER)
    lesson.run("guess = predict('And now?', choices=[1, 8])")
    guess_8(lesson)
    # What tells an answer belongs to that one, and so does what comes after it.
    assert lesson.run(COMPARE) == ["You said 8. It is 31,415."]
    assert lesson.run(AFTER) == [f"{SECRET}\n"]


def test_below_several_answers_a_cell_waits_for_each(lesson: Shell) -> None:
    lesson.run(f"{PREDICT}\nmore = predict('And more?', choices=[1, 2])")
    lesson.outputs(COMPARE)
    lesson.outputs("more.compare(2)")
    (waiting,) = lesson.outputs(AFTER)
    place = waiting.transient["display_id"]
    assert waiting.data["text/plain"] == BELOW
    assert updates(guess_8(lesson))[place] == BELOW.replace("How many?", "And more?")
    last = lesson.outputs(lambda: setattr(lesson.names()["more"].field, "value", 2))
    assert updates(last)[place] == f"{SECRET}\n"


def test_a_question_that_is_asked_again_holds_what_it_held(lesson: Shell) -> None:
    lesson.run(PREDICT)
    lesson.outputs(COMPARE)
    (one,) = lesson.outputs(AFTER)
    lesson.run(PREDICT)
    (two,) = lesson.outputs("print(out, 'again')")
    told = updates(guess_8(lesson))
    assert told[one.transient["display_id"]] == f"{SECRET}\n"
    assert told[two.transient["display_id"]] == f"{SECRET} again\n"


@pytest.mark.parametrize(
    "cell",
    [
        "glossary('warp')",
        "%%puzzle guard\n",
        "hint('guard')",
        "said = check('guard')",
        "from gpu_course.notebook import glossary as words\nwords('warp')",
    ],
)
def test_what_gives_nothing_away_is_shown_at_once(lesson: Shell, cell: str) -> None:
    lesson.run("from gpu_course.notebook import check, glossary, hint")
    lesson.run(PREDICT)
    lesson.outputs(COMPARE)
    assert BELOW not in texts(lesson.outputs(cell))
    assert BELOW in texts(lesson.outputs(f"{cell}\nprint(31415)")) or cell.startswith("%%")


def test_a_forecast_holds_what_is_below_it(lesson: Shell) -> None:
    lesson.run(FORECAST)
    lesson.outputs("guess.compare()")
    (line,) = texts(lesson.outputs(AFTER))
    # Enough of the question to know it again.
    assert line.startswith(
        "Waits for your forecast above: \u201cJAX adds two vectors of 2^30 float32"
    )
    assert all(len(each) <= 100 for each in line.splitlines())
    press = read_only(lesson)
    assert f"{SECRET}\n" in updates(lesson.outputs(press)).values()


def of_lesson(text: str, lesson: str = "01_threads", times: int = 1) -> tuple[str, str]:
    """A cell of a lesson, with the id that the build gives it."""
    return text, cell_id(lesson, "code", text, times)


def test_a_cell_of_the_learners_own_never_waits(lesson: Shell) -> None:
    lesson.outputs(*of_lesson(PREDICT))
    lesson.outputs(*of_lesson("print('above')"))
    lesson.outputs(*of_lesson(COMPARE))
    assert texts(lesson.outputs(*of_lesson(AFTER, times=3))) == [BELOW]
    # Written anew, changed, or typed in a console.
    assert texts(lesson.outputs("2**5", "f3a5")) == ["Out[0]: 32\n"]
    _, identity = of_lesson("print(1)")
    assert texts(lesson.outputs("print(2)", identity)) == ["2\n"]
    assert texts(lesson.outputs("print(3)")) == ["3\n"]
    # What stands above the answer may be looked at again, and what stands below waits again.
    assert texts(lesson.outputs(*of_lesson("print('above')"))) == ["above\n"]
    assert texts(lesson.outputs(*of_lesson(AFTER, times=3))) == [BELOW]


def test_all_cells_are_run_a_second_time_in_the_same_kernel(lesson: Shell) -> None:
    for _ in range(2):
        lesson.outputs(*of_lesson("print('above')"))
        lesson.outputs(*of_lesson(PREDICT))
        assert SECRET not in everything(lesson.outputs(*of_lesson(COMPARE)))
        (waiting,) = lesson.outputs(*of_lesson(AFTER))
        assert waiting.data["text/plain"] == BELOW
    assert updates(guess_8(lesson))[waiting.transient["display_id"]] == f"{SECRET}\n"


def test_who_reads_all_is_asked_for_nothing_any_more(lesson: Shell) -> None:
    lesson.run(FORECAST)
    lesson.outputs("guess.compare()")
    lesson.names()["guess"].fields[0].value = "4"
    lesson.run(PREDICT)
    (answer,) = lesson.outputs(COMPARE)
    (below,) = lesson.outputs(AFTER)
    press = lesson.names()["guess"]._waiting[-1].button_for_all.click
    told = updates(lesson.outputs(press))
    assert told[answer.transient["display_id"]] == "It is 31,415."
    assert told[below.transient["display_id"]] == f"{SECRET}\n"
    assert any("It is 4.1 ms" in text for text in told.values())
    lesson.run("guess = predict('The next?', choices=[1, 8])")
    assert lesson.run(COMPARE) == ["It is 31,415."]
    assert lesson.run(AFTER) == [f"{SECRET}\n"]


def run_in_a_kernel(tmp_path: Path, cells: list[str], more: dict[str, str]) -> str:
    """Returns a notebook as it is stored after a run without a front end."""
    made = [nbformat.v4.new_code_cell(source) for source in cells]
    notebook = nbformat.v4.new_notebook(cells=made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
        patch.setenv("PYTHONPATH", str(ROOT))
        folder = tmp_path / "puzzles"
        folder.mkdir()
        patch.setenv("GPU_COURSE_ANSWERS", str(folder))
        for name, value in more.items():
            patch.setenv(name, value)
        NotebookClient(notebook, timeout=600).execute()
    for cell in notebook.cells:
        cell.source = ""
    return nbformat.writes(notebook)


@pytest.mark.parametrize(
    ("more", "seen"),
    [({}, False), ({"GPU_COURSE_GUESSES": "off"}, True)],
    ids=["learner", "solved"],
)
def test_a_stored_notebook(tmp_path: Path, more: dict[str, str], seen: bool) -> None:
    imports = "from gpu_course.notebook import predict, forecast"
    cells = [imports, PREDICT, HELD, AFTER, "assert out == 31000 + 415"]
    cells += [FORECAST, "guess.compare()", "guess = predict('What?')", HELD]
    more = {"GPU_COURSE_GUESSES": "off"} if seen else {}
    stored = run_in_a_kernel(tmp_path, cells, more)
    assert ("31,415" in stored, SECRET in stored, f"{ROW.printed} ms" in stored) == (seen,) * 3
    assert ("waits for your guess" in stored, "waits for your forecast" in stored) == (
        not seen,
    ) * 2
    assert (tmp_path / ".gpu_course").exists() is False
