"""What holds for every run of the tests, and what it says at its end about those left out."""

from __future__ import annotations

import pytest
from hypothesis import settings

# How long an example takes says nothing but how busy the machine is.
settings.register_profile("course", deadline=None)
settings.load_profile("course")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for mark, kind in (("browser", "browser"), ("gpu", "GPU")):
        skipped = [
            report
            for report in terminalreporter.stats.get("skipped", [])
            if mark in report.keywords
        ]
        if skipped:
            reasons = sorted({report.longrepr[2].removeprefix("Skipped: ") for report in skipped})
            terminalreporter.write_line(
                f"{kind} tests skipped: {len(skipped)} ({'; '.join(reasons)})"
            )
