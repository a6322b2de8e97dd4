"""Cards that say what a word of the course means."""

from __future__ import annotations

import difflib
import html
import textwrap
from dataclasses import dataclass

from gpu_course.draw.paper import palette
from gpu_course.errors import UnknownName
from gpu_course.grading.workspace import has_notebook
from gpu_course.notebook.marks import shown_at_once, tells_of_all_lessons
from gpu_course.notebook.note import telling
from gpu_course.puzzle import Term, index

GPU_GLOSSARY = "https://modal.com/gpu-glossary"


@dataclass(frozen=True)
class Cards:
    """Some terms, shown as a list of text or as cards."""

    terms: tuple[Term, ...]

    def __repr__(self) -> str:
        return "\n".join(_text(term) for term in self.terms)

    def _repr_html_(self) -> str:
        cards = "".join(_card(term) for term in self.terms)
        return (
            '<dl class="gpu-course-glossary" aria-label="Glossary" style="display:grid;margin:0;'
            "grid-template-columns:repeat(auto-fill,minmax(20em,1fr));"
            f'gap:0.6em;max-width:66em;line-height:1.45">{cards}</dl>'
        )


@shown_at_once
@tells_of_all_lessons
@telling
def glossary(*names: str) -> Cards:
    """Returns the cards of the words asked for; without a name, of every word of the course.

    Args:
        names: such as "warp" or "SM"; other texts' words for the same thing work too.
    """
    return Cards(tuple(find(name) for name in names) or index.terms())


def find(name: str) -> Term:
    """Returns the term of that name.

    Raises:
        UnknownName: the course has no such word; close matches are listed.
    """
    by_name = {word.lower(): term for term in index.terms() for word in (term.name, *term.also)}
    wanted = name.strip().lower()
    for form in (wanted, wanted.removesuffix("s")):
        if form in by_name:
            return by_name[form]
    close = difflib.get_close_matches(wanted, list(by_name), n=3, cutoff=0.6)
    names = dict.fromkeys(by_name[form].name for form in close)
    hint = f"did you mean {' or '.join(names)}?" if names else "`glossary()` shows every word"
    raise UnknownName(f"the glossary has no word {name!r}", hint)


def _met_in(term: Term) -> str:
    """Where the word is met, as far as that lesson is there to be opened."""
    known = {lesson.name for lesson in index.lessons() if has_notebook(lesson)}
    return term.lesson if term.lesson in known else ""


def _text(term: Term) -> str:
    more = [f"also: {', '.join(term.also)}"] if term.also else []
    lesson = _met_in(term)
    if lesson:
        more.append(f"lesson {lesson[:2]}")
    sentence = term.meaning + (f" ({'; '.join(more)})" if more else "")
    return textwrap.fill(
        sentence, 100, initial_indent=f"{term.name:<22}", subsequent_indent=" " * 22
    )


def _card(term: Term) -> str:
    lines = [html.escape(term.meaning)]
    small = []
    if term.also:
        small.append(f"also: {html.escape(', '.join(term.also))}")
    lesson = _met_in(term)
    if lesson:
        small.append(f'<a href="{lesson}.ipynb">lesson {lesson[:2]}</a>')
    if term.entry:
        small.append(
            f'<a href="{GPU_GLOSSARY}/{term.entry}" aria-label="More on {html.escape(term.name)}'
            ' in the GPU Glossary">read more</a>'
        )
    if small:
        lines.append(f'<span style="font-size:0.9em">{" · ".join(small)}</span>')
    return (
        f'<div style="border-left:4px solid {palette.ACTIVE};padding:0.3em 0.8em">'
        # JupyterLab floats both; side by side they would run into each other here.
        f'<dt style="float:none;width:auto"><b>{html.escape(term.name)}</b></dt>'
        f'<dd style="float:none;width:auto;margin:0">{"<br>".join(lines)}</dd></div>'
    )
