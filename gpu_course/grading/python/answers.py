"""From what a learner hands in to the text of a Python answer, checked as far as reading can."""

from __future__ import annotations

import ast
import difflib
import inspect
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading import answer_file, workspace
from gpu_course.grading.answer_file import AnswerProblem, missing_function, refused_file
from gpu_course.puzzle import Mistake, PythonPuzzle
from simt.errors import KernelRefused
from simt.kernel import source
from simt.text import one_line, source_lines


@dataclass(frozen=True)
class PythonAnswer:
    """The text of an answer, and what messages call its file."""

    text: str
    file: str

    def line(self, number: int) -> str:
        """Returns one line of the text, stripped, as a message may show it."""
        lines = source_lines(self.text)
        return one_line(lines[number - 1].strip()) if 0 < number <= len(lines) else ""


def read_python_answer(puzzle: PythonPuzzle, answer: Any = None) -> PythonAnswer:
    """Returns the text of an answer to a puzzle; nothing of it has run.

    Args:
        puzzle: the puzzle.
        answer: None for the learner's own file; the path of a file or of a folder of answers; a
            PythonAnswer; a text of several lines; a function, for several functions a dict or a
            sequence of them, or a module.

    Raises:
        AnswerProblem: the answer is the stub, is missing or cannot be used.
        KernelRefused: Python cannot read it, with the line.
        CourseError: `answer` is none of these things.
    """
    if answer is None:
        found = _from_file(puzzle, workspace.answer_path(puzzle), own=True)
    elif isinstance(answer, PythonAnswer):
        found = answer
    elif isinstance(answer, str) and "\n" in answer:
        found = PythonAnswer(answer, f"{puzzle.short_name}.py")
    elif isinstance(answer, str | os.PathLike):
        found = _from_file(puzzle, answer_file.path_of(puzzle, answer), own=False)
    else:
        found = _from_live(puzzle, answer)
    _check(puzzle, found)
    return found


def python_mistake(puzzle: PythonPuzzle, mistake: Mistake, solutions: Path) -> PythonAnswer:
    """Returns the solution of a puzzle with one function replaced by a named mistake.

    Args:
        puzzle: the puzzle.
        mistake: one of its mistakes.
        solutions: the folder with NN_topic/name.py and NN_topic/mistakes/name.py.
    """
    right = (solutions / f"{puzzle.name}.py").read_text(encoding="utf-8")
    wrong = solutions / puzzle.lesson / "mistakes" / f"{puzzle.short_name}.py"
    name = mistake.stands_for or puzzle.functions[0]
    text = f"{right}\n\n{wrong.read_text(encoding='utf-8')}\n\n{name} = {mistake.function}\n"
    return PythonAnswer(text, f"{mistake.function} in {source.show_path(wrong)}")


def _from_file(puzzle: PythonPuzzle, path: Path, own: bool) -> PythonAnswer:
    text = answer_file.text_of(puzzle, path, own=own, write="your lines")
    return PythonAnswer(text, source.show_path(path))


def _check(puzzle: PythonPuzzle, answer: PythonAnswer) -> None:
    """Raises where reading the text shows already that it cannot answer the puzzle."""
    if len(answer.text) > source.MAX_SOURCE_BYTES:
        raise refused_file(
            f"{answer.file} has {len(answer.text):,} characters; an answer may have "
            f"{source.MAX_SOURCE_BYTES:,}"
        )
    tree = source.parse(answer.text, answer.file, whole=True)
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    names = set(functions) | _bound(tree)
    for name in puzzle.functions:
        if name not in names:
            raise _missing(puzzle, answer, name, functions)
        if name in functions:
            _check_parameters(puzzle, answer, functions[name])
    for name, value in puzzle.constants.items():
        _check_constant(answer, tree, name, value)


