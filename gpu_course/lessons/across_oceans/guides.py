"""Where to go on: lectures and papers keyed to lessons and puzzles, with checked questions.

`watching.toml` and `reading.toml` beside this file hold them. Nothing is fetched: a question can be
answered from the lesson it names, and the lecture or paper says more.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import msgspec

from gpu_course.errors import CourseError
from gpu_course.notebook.note import telling
from gpu_course.puzzle import index

HERE = Path(__file__).parent
NAMES = ("watching", "reading")
LETTERS = "abc"
WIDEST = 72
"""Columns of what is printed."""
_LEFT = 'style="text-align:left;vertical-align:top"'
_Text = Annotated[str, msgspec.Meta(min_length=1)]


class Item(msgspec.Struct, forbid_unknown_fields=True):
    """A lecture, or what is read in a week.

    Attributes:
        number: of the lecture or the week.
        title, who: as its source has them.
        lessons: numbers of the lessons it belongs to, such as "03".
        puzzle: of one of them.
        question: about what it treats.
        choices: three of them.
        answer: "a", "b" or "c".
        why: said once it is answered.
        papers: numbers on arXiv.
    """

    number: int
    title: _Text
    who: _Text
    lessons: Annotated[list[str], msgspec.Meta(min_length=1)]
    puzzle: _Text
    question: _Text
    choices: Annotated[list[str], msgspec.Meta(min_length=3, max_length=3)]
    answer: Annotated[str, msgspec.Meta(pattern="^[abc]$")]
    why: _Text
    papers: list[str] = []


class Guide(msgspec.Struct, forbid_unknown_fields=True):
    """A list of items.

    Attributes:
        name, url: of its source.
        each: what an item is called, such as "lecture".
        item: all of them.
    """

    name: _Text
    url: _Text
    each: _Text
    item: list[Item]

    def find(self, number: int) -> Item:
        """Returns an item by its number.

        Raises:
            CourseError: there is none.
        """
        for each in self.item:
            if each.number == number:
                return each
        numbers = ", ".join(str(each.number) for each in self.item)
        raise CourseError(f"there is no {self.each} {number} in the list", f"it has {numbers}")

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.url}"]
        for each in self.item:
            lines.append(f"{each.number:>3}  {each.title}")
            lines.append(f"     {each.who}; lesson {', '.join(each.lessons)}; {each.puzzle}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        heads = (self.each, "title", "lessons", "puzzle")
        rows = [f"<tr>{''.join(f'<th {_LEFT}>{head}</th>' for head in heads)}</tr>"]
        rows += map(_row, self.item)
        source = f'<a href="{html.escape(self.url)}">{html.escape(self.name)}</a>'
        return f'<p>{source}</p><table style="text-align:left">{"".join(rows)}</table>'


@lru_cache(maxsize=4)
def guide(name: str) -> Guide:
    """Returns a list by its name.

    Args:
        name: one of NAMES.

    Raises:
        CourseError: there is no such list.
    """
    if name not in NAMES:
        raise CourseError(f"there is no list {name!r}", f"it is one of {', '.join(NAMES)}")
    return msgspec.toml.decode((HERE / f"{name}.toml").read_text(encoding="utf-8"), type=Guide)


def _row(item: Item) -> str:
    links = " ".join(
        f'<a href="https://arxiv.org/abs/{paper}">{paper}</a>' for paper in item.papers
    )
    title = f"{html.escape(item.title)}<br><small>{html.escape(item.who)} {links}</small>"
    lessons = ", ".join(
        f'<a href="{_folder(number)}.ipynb">{number}</a>' for number in item.lessons
    )
    cells = (str(item.number), title, lessons, f"<code>{html.escape(item.puzzle)}</code>")
    return f"<tr>{''.join(f'<td {_LEFT}>{cell}</td>' for cell in cells)}</tr>"


def _wrapped(number: int, words: str) -> list[str]:
    return textwrap.wrap(words, WIDEST, initial_indent=f"{number:>3}  ", subsequent_indent=" " * 5)


def _folder(number: str) -> str:
    return index.lesson(number).name


def questions(name: str) -> str:
    """Returns the questions of a list, three choices below each.

    Args:
        name: one of NAMES.
    """
    lines = []
    for item in guide(name).item:
        lines += _wrapped(item.number, item.question)
        choices = list(map("{}) {}".format, LETTERS, item.choices))
        beside = "     " + "   ".join(choices)
        lines += [beside] if len(beside) <= WIDEST else [f"     {each}" for each in choices]
    return "\n".join(lines)


@telling
def checked(name: str, answers: Mapping[int, str]) -> str:
    """Returns what becomes of answers, and how many are still to come.

    Args:
        name: one of NAMES.
        answers: {number of a lecture or week: "a", "b" or "c"}.

    Raises:
        CourseError: there is no such item, an answer is no letter of its choices, or they are no
            dict.
    """
    asked, lines, right = guide(name), [], 0
    if not isinstance(answers, Mapping):
        raise CourseError(
            f"answers are a dict from numbers to letters, and these are {answers!r:.40}",
            f'write {{{asked.item[0].number}: "a"}} to answer the first',
        )
    for number, said in answers.items():
        item = asked.find(number)
        if said not in tuple(LETTERS):
            raise CourseError(
                f"{asked.each} {number} is answered by {said!r}", 'answer "a", "b" or "c"'
            )
        if said == item.answer:
            right += 1
            lines += _wrapped(number, f"right. {item.why}")
        else:
            where = f"lesson {index.find(item.puzzle).lesson[:2]}, puzzle {item.puzzle}"
            lines += _wrapped(number, f"not {said}. Look at {where}, and answer again.")
    left = len(asked.item) - right
    lines.append(f"{right} of {len(asked.item)} right, {left} to go")
    return "\n".join(lines)
