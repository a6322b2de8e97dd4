"""The published numbers of lesson 23: what is an identity of formulas, and what is left open."""

from __future__ import annotations

import pytest

from gpu_course.claims.kinds import Kind
from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.zero_and_fsdp.claims import zero as models
from gpu_course.lessons.zero_and_fsdp.memory_per_rank import memory
from gpu_course.units import GIB

LESSON = "23_zero_and_fsdp"


def test_every_cell_of_the_paper_is_the_formula_to_its_last_digit_or_cut_off() -> None:
    cells = [row for row in rows(LESSON) if row.paper.name == "ZeRO 2019" and row.unit == "GB"]
    assert len(cells) == 28
    for row in cells:
        decimals = len(row.printed.partition(".")[2])
        cut = int(row.mine * 10**decimals) / 10**decimals
        rounded = abs(row.mine - row.published) <= 0.5 * 10**-decimals
        assert rounded or row.published == cut, row.what


def test_only_cut_digits_an_old_page_and_swapped_words_are_outside_among_formulas() -> None:
    outside = {row.place for row in rows(LESSON) if not row.holds}
    assert outside == {
        "Table 1, large models",
        "2851M parameters on 8 GPUs",
        "Llama 3.1 8B with FSDP, share of the peak",
    }
    assert all(row.holds for row in rows(LESSON) if row.kind is not Kind.formula)


def test_the_page_of_deepspeed_is_the_older_rule() -> None:
    (row,) = (r for r in rows(LESSON, "2851M parameters on 8 GPUs") if r.what == "stage 2: GPU")
    older = (4 * 2851e6 + 16 * 2851e6 / 8) / GIB
    assert round(older, 2) == row.published != round(row.mine, 2)


def test_one_forecast_must_fail_and_three_are_near() -> None:
    asked = {row.forecast.name: row for row in forecasts(LESSON) if row.forecast is not None}
    assert {name for name, row in asked.items() if row.breaks} == {"fsdp-8-gpus"}
    near = [row for name, row in asked.items() if name != "fsdp-8-gpus"]
    assert len(near) == 3 and all(abs(row.mine / row.published - 1) < 0.03 for row in near)


@pytest.mark.parametrize("stage", range(4))
@pytest.mark.parametrize("ranks", [1, 4, 64])
def test_the_puzzle_without_buffers_is_the_formula_of_the_table(stage: int, ranks: int) -> None:
    parameters = 64 * 10**6
    unit = [parameters]
    by_puzzle = memory(unit, ranks, stage, 0)
    if stage == 3 and ranks > 1:
        by_puzzle -= 4 * parameters
    assert by_puzzle / 1e9 == pytest.approx(models.zero_gb(parameters / 1e9, ranks, stage))
