"""Roofs of cards: what a data sheet gives, and what a record says of a solution."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpu_course.errors import CourseError, UnknownName
from gpu_course.hardware import records
from gpu_course.hardware.datasheet import devices
from gpu_course.lessons.roofline.roofs import FLOAT32, TENSOR, Roof, recorded_bytes_per_s, roof
from gpu_course.lessons.roofline.this_cpu import polynomial, seconds_of, three_times

SMALL = Roof("a small machine", 1000.0, 100.0)


def test_the_roof_is_the_lower_of_the_slope_and_the_flat() -> None:
    assert SMALL.ridge == 10.0
    assert [SMALL.attainable(x) for x in (0.5, 10.0, 40.0)] == [50.0, 1000.0, 1000.0]
    assert [SMALL.bound(x) for x in (9.99, 10.0, 11)] == ["bandwidth", "compute", "compute"]


def test_the_floor_is_the_longer_of_two_times() -> None:
    assert SMALL.floor_s(2000, 100) == 2.0
    assert SMALL.floor_s(2000, 500) == 5.0
    # At the floor's own rate a kernel stands on the roof.
    for flop, moved in ((2000, 100), (2000, 500), (1, 1)):
        assert flop / SMALL.floor_s(flop, moved) == pytest.approx(SMALL.attainable(flop / moved))


@pytest.mark.parametrize("card", devices(), ids=lambda card: card.name)
def test_every_card_has_both_roofs(card) -> None:
    plain, tensor = roof(card), roof(card.name, TENSOR)
    assert plain.name == f"{card.name}, {FLOAT32}"
    assert plain.bytes_per_s == tensor.bytes_per_s == card.bandwidth_bytes_per_s
    assert plain.ridge == card.fp32_ridge_flop_per_byte
    assert tensor.ridge == card.ridge_flop_per_byte
    assert tensor.ridge > plain.ridge


def test_what_no_data_sheet_says_is_told() -> None:
    with pytest.raises(UnknownName):
        roof("H1000")
    with pytest.raises(CourseError, match="choose float32 or tensor cores"):
        roof("H100", "float64")


ITEM = {
    "state": "timed", "seconds": 0.5, "low_s": 0.4, "high_s": 0.6, "least_bytes": 1000, "sizes": {}
}  # fmt: skip


def write(root: Path, gpu: str, **items: dict[str, object]) -> None:
    found = {"copy": ITEM, **items}
    records.write(records.Record(gpu, "timings", {}, {}, "2026-01-01", items=found), root)


def test_a_rate_is_known_only_from_a_record_of_that_card(tmp_path: Path) -> None:
    assert recorded_bytes_per_s("reverse", "H200", tmp_path) is None
    write(tmp_path, "nvidia-h200", reverse=ITEM)
    assert recorded_bytes_per_s("reverse", "H200", tmp_path) == 2000.0
    assert recorded_bytes_per_s("turn", "H200", tmp_path) is None
    for other in ("H20", "H100", "RTX 4090"):
        assert recorded_bytes_per_s("reverse", other, tmp_path) is None
    write(tmp_path, "nvidia-geforce-rtx-4090", reverse=ITEM)
    assert recorded_bytes_per_s("reverse", "RTX 4090", tmp_path) == 2000.0


def test_a_run_that_failed_says_nothing(tmp_path: Path) -> None:
    write(tmp_path, "nvidia-h200", reverse={**ITEM, "state": "failed"})
    assert recorded_bytes_per_s("reverse", "H200", tmp_path) is None


@pytest.mark.parametrize("degree", [1, 3])
def test_the_operation_that_is_timed_is_a_polynomial(degree: int) -> None:
    a = np.linspace(0.5, 0.9, 100, dtype=np.float32)
    out = np.zeros_like(a)
    polynomial(degree)(out, a)
    expected = sum(a.astype(np.float64) ** k for k in range(1, degree + 2))
    np.testing.assert_allclose(out, expected, rtol=1e-5)


def test_three_times_are_times() -> None:
    assert all(0 < seconds < 60 for seconds in three_times(64, 1))
    calls = []
    assert seconds_of(calls.append, 1) > 0
    assert len(calls) > 2
