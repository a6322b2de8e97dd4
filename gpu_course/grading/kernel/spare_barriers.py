"""Barriers an answer could do without: each is left out in turn, and the cases run again."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.trial import Given
from gpu_course.puzzle import KernelPuzzle
from simt.errors import KernelRefused
from simt.kernel.source import Kernel

BARRIER = "syncthreads"


@dataclass(frozen=True)
class Spare:
    """Barriers that can go: without any one of them all cases are right, and nothing races.

    Attributes:
        kernel: the kernel they stand in.
        lines: a line for each of them.
        all_at_once: True where all cases are right without all of them, too.
    """

    kernel: Kernel
    lines: tuple[int, ...]
    all_at_once: bool


def spare_barriers(
    puzzle: KernelPuzzle, givens: Sequence[Given], function: str, kernels: Mapping[str, Kernel]
) -> Spare | None:
    """Returns the barriers of a kernel that can be left out, or None where all are needed.

    A race does not depend on the order in which a trial happens to run, so that one trial of each
    case tells.

    Args:
        puzzle: the puzzle.
        givens: the cases that the answer was right in.
        function: the kernel; only barriers in its own text are left out.
        kernels: the answer's kernels by name.
    """
    whole = kernels[function]

    def can_do_without(numbers: Iterable[int]) -> bool:
        changed = {**kernels, function: _without(whole, frozenset(numbers))}
        return all(_is_right(puzzle, given, changed) for given in givens)

    places = _barriers(whole.tree)
    found = [number for number in range(len(places)) if can_do_without([number])]
    if not found:
        return None
    lines = tuple(dict.fromkeys(places[number].lineno for number in found))
    return Spare(whole, lines, len(found) == 1 or can_do_without(found))


def _barriers(tree: ast.FunctionDef) -> list[ast.Expr]:
    """The statements that are a barrier and nothing else, in the order of `ast.walk`."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Expr) and _is_barrier(node)]


def _is_barrier(node: ast.Expr) -> bool:
    called = node.value.func if isinstance(node.value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == BARRIER


def _without(kernel: Kernel, numbers: frozenset[int]) -> Kernel:
    tree = copy.deepcopy(kernel.tree)
    for number, node in enumerate(_barriers(tree)):
        if number in numbers:
            node.value = ast.copy_location(ast.Constant(None), node.value)
    return replace(kernel, tree=tree)


def _is_right(puzzle: KernelPuzzle, given: Given, kernels: Mapping[str, Kernel]) -> bool:
    try:
        tried = trial.attempt(given, kernels, 0)
    except KernelRefused:
        return False
    return not any(hazard.severity == "error" for hazard in tried.hazards) and all(
        bool(trial.is_right(tried, name, puzzle).all()) for name in given.expected
    )
