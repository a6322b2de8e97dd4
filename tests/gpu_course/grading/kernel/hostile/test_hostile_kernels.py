"""Kernels that try to break or fool the grader: each ends as the head of its file says.

An answer is a text file here, so that nothing but the grader ever opens it as Python. Its head
names the puzzle it is sent to, how the check ends, and what the message says.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gpu_course.grading import Verdict, check, grade, workspace
from gpu_course.grading.kernel import trial
from gpu_course.grading.verdicts.facts import REASONS, STATUSES
from gpu_course.puzzle import Launch, index
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.kernel.hostile import toys

ANSWERS = sorted((Path(__file__).parent / "answers").glob("*.txt"))
SHORT = {puzzle.short_name: puzzle for puzzle in toys.PUZZLES}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A learner's folder; afterwards nothing is left of what a hostile answer may have started."""
    for puzzle in toys.PUZZLES:
        (tmp_path / "puzzles" / puzzle.lesson).mkdir(parents=True, exist_ok=True)
    monkeypatch.setattr(index, "lessons", lambda: (toys.LESSON,))
    monkeypatch.setattr(workspace, "_stubs", dict)
    solution = tmp_path / "solutions" / f"{toys.PLUS_TEN.name}.py"
    solution.parent.mkdir(parents=True)
    solution.write_bytes(_right("plus_ten"))
    monkeypatch.setattr(trial, "solutions_folder", lambda: tmp_path / "solutions")
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path / "puzzles"))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    monkeypatch.chdir(tmp_path)
    before = _outside(tmp_path)
    yield tmp_path / "puzzles"
    assert _outside(tmp_path) == before


