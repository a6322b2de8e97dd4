"""Tests of kernels without a GPU: `pytest -p gpu_course.simt.pytest`.

`numba.cuda` is the simulator for the whole run, so that tests that skip for want of a GPU run. A
test fails in whose launches there was a hazard, with the hazard as its message. With a baseline,
what was found before is let pass, and only what is new fails.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from gpu_course.errors import CourseError, file_problem
from gpu_course.files import write_text
from gpu_course.foreign import stand_in
from gpu_course.foreign.dispatcher import GPU
from gpu_course.foreign.formats import as_text
from gpu_course.foreign.launches import Finding, Launches
from gpu_course.foreign.rules import Rules, read_rules, severities

_STATE = pytest.StashKey["State"]()
Known = tuple[str, str, str, str]
"""A finding as a baseline names it: test, kernel, kind, and the text of its line."""


class State:
    """What a run of tests found.

    Args:
        launches: what the tests' launches go to.
        baseline: what was found before.
    """

    def __init__(self, launches: Launches, baseline: set[Known]) -> None:
        self.launches = launches
        self.baseline = baseline
        self.found: set[Known] = set()
        self.passed_over = 0
        self.unwritten = ""


def known(test: str, finding: Finding) -> Known:
    """Returns what a baseline calls a finding: it holds while the line reads the same."""
    code = finding.hazard.details.get("code") or ""
    return test, finding.kernel, finding.hazard.kind, code.strip()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gpu-course", "kernels for numba.cuda on the simulator")
    group.addoption("--gpu-rules", metavar="TOML", help="severities, and hazards to let pass")
    group.addoption(
        "--gpu-severity",
        metavar="KIND=error|advice|off",
        action="append",
        default=[],
        help="how grave a kind of hazard is",
    )
    group.addoption(
        "--gpu-baseline", metavar="JSON", help="let pass what this file holds; fail on what is new"
    )
    group.addoption(
        "--gpu-write-baseline", metavar="JSON", help="write what is found to this file, and pass"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    # Before any file of the project is imported; and not when this one is, which only looks.
    stand_in.install()


def pytest_configure(config: pytest.Config) -> None:
    try:
        path = config.getoption("--gpu-rules")
        rules = read_rules(Path(path)) if path else Rules()
        rules = rules.with_severities(severities(config.getoption("--gpu-severity")))
        baseline = _read_baseline(config.getoption("--gpu-baseline"))
    except CourseError as error:
        raise pytest.UsageError(str(error)) from None
    state = State(Launches(rules), baseline)
    config.stash[_STATE] = state
    GPU.launcher = state.launches.launch


def _read_baseline(path: str | None) -> set[Known]:
    if not path:
        return set()
    try:
        rows = json.loads(Path(path).read_text(encoding="utf-8"))
        return {(row["test"], row["kernel"], row["kind"], row["line"]) for row in rows}
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise CourseError(
            f"{path} is no baseline: {error}", "write one with --gpu-write-baseline"
        ) from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    item.config.stash[_STATE].launches.forget()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    state = item.config.stash[_STATE]
    if call.when != "call":
        return report
    launches = state.launches
    errors = [each for each in launches.findings if each.severity == "error"]
    state.found |= {known(item.nodeid, each) for each in errors}
    new = [each for each in errors if known(item.nodeid, each) not in state.baseline]
    state.passed_over += len(errors) - len(new)
    text = as_text(launches)
    if text:
        report.sections.append(("GPU kernels", text))
    if new and report.passed and not item.config.getoption("--gpu-write-baseline"):
        report.outcome = "failed"
        report.longrepr = text
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    state = session.config.stash[_STATE]
    told = {"found": sorted(state.found), "passed_over": state.passed_over}
    if hasattr(session.config, "workeroutput"):  # a worker of xdist tells the process that sums up
        session.config.workeroutput["gpu_course"] = told
        return
    path = session.config.getoption("--gpu-write-baseline")
    if path:
        names = ("test", "kernel", "kind", "line")
        rows = [dict(zip(names, each, strict=True)) for each in sorted(state.found)]
        try:
            write_text(Path(path), json.dumps(rows, indent=2) + "\n")
        except OSError as error:
            state.unwritten = str(file_problem(error, path, "written"))
            session.exitstatus = pytest.ExitCode.USAGE_ERROR


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    state = node.config.stash[_STATE]
    told = getattr(node, "workeroutput", {}).get("gpu_course", {"found": [], "passed_over": 0})
    state.found |= {tuple(each) for each in told["found"]}
    state.passed_over += told["passed_over"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    config = terminalreporter.config
    state = config.stash[_STATE]
    if state.unwritten:
        terminalreporter.write_line(f"GPU kernels: {state.unwritten}", red=True)
    elif path := config.getoption("--gpu-write-baseline"):
        terminalreporter.write_line(f"GPU kernels: {len(state.found)} found, written to {path}")
    elif state.passed_over:
        terminalreporter.write_line(
            f"GPU kernels: {state.passed_over} known passed over, as the baseline says"
        )
