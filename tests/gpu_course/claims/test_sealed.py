"""What the board says of sealed measurements: how many predictions wait for their values."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.sealed import predict, score
from gpu_course.claims import published, sealed


def test_the_predictions_of_the_checkout_are_counted() -> None:
    assert sealed.predictions_file() == predict.PREDICTIONS
    assert sealed.predictions() == len(score.predictions()) > 0


def test_they_are_the_last_two_lines_of_the_board(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "predictions.toml"
    file.write_text('[[row]]\nid = "a"\n[[row]]\nid = "b"\n[[row]]\nid = "c"\n')
    monkeypatch.setattr(sealed, "predictions_file", lambda: file)
    shown = published.rows()[:2]
    *_, empty, number, how = published.board(shown).splitlines()
    assert empty == ""
    assert number.startswith("3 predictions of sealed measurements are committed")
    assert how.endswith("python -m benchmarks.sealed.score")
    assert max(len(number), len(how)) <= published.WIDTH
    assert published.to_json(shown)["sealed_predictions"] == 3


def test_nothing_is_said_without_a_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sealed, "predictions_file", lambda: tmp_path / "predictions.toml")
    shown = published.rows()[:2]
    assert published.board(shown).endswith(published.count(shown))
    assert published.to_json(shown)["sealed_predictions"] is None


def test_one_prediction_is_no_plural() -> None:
    assert sealed.told(1).startswith("1 prediction of a sealed measurement is committed")
