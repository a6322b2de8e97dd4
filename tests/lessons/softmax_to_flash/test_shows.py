"""What lesson 13 shows: films and explorers that draw, and records of tools that are not here."""

from __future__ import annotations

import importlib.util

import pytest

from benchmarks.record_triton_flash import made, source
from gpu_course.lessons.softmax_to_flash.shows import (
    FRAMES,
    compiled_record,
    compiled_table,
    online_film,
    own_film,
    own_traffic,
    tile_traffic,
    triton_record,
    triton_source,
    triton_table,
)
from gpu_course.notebook.interactive.explore import Explorer
from tests.course.puzzles.by_hand import SOLUTIONS


def test_a_film_of_a_row_has_a_picture_for_each_score() -> None:
    film = online_film([1.0, 3.0, 2.0])
    assert isinstance(film, Explorer) and film.controls["step"].max == 2
    film.controls["step"].value = 1
    assert "is multiplied by 0.135" in repr(film)


def test_too_long_a_row_is_told_and_not_drawn() -> None:
    assert "25 scores cannot be drawn" in repr(online_film(range(25)))


@pytest.mark.parametrize("rows", [1, 32, 96])
def test_tiles_are_drawn_beside_single_rows(rows: int) -> None:
    often = "once" if rows == 96 else f"{96 // rows} times"
    assert f"loaded {often};" in repr(tile_traffic(rows)).split("tiles of")[-1]


@pytest.fixture
def solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(SOLUTIONS))


def test_a_film_of_own_kernels_ends_with_all_that_they_load(solved: None) -> None:
    film = own_film("flash_attention")
    assert isinstance(film, Explorer) and film.controls["step"].max == FRAMES
    assert "loaded 0.25 times so far" in repr(film)
    film.controls["step"].value = FRAMES
    assert "loaded 3 times so far" in repr(film)


def test_own_kernels_are_drawn_side_by_side(solved: None) -> None:
    told = repr(own_traffic("flash_attention", "flash_attention_causal"))
    assert "loaded 3 times; 84 KiB" in told and "loaded 2 times; 60 KiB" in told


def test_before_there_is_an_answer_nothing_is_amiss(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path))
    assert "flash_attention" in repr(own_traffic("flash_attention"))
    assert not isinstance(own_film("flash_attention"), Explorer)


def test_the_record_of_triton_is_of_the_program_that_is_shown() -> None:
    assert triton_record()["source"] == source()
    assert repr(triton_source()) == source().rstrip()
    assert max(len(line) for line in source().splitlines()) <= 72


def test_tritons_interpreter_agreed_with_torch() -> None:
    tried = triton_record()["interpreted"]
    assert tried["n"] % tried["tr"] and tried["m"] % tried["tk"]
    assert max(tried["worst_out"], tried["worst_lse"]) < 1e-6


def test_tables_of_records_fit() -> None:
    for table in (triton_table(), compiled_table()):
        assert max(map(len, repr(table).splitlines())) <= 70
    assert [line.split()[0] for line in repr(triton_table()).splitlines()[3:6]] == list(
        triton_record()["capabilities"]
    )


def test_a_compiler_knows_plain_attention_by_sight_and_nothing_beside_it() -> None:
    ways = compiled_record()["ways"]
    found = {name: (way["fused_calls"], way["score_buffers"]) for name, way in ways.items()}
    assert found["three lines"][0] > 0 == found["three lines"][1]
    assert found["soft cap"][0] == 0 < found["soft cap"][1]
    assert found["soft cap, flex"] == (0, 0)


@pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="Triton is 286 MB, and not installed here"
)
def test_triton_makes_the_record_again() -> None:
    anew, kept = made(), triton_record()
    assert anew["capabilities"] == kept["capabilities"] or anew["versions"] != kept["versions"]
