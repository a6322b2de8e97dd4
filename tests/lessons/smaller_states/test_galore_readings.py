"""Readings of GaLore's table: the first is the board's own, and each option moves what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_course.claims.published import rows
from gpu_course.lessons.smaller_states.claims.galore import MODELS
from gpu_course.lessons.smaller_states.galore_formulas import adam_numbers, galore_numbers
from gpu_course.lessons.smaller_states.galore_readings import (
    Reading,
    all_readings,
    as_text,
    cells,
    largest_difference,
    room_for_rank,
    room_text,
    terms,
    terms_text,
)
from gpu_course.measure.llama_shapes import Llama

TINY = Llama(hidden=4, mlp=8, layers=2, vocabulary=10)
# By hand, rank 3: four matrices of 4 by 4 and three of 4 by 8, twice; 40 numbers in each table.
IN_ONE = 4 * 16 + 3 * 32


def test_the_default_reading_is_the_boards() -> None:
    board = [row.mine for row in rows("20_smaller_states", "Table 2, memory")]
    assert [cell.mine for cell in cells(Reading())] == pytest.approx(board)


@pytest.mark.parametrize("rank", [1, 3, 4])
def test_the_default_terms_add_up_to_the_formulas(rank: int) -> None:
    counted = terms(TINY, rank, Reading())
    assert sum(counted.values()) == TINY.parameters + galore_numbers(TINY, rank).all
    assert sum(terms(TINY, None, Reading()).values()) == TINY.parameters + adam_numbers(TINY).all


@pytest.mark.parametrize(
    ("reading", "term", "numbers"),
    [
        (Reading(), "moments, projected", 2 * 2 * 3 * (4 * 4 + 3 * 8)),
        (Reading(), "bases", 2 * 3 * 7 * 4),
        (Reading(), "moments, whole", 2 * (80 + 5 * 4)),
        (Reading(bases=False), "bases", 0),
        (Reading(cut="longer"), "moments, projected", 2 * 2 * 3 * 7 * 4),
        (Reading(cut="longer"), "bases", 2 * 3 * (4 * 4 + 3 * 8)),
        (Reading(projected="attention"), "moments, projected", 2 * 2 * 3 * 4 * 4),
        (Reading(projected="attention"), "moments, whole", 2 * (2 * 3 * 32 + 100)),
        (Reading(projected="MLP"), "moments, whole", 2 * (2 * 4 * 16 + 100)),
        (Reading(projected="all seven and the head"), "moments, whole", 2 * 60),
        (Reading(embedding="tied"), "parameters", 2 * IN_ONE + 60),
        (Reading(parameters=False), "parameters", 0),
    ],
)
def test_each_option_moves_its_term(reading: Reading, term: str, numbers: int) -> None:
    assert terms(TINY, 3, reading)[term] == numbers


def test_no_reading_explains_the_table() -> None:
    found = list(all_readings())
    assert len(found) == len(set(found)) == 128
    assert min(map(largest_difference, found)) > 0.07
    assert max(sum(cell.to_the_digit for cell in cells(each)) for each in found) == 2


def test_the_room_for_a_rank_gives_the_printed_cell_back() -> None:
    for name, (model, rank) in MODELS.items():
        room = room_for_rank(name)
        below, above = (sum(terms(model, int(room) + n, Reading()).values()) for n in (0, 1))
        printed = next(c for c in cells(Reading()) if (c.model, c.method) == (name, "GaLore"))
        assert 2 * below / 2**30 <= printed.printed <= 2 * above / 2**30
        assert room < rank
    assert room_for_rank("60M", "GB") < 0


def test_the_text_has_a_line_for_each_model_and_one_for_the_whole() -> None:
    lines = as_text(Reading()).splitlines()
    assert [line.split()[0] for line in lines[1:5]] == list(MODELS)
    assert lines[3].split()[1:4] == ["2.06", "2.06", "-0.2%"]
    assert lines[-1] == "1 of 8 to the digit, the worst 9.9% off"
    assert "GB" not in as_text(replace(Reading(), unit="GB"))


def test_terms_and_room_are_told_in_a_line_each() -> None:
    lines = terms_text("350M").splitlines()
    assert [line[:20].strip() for line in lines] == [
        "parameters", "moments, projected", "bases", "moments, whole",
    ]  # fmt: skip
    assert f"{MODELS['350M'][0].parameters:,} numbers" in lines[0]
    room = room_text().splitlines()
    assert len(room) == 1 + len(MODELS)
    for line, (name, (_, rank)) in zip(room[1:], MODELS.items(), strict=True):
        first, paper, *inside = line.split()
        assert (first, int(paper)) == (name, rank) and all(int(each) < rank for each in inside)
