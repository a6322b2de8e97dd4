"""What every run of the tests says at its end: how many browser tests were left out."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if "browser" in report.keywords
    ]
    if skipped:
        reasons = sorted({report.longrepr[2].removeprefix("Skipped: ") for report in skipped})
        terminalreporter.write_line(f"browser tests skipped: {len(skipped)} ({'; '.join(reasons)})")
