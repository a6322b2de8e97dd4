"""The predictions of sealed rows: one for each, and each is what the models give.

Drawn: the rows of loads whose prediction is made again. All rows of streams are.
"""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from benchmarks.sealed import predict, score
from benchmarks.sealed.predict import CLASSES, PREDICTIONS, class_of
from gpu_course.claims.models import models_of
from gpu_course.lessons.experts.claims import other_runs as of_experts
from gpu_course.lessons.host_and_device.claims import host
from gpu_course.lessons.pipelines.claims import other_runs as of_pipelines
from gpu_course.lessons.plan_my_run.claims import other_runs as of_whole_runs
from gpu_course.lessons.shared_memory.claims import l1_loads
from gpu_course.lessons.warps.claims import streams
from gpu_course.lessons.zero_bubble.claims import engine
from tests.sampling import drawn, share

ROWS = predict.read()
PREDICTED = score.predictions()
MARGINS = np.array([each.margin for each in PREDICTED.values()])
LOADS = [row["id"] for row in ROWS if class_of(row["id"]) != "stream"]


def test_each_sealed_row_has_one_prediction_by_a_model_that_exists() -> None:
    stand = tomllib.loads(PREDICTIONS.read_text(encoding="utf-8"))["row"]
    assert [each["id"] for each in stand] == [row["id"] for row in ROWS]
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 1054
    known = models_of([l1_loads, streams, host, engine, of_pipelines, of_experts, of_whole_runs])
    for each in stand:
        assert set(each) == {"id", "value", "margin", "formula", "date"}
        assert each["formula"] in known
        assert each["value"] > 0 and 0 < each["margin"] < 0.5


def test_margins_are_no_wider_than_the_aims() -> None:
    """Half of them at most 15 %, none over 40 %."""
    assert np.median(MARGINS) <= 0.15
    assert MARGINS.max() <= 0.40


def made_again() -> list[str]:
    """The rows whose prediction is made anew."""
    part = share(24, of=len(LOADS))
    return [row["id"] for row in ROWS if row["id"] not in LOADS or drawn(row["id"], part)]


@pytest.mark.parametrize("name", made_again())
def test_a_prediction_is_what_the_models_give(name: str) -> None:
    (row,) = (row for row in ROWS if row["id"] == name)
    assert predict.predict(row) == PREDICTED[name]


def test_the_file_says_where_its_margins_come_from() -> None:
    text = PREDICTIONS.read_text(encoding="utf-8")
    assert text == predict.written(list(PREDICTED.values()))
    assert {class_of(name) for name in PREDICTED} == set(CLASSES)


@pytest.mark.parametrize(
    ("card", "kernel", "threads"),
    [("h200", "read", (256, 512, 1024)), ("h200", "scale", (256, 512, 1024))],
)
def test_the_farther_from_the_open_rows_the_wider_the_margin(
    card: str, kernel: str, threads: tuple[int, ...]
) -> None:
    rows = [PREDICTED[f"stream-{card}-{kernel}-{each}"] for each in threads]
    margins = [row.margin for row in rows]
    assert margins == sorted(margins) and margins[0] < margins[-1]
    assert [row.value for row in rows] == sorted(row.value for row in rows)
