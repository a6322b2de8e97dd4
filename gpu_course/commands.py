"""The commands of `gpu-course`: each asks the package, prints, and sets the exit status."""

from __future__ import annotations

import functools
import json
import os
import traceback
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gpu_course.app.terminal.text import (
    bench_table,
    columns,
    discussion_lines,
    fitting,
    list_text,
    outcome,
    path_here,
    progress_text,
    summary,
    targets_table,
    told,
    verdict_table,
)
from gpu_course.errors import CourseError
from simt.errors import file_problem
from simt.files import write_text
from simt.text import clean, one_line

if TYPE_CHECKING:
    from gpu_course.grading.verdicts.verdict import Verdict

app = typer.Typer(
    help="Puzzles, grading and lessons of the GPU course.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

PASSED, SOME_DID_NOT, AT_FAULT = 0, 1, 2


class Format(StrEnum):
    """How a result is written: a table for people, JSON for programs."""

    table = "table"
    json = "json"


def _command(name: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Registers a command that returns its exit status; an error of ours ends with status 2."""

    def register(run: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(run)
        def guarded(*args: Any, **options: Any) -> None:
            try:
                status = run(*args, **options)
            except (typer.Exit, typer.Abort):
                raise
            except CourseError as error:
                typer.echo(clean(str(error)), err=True)
                status = AT_FAULT
            except OSError as error:
                # A file that cannot be used: the place to mend it is not in the course.
                typer.echo(clean(str(file_problem(error))), err=True)
                status = AT_FAULT
            except Exception:
                # A fault of the course is shown in full, and never as the learner's failure.
                traceback.print_exc()
                status = AT_FAULT
            raise typer.Exit(status)

        app.command(name)(guarded)
        return run

    return register


Name = Annotated[str, typer.Argument(metavar="NAME", help="a puzzle, such as guard")]
Gpu = Annotated[
    bool, typer.Option("--gpu", help="run kernels on this machine's GPU, too, and compare")
]


@_command("list")
def list_puzzles() -> int:
    """List the lessons and their puzzles, and the lessons to come."""
    typer.echo(list_text())
    return PASSED


@_command("check")
def check_puzzle(name: Name, gpu: Gpu = False) -> int:
    """Check your answer to one puzzle."""
    from gpu_course.grading.check import check
    from gpu_course.grading.learner.verdict_cache import check_own

    verdict = check_own(name, by=functools.partial(check, gpu=True) if gpu else None)
    typer.echo(f"{verdict.name}: {outcome(verdict)}")
    typer.echo(told(verdict))
    return _status([verdict])


@_command("watch")
def watch_puzzle(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="default: the first puzzle that is not passed"),
    ] = None,
) -> int:
    """Check your answer on every save; keys for hints and more."""
    from gpu_course.app.terminal.watch import watch

    watch(name)
    return PASSED


@_command("hint")
def show_hint(name: Name) -> int:
    """Show the next hint of a puzzle."""
    from gpu_course.grading.learner.hints import next_hint

    typer.echo(fitting(str(next_hint(name))))
    return PASSED


@_command("reset")
def reset_puzzle(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
) -> int:
    """Put a puzzle's stub back; your answer is backed up first."""
    from gpu_course.grading import workspace
    from gpu_course.puzzle import index

    puzzle = index.find(name)
    path = workspace.answer_path(puzzle)
    if path.is_file() and path.read_bytes() == workspace.stub_text(puzzle.name).encode():
        typer.echo(f"{path_here(path)} is the stub already.")
        return PASSED
    if path.is_file() and not yes:
        question = f"Replace {path_here(path)} with the stub? Your answer is backed up first."
        if not typer.confirm(question):
            typer.echo("Nothing was changed.")
            return SOME_DID_NOT
    before = workspace.backups(puzzle.name)
    workspace.reset(puzzle.name)
    made = [copy for copy in workspace.backups(puzzle.name) if copy not in before]
    typer.echo(f"{path_here(path)} is the stub again.")
    for copy in made:
        typer.echo(f"Your answer is kept in {path_here(copy)}.")
    return PASSED


@_command("restore")
def restore_answer(
    name: Name,
    number: Annotated[
        int | None,
        typer.Argument(metavar="N", min=1, help="which text, by its number in --list"),
    ] = None,
    show: Annotated[
        bool, typer.Option("--list", help="list the texts that are kept, and change nothing")
    ] = False,
) -> int:
    """Bring an earlier text of your answer back; the present one is kept."""
    from gpu_course.grading import workspace
    from gpu_course.puzzle import index

    puzzle = index.find(name)
    newest_first = workspace.backups(puzzle.name)[::-1]
    if show:
        for place, copy in enumerate(newest_first, 1):
            lines = len(copy.read_bytes().splitlines())
            typer.echo(f"{place:>3}  {path_here(copy)}  ({lines} lines)")
        if not newest_first:
            typer.echo(f"No earlier text of {puzzle.short_name}.py is kept.")
        return PASSED
    if number is not None and number > len(newest_first):
        raise CourseError(
            f"{puzzle.short_name} has {len(newest_first)} earlier texts, and no number {number}",
            f"`gpu-course restore {puzzle.short_name} --list` shows them",
        )
    chosen = None if number is None else newest_first[number - 1]
    kept, replaced = workspace.restore(puzzle.name, chosen)
    path = path_here(workspace.answer_path(puzzle))
    typer.echo(f"{path} holds the text of {path_here(kept)} again.")
    if replaced is not None:
        typer.echo(f"What it held before is kept in {path_here(replaced)}.")
    return PASSED


@_command("diff")
def show_difference(name: Name) -> int:
    """Once it passes, compare your answer with the solution."""
    from gpu_course.grading.learner.solution import NotPassed, diff

    try:
        found = diff(name)
        typer.echo(found.difference)
        if found.discussion:
            typer.echo("\n" + "\n".join(discussion_lines(found.discussion, columns())))
    except NotPassed as refusal:
        typer.echo(str(refusal))
        return SOME_DID_NOT
    return PASSED


@_command("grade")
def grade_answers(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="grade only these, as --only does")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", metavar="DIR", help="the folder of answers; default puzzles/"),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="NAME...", help="grade only these")
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", min=1, help="how many at the same time")
    ] = 1,
    form: Annotated[Format, typer.Option("--format", help="table or json")] = Format.table,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="write to this file instead")
    ] = None,
    gpu: Gpu = False,
) -> int:
    """Grade all answers, or those named."""
    from gpu_course.grading.grade import grade
    from gpu_course.grading.verdicts import exports

    chosen = [*(only or []), *(names or [])]
    asked = _full_names(chosen)
    if out is not None:
        _check_writable(out)
    verdicts = grade(answers=answers, only=asked or None, jobs=jobs, gpu=gpu)
    if form is Format.json:
        text = json.dumps(exports.to_json(verdicts), indent=2)
    else:
        text = verdict_table(verdicts)
    if answers is None:
        _remember_passes(verdicts)
    if out is None:
        typer.echo(text)
    else:
        _write(out, text)
        typer.echo(f"{summary(verdicts)} Written to {one_line(str(out))}.")
    return _graded_status(verdicts, asked)


