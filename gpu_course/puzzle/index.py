"""Finding lessons and puzzles by name."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from functools import lru_cache
from pathlib import Path

from gpu_course import lessons as rooms
from gpu_course.errors import CatalogueError, UnknownName
from gpu_course.puzzle.room import lesson_words, predictions_of, terms_to_come
from gpu_course.puzzle.specification import Lesson, Puzzle, Sealed, Term


@lru_cache(maxsize=1)
def lessons() -> tuple[Lesson, ...]:
    """Returns every lesson of the course, in course order.

    A lesson is a folder of `gpu_course.lessons` with a lesson.toml: adding the folder adds the
    lesson.

    Raises:
        CatalogueError: a room lacks what its lesson.toml names, or two puzzles carry one name.
    """
    found = [_load(room.name) for room in pkgutil.iter_modules(rooms.__path__) if room.ispkg]
    ordered = tuple(sorted(found, key=lambda lesson: lesson.name))
    _reject_clashes(ordered)
    return ordered


def lesson(name: str) -> Lesson:
    """Returns the lesson of that name.

    Args:
        name: "01_threads", its number "01" or "1", or its topic "threads".

    Raises:
        UnknownName: no lesson is called that; close matches are listed.
    """
    wanted = str(name).strip()
    for each in lessons():
        number, _, topic = each.name.partition("_")
        if wanted in (each.name, number, str(int(number)), topic):
            return each
    raise _unknown("lesson", wanted, [each.name for each in lessons()])


def puzzles() -> tuple[Puzzle, ...]:
    """Returns every puzzle, in the order the lessons bring them."""
    return tuple(puzzle for each in lessons() for puzzle in each.puzzles)


def find(name: str) -> Puzzle:
    """Returns the puzzle of that name.

    Args:
        name: the full name "01_threads/guard", or its last part "guard".

    Raises:
        UnknownName: no puzzle is called that; close matches are listed.
    """
    wanted = str(name).strip().removesuffix(".py")
    for puzzle in puzzles():
        if wanted in (puzzle.name, puzzle.short_name):
            return puzzle
    raise _unknown("puzzle", wanted, [puzzle.name for puzzle in puzzles()])


def sealed(question: str) -> Sealed | None:
    """Returns what the prediction with that question keeps back; None for one of nobody's."""
    for each in lessons():
        if question in each.predictions:
            return each.predictions[question]
    return None


def terms() -> tuple[Term, ...]:
    """Returns every word of the course, by the lesson in which it is met first."""
    met = [term for each in lessons() for term in each.terms]
    return tuple(sorted([*met, *terms_to_come()], key=lambda term: term.lesson))


def load(name: str) -> Lesson:
    """Returns the lesson of a full name, "01_threads"; the others need not be imported for it.

    Raises:
        CatalogueError: it has no room, or its room does not hold what its lesson.toml says.
    """
    return _load(name.partition("_")[2])


def is_of_the_course(puzzle: Puzzle) -> bool:
    """True for a puzzle that another process finds by its name."""
    found = next((each for each in _loaded.values() if each.name == puzzle.lesson), None)
    return found is not None and any(each is puzzle for each in found.puzzles)


_loaded: dict[str, Lesson] = {}


def _load(topic: str) -> Lesson:
    if topic not in _loaded:
        _loaded[topic] = _read(topic)
    return _loaded[topic]


def _read(topic: str) -> Lesson:
    folder = Path(rooms.__path__[0]) / topic
    said = lesson_words(folder)
    if said.name.partition("_")[2] != topic:
        raise CatalogueError(
            f"the room {topic} says that it is the lesson {said.name!r}",
            f"call its folder {said.name.partition('_')[2]}, or mend the name in its lesson.toml",
        )
    package = f"{rooms.__name__}.{topic}"
    return Lesson(
        name=said.name,
        title=said.title,
        part=said.part,
        minutes=said.minutes,
        goal=said.goal,
        puzzles=tuple(_puzzle(package, short) for short in said.puzzles),
        predictions=predictions_of(folder),
        terms=said.terms(),
    )


def _puzzle(package: str, short: str) -> Puzzle:
    module = importlib.import_module(f"{package}.{short}")
    found = getattr(module, short.upper(), None)
    if not isinstance(found, Puzzle):
        raise CatalogueError(
            f"{module.__name__} has no puzzle called {short.upper()}",
            f"give it `{short.upper()} = KernelPuzzle(**puzzle_fields(__file__), ...)`",
        )
    return found


def _reject_clashes(found: tuple[Lesson, ...]) -> None:
    owners: dict[str, str] = {}
    asked: dict[str, str] = {}
    for each in found:
        for question in each.predictions:
            if question in asked:
                raise CatalogueError(
                    f"{asked[question]} and {each.name} both ask {question!r}",
                    "the question finds what is sealed: make each unique in the course",
                )
            asked[question] = each.name
        for puzzle in each.puzzles:
            if puzzle.lesson != each.name:
                raise CatalogueError(
                    f"puzzle {puzzle.name!r} stands in lesson {each.name!r}",
                    f"call it {each.name}/{puzzle.short_name}",
                )
            if puzzle.short_name in owners:
                raise CatalogueError(
                    f"{owners[puzzle.short_name]} and {puzzle.name} share their last part",
                    "last parts are what people type: make each unique in the course",
                )
            owners[puzzle.short_name] = puzzle.name


def _unknown(what: str, wanted: str, names: list[str]) -> UnknownName:
    # Both forms are compared, so that "gaurd" finds "01_threads/guard".
    by_form = {form: name for name in names for form in (name, name.rpartition("/")[2])}
    by_form |= {name.partition("_")[2]: name for name in names if "/" not in name}
    close = difflib.get_close_matches(wanted, list(by_form), n=3, cutoff=0.6)
    matches = list(dict.fromkeys(by_form[form] for form in close))
    if matches:
        hint = f"did you mean {' or '.join(matches)}?"
    else:
        hint = "`gpu-course list` shows every name"
    return UnknownName(f"no {what} is called {wanted!r}", hint)
