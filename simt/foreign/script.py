"""Runs a script that was written for `numba.cuda`, its launches going to the simulator."""

from __future__ import annotations

import argparse
import importlib.util
import os
import runpy
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from simt.errors import UserError, file_problem
from simt.files import write_text
from simt.foreign import child, stand_in
from simt.foreign.dispatcher import GPU
from simt.foreign.formats import Form, form_called, launches_text
from simt.foreign.journal import NONE, VARIABLE, Journal
from simt.foreign.launches import Launches
from simt.foreign.rules import Rules, read_rules, severities

PACKAGE = str(Path(__file__).parents[1]) + os.sep


def main(arguments: list[str]) -> int:
    """Returns the exit status of a script or module that ran on the simulator.

    It is the script's own, or 1 when the script succeeded and its kernels have errors.

    Args:
        arguments: options, the script or `-m MODULE`, and what it gets as its own arguments.
    """
    try:
        return _told(_options(arguments), arguments)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except SystemExit as end:  # of the command line's reader, or of a fork that has run the script
        return _status(end.code)


def _options(arguments: list[str]) -> argparse.Namespace:
    """The options before the script, and in `words` the script with all that follows it.

    Raises:
        SystemExit: they ask for help, or cannot be read.
    """
    parser = argparse.ArgumentParser(
        prog="python -m simt",
        usage="%(prog)s [OPTIONS] SCRIPT [ARGS], or %(prog)s [OPTIONS] -m MODULE [ARGS]",
        description="Runs a Python script written for numba.cuda on the simulator. Hazards in its "
        "kernels are told at its end; an error among them makes the exit status 1. Options come "
        "before the script: what follows it is the script's own.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", help="run a module instead, as python -m does"
    )
    parser.add_argument(
        "--format", default=Form.text, metavar="|".join(Form), help="how the hazards are told"
    )
    parser.add_argument(
        "--out", type=Path, metavar="PATH", help="write them to this file, not to stderr"
    )
    parser.add_argument(
        "--counters", action="store_true", help="count sectors, conflicts and the rest as well"
    )
    parser.add_argument(
        "--orders",
        type=_one_or_more,
        default=1,
        metavar="N",
        help="run each launch whose result may depend on it in N orders of its threads",
    )
    parser.add_argument(
        "--rules", type=Path, metavar="TOML", help="severities, and hazards to let pass"
    )
    parser.add_argument(
        "--severity",
        action="append",
        default=[],
        metavar="KIND=error|advice|off",
        help="how severe a kind of hazard is",
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.words = options.words[options.words[:1] == ["--"] :]  # which ends the options
    if not options.words and options.module is None:
        parser.print_help(sys.stderr)
        raise SystemExit(2)
    return options


def _one_or_more(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1 on")
    return int(text)


def _told(options: argparse.Namespace, arguments: list[str]) -> int:
    """Runs what the options say and tells its hazards; returns the exit status.

    Raises:
        UserError: an option's value, a script or a module that cannot be used.
    """
    words: list[str] = options.words
    wanted = form_called(options.format)
    own = read_rules(options.rules) if options.rules is not None else Rules()
    own = own.with_severities(severities(options.severity))
    if options.module is not None:
        run = _module(options.module, words)
    else:
        run = script_at(Path(words[0]), words)
    counters, orders = options.counters, options.orders
    if os.environ.pop(child.AS_A_CHILD, ""):
        above = Journal(Path(os.environ[VARIABLE]))
        here = Launches(own, counters=counters, orders=orders, journal=above, teller=None)
        return run_on_the_simulator(run, here)
    with Journal.made() as journal:
        launches = Launches(own, counters=counters, orders=orders, journal=journal)
        if journal is None:
            print(NONE, file=sys.stderr)
            status = run_on_the_simulator(run, launches)
        elif child.FORKS:
            status = child.forked(lambda: run_on_the_simulator(run, launches))
        else:
            status = child.spawned(arguments, journal.reached(os.environ))
        launches.gather()
        _tell(launches_text(launches, wanted), options.out)
        unseen = launches.unseen
    if unseen:
        print(_not_all_seen(unseen), file=sys.stderr)
    return status or int(not launches.ok or bool(unseen))


def _not_all_seen(processes: list[int]) -> str:
    numbers = ", ".join(map(str, processes))
    return (
        f"not all was seen: the script has ended, and processes it started still run ({numbers})\n"
        "  try:    wait for them in the script, by join() or wait()"
    )


def run_on_the_simulator(run: Callable[[], None], launches: Launches) -> int:
    """Runs a program whose launches go to the simulator; its exit status."""
    GPU.launcher = launches.launch
    if launches.journal is not None:
        os.environ.update(launches.journal.reached(os.environ))
    stand_in.install()
    status = _status_of(run)
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    sys.stdout.flush()
    return status


def script_at(path: Path, arguments: list[str]) -> Callable[[], None]:
    """Returns what runs a script as `python SCRIPT` would.

    Raises:
        UserError: it cannot be read.
    """
    try:
        return partial(_run_script, path, path.read_bytes(), arguments)
    except OSError as error:
        raise file_problem(error, str(path), "read") from None


def _module(name: str, arguments: list[str]) -> Callable[[], None]:
    _look_in_here()
    # Only the outermost part: to find a part within would import what it lies in.
    outermost = name.partition(".")[0]
    try:
        found = importlib.util.find_spec(outermost)
    except ValueError:  # what no module can be called
        found = None
    if found is None:
        raise UserError(
            f"there is no module {outermost or name}",
            "run this in the folder that it lies in, or install it; a file is run by its name, "
            "without -m",
        )
    return partial(_run_module, name, arguments)


def _tell(text: str, out: Path | None) -> None:
    if out is None:
        if text:
            print(text, file=sys.stderr)
        return
    try:
        write_text(out, text + "\n" * bool(text))
    except OSError as error:
        raise file_problem(error, str(out), "written") from None


def _run_script(path: Path, code: bytes, arguments: list[str]) -> None:
    """Runs a script as `python SCRIPT` would."""
    file = str(path.absolute())
    script = ModuleType("__main__")
    script.__file__ = file
    script.__loader__ = SourceFileLoader("__main__", file)
    vars(script)["__builtins__"] = __builtins__
    sys.argv[:] = arguments
    if not sys.flags.safe_path:
        sys.path[0] = str(path.absolute().parent)
    sys.modules["__main__"] = script
    exec(compile(code, file, "exec"), vars(script))


def _run_module(name: str, arguments: list[str]) -> None:
    """Runs a module as `python -m MODULE` would."""
    sys.argv[:] = [name, *arguments]
    _look_in_here()
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _look_in_here() -> None:
    """Has modules looked for in the current folder, as `python -m` does."""
    if not sys.flags.safe_path:
        sys.path[0] = str(Path.cwd())


def _status_of(run: Callable[[], None]) -> int:
    """Runs a program to its end, however it ends; its exit status."""
    try:
        run()
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
    if isinstance(error, UserError | ImportError):
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