def _check_writable(out: Path) -> None:
    """Raises where nothing could be written to a file: before an hour of grading, not after it."""
    if out.is_dir():
        raise CourseError(f"{out} is a folder", f"name a file in it, such as {out / 'verdicts'}")
    if not out.parent.is_dir():
        raise CourseError(f"no folder {out.parent} to write {out.name} in", "create it first")
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise CourseError(f"{out} cannot be written", "name another file, or change who may write")


def _write(out: Path, text: str) -> None:
    """Writes verdicts to a file; where that fails they are printed, and the old file is whole."""
    try:
        write_text(out, text + "\n")
    except OSError:
        typer.echo(text)
        raise


@_command("status")
def show_status() -> int:
    """Show how far you are, puzzle by puzzle."""
    from gpu_course.grading.learner.progress import progress

    lessons = progress()
    typer.echo(progress_text(lessons))
    broken = any(v.status == "error" for lesson in lessons for v in lesson.verdicts)
    return AT_FAULT if broken else PASSED


@_command("lab")
def open_lab(
    lesson: Annotated[
        str | None, typer.Argument(metavar="LESSON", help="such as 01 or 01_threads")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="print the address, open nothing")
    ] = False,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", help="the port to listen on")
    ] = None,
) -> int:
    """Open JupyterLab at lesson 00, or at the lesson named."""
    from gpu_course.app.lab import open_jupyterlab

    return AT_FAULT if open_jupyterlab(lesson, browser=not no_browser, port=port) else PASSED


@_command("update")
def update_course() -> int:
    """Bring the newest course; your answers and notebooks stay."""
    from gpu_course.app.updating import update
    from gpu_course.grading import workspace

    root = workspace.checkout()
    if root is None:
        raise CourseError(
            f"{Path.cwd()} is not inside a checkout of the course",
            "change into the checkout and run this again",
        )
    typer.echo(update(root).text())
    return PASSED


