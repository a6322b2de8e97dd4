"""GaLore's published memory: how far each cell is off."""

from __future__ import annotations

import pytest

from gpu_course.claims.published import rows

ROWS = rows("20_smaller_states")


def test_the_board_has_eight_cells_three_shares_and_two_runs() -> None:
    places = ["Table 2, memory"] * 8 + ["Abstract"] * 3 + ["7B on one card of 24 GB"] * 2
    assert [row.place for row in ROWS] == places
    # Neither the unit and the terms of the table are known, nor what "up to" is of. What the runs
    # held is known, and of one of them the count of tensors misses more than a tenth.
    assert [row.holds for row in ROWS] == [None] * 11 + [False, True]


@pytest.mark.parametrize(
    ("what", "mine"),
    [
        ("60M, plain Adam", 0.324),
        ("350M, plain Adam", 2.056),
        ("60M, GaLore, rank 128", 0.261),
        ("1B, GaLore, rank 512", 4.436),
        ("optimizer states saved", 65.11),
        ("the same of all memory", 63.77),
        ("256 tokens (llama_7b.sh)", 20.10),
        ("16 x 256, checkpointed (README)", 20.93),
    ],
)
def test_what_we_compute_is_not_moved_toward_what_was_printed(what: str, mine: float) -> None:
    (row,) = (row for row in ROWS if row.what == what)
    assert row.mine == pytest.approx(mine, rel=2e-3)
