"""Chains of real modules."""

from __future__ import annotations

from gpu_course.measure.chains import equal_stages, real_chain


def test_equal_stages_are_as_many_as_asked_for() -> None:
    assert len(equal_stages(1)[0]) == 1
    assert len(real_chain("equal", 7, 0)[0]) == 7
