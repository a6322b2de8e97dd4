"""What of the grader's own environment a child is started with."""

from __future__ import annotations

import pytest

from gpu_course.authoring.execution import SAME_INSTRUCTIONS
from gpu_course.isolation import servers


@pytest.mark.parametrize("name", [*SAME_INSTRUCTIONS, "MKL_ENABLE_INSTRUCTIONS"])
def test_sums_are_taken_with_the_same_instructions_here_and_in_a_child(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "AVX2")
    assert servers.environment()[name] == "AVX2"
    monkeypatch.delenv(name)
    assert name not in servers.environment()


def test_nothing_else_of_the_users_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "1")
    assert "A_SECRET" not in servers.environment()
