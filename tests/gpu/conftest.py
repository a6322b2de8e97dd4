"""Marks everything here `gpu`, and skips it with the reason where no GPU can be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_course.hardware.run import why_no_gpu

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ours = [item for item in items if item.path.is_relative_to(HERE)]
    reason = why_no_gpu() if ours else ""
    for item in ours:
        item.add_marker(pytest.mark.gpu)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
