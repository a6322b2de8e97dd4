"""Sealed rows: a prediction needs no more than their inputs, and opened values are scored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from benchmarks.sealed import predict, score
from benchmarks.sealed.predict import Prediction

ROWS = predict.read()
SEAL = re.compile("[0-9a-f]{24}")


def test_no_row_has_its_value_beside_its_seal() -> None:
    for row in ROWS:
        assert "value" not in row and "iteration_ms" not in row["inputs"]
        assert SEAL.fullmatch(row.get("seal", "0" * 24))
        assert row["inputs"]


def test_rows_of_vtrain_without_a_seal_come_from_files_of_inputs() -> None:
    """775 rows, of which eleven have a seal in rows.toml too; each comes once."""
    bare = [row["id"] for row in ROWS if "seal" not in row]
    assert len(bare) == 55 + 720 - 11 and len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(name.startswith(("vtrain-single-", "vtrain-multi-")) for name in bare)
    assert "vtrain-multi-0" not in bare and "vtrain-multi-3" in bare


def test_a_row_without_a_seal_is_scored_and_told_apart() -> None:
    name = "vtrain-multi-3"
    guess = {name: Prediction(name, 3600.0, 0.1, "planned_vtrain_ms")}
    opened = score.opened(f'[[row]]\nid = "{name}"\nvalue = 3700.5\nsalt = ""\n')
    scored, unknown = score.score(opened, [{"id": name}], guess)
    assert unknown == [] and scored[0].sealed is None and scored[0].inside
    assert "1 came without a seal" in score.told(scored, unknown)
    scored, _ = score.score(opened, [], guess)
    assert scored[0].sealed is False


def test_no_prediction_reads_more_than_the_inputs_and_the_open_rows() -> None:
    """The same row with another seal and another name of its source is predicted alike."""
    row = next(row for row in ROWS if row["id"] == "stream-v100-read-256")
    other = {"id": row["id"], "inputs": row["inputs"]}
    assert predict.predict(other) == predict.predict(row)


def test_a_name_that_does_not_fit_its_inputs_is_refused() -> None:
    row = {"id": "banks-float-stride-6", "inputs": {"stride_or_width": 7}}
    with pytest.raises(ValueError, match="banks-float-stride-6 has the input 7"):
        predict.predict(row)


def test_rows_of_other_subjects_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "rows.toml"
    file.write_text('[[row]]\nid = "deepep-dispatch-16"\n[[row]]\nid = "banks-float-stride-6"\n')
    assert [row["id"] for row in predict.read(file)] == ["banks-float-stride-6"]


# Scores

SALT = "8f3a"
GUESSED = {
    "banks-float-stride-6": Prediction("banks-float-stride-6", 2.0, 0.01, "data_wavefronts"),
    "banks-float-stride-12": Prediction("banks-float-stride-12", 4.0, 0.01, "data_wavefronts"),
    "stream-v100-read-256": Prediction("stream-v100-read-256", 400.0, 0.1, "loaded_gb_per_s"),
}
MADE_UP = {
    "banks-float-stride-6": "2.0",
    "banks-float-stride-12": "5",
    "stream-v100-read-256": "440.0",
}


def sealed(values: dict[str, str]) -> list[dict[str, Any]]:
    return [{"id": name, "seal": score.seal_of(name, v, SALT)} for name, v in values.items()]


def file_of(values: dict[str, str]) -> str:
    return "".join(
        f'[[row]]\nid = "{name}"\nvalue = {value}\nsalt = "{SALT}"\n'
        for name, value in values.items()
    )


def test_each_class_is_counted_and_what_is_outside_is_named() -> None:
    scored, unknown = score.score(score.opened(file_of(MADE_UP)), sealed(MADE_UP), GUESSED)
    assert score.told(scored, unknown).splitlines() == [
        "banks: 1 of 2 inside; at most 25.0% off",
        "  outside: banks-float-stride-12: 4 predicted, 5 measured, +25.0% with a margin of 1.0%",
        "stream: 1 of 1 inside; at most 10.0% off",
        "2 of 3 predictions inside their margins",
    ]


@pytest.mark.parametrize(
    ("measured", "inside"), [(440.0, True), (440.1, False), (360.0, True), (359.9, False)]
)
def test_the_edge_of_a_margin_is_inside(measured: float, inside: bool) -> None:
    guess = GUESSED["stream-v100-read-256"]
    assert score.Scored(guess, measured, True).inside is inside


@pytest.mark.parametrize(("written", "hashed"), [("4", "4.0"), ("4.0", "4"), ("4.0", "4.0")])
def test_a_whole_number_fits_its_seal_however_it_is_written(written: str, hashed: str) -> None:
    value = score.Opened("a-row", written, SALT)
    assert value.fits(score.seal_of("a-row", hashed, SALT))
    assert not value.fits(score.seal_of("a-row", "4.1", SALT))
    assert not value.fits(score.seal_of("another-row", hashed, SALT))
    assert not value.fits("")


def test_a_value_that_was_changed_breaks_its_seal() -> None:
    changed = {**MADE_UP, "banks-float-stride-12": "4"}
    scored, unknown = score.score(score.opened(file_of(changed)), sealed(MADE_UP), GUESSED)
    text = score.told(scored, unknown)
    assert [each.predicted.id for each in scored if not each.sealed] == ["banks-float-stride-12"]
    assert "broken seal: banks-float-stride-12" in text


@pytest.mark.parametrize(
    ("values", "status"),
    [(MADE_UP, 0), ({**MADE_UP, "banks-float-stride-6": "2.5"}, 1), ({"no-such-row": "1"}, 1)],
    ids=["whole", "broken", "unknown"],
)
def test_the_command_ends_with_what_became_of_the_seals(
    values: dict[str, str], status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    opened, rows, predicted = (tmp_path / f"{name}.toml" for name in ("opened", "rows", "own"))
    opened.write_text(file_of(values))
    rows.write_text(
        "".join(f'[[row]]\nid = "{r["id"]}"\nseal = "{r["seal"]}"\n' for r in sealed(MADE_UP))
    )
    predicted.write_text(predict.written(list(GUESSED.values())))
    if status:
        with pytest.raises(typer.Exit) as left:
            score.main(opened, rows, predicted)
        assert left.value.exit_code == status
    else:
        score.main(opened, rows, predicted)
    said = capsys.readouterr().out
    assert ("broken seal: banks-float-stride-6" in said) == ("2.5" in values.values())
    assert ("no prediction: no-such-row" in said) == ("no-such-row" in values)


def test_what_predict_writes_is_what_score_reads(tmp_path: Path) -> None:
    file = tmp_path / "predictions.toml"
    file.write_text(predict.written(list(GUESSED.values())))
    assert score.predictions(file) == GUESSED
