"""Tiles that overlap, and a tile that turns a matrix: what is said of both pictures."""

from __future__ import annotations

import pytest

from gpu_course.lessons.shared_memory.shows import show_halo, show_transposition


def test_the_cells_of_each_tile_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    show_halo(8, 4, 1)
    said = capsys.readouterr().out
    assert "The tile of block 0 holds cells 0 to 4." in said
    assert "The tile of block 1 holds cells 3 to 7." in said
    assert "2 cells lie in two tiles." in said


def test_more_places_than_have_room_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    show_halo(40, 4, 1)
    assert "of at most 32 places together" in capsys.readouterr().out


def test_a_transposition_with_and_without_a_tile_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show_transposition()
    said = capsys.readouterr().out
    assert "write a column of out" in said and "out into a row of out" in said
