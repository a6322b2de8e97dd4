"""Every small wrong change of a solution is rejected, or listed as no different with a reason.

`make test` looks at one mutant in sixteen; `make test-all` at each.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.authoring.mutation import describe, row_of
from gpu_course.catalog import KernelPuzzle, Puzzle, index
from tests.sampling import EVERYTHING, drawn

# Starting PyTorch once per mutant takes minutes, and so does a register-tiled product of matrices,
# which is checked for a third of a second: `make mutants` has those puzzles too.
SLOW = ("matmul_register", "matmul_double_buffered")
QUICK = [
    puzzle
    for puzzle in index.puzzles()
    if not getattr(puzzle, "torch", False) and puzzle.short_name not in SLOW
]


@pytest.mark.parametrize("puzzle", QUICK, ids=lambda puzzle: puzzle.name)
def test_the_grader_rejects_every_mutant(
    puzzle: Puzzle, root: Path, solutions: dict[str, str]
) -> None:
    def picks(name: str) -> bool:
        return drawn(f"{puzzle.name} {name}", 1 / 16)

    row = row_of(puzzle, root, picks)
    assert describe(row, solutions[puzzle.name]) == []
    assert set(row.equivalent) == set(filter(picks, puzzle.equivalent_mutants))
    if EVERYTHING and isinstance(puzzle, KernelPuzzle):
        # What kills them is the grader's own work, and not only the compiler's.
        judged = [reason for reason in row.killed.values() if reason != "refused"]
        assert len(judged) >= 10


@pytest.mark.parametrize("puzzle", index.puzzles(), ids=lambda puzzle: puzzle.name)
def test_an_equivalent_mutant_has_its_reason(puzzle: Puzzle) -> None:
    for name, reason in puzzle.equivalent_mutants.items():
        assert len(reason.split()) >= 4, name
