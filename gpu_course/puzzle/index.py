"""Finding lessons and puzzles by name."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from functools import lru_cache

from gpu_course import lessons as rooms
from gpu_course.errors import CatalogueError, UnknownName
from gpu_course.puzzle.specification import Lesson, Puzzle, Sealed


@lru_cache(maxsize=1)
def lessons() -> tuple[Lesson, ...]:
    """Returns every lesson of the course, in course order.

    A lesson is a folder of `gpu_course.lessons` whose module `lesson` has a `LESSON` in it: adding
    the folder adds the lesson.

    Raises:
        CatalogueError: a module has no LESSON, or two puzzles carry one name.
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


def load(name: str) -> Lesson:
    """Returns the lesson of a full name, "01_threads"; the others need not be imported for it."""
    return _load(name.partition("_")[2])


def module_of(name: str) -> str:
    """Returns the module that holds the lesson of a full name."""
    return f"{rooms.__name__}.{name.partition('_')[2]}.lesson"


def _load(topic: str) -> Lesson:
    module = importlib.import_module(f"{rooms.__name__}.{topic}.lesson")
    found = getattr(module, "LESSON", None)
    if not isinstance(found, Lesson):
        raise CatalogueError(
            f"{module.__name__} has no LESSON",
            "give it `LESSON = Lesson(...)`, as the other lessons have",
        )
    if found.name.partition("_")[2] != topic:
        raise CatalogueError(
            f"{module.__name__} holds the lesson {found.name!r}",
            f"call its folder {found.name.partition('_')[2]}, or mend the lesson's name",
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
