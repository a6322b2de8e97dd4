"""check, hint, progress, the glossary and the show functions, as a lesson calls them."""

from __future__ import annotations

import html
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numba import cuda

from gpu_course import notebook, simulate
from gpu_course.grading.learner import verdict_cache
from gpu_course.grading.learner.progress import LessonProgress
from gpu_course.grading.verdicts.sections import fact, heading, section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.workspace import has_notebook
from gpu_course.notebook import (
    check,
    diff,
    glossary,
    hint,
    progress,
    show_hazards,
)
from gpu_course.notebook.cells.puzzle_magic import run_cell
from gpu_course.notebook.glossary import find
from gpu_course.notebook.note import Note
from gpu_course.notebook.pictures import Picture, show_touches
from gpu_course.notebook.tutor import feedback
from gpu_course.notebook.tutor.course_map import CourseMap
from gpu_course.puzzle import index, outline
from tests.gpu_course.draw import launches
from tests.gpu_course.notebook.cells.test_puzzle_magic import NAME, RIGHT

SOLUTIONS = Path(__file__).parents[4] / "solutions"


def test_check_gives_the_verdict_on_the_file(answers):
    assert check("add_ten").status == "not-started"
    file = answers / f"{NAME}.py"
    file.parent.mkdir()
    file.write_text(RIGHT)
    assert isinstance(check("add_ten"), Verdict) and check(NAME).passed


def test_diff_stands_above_the_discussion(answers, shell):
    file = answers / f"{NAME}.py"
    file.parent.mkdir()
    file.write_text(RIGHT.replace("+ 10", "+ 11"))
    refused = diff("add_ten")
    assert isinstance(refused, Note) and "is not passed yet" in repr(refused)
    file.write_text(RIGHT)
    folder = answers.parent / "solutions" / "00_start_here"
    folder.mkdir(parents=True)
    for suffix in (".py", ".md"):
        (folder / f"add_ten{suffix}").write_text((SOLUTIONS / f"{NAME}{suffix}").read_text())
    found = diff("add_ten")
    written = (SOLUTIONS / f"{NAME}.md").read_text().rstrip()
    assert repr(found).endswith(written)
    shell.run("from IPython.display import display\nfrom gpu_course.notebook import diff")
    beside, discussed = shell.outputs('display(diff("add_ten"))')
    assert "the same program" in beside.data["text/html"]
    assert discussed.data["text/markdown"] == written
    file.write_text(RIGHT.replace("a[i] + 10", "10 + a[i]"))
    beside, discussed = shell.outputs('display(diff("add_ten"))')
    assert "\n-" in beside.data["text/plain"] and 'role="table"' in beside.data["text/html"]


@pytest.mark.parametrize("call", [check, hint, glossary])
def test_an_unknown_name_is_answered_in_a_sentence(answers, call):
    answer = call("zzz<y>")
    assert isinstance(answer, Note)
    assert "zzz<y>" in repr(answer) and "try:" in repr(answer)
    assert "zzz&lt;y&gt;" in answer._repr_html_()


def test_hints_come_one_by_one(answers):
    texts = index.find(NAME).hints
    shown = [repr(hint("add_ten")) for _ in range(4)]
    assert shown[0] == f"Hint 1 of 3: {texts[0]}"
    assert shown[1] == f"Hint 2 of 3: {texts[1]}"
    assert shown[2] == shown[3] == f"Hint 3 of 3: {texts[2]}\nThat was the last one."


def test_progress_counts_from_the_answers(answers):
    total = len(index.puzzles())
    assert repr(progress()).startswith(f"0 of {total} puzzles passed, 0 of ")
    file = answers / f"{NAME}.py"
    file.parent.mkdir()
    file.write_text(RIGHT)
    text = repr(progress())
    assert text.startswith(f"1 of {total} puzzles passed, 10 of ")
    assert "\u2713 add_ten" in text and "\u25cb guard" in text
    assert text == repr(progress())
    assert str(answers) not in text


