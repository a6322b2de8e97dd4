"""`gpu-course doctor --published`: the board, and that a number outside a margin fails nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gpu_course.claims import board, published, sealed
from gpu_course.cli import main


def test_the_board_is_printed_with_its_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--published"]) == 0
    assert capsys.readouterr().out.strip() == board.whole().strip()


def test_the_board_as_json_holds_every_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--published", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert len(data["numbers"]) == len(published.rows())
    assert data["sealed"] == sealed.to_json(sealed.sealed())
    assert {"models", "calibration"} < set(data)


def test_a_number_too_far_off_is_shown_and_fails_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(published.rows()[0], model=lambda: 1e9, missing="")
    monkeypatch.setattr(published, "rows", lambda: (wrong,))
    assert main(["doctor", "--published"]) == 0
    told = capsys.readouterr().out
    assert " outside\n" in told and "Outside their margins:" in told