def _outside(folder: Path) -> dict[str, object]:
    """What a check may not change: processes, threads, open files, environment, files."""
    me = psutil.Process()
    return {
        "children": {child.pid for child in me.children(recursive=True)},
        "threads": threading.active_count(),
        "files": {file.path for file in me.open_files()},
        "connections": len(me.net_connections()),
        # The name of the running test is pytest's own.
        "environment": {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"},
        "place": os.getcwd(),
        "signals": me.status(),
        "made": sorted(path.name for path in folder.iterdir()),
    }


def _right(name: str) -> bytes:
    return (Path(__file__).parent / "answers" / f"control_right_{name}.txt").read_bytes()


def _head(text: str, label: str) -> list[str]:
    return re.findall(rf"^# {label}:[ ]?(.*)$", text, flags=re.MULTILINE)


def _survives(verdict: Verdict, folder: Path) -> None:
    """The verdict is one of the known; the grader is alive and grades the other puzzles."""
    assert verdict.status in STATUSES and verdict.reason in REASONS
    assert verdict.status != "error", verdict.message
    assert verdict.points == (verdict.max_points if verdict.passed else 0)
    others = [puzzle for puzzle in toys.PUZZLES if puzzle.name != verdict.name]
    for puzzle in others:
        (folder / f"{puzzle.name}.py").write_bytes(_right(puzzle.short_name))
    graded = {v.name: v.status for v in grade(folder, only=[p.name for p in others])}
    assert graded == {puzzle.name: "passed" for puzzle in others}


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_a_hostile_answer(path: Path, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = path.read_text(encoding="utf-8")
    (name,), (ends,), says = (_head(text, label) for label in ("puzzle", "ends", "says"))
    status, _, reason = ends.partition(", ")
    answer = folder / f"{SHORT[name].name}.py"
    answer.write_text(text, encoding="utf-8")
    verdict = check(name)
    assert (verdict.status, verdict.reason) == (status, reason or None), verdict.message
    assert says
    for fragment in says:
        assert " ".join(fragment.split()) in " ".join(verdict.message.split()), verdict.message
    assert answer.read_text(encoding="utf-8") == text
    assert capfd.readouterr() == ("", "")
    _survives(verdict, folder)


def test_every_puzzle_has_its_two_controls() -> None:
    stems = {path.stem for path in ANSWERS}
    assert {f"control_{end}_{name}" for end in ("right", "wrong") for name in SHORT} <= stems


RIGHT = _right("plus_ten")
HEAD = b"from numba import cuda\n\n\n@cuda.jit\ndef plus_ten(out, a, size):\n"
LAST = b"    i = cuda.grid(1)\n    if i < size:\n        out[i] = a[i] + 10\n"

# What no one would keep as a file: (bytes, how it ends, a fragment of the message)
MADE: dict[str, tuple[bytes, str, str]] = {
    "empty": (b"", "missing-function", "defines no function"),
    "ten megabytes": (RIGHT + b"#" * 10_000_000, "refused", "bytes; an answer may have"),
    "not utf-8": (RIGHT + b"# \xff\n", "refused", "is not UTF-8 text"),
    "utf-16": (RIGHT.decode().encode("utf-16"), "refused", "is not UTF-8 text"),
    "null bytes": (RIGHT + b"\0", "refused", "Python cannot read this file"),
    "only null bytes": (b"\0" * 1000, "refused", "Python cannot read this file"),
    "a program": (b"\x7fELF\x02\x01\x01" + bytes(range(256)), "refused", "is not UTF-8 text"),
    "deep brackets": (
        RIGHT + b"x = " + b"(" * 50_000 + b"1" + b")" * 50_000 + b"\n", "refused", "",
    ),
    "deep minus": (HEAD + b"    x = " + b"-" * 3000 + b"1\n" + LAST, "refused", ""),
    "deep sum": (
        HEAD + b"    x = " + b"+".join([b"1"] * 3000) + b"\n" + LAST, "refused", "nest",
    ),
    "deep blocks": (
        HEAD + b"".join(b" " * k + b"if size:\n" for k in range(4, 150)) + b" " * 150 + b"x = 1\n",
        "refused", "indentation",
    ),
    "a long kernel": (HEAD + b"    x = 1\n" * 8000 + LAST, "refused", "nodes in its syntax tree"),
    "a long line": (
        HEAD + b"    x = (" + b"1, " * 25_000 + b")\n" + LAST, "refused", "nodes in its syntax",
    ),
    "many functions": (
        b"from numba import cuda\n@cuda.jit(device=True)\ndef f0(x):\n    return x\n"
        + b"".join(
            b"@cuda.jit(device=True)\ndef f%d(x):\n    return f%d(x)\n" % (k, k - 1)
            for k in range(1, 1000)
        )
        + HEAD + b"    i = cuda.grid(1)\n    if i < size:\n        out[i] = f999(a[i])\n",
        "refused", "calls nest more than 32 deep",
    ),
    "a long number": (HEAD + b"    x = " + b"9" * 5000 + b"\n" + LAST, "refused", ""),
    "tabs and spaces": (HEAD + b"    i = 1\n\tif i < size:\n", "refused", "inconsistent"),
    "escapes for a terminal": (
        b"\x1b[2J" + RIGHT, "refused", "Python cannot read this file",
    ),
    "a renamed function": (
        RIGHT.replace(b"plus_ten(out", b"plus_tem(out"), "missing-function", "did you mean",
    ),
    "a syntax error": (RIGHT + b"def (\n", "refused", "Python cannot read this file"),
    "a function that is deleted": (RIGHT + b"del plus_ten\n", "missing-function", "plus_ten"),
    "a function that is replaced": (RIGHT + b"plus_ten = 3\n", "missing-function", "plus_ten"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "reason", "fragment"), MADE.values(), ids=MADE.keys())
def test_a_file_that_is_made(data: bytes, reason: str, fragment: str, folder: Path) -> None:
    (folder / f"{toys.PLUS_TEN.name}.py").write_bytes(data)
    verdict = check("plus_ten")
    assert (verdict.status, verdict.reason) == ("failed", reason), verdict.message
    assert fragment in " ".join(verdict.message.split())
    assert all(line.isprintable() for line in verdict.message.splitlines())
    _survives(verdict, folder)


def test_tabs_are_fine(folder: Path) -> None:
    file = folder / f"{toys.PLUS_TEN.name}.py"
    file.write_bytes(RIGHT.replace(b"    ", b"\t"))
    _survives(check("plus_ten"), folder)
    assert check("plus_ten").passed


def test_a_folder_in_place_of_a_file(folder: Path) -> None:
    (folder / f"{toys.PLUS_TEN.name}.py").mkdir()
    verdict = check("plus_ten")
    assert (verdict.status, verdict.reason) == ("failed", "refused")
    assert "is a folder" in verdict.message
    _survives(verdict, folder)


def test_a_link_that_leads_nowhere(folder: Path) -> None:
    file = folder / f"{toys.PLUS_TEN.name}.py"
    file.symlink_to(file.with_name("gone.py"))
    verdict = check("plus_ten")
    assert (verdict.status, verdict.reason) == ("failed", "refused")
    assert "is a link that leads nowhere" in verdict.message
    _survives(verdict, folder)


def test_files_beside_the_answer_are_nobodys_business(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = folder / toys.PLUS_TEN.lesson
    evil = (
        "import pathlib\npathlib.Path(__file__).with_name('pwned').touch()\nraise SystemExit(0)\n"
    )
    for name in ("numpy", "math", "numba", "cuda", "conftest", "sitecustomize", "usercustomize"):
        (beside / f"{name}.py").write_text(evil)
    (beside / "evil.pth").write_text("import os; os._exit(0)\n")
    (beside / "pytest.ini").write_text("[pytest]\naddopts = --version\n")
    (beside / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '--version'\n")
    (folder / f"{toys.PLUS_TEN.name}.py").write_bytes(RIGHT)
    monkeypatch.chdir(beside)
    verdict = check("plus_ten")
    monkeypatch.chdir(folder.parent)
    assert verdict.passed, verdict.message
    assert not (beside / "pwned").exists()
    _survives(verdict, folder)


def test_an_untouched_stub_is_not_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_stubs", lambda: toy.STUBS)
    (folder / f"{toys.PLUS_TEN.name}.py").write_text(toy.STUB)
    verdict = check("plus_ten")
    assert (verdict.status, verdict.reason) == ("not-started", None)
    _survives(verdict, folder)


@pytest.mark.parametrize(
    ("grid", "block", "fact"),
    [
        (2**31, 1, "a grid of 2,147,483,648 blocks along x"),
        (1, 2048, "a block of 2,048 threads: a block has at most 1,024"),
        (2**31 - 1, 1024, "is launched with 2,199,023,254,528 lanes"),
        ((1, 2**20), 1, "a grid of 1,048,576 blocks along y"),
    ],
)
def test_a_launch_no_gpu_accepts_is_the_graders_fault(
    folder: Path, grid: int | tuple[int, ...], block: int, fact: str
) -> None:
    (folder / f"{toys.PLUS_TEN.name}.py").write_bytes(RIGHT)
    launch = Launch("plus_ten", grid, block, ("out", "a", "size"))
    verdict = check(replace(toys.PLUS_TEN, launches=lambda case: (launch,)))
    assert (verdict.status, verdict.reason) == ("error", "grader")
    assert fact in " ".join(verdict.message.split())
    assert check("plus_ten").passed
