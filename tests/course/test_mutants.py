"""Every small wrong change of a solution is rejected, or listed as no different with a reason.

`make test` looks at about as many mutants as five puzzles have, of the longest checks at fewer;
`make test-all` at all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from authoring.mutation import describe, row_of
from gpu_course.puzzle import KernelPuzzle, Puzzle, index
from tests.sampling import EVERYTHING, drawn, share

pytestmark = pytest.mark.long(48)

# Starting PyTorch once per mutant takes minutes: `make mutants` has those puzzles too.
QUICK = [puzzle for puzzle in index.puzzles() if not getattr(puzzle, "torch", False)]
PART = share(5, of=len(QUICK))
LONGEST = ("matmul_register", "matmul_double_buffered", "scan_lookback", "beat_zb_2p")
MANY = ("flash_attention", "flash_attention_causal", "flash_backward", "flash_decode")
MANY += ("attention_naive", "decode_attention_gqa", "layernorm_backward", "cross_entropy")
SMALLER_PARTS = dict.fromkeys(LONGEST, PART / 5) | dict.fromkeys(MANY, PART / 20)
"""Of register-tiled products, the scan by looking back and the search of a schedule: hundreds of
mutants, and long checks; of attention and its like: thousands."""
NOT_ALL_KNOWN = ("flash_attention", "flash_attention_causal", "flash_backward", "flash_decode")
NOT_ALL_KNOWN += ("decode_attention_gqa",)
"""Of these nobody has looked at every mutant yet, and so not every one that is no different is
listed: which are tried is the same in all draws."""
MAX_S = 3600


def _of(puzzle: Puzzle) -> Any:
    """A puzzle as a parameter; all mutants of some take longer than another test may."""
    marks = [pytest.mark.timeout(MAX_S)] if puzzle.short_name in SMALLER_PARTS else []
    return pytest.param(puzzle, id=puzzle.name, marks=marks)


@pytest.mark.parametrize("puzzle", [_of(puzzle) for puzzle in QUICK])
def test_the_grader_rejects_every_mutant(
    puzzle: Puzzle, root: Path, solutions: dict[str, str]
) -> None:
    part = SMALLER_PARTS.get(puzzle.short_name, PART)
    always_the_same = puzzle.short_name in NOT_ALL_KNOWN

    def picks(name: str) -> bool:
        return drawn(f"{puzzle.name} {name}", part, always_the_same=always_the_same)

    row = row_of(puzzle, root, picks)
    assert describe(row, solutions[puzzle.name]) == []
    exact = {name for name in puzzle.equivalent_mutants if not name.endswith(":*")}
    assert set(filter(picks, exact)) <= set(row.equivalent)
    assert row.killed or not row.equivalent, "a score that every mutant reaches asks for nothing"
    if EVERYTHING and isinstance(puzzle, KernelPuzzle):
        # What kills them is the grader's own work, and not only the compiler's.
        judged = [reason for reason in row.killed.values() if reason != "refused"]
        assert len(judged) >= 10


@pytest.mark.parametrize("puzzle", index.puzzles(), ids=lambda puzzle: puzzle.name)
def test_an_equivalent_mutant_has_its_reason(puzzle: Puzzle) -> None:
    for name, reason in puzzle.equivalent_mutants.items():
        assert len(reason.split()) >= 4, name
