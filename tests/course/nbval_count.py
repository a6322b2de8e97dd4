"""A pytest plugin for the runs of nbval: writes down what nbval compared in each cell."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

OPTION = "--count-compared"


def pytest_addoption(parser: pytest.Parser) -> None:
    # This is called before nbval is loaded. What reads notebooks would build a grammar of
    # addresses, which no notebook needs: a second and a half of processor time in each run.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    parser.addoption(OPTION, metavar="FILE", help="where the JSON with the counts goes")


def pytest_configure(config: pytest.Config) -> None:
    target = config.getoption(OPTION)
    if target is not None:
        config.pluginmanager.register(Recorder(Path(target)), "count-compared")


class Recorder:
    """Keeps, per cell, its outcome and the kinds of output that nbval laid side by side."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.outcomes: dict[str, str] = {}
        self.compared: dict[str, set[str]] = defaultdict(set)
        self._watch()

    def _watch(self) -> None:
        """Notes each comparison that nbval makes, in this process of pytest alone."""
        from nbval.plugin import IPyNbCell

        compare = IPyNbCell.compare_outputs
        recorder = self

        def compare_and_note(cell: Any, test: Any, ref: Any, skip_compare: Any = None) -> bool:
            same = compare(cell, test, ref, skip_compare)
            skipped = skip_compare or cell.parent.skip_compare
            for output in ref:
                kinds = set(output.get("data", ())) | ({"text"} & set(output))
                recorder.compared[cell.name] |= kinds - set(skipped)
            return bool(same)

        IPyNbCell.compare_outputs = compare_and_note

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.nodeid.rpartition("::")[2]] = report.outcome

    def pytest_sessionfinish(self) -> None:
        cells = {
            name: {"outcome": outcome, "compared": sorted(self.compared.get(name, ()))}
            for name, outcome in self.outcomes.items()
        }
        self.target.write_text(json.dumps(cells), encoding="utf-8")
