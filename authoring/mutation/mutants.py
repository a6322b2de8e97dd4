"""The mutants of a solution: one small change each, as a learner's slip would make it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from authoring.mutation.expressions import expression_edits
from authoring.mutation.memory import atomic_edits, memory_edits, name_edits, ranks, scalars
from authoring.mutation.statements import statement_edits
from authoring.mutation.trees import Edit, Places, first_line, is_docstring, statements
from simt.kernel.legality import own_expressions


@dataclass(frozen=True)
class Mutant:
    """A solution with one small change.

    Attributes:
        name: "function:kind:line", the same as long as the changed line is: comments, blank lines
            and other functions do not matter.
        text: the whole program.
        line: where the changed statement begins in the solution, counted from 1.
    """

    name: str
    text: str
    line: int

    @property
    def kind(self) -> str:
        """What sort of change it is, such as "guard-dropped"."""
        return self.name.split(":")[1]


def mutants_of(solution: str) -> tuple[Mutant, ...]:
    """Returns every mutant of a solution, from top to bottom.

    Changed are the bodies of its functions; programs that come out the same count once, and the
    solution itself is none of them.

    Args:
        solution: the text of the file.

    >>> kernel = "def double(out, a):\\n    out[0] = a[0] * 2\\n"
    >>> [mutant.name for mutant in mutants_of(kernel)][:3]
    ... # doctest: +NORMALIZE_WHITESPACE
    ['double:statement-dropped:out[0] = a[0] * 2',
     'double:return-early:before out[0] = a[0] * 2',
     'double:index-later:out[1] = a[0] * 2']
    """
    tree = ast.parse(solution)
    whole = ast.unparse(tree)
    seen = {whole}
    names: set[str] = set()
    found = []
    for top, function in _functions(tree):
        # What stands around it is the same in all its mutants, and writing it takes the longest.
        before, own, after = whole.partition(ast.unparse(top))
        assert own, "a program is its parts, one after another"
        places = Places(top)
        for statement, edit in _edits(function):
            changed, called = _made(top, places, statement, edit)
            text = before + changed + after
            if text in seen:
                continue
            seen.add(text)
            name = _unused(f"{function.name}:{edit.kind}:{called}", names)
            found.append(Mutant(name, text, statement.lineno))
    return tuple(found)


def _functions(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.FunctionDef]]:
    """Yields every function with the statement of the module that it stands in."""
    inside = {node: top for top in tree.body for node in ast.walk(top)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            yield inside[node], node


def _edits(function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, Edit]]:
    arrays, numbers = ranks(function), scalars(function)
    for statement, block in statements(function):
        for edit in statement_edits(statement, block):
            yield statement, edit
        for edit in atomic_edits(statement):
            yield statement, edit
        if is_docstring(statement) or isinstance(statement, ast.FunctionDef):
            continue
        for node in own_expressions(statement):
            for edit in (
                *memory_edits(node, arrays),
                *name_edits(node, numbers),
                *expression_edits(node),
            ):
                yield statement, edit


def _made(top: ast.stmt, places: Places, statement: ast.stmt, edit: Edit) -> tuple[str, str]:
    """Returns the text of a statement of the module with an edit in it, and what that is called.

    It is called as the edited statement's first line reads then.
    """
    dropped = edit.also_dropped
    with places.exchanged(edit.node, edit.new), ExitStack() as also:
        if dropped is not None:
            also.enter_context(places.exchanged(dropped, []))
        text = ast.unparse(top)
        if edit.text:
            return text, edit.text
        now = edit.new if edit.node is statement else statement
        assert isinstance(now, ast.AST)
        return text, first_line(now)


def _unused(name: str, names: set[str]) -> str:
    """Returns a name that no mutant has: the second of its kind ends in " #2"."""
    number, free = 1, name
    while free in names:
        number += 1
        free = f"{name} #{number}"
    names.add(free)
    return free
