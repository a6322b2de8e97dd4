"""The commands: what they print, what they change, and their exit status."""

from __future__ import annotations

import errno
import importlib
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gpu_course import cli, commands
from gpu_course.app import lab
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.hardware import doctor
from gpu_course.puzzle import DIFFICULTIES, Puzzle, index, outline

Run = Callable[..., Result]
# By name: gpu_course.grading also offers the function of the same name.
GRADE = importlib.import_module("gpu_course.grading.grade")
WRONG = """from numba import cuda


@cuda.jit
def guard(out, a, size):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10
"""
SOLUTIONS = Path(__file__).parents[2] / "solutions"


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which every puzzle is still its stub; to be copied, and left as it is."""
    folder = tmp_path_factory.mktemp("stubs") / "puzzles"
    for puzzle in index.puzzles():
        workspace.write_text(folder / f"{puzzle.name}.py", workspace.stub_text(puzzle.name))
    return folder


@pytest.fixture
def answers(stubs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder of answers in which every puzzle is still its stub."""
    folder = shutil.copytree(stubs, tmp_path / "puzzles")
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def run(answers: Path) -> Run:
    """Runs one command in the learner's folder."""
    runner = CliRunner()

    def invoke(*arguments: str, typed: str = "") -> Result:
        return runner.invoke(commands.app, list(arguments), input=typed)

    return invoke


def solve(answers: Path, name: str) -> None:
    full = index.find(name).name
    text = (SOLUTIONS / f"{full}.py").read_text(encoding="utf-8")
    (answers / f"{full}.py").write_text(text, encoding="utf-8")


def test_list_shows_every_lesson_and_puzzle(run: Run) -> None:
    result = run("list")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    for lesson in index.lessons():
        assert lesson.name in result.stdout
        for puzzle in lesson.puzzles:
            row = (
                f"{puzzle.short_name} {puzzle.title} {puzzle.difficulty}, {puzzle.minutes} minutes"
            )
            assert row.split() in rows
    for word, meaning in DIFFICULTIES.items():
        assert f"{word}: {meaning}\n" in result.stdout
    tables = [line for line in result.stdout.splitlines() if line.startswith("  ")]
    assert max(map(len, tables)) <= 80


def test_check_of_a_stub_does_not_pass(run: Run) -> None:
    result = run("check", "guard")
    assert result.exit_code == 1
    assert result.stdout.startswith("01_threads/guard: not-started, 0 of 10 points\n")


def test_check_of_a_wrong_answer_shows_the_verdict(run: Run, answers: Path) -> None:
    (answers / "01_threads" / "guard.py").write_text(WRONG)
    result = run("check", "guard")
    assert result.exit_code == 1
    assert result.stdout.startswith("01_threads/guard: failed (hazard), 0 of 10 points\n")
    # The brackets of an index survive on their way to the terminal.
    assert "a[" in result.stdout
    assert "out[i] = a[i] + 10" in result.stdout


def test_check_of_a_right_answer_passes(run: Run, answers: Path) -> None:
    solve(answers, "guard")
    result = run("check", "01_threads/guard")
    assert result.exit_code == 0
    assert result.stdout.startswith("01_threads/guard: passed, 10 of 10 points\n")


def test_an_unknown_puzzle_is_a_bad_call(run: Run) -> None:
    result = run("check", "gaurd")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        "no puzzle is called 'gaurd'",
        "  try:    did you mean 01_threads/guard?",
    ]


@pytest.mark.parametrize(
    "call",
    [
        ("check",),
        ("nonsense",),
        ("grade", "--format", "xml"),
        ("grade", "--jobs", "0"),
        ("grade", "--only", "nonsense"),
        ("grade", "--answers", "no/such/folder"),
        ("grade", "--out", "no/such/folder/grades.json"),
        ("hint", "nonsense"),
        ("watch", "nonsense"),
        ("diff", "nonsense"),
        ("reset", "nonsense", "--yes"),
    ],
    ids=" ".join,
)
def test_bad_calls_end_with_two(run: Run, call: tuple[str, ...]) -> None:
    result = run(*call)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert result.stderr


