"""What a run left out is said at its end, with the command that runs it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import NO_COMPILER, pytest_terminal_summary


@pytest.mark.skipif(False, reason=NO_COMPILER)
def test_what_is_skipped_for_want_of_the_compiler_is_marked(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("compiler") is not None


@pytest.mark.skipif(False, reason="needs another thing")
def test_what_is_skipped_for_another_reason_is_not(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker("compiler") is None


def summary(*skipped: Any) -> list[str]:
    """Returns the lines at the end of a run in which these tests were skipped."""
    lines: list[str] = []
    config = SimpleNamespace(stash={}, args_source=None)
    reporter: Any = SimpleNamespace(
        config=config, stats={"skipped": list(skipped)}, write_line=lines.append
    )
    pytest_terminal_summary(reporter)
    return lines


def skipped(mark: str, reason: str) -> Any:
    return SimpleNamespace(keywords={mark: 1}, longrepr=("file", 1, f"Skipped: {reason}"))


def test_each_kind_has_its_line_and_the_compiler_s_names_the_command() -> None:
    without = skipped("compiler", NO_COMPILER)
    assert summary(without, without, skipped("gpu", "no driver"), skipped("other", "why")) == [
        "GPU tests skipped: 1 (no driver)",
        f"compiler tests skipped: 2 ({NO_COMPILER}); make test-compiled installs it and runs them",
    ]
    assert summary() == []
