"""What a lesson's room says, each thing once, and read from where it is said.

The solution says what its functions take, which constants are fixed and, in its docstring, what is
asked. `NAME.toml` beside the puzzle's module has the words a learner reads: title, hints,
diagnoses, debrief. Each mistake says in the line above it how it must end. `puzzle_fields` puts
them together; what is left for the module is code. Of the lesson itself, `lesson.toml` says what it
is and which words are met first in it, and `predictions.toml` what comes after each guess.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

import gpu_course
from gpu_course.errors import CatalogueError
from gpu_course.puzzle.specification import PICTURES, Debrief, Mistake, Sealed, Term
from simt.text import source_lines

_CALL = re.compile(r"^    (\w+)\(", re.MULTILINE)
"""How a docstring shows the call of a function that is asked for."""
_ENDS_WITH = re.compile(
    r"# (?P<reason>[a-z-]+), (?P<key>[^,:]+)(?:, for (?P<function>\w+))?: (?P<thought>.+)"
)


class _Debrief(msgspec.Struct, forbid_unknown_fields=True):
    shows: tuple[str, ...]
    why: str
    alternative: str
    goal: str = ""
    picture: str | None = None


class _Words(msgspec.Struct, forbid_unknown_fields=True):
    """What stands in a puzzle's TOML file; the fields are those of Puzzle."""

    title: str
    difficulty: str
    minutes: int
    hints: tuple[str, str, str]
    debrief: _Debrief
    points: int = 10
    source: str = ""
    shared: tuple[str, ...] = ()
    diagnoses: dict[str, str] = {}
    equivalent_mutants: dict[str, str] = {}


