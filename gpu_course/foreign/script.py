"""Runs a script that was written for `numba.cuda`, its launches going to the simulator."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections import Counter
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.foreign import stand_in
from gpu_course.foreign.dispatcher import GPU, Dispatcher
from gpu_course.simt import source
from gpu_course.simt.report import Hazard, Report
from gpu_course.simulator import Simulation, simulate

PACKAGE = str(Path(__file__).parents[1]) + os.sep
# Twenty times what a puzzle may take: a script was not written for the simulator, and whoever
# runs it can stop it.
STEP_BUDGET = 20_000_000
USAGE = """usage: python -m gpu_course.simt SCRIPT [ARGS ...]

Runs a Python script written for numba.cuda on the simulator. Hazards in its kernels are printed to
stderr at its end; an error among them makes the exit status 1.
"""


@dataclass
class Finding:
    """A hazard of a script's run: as it was first seen, and in how many launches it was."""

    hazard: Hazard
    kernel: str
    file: str
    launches: int = 0


class Launches:
    """Every launch of a script, and the hazards found in them."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.findings: dict[tuple[Any, ...], Finding] = {}
        self._simulations: dict[Dispatcher, Simulation] = {}
        self._one_at_a_time = threading.RLock()

    def launch(
        self,
        kernel: Dispatcher,
        grid: Any,
        block: Any,
        shared_bytes: int,
        arguments: tuple[Any, ...],
    ) -> None:
        """Runs a kernel, prints what it prints and keeps the hazards it shows."""
        with self._one_at_a_time:
            # Globals are frozen at a kernel's first launch, as in Numba.
            if kernel not in self._simulations:
                self._simulations[kernel] = simulate(
                    source.from_function(kernel), policy="foreign", step_budget=STEP_BUDGET
                )
            report = self._simulations[kernel][grid, block, 0, shared_bytes](*arguments)
            sys.stdout.write(report.printed)
            self._keep(report)

    def _keep(self, report: Report) -> None:
        self.counts[report.file, report.kernel] += 1
        seen = set()
        for hazard in report.hazards:
            other = hazard.details.get("other_line")
            array = hazard.details.get("array")
            key = (
                report.file,
                report.kernel,
                hazard.kind,
                hazard.severity,
                hazard.line,
                other,
                array,
            )
            finding = self.findings.setdefault(key, Finding(hazard, report.kernel, report.file))
            finding.launches += key not in seen
            seen.add(key)

    @property
    def ok(self) -> bool:
        """True when no launch showed an error."""
        return not any(f.hazard.severity == "error" for f in self.findings.values())

    def text(self) -> str:
        """Returns the hazards as a person reads them, errors first; "" when there is none."""
        if not self.findings:
            return ""
        ordered = sorted(self.findings.values(), key=lambda f: f.hazard.severity != "error")
        errors = sum(f.hazard.severity == "error" for f in ordered)
        advice = len(ordered) - errors
        found = [_counted(errors, "error")] * bool(errors)
        found += [_counted(advice, "piece of advice", "pieces of advice")] * bool(advice)
        launches = _counted(self.counts.total(), "launch", "launches")
        lines = [f"The simulator found {' and '.join(found)} in {launches}."]
        for finding in ordered:
            of = _counted(self.counts[finding.file, finding.kernel], "launch", "launches")
            lines += [
                "",
                f"{finding.hazard.severity}: {finding.hazard.text()}",
                f"  seen:   in {finding.launches:,} of {of} of {finding.kernel}",
            ]
        return "\n".join(lines)


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def main(arguments: list[str]) -> int:
    """Returns the exit status of a script that ran on the simulator.

    It is the script's own, or 1 when the script succeeded and its kernels have errors.

    Args:
        arguments: the script and what it gets as its own arguments.
    """
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    path = Path(arguments[0])
    try:
        code = path.read_bytes()
    except OSError as error:
        print(f"{path} cannot be read: {error.strerror}", file=sys.stderr)
        return 2
    launches = Launches()
    GPU.launcher = launches.launch
    stand_in.install()
    status = _run(path, code, arguments)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    if launches.findings:
        print(launches.text(), file=sys.stderr)
    return status or int(not launches.ok)


def _run(path: Path, code: bytes, arguments: list[str]) -> int:
    """Runs a script as `python SCRIPT` would; its exit status."""
    file = str(path.absolute())
    script = ModuleType("__main__")
    script.__file__ = file
    script.__loader__ = SourceFileLoader("__main__", file)
    vars(script)["__builtins__"] = __builtins__
    sys.argv[:] = arguments
    if not sys.flags.safe_path:
        sys.path[0] = str(path.absolute().parent)
    sys.modules["__main__"] = script
    try:
        exec(compile(code, file, "exec"), vars(script))
    except SystemExit as end:
        return _status(end.code)
    except BaseException as error:
        shown = _own_part(error)
        sys.stdout.flush()
        sys.excepthook(type(error), error.with_traceback(shown), shown)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _status(code: Any) -> int:
    if code is None or isinstance(code, int):
        return int(code or 0)
    print(code, file=sys.stderr)
    return 1


def _own_part(error: BaseException) -> TracebackType | None:
    """The traceback without this module's frames above the script's, and without the simulator's
    below them where the error is one that it raised on purpose."""
    frames = list(traceback.walk_tb(error.__traceback__))
    links = _links(error.__traceback__)
    first = next((k for k, (f, _) in enumerate(frames) if not _is_ours(f.f_code.co_filename)), None)
    if first is None:
        return None
    links = links[first:]
    if isinstance(error, CourseError | ImportError):
        own = [k for k, link in enumerate(links) if not _is_ours(_file(link))]
        links = links[: own[-1] + 1]
    shown: TracebackType | None = None
    for link in reversed(links):
        shown = TracebackType(shown, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return shown


def _links(trace: TracebackType | None) -> list[TracebackType]:
    found = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _file(link: TracebackType) -> str:
    return link.tb_frame.f_code.co_filename


def _is_ours(file: str) -> bool:
    return file.startswith((PACKAGE, "<frozen"))
