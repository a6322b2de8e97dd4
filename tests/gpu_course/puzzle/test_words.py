"""What a room says of its predictions and its terms, as its TOML files have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.errors import CatalogueError
from gpu_course.puzzle import index
from gpu_course.puzzle.room import lesson_words, predictions_of, terms_to_come

RED = '[[prediction]]\nquestion = "Which?"\nanswer = "red"\n'
SEEN = 'seen = """\nIt is\nred.\n\nIt was always so."""\n'


@pytest.fixture
def room(tmp_path: Path) -> Path:
    """A folder called like the room of a lesson that has answers of its own."""
    folder = tmp_path / "zero_and_fsdp"
    folder.mkdir()
    return folder


def test_a_prediction_keeps_its_answer_and_its_paragraphs(room: Path) -> None:
    (room / "predictions.toml").write_text(RED + SEEN)
    kept = predictions_of(room)["Which?"]
    assert kept.right(None) == "red"
    assert kept.seen == "It is red.\n\nIt was always so."


def test_an_answer_may_come_from_a_function_of_the_room(room: Path) -> None:
    asked = '[[prediction]]\nquestion = "Times?"\nanswered_by = "whole"\n'
    (room / "predictions.toml").write_text(asked + SEEN)
    assert predictions_of(room)["Times?"].right(2.98) == 3


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ((RED + SEEN) * 2, "asks 'Which\\?' twice"),
        (RED + "sen = 3\n" + SEEN, "unknown field `sen`"),
        (RED, "missing required field `seen`"),
        (RED.replace("answer =", "answered_by =") + SEEN, "answered by red, which is nowhere"),
    ],
)
def test_what_a_room_cannot_say_is_refused(room: Path, text: str, complaint: str) -> None:
    (room / "predictions.toml").write_text(text)
    with pytest.raises(CatalogueError, match=complaint):
        predictions_of(room)


def test_a_word_belongs_to_the_lesson_in_whose_room_it_stands(tmp_path: Path) -> None:
    lesson = (
        'name = "01_toys"\ntitle = "Toys"\npart = 1\nminutes = 9\ngoal = "Play."\npuzzles = []\n'
    )
    term = '[[term]]\nname = "ball"\nmeaning = "What is round."\nalso = ["globe"]\n'
    (tmp_path / "lesson.toml").write_text(lesson + term)
    (ball,) = lesson_words(tmp_path).terms()
    assert (ball.name, ball.lesson, ball.also) == ("ball", "01_toys", ("globe",))


def test_the_words_of_a_lesson_with_a_room_stand_in_that_room() -> None:
    assert not {term.lesson for term in terms_to_come()} & {each.name for each in index.lessons()}
    assert {term.name for term in terms_to_come()} < {term.name for term in index.terms()}