class _Term(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A word that is met first in a lesson; the fields are those of Term."""

    name: str
    meaning: str
    entry: str = ""
    also: tuple[str, ...] = ()


class _TermToCome(_Term, forbid_unknown_fields=True, kw_only=True):
    lesson: str


class _TermsToCome(msgspec.Struct, forbid_unknown_fields=True):
    term: tuple[_TermToCome, ...] = ()


class LessonWords(msgspec.Struct, forbid_unknown_fields=True):
    """What stands in a lesson's lesson.toml.

    Attributes:
        name: "NN_topic".
        title, part, minutes, goal: as in Lesson.
        puzzles: their last parts, in the order the lesson brings them.
        picture: what a pass of its puzzles shows a picture of, as in Debrief; a puzzle's own TOML
            may name another under [debrief].
        diagnoses: sentences that several of its puzzles share.
        term: words of the course that are met first here.
    """

    name: str
    title: str
    part: int
    minutes: int
    goal: str
    puzzles: tuple[str, ...]
    picture: str = ""
    diagnoses: dict[str, str] = {}
    term: tuple[_Term, ...] = ()

    def terms(self) -> tuple[Term, ...]:
        return tuple(_term(each, self.name) for each in self.term)


class _Prediction(msgspec.Struct, forbid_unknown_fields=True):
    """What a predictions.toml says of one question; the fields are those of Sealed.

    Attributes:
        answered_by: the function of the room's answers.py that takes what the run gave to the
            choice it stands for.
    """

    question: str
    seen: str
    answer: str | int | float | None = None
    answered_by: str = ""


class _Predictions(msgspec.Struct, forbid_unknown_fields=True):
    prediction: tuple[_Prediction, ...] = ()


class _Shared(msgspec.Struct, forbid_unknown_fields=True):
    diagnoses: dict[str, str]


def puzzle_fields(module: str) -> dict[str, Any]:
    """Returns the fields of a Puzzle that are no code, for the module of a lesson's room.

    Args:
        module: the `__file__` of the puzzle's module, which is called like the puzzle.

    Raises:
        CatalogueError: a file is missing, or says what it cannot say.
    """
    path = Path(module)
    lesson = lesson_words(path.parent)
    words = _read(path.with_suffix(".toml"), _Words)
    name = f"{lesson.name}/{path.stem}"
    asked = _asked(name)
    sentences = {key: _shared(key, lesson, path) for key in words.shared}
    return {
        "name": name,
        "title": words.title,
        "statement": asked.statement,
        "parameters": asked.parameters,
        "constants": asked.constants,
        "hints": tuple(map(_one_line, words.hints)),
        "diagnoses": sentences | {k: _one_line(text) for k, text in words.diagnoses.items()},
        "points": words.points,
        "difficulty": words.difficulty,
        "minutes": words.minutes,
        "source": _one_line(words.source),
        "debrief": Debrief(
            shows=words.debrief.shows,
            why=_one_line(words.debrief.why),
            alternative=_one_line(words.debrief.alternative),
            goal=_one_line(words.debrief.goal),
            picture=_picture(words.debrief.picture, lesson, path),
        ),
        "equivalent_mutants": words.equivalent_mutants,
        "read_mistakes": partial(mistakes_of, name, next(iter(asked.parameters))),
    }


def _picture(own: str | None, lesson: LessonWords, path: Path) -> str:
    """What a pass shows a picture of: as the puzzle says, else as its lesson does."""
    found = lesson.picture if own is None else own
    if found and found not in PICTURES:
        raise CatalogueError(
            f"{path.with_suffix('.toml').name} asks for a picture of {found!r}",
            f"name one of {', '.join(PICTURES)}",
        )
    return found


@cache
def lesson_words(folder: Path) -> LessonWords:
    """Returns what the lesson.toml of a lesson's room says."""
    return _read(folder / "lesson.toml", LessonWords)


@cache
def terms_to_come() -> tuple[Term, ...]:
    """Returns the words of lessons that have no room yet."""
    found = _read(Path(__file__).with_name("terms.toml"), _TermsToCome).term
    return tuple(_term(each, each.lesson) for each in found)


def _term(said: _Term, lesson: str) -> Term:
    return Term(said.name, _one_line(said.meaning), lesson, said.entry, said.also)


def predictions_of(folder: Path) -> dict[str, Sealed]:
    """Returns {question: what comes after the guess}, as the predictions.toml of a room says it.

    Args:
        folder: of the lesson's room, a package.

    Raises:
        CatalogueError: an answer is said to come from a function that is not there.
    """
    found = {}
    for each in _read(folder / "predictions.toml", _Predictions).prediction:
        answer: Any = _answer_by(folder.name, each) if each.answered_by else each.answer
        seen = "\n\n".join(" ".join(part.split()) for part in each.seen.split("\n\n"))
        if each.question in found:
            raise CatalogueError(f"{folder.name}/predictions.toml asks {each.question!r} twice")
        found[each.question] = Sealed(seen, answer)
    return found


def _answer_by(topic: str, asked: _Prediction) -> Callable[[Any], Any]:
    with suppress(ImportError, AttributeError):
        answers = importlib.import_module(f"gpu_course.lessons.{topic}.answers")
        found: Callable[[Any], Any] = getattr(answers, asked.answered_by)
        return found
    raise CatalogueError(
        f"{asked.question!r} is answered by {asked.answered_by}, which is nowhere",
        f"write that function in gpu_course/lessons/{topic}/answers.py",
    )


def solutions_folder() -> Path:
    """Returns where the solutions of a checkout lie; an installed package has none."""
    return Path(gpu_course.__path__[0]).parent / "solutions"


class Asked(msgspec.Struct, frozen=True):
    """What a solution says of its puzzle.

    Attributes:
        statement: its docstring.
        parameters: for each function whose call the docstring shows its parameters; the one called
            like the puzzle comes first.
        constants: the module's numbers, but those that a learner writes.
    """

    statement: str
    parameters: dict[str, tuple[str, ...]]
    constants: dict[str, int | float]


def _asked(name: str) -> Asked:
    path = solutions_folder() / f"{name}.py"
    if path.is_file():
        return asked_by(path.read_text(encoding="utf-8"), name)
    # Installed without the checkout: the stub says the same.
    return asked_by(_stubs()[name], name)


@cache
def _stubs() -> dict[str, str]:
    file = resources.files("gpu_course.puzzle") / "stubs.json"
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return found


def asked_by(text: str, name: str) -> Asked:
    """Returns what a solution, or its stub, says of its puzzle.

    Args:
        text: of the solution.
        name: of the puzzle, in full.

    Raises:
        CatalogueError: the docstring shows no call of a function that is defined.
    """
    tree, to_write = ast.parse(text), _to_write(source_lines(text))
    defined: dict[str, tuple[str, ...]] = {}
    constants: dict[str, int | float] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            defined[node.name] = tuple(each.arg for each in node.args.args)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = None if node.lineno in to_write else _number(node.value, constants)
            if value is not None:
                constants[node.targets[0].id] = value
    statement = ast.get_docstring(tree) or ""
    called = [name for name in _CALL.findall(statement) if name in defined]
    main = name.rpartition("/")[2]
    if not called:
        raise CatalogueError(
            f"the docstring of the solution of {name} shows no call of a function that it defines",
            f"write one in a line of its own, four spaces in: {main}(...)",
        )
    first = sorted(dict.fromkeys(called), key=lambda each: each != main)
    return Asked(statement, {each: defined[each] for each in first}, constants)


def _to_write(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines that a learner writes."""
    found, within = set(), False
    for number, line in enumerate(lines, 1):
        word = line.strip()
        within = (within or word == "# answer") and word != "# end answer"
        if within:
            found.add(number)
    return found


def _number(node: ast.expr, known: dict[str, int | float]) -> int | float | None:
    """The value of a constant expression of numbers and the constants above it; None for others."""
    allowed = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Name, ast.operator, ast.unaryop, ast.Load)
    if not all(isinstance(each, allowed) for each in ast.walk(node)):
        return None
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    if not names <= set(known):
        return None
    value = eval(compile(ast.Expression(node), "<constant>", "eval"), {"__builtins__": {}}, known)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


@cache
def mistakes_of(name: str, first: str) -> tuple[Mistake, ...]:
    """Returns the named mistakes of a puzzle: what the comment above each of them says.

    Args:
        name: the puzzle's full name.
        first: the function that a mistake stands for unless it says otherwise.
    """
    lesson, _, short = name.partition("/")
    path = solutions_folder() / lesson / "mistakes" / f"{short}.py"
    return mistakes_in(path.read_text(encoding="utf-8"), name, first) if path.is_file() else ()


def mistakes_in(text: str, name: str, first: str) -> tuple[Mistake, ...]:
    """Returns the mistakes of a file, each told by the comment above it.

    A comment begins "# REASON, KEY: what the learner was thinking", or "# REASON, KEY, for
    FUNCTION: ..." where the mistake does not stand for the puzzle's first function. A function that
    others of the file use needs none: it is a part of them.

    Raises:
        CatalogueError: a function has no such comment, and no other uses it.
    """
    lines, tree = source_lines(text), ast.parse(text)
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            top = min([node.lineno, *(each.lineno for each in node.decorator_list)]) - 1
            begin = top
            while begin > 0 and lines[begin - 1].startswith("#"):
                begin -= 1
            said = " ".join(line.removeprefix("#").strip() for line in lines[begin:top])
            read = _ENDS_WITH.fullmatch(f"# {said}")
            if read is None and _is_used(node.name, tree):
                continue
            if read is None:
                raise CatalogueError(
                    f"{name}: the mistake {node.name} does not say how it ends",
                    'write above it "# wrong-result, shifted: what the learner was thinking"',
                )
            found.append(
                Mistake(
                    node.name,
                    read["reason"],
                    read["key"],
                    stands_for=read["function"] or first,
                    thought=read["thought"],
                )
            )
    return tuple(found)


def _is_used(name: str, tree: ast.Module) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(tree))


def _shared(key: str, lesson: LessonWords, path: Path) -> str:
    found = lesson.diagnoses.get(key) or _course().get(key)
    if found is None:
        raise CatalogueError(
            f"{path.stem} shares a sentence on {key!r}, and nobody has one",
            "write it under [diagnoses] of the lesson's lesson.toml",
        )
    return _one_line(found)


@cache
def _course() -> dict[str, str]:
    """Sentences that puzzles of several lessons share."""
    return _read(Path(__file__).with_name("shared.toml"), _Shared).diagnoses


def _read(path: Path, kind: type[Any]) -> Any:
    try:
        return msgspec.toml.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise CatalogueError(f"{path.name} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        place = f"{path.parent.name}/{path.name}"
        raise CatalogueError(f"{place}: {error}", "see its neighbours for the form") from None


def _one_line(text: str) -> str:
    return text.strip()
