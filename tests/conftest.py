"""What holds for every run of the tests, and what it says at its end about those left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import core, settings

from benchmarks import house
from gpu_course.grading.seeds import SEED_VARIABLE
from tests.sampling import EVERYTHING, draw_seed, drawn

# How long an example takes says nothing but how busy the machine is. What is tried hangs on
# one number, and nothing is remembered from run to run: the same tree gives the same verdict.
settings.register_profile("course", deadline=None, database=None)
settings.load_profile("course")
core.global_force_seed = draw_seed()
# A learner's check draws its last case anew each time; a test's does not.
os.environ.setdefault(SEED_VARIABLE, str(draw_seed() % 10**6))

left_out = pytest.StashKey[int]()
NO_COMPILER = "needs the extra compile"
"""Why a test is skipped where NVIDIA's compiler is not installed, in these words."""
SKIPS_IN_PTX = "keep"
"""The fixture of tests/ptx that skips what asks for it, in the same words."""


@pytest.fixture(autouse=True)
def nothing_beside_its_own_folder(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that keeps a learner's state where the next test would find it."""
    own = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    state = own and own.parent / ".gpu_course"
    assert not (state and state.exists()), f"{state} is beside this test's own folder, not in it"


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks the tests that need the compiler, for `make test-compiled` and for the closing line."""
    skipped = any(mark.kwargs.get("reason") == NO_COMPILER for mark in item.iter_markers("skipif"))
    if skipped or SKIPS_IN_PTX in getattr(item, "fixturenames", ()):
        item.add_marker("compiler")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what this tree has not drawn of each series; puts the longest files first."""
    _leave_out(config, items)
    # Workers get whole files in this order, so that none is left alone with a long one at the end.
    items.sort(key=lambda item: -seconds_of_file(item))


def seconds_of_file(item: pytest.Item) -> float:
    """Returns how long the file of a test says that it takes; 0 where it says nothing."""
    module = item.getparent(pytest.Module)
    marks = module.iter_markers("long") if module is not None else ()
    return max((mark.args[0] for mark in marks), default=0.0)


def _leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is not drawn, unless it was asked for by name."""
    if EVERYTHING or any("::" in argument for argument in config.args):
        return
    kept, out = [], []
    for item in items:
        mark = item.get_closest_marker("series")
        (kept if mark is None or drawn(item.nodeid, mark.args[0]) else out).append(item)
    items[:] = kept
    config.stash[left_out] = len(out)
    if hasattr(config, "workeroutput"):  # a worker of xdist tells the process that sums up
        config.workeroutput["left_out"] = len(out)
    if out:
        config.hook.pytest_deselected(items=out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[left_out] = node.workeroutput.get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    out = terminalreporter.config.stash.get(left_out, 0)
    if out:
        terminalreporter.write_line(f"left out of the long series: {out}; make test-all runs them")
    for mark, kind, remedy in (
        ("browser", "browser", ""),
        ("gpu", "GPU", ""),
        ("compiler", "compiler", "; make test-compiled installs it and runs them"),
    ):
        skipped = [
            report
            for report in terminalreporter.stats.get("skipped", [])
            if mark in report.keywords
        ]
        if skipped:
            reasons = sorted({report.longrepr[2].removeprefix("Skipped: ") for report in skipped})
            terminalreporter.write_line(
                f"{kind} tests skipped: {len(skipped)} ({'; '.join(reasons)}){remedy}"
            )
    if terminalreporter.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        for line in house.summary(house.rooms()):
            terminalreporter.write_line(line)
