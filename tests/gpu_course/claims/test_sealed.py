"""What the board says of sealed measurements: how many wait, and what became of opened ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.sealed import predict, score
from gpu_course.claims import sealed
from gpu_course.claims.sealed import Standing

SALT = "8f3a"
VALUES = {"banks-a": "2.0", "banks-b": "5", "vtrain-multi-3": "440.0"}
"""Made up: what was measured, by the names of rows."""


def a_folder(where: Path, opened: dict[str, str], sealed_as: dict[str, str] = VALUES) -> Path:
    """Writes two rows with seals, one without, three predictions, and values that are opened."""
    seals = {name: sealed.seal_of(name, value, SALT) for name, value in sealed_as.items()}
    (where / "rows.toml").write_text(
        "".join(
            f'[[row]]\nid = "{name}"\nlesson = 4\nseal = "{seals[name]}"\n'
            for name in ("banks-a", "banks-b")
        )
    )
    (where / "vtrain_multi_sealed_inputs.csv").write_text("row,gpus\n3,64\n")
    (where / "predictions.toml").write_text(
        '[[row]]\nid = "banks-a"\nvalue = 2.0\nmargin = 0.01\nformula = "f"\ndate = "d"\n'
        '[[row]]\nid = "banks-b"\nvalue = 4.0\nmargin = 0.03\nformula = "f"\ndate = "d"\n'
        '[[row]]\nid = "vtrain-multi-3"\nvalue = 400.0\nmargin = 0.1\nformula = "f"\ndate = "d"\n'
    )
    if opened:
        (where / "opened.toml").write_text(
            "".join(
                f'[[row]]\nid = "{name}"\nvalue = {value}\nsalt = "{SALT}"\n'
                for name, value in opened.items()
            )
        )
    return where


def told(where: Path) -> list[str]:
    return sealed.told(sealed.sealed(where)).splitlines()


def test_the_predictions_of_the_checkout_are_all_there() -> None:
    found = sealed.sealed()
    assert found is not None and sealed.folder() == predict.HERE
    assert {each.id for each in found.standings} == set(score.predictions())
    assert len(found.standings) == len(score.predictions()) > 1000
    assert {each.lesson for each in found.standings} >= {2, 4, 8, 26, 27, 30}


def test_while_nothing_is_opened_predictions_and_margins_are_told(tmp_path: Path) -> None:
    assert told(a_folder(tmp_path, {}))[1:] == [
        "            predicted  opened  inside  outside  median margin  widest",
        "  lesson 04         2       0       0        0            2 %     3 %",
        "  lesson 30         1       0       0        0           10 %    10 %",
        "  all               3       0       0        0            3 %    10 %",
    ]


def test_a_miss_stays_and_says_how_far_it_was(tmp_path: Path) -> None:
    lines = told(a_folder(tmp_path, VALUES))
    assert lines[2:5] == [
        "  lesson 04         2       2       1        1            2 %     3 %",
        "  lesson 30         1       1       1        0           10 %    10 %",
        "  all               3       3       2        1            3 %    10 %",
    ]
    assert lines[5:] == ["  outside: banks-b: 4 predicted, 5 measured, +25 %, margin 3 %"]


def test_a_value_at_the_very_end_of_its_margin_is_inside() -> None:
    assert Standing("a", 4, 2.0, 0.005, 2.01).inside
    assert Standing("a", 4, 2.0, 0.005, 1.989).inside is False
    assert Standing("a", 4, 2.0, 0.005).inside is None


def test_another_value_than_the_sealed_one_is_called_by_its_name(tmp_path: Path) -> None:
    changed = VALUES | {"banks-b": "4.0"}
    found = sealed.sealed(a_folder(tmp_path, changed))
    assert found is not None
    assert {each.id: each.whole for each in found.standings} == {
        "banks-a": True, "banks-b": False, "vtrain-multi-3": None,
    }  # fmt: skip
    assert told(tmp_path)[-1] == "  broken seal: banks-b: this is not the value that was sealed"


def test_an_opened_row_without_a_prediction_is_told(tmp_path: Path) -> None:
    assert told(a_folder(tmp_path, {"banks-z": "1.0"}))[-1] == "  no prediction: banks-z"


def test_nothing_is_said_without_a_checkout(tmp_path: Path) -> None:
    assert sealed.sealed(tmp_path) is None
    assert sealed.told(None) == "" and sealed.to_json(None) is None


def test_no_line_is_too_wide(tmp_path: Path) -> None:
    assert max(map(len, told(a_folder(tmp_path, VALUES)))) <= sealed.WIDTH


@pytest.mark.parametrize("opened", [{}, VALUES])
def test_the_data_say_the_same(tmp_path: Path, opened: dict[str, str]) -> None:
    found = sealed.sealed(a_folder(tmp_path, opened))
    assert found is not None
    data = sealed.to_json(found)
    assert data is not None
    assert [each["inside"] for each in data] == [each.inside for each in found.standings]
