"""A learner's answer beside the reference solution and its discussion, once the answer is right."""

from __future__ import annotations

import ast
import difflib
import warnings
from dataclasses import dataclass
from pathlib import Path

import gpu_course
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.check import check
from gpu_course.puzzle import Puzzle, index
from simt.kernel import source
from simt.text import one_line, source_lines

_MARKS = ("# answer", "# end answer")


@dataclass(frozen=True)
class SolutionDiff:
    """An answer beside the solution, both without docstrings: those hold the puzzle's statement.

    Attributes:
        answer, solution: the lines of their code.
        difference: a unified diff, or a sentence where there is none.
        discussion: Markdown on the idea, other ways, and what a GPU makes of each; "" where the
            puzzle has none.
    """

    answer: tuple[str, ...]
    solution: tuple[str, ...]
    difference: str
    discussion: str

    @property
    def same(self) -> bool:
        """True where both are the same program."""
        return self.difference == _SAME

    def __str__(self) -> str:
        return f"{self.difference}\n\n{self.discussion}" if self.discussion else self.difference


_SAME = "Your answer and the solution are the same program."


class NotPassed(CourseError):
    """The solution was asked for before the answer passed."""


def diff(name: str) -> SolutionDiff:
    """Returns the learner's answer beside the reference solution, and the discussion of both.

    Args:
        name: a puzzle, such as "guard".

    Raises:
        UnknownName: no puzzle is called that.
        NotPassed: the answer does not pass yet.
        CourseError: there are no solutions in this checkout.
    """
    puzzle = index.find(name)
    verdict = check(puzzle)
    if not verdict.passed:
        raise NotPassed(
            f"{puzzle.name} is not passed yet ({verdict.status}); its solution is shown when it is",
            f"`gpu-course hint {puzzle.short_name}` gives a hint",
        )
    return compare_with_solution(puzzle)


def compare_with_solution(puzzle: Puzzle) -> SolutionDiff:
    """Returns the learner's file beside the solution, whatever the verdict on it.

    Raises:
        CourseError: a file is not there or cannot be read.
    """
    own = workspace.answer_path(puzzle)
    reference = solutions_folder() / f"{puzzle.name}.py"
    written = reference.with_suffix(".md")
    discussion = _text(written).rstrip() if written.is_file() else ""
    before = without_docstrings(_text(own))
    after = without_docstrings(without_marks(_text(reference)))
    shown = tuple(_shown(before)), tuple(_shown(after))
    if workspace.same_program(before, after):
        difference = _SAME
    else:
        lines = difflib.unified_diff(*shown, "your answer", "the solution", n=2, lineterm="")
        difference = "\n".join(lines)
    return SolutionDiff(*shown, difference, discussion)


def solutions_folder() -> Path:
    """Returns solutions/ of the checkout around the answers, or around the current folder.

    Raises:
        CourseError: neither has one.
    """
    for root in (workspace.answers_folder().parent, workspace.checkout()):
        if root is not None and (root / "solutions").is_dir():
            return root / "solutions"
    raise CourseError(
        "there is no folder solutions/ beside your answers", "run this in a checkout of the course"
    )


def course_solutions() -> Path:
    """Returns solutions/ of the checkout that the course itself runs from, wherever answers lie.

    A lesson works with a solution where the learner has no answer yet, also in a run whose answers
    are in a folder of their own.

    Raises:
        CourseError: there is none, nor one beside the answers.
    """
    own = Path(gpu_course.__path__[0]).parent / "solutions"
    return own if own.is_dir() else solutions_folder()


def without_marks(text: str) -> str:
    """Returns a solution without the lines that only tell the build where the answer stands.

    >>> without_marks("a = 1\\n# answer\\nb = 2\\n# end answer\\n")
    'a = 1\\nb = 2\\n'
    """
    lines = source_lines(text)
    return "".join(f"{line}\n" for line in lines if line.strip() not in _MARKS)


def without_docstrings(text: str) -> str:
    """Returns a program without the docstrings of its module, functions and classes.

    >>> without_docstrings("'a'\\n\\nimport b\\n\\ndef c():\\n    'd'\\n    return 1\\n")
    'import b\\n\\ndef c():\\n    return 1\\n'
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    places = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    told: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, places) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            told.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = source_lines(text)
    kept = [f"{line}\n" for number, line in enumerate(lines, 1) if number not in told]
    while kept and not kept[0].strip():
        del kept[0]
    return "".join(kept)


def _shown(text: str) -> list[str]:
    return [one_line(line) for line in source_lines(text)]


def _text(path: Path) -> str:
    shown = source.show_path(path)
    if not path.is_file():
        raise CourseError(f"there is no {shown}", "check the folder and the name of the file")
    return source.read_text(path, shown)