@_command("bench")
def time_answers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="default: every kernel of yours that passes"),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="time nothing: the targets, and what records say")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="table or json, of --report")] = (
        Format.table
    ),
) -> int:
    """Time your kernels on this machine's GPU, beside a copy."""
    from gpu_course.grading.card.bench import bench

    if report:
        return _report_targets(form)
    found = bench(_full_names(names or []), lambda name: typer.echo(f"timing {name} ...", err=True))
    typer.echo(bench_table(found) if found else "No kernel of yours passes yet.")
    fine = ("timed",) if names else ("timed", "one-size")
    return PASSED if found and all(each.state in fine for each in found) else SOME_DID_NOT


def _report_targets(form: Format) -> int:
    """Prints what kernels should reach on a card and what records say; it needs no GPU."""
    from gpu_course.grading.card import targets
    from gpu_course.grading.card.bench import kept_timing

    found = targets.standings(kept_timing)
    as_json = form is Format.json
    typer.echo(json.dumps(targets.to_json(found), indent=2) if as_json else targets_table(found))
    return PASSED


@_command("compile")
def compile_answer(
    name: Name,
    capability: Annotated[
        str, typer.Option("--cc", metavar="CC", help="compute capability, such as 9.0")
    ] = "8.0",
    ptx: Annotated[bool, typer.Option("--ptx", help="the PTX, below the lines it is of")] = False,
    sass: Annotated[bool, typer.Option("--sass", help="the machine code, likewise")] = False,
    form: Annotated[Format, typer.Option("--format", help="table or json")] = Format.table,
) -> int:
    """See what NVIDIA's compiler makes of your kernel; no GPU needed."""
    from gpu_course.grading.card import compiled, compiled_text
    from gpu_course.hardware.compiled.toolchain import NoCompiler

    if ptx and sass:
        raise CourseError("--ptx and --sass are two listings", "ask for one of them")
    missing = None
    try:
        kernels = compiled.compile_answer(name, capability)
    except NoCompiler as error:
        if ptx or sass:
            raise
        kernels, missing = compiled.recorded(name, capability), error
    if form is Format.json:
        typer.echo(json.dumps([compiled_text.to_json(each) for each in kernels], indent=2))
    else:
        show = (
            compiled_text.ptx_text
            if ptx
            else compiled_text.sass_text
            if sass
            else compiled_text.line_table
        )
        parts = [(compiled_text.summary_text(each), show(each)) for each in kernels]
        typer.echo("\n\n".join(text for pair in parts for text in pair if text))
    if missing is not None:
        typer.echo(clean(str(missing)), err=True)
    return PASSED


@_command("doctor")
def run_doctor(
    form: Annotated[Format, typer.Option("--format", help="table or json")] = Format.table,
    published: Annotated[
        bool, typer.Option("--published", help="the course's models against published numbers")
    ] = False,
) -> int:
    """Say what this machine can do, and how to mend what it can't."""
    from gpu_course.hardware import doctor

    if published:
        return _published_board(form)
    findings = doctor.examine()
    if form is Format.json:
        typer.echo(json.dumps(doctor.to_json(findings), indent=2))
    else:
        typer.echo(doctor.as_text(findings))
    return PASSED if doctor.is_ready(findings) else SOME_DID_NOT


def _published_board(form: Format) -> int:
    """Prints mine / published / difference for every cited number, outside its margin or inside.

    A number that is outside is a finding about the model, and no fault of this machine.
    """
    from gpu_course.claims import board

    json_asked = form is Format.json
    typer.echo(json.dumps(board.to_json(), indent=2) if json_asked else board.whole())
    return PASSED


def _remember_passes(verdicts: Sequence[Verdict]) -> None:
    from gpu_course.grading import workspace

    for verdict in verdicts:
        if verdict.passed:
            workspace.remember_pass(verdict.name)


def _full_names(names: Sequence[str]) -> list[str]:
    from gpu_course.puzzle import index

    return list(dict.fromkeys(index.find(name).name for name in names))


def _status(verdicts: Sequence[Verdict]) -> int:
    cards = [verdict.card for verdict in verdicts if verdict.card is not None]
    if any(card.agrees is False or card.state == "no-answer" for card in cards):
        return AT_FAULT  # two verdicts that contradict each other are never the learner's fault
    if any(verdict.status == "error" for verdict in verdicts):
        return AT_FAULT
    return PASSED if all(verdict.passed for verdict in verdicts) else SOME_DID_NOT


def _graded_status(verdicts: Sequence[Verdict], asked: Sequence[str]) -> int:
    """Returns the exit status; a puzzle asked for that has no verdict is the grader's fault."""
    from gpu_course.puzzle import index

    expected = set(asked) or {puzzle.name for puzzle in index.puzzles()}
    lost = expected - {verdict.name for verdict in verdicts}
    if lost:
        typer.echo(f"no verdict came back for {', '.join(sorted(lost))}", err=True)
        return AT_FAULT
    return _status(verdicts)