def _bound(tree: ast.Module) -> set[str]:
    """Returns the names the module binds at top level in any way but `def`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
    # A definition inside `if` or `try` counts too; one inside another function does not.
    for outer in tree.body:
        if not isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found |= {n.name for n in ast.walk(outer) if isinstance(n, ast.FunctionDef)}
    return found


def not_defined(puzzle: PythonPuzzle, answer: PythonAnswer, name: str) -> AnswerProblem:
    """Returns the problem of an answer whose module has no such function once it has run."""
    fact = f"{answer.file} does not define the function {name}"
    return missing_function(fact, _write_it(puzzle, name))


def _missing(
    puzzle: PythonPuzzle,
    answer: PythonAnswer,
    name: str,
    functions: Mapping[str, ast.FunctionDef],
) -> AnswerProblem:
    if not functions:
        fact = f"{answer.file} defines no function; {name} is missing"
    else:
        fact = f"{answer.file} defines no function {name}; it has {', '.join(functions)}"
    spare = [each for each in functions if each not in puzzle.functions]
    close = difflib.get_close_matches(name, spare, n=1)
    step = _write_it(puzzle, name)
    if close:
        line = functions[close[0]].lineno
        step = f"did you mean {close[0]} in line {line}? The name must be {name}"
    return missing_function(fact, step)


def _write_it(puzzle: PythonPuzzle, name: str) -> str:
    takes = ", ".join(puzzle.parameters[name])
    return f"define it at the top level of the file: def {name}({takes})"


def _check_parameters(
    puzzle: PythonPuzzle, answer: PythonAnswer, function: ast.FunctionDef
) -> None:
    """Raises KernelRefused unless the function can be called with the puzzle's arguments."""
    wanted, args = puzzle.parameters[function.name], function.args
    plain = [*args.posonlyargs, *args.args]
    least = len(plain) - len(args.defaults)
    by_name = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    needed_by_name = [arg.arg for arg, default in by_name if default is None]
    fits = least <= len(wanted) and (args.vararg or len(plain) >= len(wanted))
    if fits and not needed_by_name:
        return
    own = ", ".join(a.arg for a in [*plain, *args.kwonlyargs]) or "none"
    raise KernelRefused(
        f"{function.name} takes {own}; it is called with {len(wanted)} ({', '.join(wanted)})",
        file=answer.file,
        line=function.lineno,
        text=answer.line(function.lineno),
        hint=f"write def {function.name}({', '.join(wanted)})",
    )


def _check_constant(answer: PythonAnswer, tree: ast.Module, name: str, value: Any) -> None:
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if not any(isinstance(t, ast.Name) and t.id == name for t in targets):
            continue
        assert isinstance(node, ast.Assign)
        try:
            found = ast.literal_eval(node.value)
        except ValueError:
            found = None
        if type(found) is not type(value) or found != value:
            raise KernelRefused(
                f"{name} is fixed at {value} in this puzzle, and this file makes it another",
                file=answer.file,
                line=node.lineno,
                text=answer.line(node.lineno),
                hint=f"write {name} = {value}",
            )


def _from_live(puzzle: PythonPuzzle, answer: Any) -> PythonAnswer:
    """Returns the text of live functions, with what they name around them."""
    if isinstance(answer, ModuleType):
        return PythonAnswer(inspect.getsource(answer), source.show_path(str(answer.__file__)))
    if isinstance(answer, Mapping):
        given = dict(answer)
    elif isinstance(answer, Sequence) and not isinstance(answer, str | bytes):
        given = {getattr(each, "__name__", ""): each for each in answer}
    elif callable(answer):
        given = {puzzle.functions[0]: answer}
    else:
        raise CourseError(f"{answer!r} is not an answer", "pass a function, or the path of a file")
    missing = [name for name in puzzle.functions if name not in given]
    if missing:
        raise CourseError(
            f"{puzzle.name} asks for {', '.join(puzzle.functions)}; {', '.join(missing)} is not "
            "there",
            "pass a dict {name: function}",
        )
    pieces: dict[str, str] = {}
    for name in puzzle.functions:
        function = inspect.unwrap(given[name])
        if not isinstance(function, FunctionType):
            raise CourseError(f"{name} is not a function defined by def", "write it with def")
        _collect(function, pieces)
        if function.__name__ != name:
            pieces[name] = f"{name} = {function.__name__}\n"
    file = source.show_path(given[puzzle.functions[0]].__code__.co_filename)
    return PythonAnswer("\n\n".join(pieces.values()), file)


def _collect(function: FunctionType, pieces: dict[str, str]) -> None:
    """Adds a function's text, and before it that of every global it names."""
    if function.__name__ in pieces:
        return
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise CourseError(
            f"the source of {function.__name__} cannot be found",
            "define the function in a file or in a notebook cell",
        ) from None
    pieces[function.__name__] = text
    for name in _names(function.__code__):
        if name in pieces or name not in function.__globals__:
            continue
        value = function.__globals__[name]
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            _collect(value, pieces)
        elif (piece := _one_line(name, value)) is not None:
            pieces[name] = piece
    # What a default or a decorator names has to stand before the function that uses it.
    pieces[function.__name__] = pieces.pop(function.__name__)


def _names(code: CodeType) -> set[str]:
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _one_line(name: str, value: Any) -> str | None:
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}\n"
    if value is None or isinstance(value, bool | int | float | str | tuple | list | dict):
        text = f"{name} = {value!r}\n"
        try:
            ast.literal_eval(text.partition("=")[2].strip())
        except (ValueError, SyntaxError):
            return None
        return text
    home, own = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if home and own and own.isidentifier() and home != "__main__":
        return f"from {home} import {own} as {name}\n"
    return None