@pytest.mark.parametrize(
    "ask",
    [lambda: check("add_ten"), lambda: next(run_cell("add_ten", RIGHT))],
    ids=["check", "a %%puzzle cell"],
)
def test_what_was_just_checked_progress_does_not_check_again(answers, monkeypatch, ask):
    # The sources of the course may change under a run of the tests.
    monkeypatch.setattr(verdict_cache, "course_fingerprint", lambda: "the course")
    file = answers / f"{NAME}.py"
    file.parent.mkdir()
    file.write_text(RIGHT)
    assert ask().passed
    asked = []

    def not_started(puzzle, **_):
        asked.append(puzzle.name)
        return verdict(puzzle, "not-started")

    monkeypatch.setattr(import_module("gpu_course.grading.grade"), "check", not_started)
    assert "\u2713 add_ten" in repr(progress())
    assert len(asked) == len(index.puzzles()) - 1 and NAME not in asked


def verdict(puzzle, status):
    points = puzzle.points if status == "passed" else 0
    return Verdict(puzzle.name, status, None, points, puzzle.points, tuple(fact("")))


def test_the_map_lists_the_lessons_in_their_parts():
    statuses = ["passed", "failed", "not-started"]
    lessons = tuple(
        LessonProgress(
            lesson,
            tuple(verdict(p, statuses[i % 3]) for i, p in enumerate(lesson.puzzles)),
        )
        for lesson in index.lessons()
    )
    shown = CourseMap(lessons)
    text, page = repr(shown), shown._repr_html_()
    for lesson in index.lessons():
        link = f'href="{lesson.name}.ipynb"' in page
        assert lesson.name in text and link == has_notebook(lesson)
        assert html.escape(lesson.title) in page
    for part in range(len(outline.PARTS)):
        assert outline.part_title(part) in text and outline.part_title(part) in page
    # Every lesson of the course stands in it once; one that is not here is no link.
    course = re.sub(r"\s+", " ", text.rpartition("\nNext: ")[0])
    for planned in outline.COURSE:
        shown = re.findall(rf" {planned.number}_\w+ \[|{re.escape(str(planned))}", course)
        assert len(shown) == 1, planned
        assert page.count(html.escape(str(planned))) >= 1
    assert all(f'href="{name}.ipynb"' in page for name in links_to_lessons(page))
    assert page.count('role="progressbar"') == len(lessons)
    assert page.count("aria-valuenow") == page.count("aria-label=") - 1 == len(lessons)
    assert "\u2717" in text and ": not yet</span>" in page
    assert "Next: 01_threads/guard" in text


def links_to_lessons(page):
    names = re.findall(r'href="([^"]+)\.ipynb"', page)
    there = {lesson.name for lesson in index.lessons() if has_notebook(lesson)}
    assert set(names) == there
    return names


def test_a_pass_once_won_stays_on_the_map(answers):
    file = answers / f"{NAME}.py"
    file.parent.mkdir()
    file.write_text(RIGHT)
    assert check("add_ten").passed
    for later in (RIGHT.replace("+ 10", "+ 11"), "def (", None):
        if later is None:
            file.unlink()
        else:
            file.write_text(later)
        assert not check("add_ten").passed
        shown = progress()
        assert repr(shown).startswith(f"1 of {len(index.puzzles())} puzzles passed, 10 of ")
        assert "\u2713 add_ten" in repr(shown)
        assert ": passed, changed since</span>" in shown._repr_html_()
        assert "Next: 01_threads/" in repr(shown)


def test_a_state_that_cannot_be_kept_does_not_stand_in_the_way_of_a_verdict(answers):
    (answers.parent / ".gpu_course").write_text("a file where a folder should be")
    file = answers / f"{NAME}.py"
    file.parent.mkdir()
    file.write_text(RIGHT)
    assert check("add_ten").passed


