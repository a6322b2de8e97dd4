"""What is asked of a published number before it is told."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from gpu_course.errors import CatalogueError

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Question:
    """What a learner is asked before a published number is told.

    Attributes:
        name: unique in the course, such as "t4-stride-16".
        question: one sentence or two, with the unit; it gives nothing away.
        seen: what was seen and why, told after the guess.
    """

    name: str
    question: str
    seen: str


class Forecast(msgspec.Struct, forbid_unknown_fields=True):
    """What the table `forecast` of a row says; the fields are those of Question."""

    name: str
    question: str
    seen: str


def read_question(given: Forecast, where: str) -> Question:
    """Returns the question of a row.

    Args:
        given: what its table says.
        where: the row, for messages.

    Raises:
        CatalogueError: a text is empty; the name is not in kebab-case; or the question does not
            ask.
    """
    for key in given.__struct_fields__:
        if not getattr(given, key).strip():
            raise CatalogueError(f"{where}: {key} of the forecast is empty", "fill it in")
    if not _NAME.fullmatch(given.name):
        raise CatalogueError(
            f"{where}: the forecast is called {given.name!r}",
            'write it in small letters and digits with hyphens, such as "t4-stride-16"',
        )
    if not given.question.rstrip().endswith("?"):
        raise CatalogueError(
            f"{where}: the question of {given.name} does not ask", "end it with a question mark"
        )
    question, seen = (" ".join(text.split()) for text in (given.question, given.seen))
    return Question(given.name, question, seen)
