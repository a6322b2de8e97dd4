"""Every stub of the course: what a learner finds before the first line of an answer."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from authoring.checkout import read, stubs_file, write
from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.puzzle import KernelPuzzle, Puzzle, index

SOLUTIONS = Path(__file__).parents[2] / "solutions"
CELL_COLUMNS = 72
"""What a cell of JupyterLab shows of a line at half a window, 700 pixels, without wrapping it."""
PUZZLES = pytest.mark.parametrize("puzzle", index.puzzles(), ids=lambda puzzle: puzzle.name)


def test_solutions_and_catalogue_name_the_same_puzzles(stubs: dict[str, str]) -> None:
    assert sorted(stubs) == sorted(puzzle.name for puzzle in index.puzzles())


def test_the_stubs_shipped_with_the_package_are_those_of_the_solutions(
    root: Path, stubs: dict[str, str]
) -> None:
    assert json.loads(read(stubs_file(root))) == stubs, "run `make build`"


def test_every_stub_is_not_started(stubs: dict[str, str], tmp_path: Path) -> None:
    for name, text in stubs.items():
        write(tmp_path / f"{name}.py", text)
    found = {verdict.name: (verdict.status, verdict.points) for verdict in grade(answers=tmp_path)}
    assert found == dict.fromkeys(stubs, ("not-started", 0))


@PUZZLES
def test_a_stub_defines_its_functions_and_its_kernels_with_the_bare_decorator(
    puzzle: Puzzle, stubs: dict[str, str]
) -> None:
    found = {
        node.name: node
        for node in ast.parse(stubs[puzzle.name]).body
        if isinstance(node, ast.FunctionDef)
    }
    assert set(puzzle.functions) <= set(found)
    for name in puzzle.functions:
        decorators = [ast.unparse(decorator) for decorator in found[name].decorator_list]
        assert decorators == (["cuda.jit"] if isinstance(puzzle, KernelPuzzle) else [])
        assert tuple(arg.arg for arg in found[name].args.args) == puzzle.parameters[name]


@pytest.mark.parametrize(
    ("name", "diagnosis"),
    [("fix_the_race", "race"), ("fix_the_barrier", "barrier-divergence")],
)
def test_each_broken_kernel_of_a_stub_fails_in_an_otherwise_right_answer(
    name: str, diagnosis: str, root: Path, stubs: dict[str, str], tmp_path: Path
) -> None:
    puzzle = index.find(name)
    write(tmp_path / "stub.py", stubs[puzzle.name])
    for broken in puzzle.functions:
        answer = {
            function: f"{tmp_path / 'stub.py' if function == broken else solution}:{function}"
            for solution in [root / "solutions" / f"{puzzle.name}.py"]
            for function in puzzle.functions
        }
        verdict = check(name, answer=answer, seed=0)
        assert (verdict.status, verdict.diagnosis) == ("failed", diagnosis), verdict.message


@PUZZLES
def test_a_stub_says_where_the_answer_goes(puzzle: Puzzle, stubs: dict[str, str]) -> None:
    stub = stubs[puzzle.name]
    places = stub.count("# your code here (about ") + stub.count("# mend what follows")
    solution = (SOLUTIONS / f"{puzzle.name}.py").read_text(encoding="utf-8")
    assert places == len(re.findall(r"^ *# answer$", solution, flags=re.MULTILINE)) > 0
    assert not any(mark in stub for mark in ("# answer", "# end answer", "# stub:"))


@PUZZLES
def test_a_stub_fits_the_cell_it_is_shown_in(puzzle: Puzzle, stubs: dict[str, str]) -> None:
    lines = [f"%%puzzle {puzzle.short_name}", *stubs[puzzle.name].splitlines()]
    assert [line for line in lines if len(line) > CELL_COLUMNS] == []