def test_when_all_is_passed_the_map_says_so():
    lessons = tuple(
        LessonProgress(lesson, tuple(verdict(p, "passed") for p in lesson.puzzles))
        for lesson in index.lessons()
    )
    assert repr(CourseMap(lessons)).endswith("Every puzzle is passed.")


def test_the_glossary_has_one_entry_per_word():
    terms = index.terms()
    words = [word.lower() for term in terms for word in (term.name, *term.also)]
    assert len(words) == len(set(words))
    assert len(terms) >= 35
    for term in terms:
        assert term.meaning.endswith(".") and ". " not in term.meaning, term.name
        assert find(term.name) is term
        assert re.fullmatch(r"\d\d_[a-z_]+", term.lesson)


@pytest.mark.parametrize(
    ("asked", "found"),
    [("warp", "warp"), ("Warps", "warp"), ("sm", "SM"), ("CTA", "block"), ("race", "race")],
)
def test_words_are_found_in_any_form(asked, found):
    assert find(asked).name == found


def test_cards_show_the_words_and_link_only_to_lessons_that_exist():
    shown = glossary("kernel", "bubble")
    assert repr(shown).startswith("kernel                A function that the host asks")
    page = shown._repr_html_()
    assert "modal.com/gpu-glossary/device-software/kernel" in page
    assert 'href="00_start_here.ipynb"' in page
    assert 'href="26_pipelines.ipynb"' in page
    linked = set(re.findall(r'href="(\d\d_\w+)\.ipynb"', glossary()._repr_html_()))
    assert linked and linked <= {lesson.name for lesson in index.lessons()}
    assert glossary().terms == index.terms()
    assert "did you mean" in repr(glossary("divergance"))


def test_show_functions_say_in_text_what_they_draw(capsys):
    show_touches(launches.ADD_TEN)
    assert "Who touches what in add_ten[1, 8]" in capsys.readouterr().out


def test_a_picture_is_an_image_with_alt_text():
    from gpu_course.draw import draw_touches

    picture = Picture(draw_touches(launches.ADD_TEN))
    assert picture._repr_html_().startswith('<img alt="Who touches what in add_ten[1, 8]')


def test_every_name_a_lesson_imports_is_there():
    assert all(hasattr(notebook, name) for name in notebook.__all__)


def shown_by(call, capsys, *arguments):
    """What a show function displays outside a notebook: its plain text."""
    call(*arguments)
    return capsys.readouterr().out


def test_a_hazard_is_shown_in_its_five_lines_and_the_others_by_their_places(capsys):
    def copy(out, a):
        i = cuda.grid(1)
        x = a[i]
        out[i] = x

    a = np.zeros(8)
    report = simulate(copy)[1, 9](a.copy(), a)
    text = shown_by(show_hazards, capsys, report)
    assert text.startswith(report.hazards[0].text() + "\n")
    assert text.splitlines()[6:] == [
        f"  also:   1 more: out-of-bounds in line {report.hazards[1].line}"
    ]
    clean = simulate(copy)[1, 8](a.copy(), a)
    assert shown_by(show_hazards, capsys, clean) == "The launch has no hazard.\n"


def test_a_labelled_line_hangs_where_it_is_too_long_for_its_window():
    said = [*heading("a <fact>"), *section("why", "many words")]
    page = Note.of(said, "trouble")._repr_html_()
    assert re.search(r'<span style="display:block"><span [^>]*>!</span> a &lt;fact&gt;', page)
    assert "padding-left:10ch;text-indent:-10ch" in page and "  why:    many words" in page
    assert "display:block" not in Note("one <b>\nline")._repr_html_()


def test_an_interrupt_shows_none_of_the_course_s_own_lines(monkeypatch, answers):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(feedback, "check_own", interrupted)
    with pytest.raises(KeyboardInterrupt, match="running it again starts anew") as caught:
        check("add_ten")
    assert caught.value.__suppress_context__
    # This test's line, and one of the course.
    assert [each.name for each in caught.traceback][1:] == ["told"]
