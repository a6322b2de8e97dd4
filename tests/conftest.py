"""What every run of the tests says at its end: how many browser and GPU tests were left out."""

from __future__ import annotations

import pytest


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
