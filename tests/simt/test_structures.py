"""Arrays of structures: fields are cells that lie between other fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpu_course.errors import CourseError, KernelRefused
from gpu_course.simt.report import Report
from gpu_course.simulator import simulate

PARTICLE = np.dtype([("x", np.float32), ("y", np.float32), ("z", np.float32), ("kind", np.int32)])


def launch(tmp_path: Path, body: str, *arrays: Any) -> Report:
    path = tmp_path / "kernel.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(
        f"from numba import cuda\n@cuda.jit\ndef kernel(p, out):\n    i = cuda.grid(1)\n{lines}"
    )
    return simulate(f"{path}:kernel")[1, 32](*arrays)


def particles() -> np.ndarray:
    p = np.zeros(32, PARTICLE)
    for k, name in enumerate(PARTICLE.names or ()):
        p[name] = np.arange(32) + 100 * k
    return p


def test_fields_are_read_and_written(tmp_path: Path) -> None:
    p, out = particles(), np.zeros(32, np.float32)
    body = "p[i].x = p[i].y + 1\np[i].kind += 5\nout[i] = p[31 - i].z"
    report = launch(tmp_path, body, p, out)
    assert report.ok, report
    before = particles()
    np.testing.assert_array_equal(p["x"], before["y"] + 1)
    np.testing.assert_array_equal(p["kind"], before["kind"] + 5)
    np.testing.assert_array_equal(out, before["z"][::-1])


def test_one_field_of_all_costs_sectors_of_all(tmp_path: Path) -> None:
    counters = launch(tmp_path, "out[i] = p[i].x", particles(), np.zeros(32, np.float32)).counters
    assert counters.global_load.sectors == 16  # where 4 would hold the numbers asked for
    assert counters.global_load.excess_sectors == 12


def test_fields_race_and_end_like_any_cell(tmp_path: Path) -> None:
    out = np.zeros(32, np.float32)
    race = launch(tmp_path, "p[0].x = i", particles(), out)
    assert [h.kind for h in race.hazards] == ["race"]
    beyond = launch(tmp_path, "out[i] = p[i + 1].x", particles(), out)
    assert "p.x[32] is outside" in beyond.hazards[0].message
    apart = launch(tmp_path, "p[i].x = 1\np[i].y = 2", particles(), out)
    assert apart.ok


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        ("q = p[i]", "a whole structure is not held by a name"),
        ("out[i] = p[i].w", "has no .w"),
        ("p[i].w = 1", "an attribute cannot be assigned to"),
        ("p.x = 1", "an attribute cannot be assigned to"),
    ],
)
def test_what_structures_cannot_do(body: str, fact: str, tmp_path: Path) -> None:
    with pytest.raises(KernelRefused) as caught:
        launch(tmp_path, body, particles(), np.zeros(32, np.float32))
    assert fact in caught.value.fact


def test_fields_must_be_numbers(tmp_path: Path) -> None:
    odd = np.zeros(4, [("name", "U3"), ("x", np.float32)])
    with pytest.raises(CourseError, match="does not know the field name of p"):
        launch(tmp_path, "out[i] = 1", odd, np.zeros(32))
