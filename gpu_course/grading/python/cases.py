"""One case of a Python puzzle: what goes in, what should come out, what stays out of sight."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gpu_course
from gpu_course.grading.seeds import randomness
from gpu_course.puzzle import Case, PerRank, PythonPuzzle
from gpu_course.puzzle.digits import to_seven_digits
from gpu_course.puzzle.harness.refusing import REFUSED


@dataclass(frozen=True)
class Tried:
    """A case as it was tried: what went in, and what should come out."""

    case: Case
    inputs: Mapping[str, Any]
    expected: Mapping[str, Any]

    @property
    def is_to_be_refused(self) -> bool:
        """Whether a ValueError is the one right answer, to every call there is."""
        expected = list(self.expected.values())
        while any(isinstance(each, list | tuple) for each in expected):
            lists = [each if isinstance(each, list | tuple) else [each] for each in expected]
            expected = [value for each in lists for value in each]
        refused = [isinstance(each, str) and each == REFUSED for each in expected]
        return bool(refused) and all(refused)


def prepare(puzzle: PythonPuzzle, case: Case, seed: int) -> Tried:
    """Returns a case with inputs drawn from a seed and the expected outputs."""
    with one_thread(puzzle):
        inputs = puzzle.inputs(randomness(puzzle, case, seed), case)
        expected = puzzle.reference(copy.deepcopy(inputs), case)
    return Tried(case, inputs, {name: _plain(value) for name, value in expected.items()})


def part_of(inputs: Mapping[str, Any], rank: int) -> dict[str, Any]:
    """Returns what one rank is given of the inputs.

    >>> part_of({"x": PerRank((10, 20)), "n": 2}, 1)
    {'x': 20, 'n': 2}
    """
    return {
        name: value.parts[rank] if isinstance(value, PerRank) else value
        for name, value in inputs.items()
    }


@contextmanager
def one_thread(puzzle: PythonPuzzle) -> Iterator[None]:
    """Has PyTorch work as it does in an answer's process: with one thread, sums in one order."""
    if not puzzle.torch or puzzle.ranks is not None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def own_diagnosis(puzzle: PythonPuzzle, tried: Tried, got: Mapping[str, Any]) -> str | None:
    """Returns the key under which the puzzle itself knows a wrong result, or None."""
    given = [copy.deepcopy(dict(v)) for v in (tried.inputs, tried.expected, got)]
    try:
        key = puzzle.diagnose and puzzle.diagnose(given[0], tried.case, given[1], given[2])
        if key is None and "seven-digits" in puzzle.diagnoses:
            return "seven-digits" if to_seven_digits(tried.expected, got) else None
        return key
    except Exception:
        # A result of another form than the pattern expects does not show the pattern.
        return None


def what_is_shown(
    puzzle: PythonPuzzle, tried: Tried, got: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Returns what a picture shows of a result, or None where there is nothing to draw."""
    if puzzle.shown is None:
        return None
    given = [copy.deepcopy(dict(v)) for v in (tried.inputs, tried.expected, got)]
    try:
        return puzzle.shown(given[0], tried.case, given[1], given[2])
    except Exception:
        # The verdict is what matters: it comes without the picture.
        return None


def hidden() -> list[str]:
    """Returns what an answer may not see even where a library's folder holds it."""
    package = Path(gpu_course.__path__[0]).resolve()
    checkout = package.parent
    is_checkout = (checkout / "solutions").is_dir() and (checkout / "pyproject.toml").is_file()
    return [str(checkout if is_checkout else package)]


def _plain(value: Any) -> Any:
    """Returns a tensor as an array, also inside tuples, lists and dicts."""
    if hasattr(value, "detach"):
        return value.detach().cpu().numpy()
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_plain(each) for each in value])
    return value