def test_a_fault_of_the_course_is_two_and_shown_in_full(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(index, "lessons", broken)
    result = run("list")
    assert result.exit_code == 2
    assert "ZeroDivisionError: a bug of ours" in result.stderr


def test_a_file_that_cannot_be_used_is_two_and_told_in_two_lines(
    run: Run, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (answers.parent / ".gpu_course").write_text("a file where a folder should be")
    done = run("hint", "guard")
    assert done.exit_code == 2
    assert done.output.splitlines() == [
        f"{answers.parent / '.gpu_course' / 'state.json'} cannot be used: Not a directory",
        "  try:    a file stands where a folder should be; move it away",
    ]


def test_hints_come_one_after_the_other(run: Run) -> None:
    hints = index.find("guard").hints
    for number in (1, 2, 3, 3):
        result = run("hint", "guard")
        assert result.exit_code == 0
        assert result.stdout == f"hint {number} of 3: {hints[number - 1]}\n"


def test_reset_asks_first_and_no_means_no(run: Run, answers: Path) -> None:
    file = answers / "01_threads" / "guard.py"
    file.write_text(WRONG)
    result = run("reset", "guard", typed="n\n")
    assert result.exit_code == 1
    assert "Nothing was changed." in result.stdout
    assert file.read_text() == WRONG
    assert workspace.backups("guard") == ()


def test_reset_keeps_the_answer_and_says_where(run: Run, answers: Path) -> None:
    file = answers / "01_threads" / "guard.py"
    file.write_text(WRONG)
    result = run("reset", "guard", typed="y\n")
    assert result.exit_code == 0
    assert file.read_text() == workspace.stub_text("guard")
    (copy,) = workspace.backups("guard")
    assert copy.read_text() == WRONG
    assert f"Your answer is kept in {copy.relative_to(answers.parent)}." in result.stdout


def test_reset_of_a_stub_asks_nothing_and_backs_up_nothing(run: Run) -> None:
    result = run("reset", "guard")
    assert result.exit_code == 0
    assert result.stdout.endswith("guard.py is the stub already.\n")
    assert workspace.backups("guard") == ()


def test_no_line_of_the_help_is_cut_off(run: Run) -> None:
    assert "..." not in run("--help").stdout.partition("Commands:")[2]


def test_reset_restores_a_file_that_is_gone(run: Run, answers: Path) -> None:
    (answers / "01_threads" / "guard.py").unlink()
    result = run("reset", "guard")
    assert result.exit_code == 0
    assert (answers / "01_threads" / "guard.py").read_text() == workspace.stub_text("guard")


def test_diff_declines_before_a_pass(run: Run) -> None:
    result = run("diff", "guard")
    assert result.exit_code == 1
    assert "is not passed yet" in result.stdout and "+++" not in result.stdout


@pytest.mark.parametrize("puzzle", index.puzzles(), ids=lambda puzzle: puzzle.short_name)
def test_no_discussion_is_shown_before_a_pass(run: Run, answers: Path, puzzle: Puzzle) -> None:
    shutil.copytree(SOLUTIONS / puzzle.lesson, answers.parent / "solutions" / puzzle.lesson)
    result = run("diff", puzzle.short_name)
    assert result.exit_code == 1
    assert f"# {puzzle.short_name}" not in result.stdout
    assert "gpu-course hint" in result.stdout


def test_diff_shows_the_solution_after_a_pass(run: Run, answers: Path) -> None:
    shutil.copytree(SOLUTIONS / "01_threads", answers.parent / "solutions" / "01_threads")
    solve(answers, "guard")
    result = run("diff", "guard")
    assert result.exit_code == 0
    same = "Your answer and the solution are the same program.\n\n# guard: threads without a cell\n"
    assert result.stdout.startswith(same)
    assert "__global__ void guard" in result.stdout
    file = answers / "01_threads" / "guard.py"
    file.write_text(file.read_text().replace("a[i] + 10", "10 + a[i]"))
    result = run("diff", "guard")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "-        out[i] = 10 + a[i]" in lines and "+        out[i] = a[i] + 10" in lines


def test_watch_ends_with_its_input(run: Run) -> None:
    result = run("watch", "guard", typed="h\n")
    assert result.exit_code == 0
    assert "guard.py is still the stub" in result.stdout
    assert "hint 1 of 3" in result.stdout


def test_grade_of_the_solutions_passes(run: Run) -> None:
    puzzles = index.lesson("01_threads").puzzles
    names = [word for puzzle in puzzles for word in ("--only", puzzle.short_name)]
    result = run("grade", "--answers", str(SOLUTIONS), *names)
    assert result.exit_code == 0
    count, points = len(puzzles), sum(puzzle.points for puzzle in puzzles)
    assert f"\n{count} of {count} passed, {points} of {points} points.\n" in result.stdout
    assert result.stdout.count(" passed ") >= count


def test_grade_of_some_stubs_does_not_pass(run: Run, answers: Path) -> None:
    solve(answers, "guard")
    result = run("grade", "--only", "guard", "--only", "blocks")
    assert result.exit_code == 1
    assert "1 of 2 passed, 10 of 20 points." in result.stdout


@pytest.mark.parametrize(
    "call", [("--only", "guard", "--only", "blocks"), ("--only", "guard", "blocks")]
)
def test_grade_writes_the_agreed_json(run: Run, answers: Path, call: tuple[str, ...]) -> None:
    (answers / "01_threads" / "guard.py").write_text(WRONG)
    result = run("grade", "--format", "json", *call)
    assert result.exit_code == 1
    written = json.loads(result.stdout)
    assert [puzzle["name"] for puzzle in written["puzzles"]] == [
        "01_threads/guard",
        "01_threads/blocks",
    ]
    assert set(written["puzzles"][0]) == {
        "name", "status", "reason", "points", "max_points", "message", "hazards", "counters",
        "seconds",
    }  # fmt: skip
    assert [puzzle["status"] for puzzle in written["puzzles"]] == ["failed", "not-started"]


def test_grade_writes_to_a_file(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "grades.json"
    result = run("grade", "--only", "guard", "--format", "json", "--out", str(out))
    assert result.exit_code == 1
    assert json.loads(out.read_text())["puzzles"][0]["name"] == "01_threads/guard"
    assert result.stdout == f"0 of 1 passed, 0 of 10 points. Written to {out}.\n"


def verdict(status: str, reason: str | None = None) -> Verdict:
    points = 10 if status == "passed" else 0
    return Verdict("01_threads/guard", status, reason, points, 10, tuple(fact("text")))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([verdict("passed")], 0),
        ([verdict("failed", "wrong-result")], 1),
        ([verdict("timeout", "deadline")], 1),
        ([verdict("not-started")], 1),
        ([verdict("error", "grader")], 2),
        ([verdict("passed"), replace(verdict("error"), name="01_threads/blocks")], 2),
        ([], 2),
    ],
)
def test_exit_status_of_grade(
    run: Run, monkeypatch: pytest.MonkeyPatch, given: list[Verdict], expected: int
) -> None:
    monkeypatch.setattr(GRADE, "grade", lambda **_: tuple(given))
    assert run("grade", "--only", "guard").exit_code == expected


def test_a_missing_record_is_never_a_pass(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GRADE, "grade", lambda **_: (verdict("passed"),))
    result = run("grade", "--only", "guard", "--only", "blocks")
    assert result.exit_code == 2
    assert "no verdict came back for 01_threads/blocks" in result.stderr


def test_status_has_a_row_for_each_puzzle(run: Run, answers: Path) -> None:
    solve(answers, "add_ten")
    result = run("status")
    assert result.exit_code == 0
    rows = [line.split() for line in re.findall(r"^  \w.*", result.stdout, re.M)]
    assert [row[0] for row in rows] == [puzzle.short_name for puzzle in index.puzzles()]
    assert rows[0] == ["add_ten", "passed", "10/10", "easy,", "about", "5", "minutes"]
    assert rows[1][1] == "not-started"
    assert result.stdout.endswith(f"Next: {index.puzzles()[1].name}\n")


def test_list_and_status_show_the_whole_course_and_what_is_to_come(run: Run) -> None:
    for command in ("list", "status"):
        told = " ".join(run(command).stdout.split())
        for part in range(len(outline.PARTS)):
            assert outline.part_title(part) in told
            assert outline.to_come_text(part) in told


def test_status_says_which_answer_passed_before(run: Run, answers: Path) -> None:
    solve(answers, "add_ten")
    run("check", "add_ten")
    (answers / "00_start_here" / "add_ten.py").write_text("def add_ten(")
    told = run("status").stdout
    assert "Start here: 1 of 1 passed" in told
    assert "add_ten  failed (passed before)" in told


def test_doctor_reports_and_sets_the_status(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = doctor.Probe("numpy", "missing", "not installed", "install it")
    monkeypatch.setattr(doctor, "examine", lambda: (missing,))
    result = run("doctor", "--format", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["findings"][0]["name"] == "numpy"
    assert "MISSING numpy" in run("doctor").stdout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two notebooks, and the current folder deep inside it."""
    for folder in ("gpu_course", "puzzles/01_threads", "notebooks"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    for name in ("00_start_here", "01_threads"):
        (tmp_path / "notebooks" / f"{name}.ipynb").touch()
    monkeypatch.chdir(tmp_path / "puzzles" / "01_threads")
    return tmp_path


@pytest.mark.parametrize(
    ("call", "notebook", "option"),
    [
        ((), "00_start_here", None),
        (("01",), "01_threads", None),
        (("1", "--no-browser"), "01_threads", "--no-browser"),
        (("threads", "--port", "9999"), "01_threads", "--port=9999"),
    ],
)
def test_lab_opens_the_notebook_from_the_root(
    checkout: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: tuple[str, ...],
    notebook: str,
    option: str | None,
) -> None:
    started: list[tuple[list[str], Path]] = []

    def start(command: list[str], root: Path) -> int:
        started.append((command, root))
        return 0

    monkeypatch.setattr(lab, "_run", start)
    result = CliRunner().invoke(commands.app, ["lab", *call])
    assert result.exit_code == 0
    ((command, root),) = started
    assert root == checkout
    assert command[1:3] == ["-m", "jupyterlab"]
    assert (
        f"--LabApp.default_url=/lab/workspaces/{notebook}/tree/notebooks/{notebook}.ipynb"
        in command
    )
    if option:
        assert option in command


def test_lab_outside_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match="is not inside a checkout"):
        lab.open_jupyterlab()


def test_lab_with_a_notebook_that_was_not_built(checkout: Path) -> None:
    (checkout / "notebooks" / "01_threads.ipynb").unlink()
    result = CliRunner().invoke(commands.app, ["lab", "01"])
    assert result.exit_code == 2
    assert "run `make build`" in result.stderr


def test_lab_waits_out_an_interrupt(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Process:
        """Stands for JupyterLab: interrupted once, then ends."""

        answers = iter([KeyboardInterrupt, 0])

        def __init__(self, command: list[str], cwd: Path, env: dict[str, str]) -> None:
            self.command = command

        def __enter__(self) -> Process:
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def wait(self) -> int:
            answer = next(self.answers)
            if answer is KeyboardInterrupt:
                raise KeyboardInterrupt
            return 0

    monkeypatch.setattr(lab.subprocess, "Popen", Process)
    assert lab._run(["jupyter"], tmp_path) == 0


def test_lab_says_what_it_opens_and_how_to_stop_it(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab, "_run", lambda command, root: 0)
    result = CliRunner().invoke(commands.app, ["lab", "01"])
    assert result.stdout.startswith("JupyterLab opens notebooks/01_threads.ipynb. To stop it,")


def test_lab_lets_cells_and_terminals_find_the_command() -> None:
    first = lab.environment(os.environ)["PATH"].split(os.pathsep)[0]
    assert Path(first) == Path(sys.executable).parent


@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking it")
def test_ending_lab_ends_jupyterlab(tmp_path: Path) -> None:
    # The child asks its parent to end, and sleeps on unless that request comes back to it.
    child = "import os, signal, time; os.kill(os.getppid(), signal.SIGTERM); time.sleep(600)"
    before = signal.getsignal(signal.SIGTERM)
    assert lab._run([sys.executable, "-c", child], tmp_path) == -signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def test_restore_lists_brings_back_and_keeps(answers: Path) -> None:
    run = CliRunner().invoke
    empty = run(commands.app, ["restore", "guard"])
    assert empty.exit_code == 2 and "no earlier text of guard.py is kept" in empty.stderr
    assert "No earlier text" in run(commands.app, ["restore", "guard", "--list"]).stdout
    path = answers / "01_threads" / "guard.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text("first\n")
    run(commands.app, ["reset", "guard", "--yes"])
    path.write_text("second\n")
    back = run(commands.app, ["restore", "guard"])
    assert back.exit_code == 0 and path.read_text() == "first\n"
    assert "holds the text of" in back.stdout and "What it held before is kept in" in back.stdout
    # Asked again, it goes back to what it replaced.
    run(commands.app, ["restore", "guard"])
    assert path.read_text() == "second\n"
    listed = run(commands.app, ["restore", "guard", "--list"]).stdout.splitlines()
    assert listed[0].startswith("  1  ") and path.read_text() == "second\n"
    run(commands.app, ["restore", "guard", str(len(listed))])
    assert path.read_text() == "first\n"
    assert run(commands.app, ["restore", "guard", "99"]).exit_code == 2
    # A copy that JupyterLab's editor kept beside the answer is one of them.
    (path.parent / "guard.kept-29991231-235959.py").write_text("typed\n")
    run(commands.app, ["restore", "guard"])
    assert path.read_text() == "typed\n"


def test_a_pass_found_by_grade_stays_on_the_map(answers: Path) -> None:
    from gpu_course.grading import workspace

    root = Path(__file__).parents[2]
    path = answers / "01_threads" / "guard.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text((root / "solutions" / "01_threads" / "guard.py").read_text())
    CliRunner().invoke(commands.app, ["grade", "guard", "blocks"])
    assert workspace.passes_won() == {"01_threads/guard"}


def test_main_returns_the_status(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    assert cli.main(["check", "guard"]) == 1
    assert cli.main(["check", "nonsense"]) == 2
    assert cli.main(["nonsense"]) == 2
    assert "no puzzle is called 'nonsense'" in capsys.readouterr().err


def test_a_folder_to_write_to_is_refused_before_anything_is_graded(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GRADE, "grade", lambda **_: pytest.fail("it was graded"))
    result = run("grade", "--out", str(tmp_path))
    assert result.exit_code == 2
    assert "is a folder" in result.stderr


def test_a_full_disk_loses_neither_the_old_file_nor_the_verdicts(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(GRADE, "grade", lambda **_: (verdict("passed"),))
    monkeypatch.setattr(os, "fsync", full)
    out = tmp_path / "grades.json"
    out.write_text("yesterday")
    result = run("grade", "--only", "guard", "--format", "json", "--out", str(out))
    assert result.exit_code == 2
    assert json.loads(result.stdout)["puzzles"][0]["status"] == "passed"
    assert out.read_text() == "yesterday"
    assert list(tmp_path.glob("*grades*")) == [out]


def test_the_table_says_how_answers_were_held(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    held = replace(verdict("passed"), evidence={"isolation": "sandboxed (limits)"})
    monkeypatch.setattr(GRADE, "grade", lambda **_: (held,))
    result = run("grade", "--only", "guard")
    assert "Isolation of 1 answer in Python: sandboxed (limits)." in result.stdout
