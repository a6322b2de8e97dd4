"""The published layouts of lesson 29, and the models that claim to explain them."""

from __future__ import annotations

from gpu_course.claims.published import forecasts, rows
from gpu_course.lessons.meshes.claims import layouts

LESSON = "29_meshes"


def test_every_layout_that_is_told_in_full_holds() -> None:
    shown = rows(LESSON)
    assert len(shown) >= 30
    assert [row.what for row in shown if row.holds is not True] == ["a pair of hosts, in each step"]


def test_six_are_asked_for_first() -> None:
    assert len({row.forecast.name for row in forecasts(LESSON) if row.forecast}) == 6


def test_gradients_between_pods_depend_on_which_gb_is_meant() -> None:
    gb = layouts.gigabytes_between_pods(540.35, 2, 768)
    assert round(gb, 1) == 1.4 and round(gb * 1e9 / 2**30, 1) == 1.3


def test_groups_and_devices_multiply() -> None:
    sizes = {"tp": 2, "dp": 3, "pp": 5}
    for axis, size in sizes.items():
        assert layouts.groups_of_axis(axis, **sizes) * size == layouts.devices_of_mesh(**sizes)
