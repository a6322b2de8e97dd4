"""What of the grader's own environment a child is started with, and what a start leaves."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from authoring.execution import SAME_INSTRUCTIONS
from gpu_course.isolation import servers
from gpu_course.isolation.processes import started
from gpu_course.isolation.ranks import started_ranks


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


@pytest.mark.skipif(not servers.available(), reason="there is no forkserver to wait for")
@pytest.mark.parametrize("start", [started, lambda name: started_ranks(name, 1, own_network=False)])
def test_no_folder_is_there_while_a_forkserver_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, start: Callable[[str], Any]
) -> None:
    """It takes seconds, and whoever is killed meanwhile removes nothing."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = []

    def starts(*_: str) -> None:
        held.extend(tmp_path.iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(servers, "forkserver", starts)
    with pytest.raises(KeyboardInterrupt), start("numpy"):
        pass
    assert held == []
    assert not list(tmp_path.iterdir())
