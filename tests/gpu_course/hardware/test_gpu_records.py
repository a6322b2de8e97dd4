"""Records of real GPUs: what is written is read, and what is not there is None."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from gpu_course.hardware import records
from gpu_course.hardware.records import Record

CARD = {"name": "NVIDIA H200", "driver": "580.1", "l2_bytes": 60 << 20}
COPY = {"state": "timed", "seconds": 0.5, "least_bytes": 2_000}
TIMED = {
    "state": "timed",
    "sizes": {"size": 1000},
    "seconds": 0.25,
    "low_s": 0.2,
    "high_s": 0.5,
    "least_bytes": 800,
}
MADE = Record(
    gpu="nvidia-h200",
    part="timings",
    device=CARD,
    versions={"python": "3.12", "cupy": None},
    date="2026-11-23",
    commit="abc",
    finished=False,
    items={"copy": COPY, "01_threads/guard": TIMED, "01_threads/clip": {"state": "wrong"}},
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = records.write(MADE, tmp_path)
    assert path == tmp_path / "nvidia-h200" / "timings.json"
    assert records.records(root=tmp_path) == (MADE,)
    assert records.record("timings", "NVIDIA H200", tmp_path) == MADE
    assert [each.name for each in path.parent.iterdir()] == ["timings.json"]


def test_a_timing_stands_beside_the_copy_of_its_run(tmp_path: Path) -> None:
    records.write(MADE, tmp_path)
    for gpu in (None, "nvidia-h200", "NVIDIA H200"):
        found = records.timing("01_threads/guard", gpu, tmp_path)
        assert found is not None
        assert (found.device, found.driver, found.date) == ("NVIDIA H200", "580.1", "2026-11-23")
        assert (found.sizes, found.low_s, found.high_s) == ({"size": 1000}, 0.2, 0.5)
        assert (found.bytes_per_s, found.copy_bytes_per_s) == (3200, 4000)
        assert found.share_of_copy == 0.8


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    assert records.records(root=tmp_path) == ()
    assert records.record("timings", "nvidia-h200", tmp_path) is None
    assert records.timing("01_threads/guard", root=tmp_path) is None
    records.write(MADE, tmp_path)
    assert records.records("NVIDIA T4", tmp_path) == ()
    assert records.timing("01_threads/guard", "NVIDIA T4", tmp_path) is None
    assert records.timing("01_threads/clip", root=tmp_path) is None  # its result was wrong
    assert records.timing("01_threads/blocks", root=tmp_path) is None


def test_without_its_copy_a_timing_says_nothing(tmp_path: Path) -> None:
    items = {"01_threads/guard": TIMED, "copy": {"state": "hang"}}
    records.write(dataclasses.replace(MADE, items=items), tmp_path)
    assert records.timing("01_threads/guard", root=tmp_path) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"items": {}}', '{"surprise": 1}'])
def test_a_file_that_is_no_record_says_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "nvidia-h200").mkdir()
    (tmp_path / "nvidia-h200" / "timings.json").write_text(text)
    assert records.records(root=tmp_path) == ()


def test_a_write_that_fails_leaves_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = records.write(MADE, tmp_path)

    def fail(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no room"):
        records.write(dataclasses.replace(MADE, items={}), tmp_path)
    assert records.records(root=tmp_path) == (MADE,)
    assert [each.name for each in path.parent.iterdir()] == ["timings.json"]


def test_records_lie_in_the_checkout() -> None:
    assert records.folder() == Path(__file__).parents[3] / "benchmarks" / "records"
    assert all(found.items for found in records.records())
