"""Tests of kernels without a GPU: `pytest -p simt.pytest`.

`numba.cuda` is the simulator for the whole run, so that tests that skip for want of a GPU run. A
test fails in whose launches there was a hazard, with the hazard as its message; its fixtures' are
among them, and those of the processes it started. What is launched outside any test, as a module is
imported or after the last one, fails the run. With a baseline, what was found before is let pass,
and only what is new fails.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import json
import os
import sys
from collections.abc import Generator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from simt.errors import UserError, file_problem
from simt.files import write_text
from simt.foreign import stand_in
from simt.foreign.dispatcher import GPU
from simt.foreign.formats import as_text
from simt.foreign.journal import NONE, VARIABLE, Entry, Journal
from simt.foreign.launches import Finding, Launches
from simt.foreign.rules import Rules, read_rules, severities
from simt.report import Counters

_STATE = pytest.StashKey["State"]()
FIELDS = ("test", "kernel", "kind", "line", "other_line", "array")
Known = tuple[str, ...]
"""A finding as a baseline names it: test, kernel, kind, the text of its line and of the other one
that it is between, and the array."""


class State:
    """What a run of tests found.

    Args:
        launches: what the tests' launches go to.
        baseline: what was found before.
        writes: True where a baseline is written, and nothing fails.
    """

    def __init__(self, launches: Launches, baseline: set[Known], writes: bool) -> None:
        self.launches = launches
        self.baseline = baseline
        self.writes = writes
        self.found: set[Known] = set()
        self.passed_over = 0
        self.unwritten = ""
        self.outside: dict[str, str] = {}
        """{where, outside any test: what was found there}."""

    def taken(self, where: str) -> tuple[str, bool]:
        """Returns what was launched since this was last asked, and whether it fails the run.

        Args:
            where: the test, or what was going on instead.
        """
        self.launches.gather()
        errors = [each for each in self.launches.findings if each.severity == "error"]
        new = 0
        for each in errors:
            names = known(where, each)
            self.found |= names
            new += not names <= self.baseline
        self.passed_over += len(errors) - new
        text = as_text(self.launches)
        self.launches.forget()
        return text, bool(new) and not self.writes

    def take_outside(self, where: str) -> None:
        """Keeps what was launched since `taken` was last asked, where it fails the run."""
        text, fails = self.taken(where)
        if fails:
            self.outside[where] = text


def known(test: str, finding: Finding) -> set[Known]:
    """Returns what a baseline calls a finding: it holds while its lines read the same."""
    hazard = finding.hazard
    other = hazard.details.get("other_line")
    lines = [_line_as_named(hazard.file, hazard.line)]
    lines += [_line_as_named(hazard.file, other) if isinstance(other, int) else ""]
    return {
        (test, finding.kernel, hazard.kind, *lines, array) for array in finding.arrays or {"": None}
    }


@lru_cache(maxsize=256)
def _line_as_named(file: str, line: int) -> str:
    """Returns the text of a line; with a number where its function has the same text above it."""
    try:
        text = Path(file).read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError):
        return ""
    lines = [each.strip() for each in text.split("\n")]
    functions = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    before = lines[max(functions, default=1) - 1 : line - 1].count(lines[line - 1])
    return lines[line - 1] + (f"  # {before + 1} of this text" if before else "")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("simt", "kernels for numba.cuda on the simulator")
    group.addoption("--gpu-rules", metavar="TOML", help="severities, and hazards to let pass")
    group.addoption(
        "--gpu-severity",
        metavar="KIND=error|advice|off",
        action="append",
        default=[],
        help="how severe a kind of hazard is",
    )
    group.addoption(
        "--gpu-baseline", metavar="JSON", help="let pass what this file holds; fail on what is new"
    )
    group.addoption(
        "--gpu-write-baseline", metavar="JSON", help="write what is found to this file, and pass"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    # Before any file of the project is imported, a conftest.py as well, which may launch something;
    # and not when this module is, which only looks.
    options = early_config.known_args_namespace
    try:
        rules = read_rules(Path(options.gpu_rules)) if options.gpu_rules else Rules()
        rules = rules.with_severities(severities(options.gpu_severity))
        baseline = _read_baseline(options.gpu_baseline)
    except UserError as error:
        raise pytest.UsageError(str(error)) from None
    kept = contextlib.ExitStack()
    journal = kept.enter_context(Journal.made())
    state = State(Launches(rules, journal=journal), baseline, bool(options.gpu_write_baseline))
    early_config.stash[_STATE] = state
    # The first one here is the last to run at the end, after whatever a test has left there.
    given = os.environ.get(VARIABLE) if "PYTEST_XDIST_WORKER" in os.environ else None
    above = Journal(Path(given)) if given else None
    atexit.register(_at_exit, state, kept, os.getpid(), above)
    GPU.launcher = state.launches.launch
    if journal is not None:
        os.environ.update(journal.reached(os.environ))
    stand_in.install()


def _at_exit(state: State, kept: contextlib.ExitStack, process: int, above: Journal | None) -> None:
    """Ends the run with a failure where something was launched after its last line.

    Args:
        state: of this process.
        kept: what is to be removed now.
        process: the one that this was registered in; a fork of it has nothing to tell.
        above: of the process that sums up, in a worker of xdist.
    """
    if os.getpid() != process:
        return
    state.launches.gather()
    if above is not None:
        for each in state.launches.findings:
            above.write(Entry(each.hazard.file, each.kernel, (each.hazard,), Counters()))
    text, fails = state.taken("the end of the interpreter")
    kept.close()
    if fails:
        print(f"GPU kernels, at the end of the interpreter:\n{text}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(pytest.ExitCode.TESTS_FAILED)


def _read_baseline(path: str | None) -> set[Known]:
    if not path:
        return set()
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
        return {tuple(row[name] for name in FIELDS) for row in rows}
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise UserError(
            f"{path} is no baseline: {_words(error)}", "write one with --gpu-write-baseline"
        ) from None


def _words(error: Exception) -> str:
    return f"its rows have no {error}" if isinstance(error, KeyError) else str(error)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    state = collector.config.stash[_STATE]
    state.take_outside("before the tests")
    report = yield
    state.take_outside(f"import of {collector.nodeid}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    item.config.stash[_STATE].take_outside(f"before {item.nodeid}")
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # What a fixture launches beforehand is told with the test that asked for it.
    if call.when == "setup":
        return report
    text, fails = item.config.stash[_STATE].taken(item.nodeid)
    if text:
        report.sections.append(("GPU kernels", text))
    if fails and report.outcome != "failed":
        if hasattr(report, "wasxfail"):  # it was said to fail, and it does
            report.outcome = "skipped"
        else:
            report.outcome = "failed"
            report.longrepr = text
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    state = session.config.stash[_STATE]
    state.take_outside("after the tests")
    if unseen := state.launches.unseen:
        state.outside["after the tests, not all was seen"] = (
            f"processes that the tests started still run: {', '.join(map(str, unseen))}\n"
            "  try:    wait for them in the test, by join() or wait()"
        )
    told = {
        "found": sorted(state.found),
        "passed_over": state.passed_over,
        "outside": state.outside,
    }
    if hasattr(session.config, "workeroutput"):  # a worker of xdist tells the process that sums up
        session.config.workeroutput["simt"] = told
        return
    path = session.config.getoption("--gpu-write-baseline")
    if path:
        rows = [dict(zip(FIELDS, each, strict=True)) for each in sorted(state.found)]
        try:
            write_text(Path(path), json.dumps(rows, indent=2) + "\n")
        except OSError as error:
            state.unwritten = str(file_problem(error, path, "written"))
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
    if state.outside and session.exitstatus in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    ):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    state = node.config.stash[_STATE]
    nothing: dict[str, Any] = {"found": [], "passed_over": 0, "outside": {}}
    told = getattr(node, "workeroutput", {}).get("simt", nothing)
    state.found |= {tuple(each) for each in told["found"]}
    state.passed_over += told["passed_over"]
    state.outside |= told["outside"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    config = terminalreporter.config
    state = config.stash[_STATE]
    for where, text in state.outside.items():
        terminalreporter.section(f"GPU kernels: {where}", red=True)
        terminalreporter.write_line(text)
    if state.launches.journal is None:
        terminalreporter.write_line(f"GPU kernels: {NONE}", red=True)
    if state.unwritten:
        terminalreporter.write_line(f"GPU kernels: {state.unwritten}", red=True)
    elif path := config.getoption("--gpu-write-baseline"):
        found = {(*each[:-1],) for each in state.found}  # whatever arrays it was seen on
        terminalreporter.write_line(f"GPU kernels: {len(found)} found, written to {path}")
    elif state.passed_over:
        terminalreporter.write_line(
            f"GPU kernels: {state.passed_over} known passed over, as the baseline says"
        )
