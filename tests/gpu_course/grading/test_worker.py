"""The worker process: it answers, is ended, dies, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from gpu_course.errors import CourseError
from gpu_course.grading import worker as worker_module
from gpu_course.grading import workspace
from gpu_course.grading.check import check
from gpu_course.grading.verdicts.sections import fact
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.grading.worker import COMMAND, OBJECTS, CheckOutcome, Died, Worker
from gpu_course.grading.worker_process import packed, reply
from gpu_course.isolation import transport
from gpu_course.puzzle import index

LONG_S = 300.0
GUARD = "01_threads/guard"
WRONG = """from numba import cuda


@cuda.jit
def guard(out, a, size):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10
"""
ENDLESS = WRONG.replace("    out[i]", "    while i >= 0:\n        i = i + 0\n    out[i]")

PARENT = """
from gpu_course.grading.worker import Worker
from gpu_course.puzzle import index

worker = Worker()
worker.warm()
print(worker._process.pid, flush=True)
worker.post(index.find("guard"))
input()
"""
PUZZLE = index.find("guard")
SAID = tuple(fact("right"))
READY = packed(CheckOutcome(Verdict(GUARD, "passed", None, 10, 10, SAID)))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The answer to guard, in a folder of its own."""
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path / "puzzles"))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    path = tmp_path / "puzzles" / f"{GUARD}.py"
    workspace.write_text(path, WRONG)
    return path


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()


def family(worker: Worker) -> list[psutil.Process]:
    assert worker._process is not None
    first = psutil.Process(worker._process.pid)
    return [first, *first.children(recursive=True)]


def test_it_says_what_check_says_again_and_again(file: Path, worker: Worker) -> None:
    texts = {"wrong": WRONG, "broken": "def (", "empty": "", "endless": ENDLESS}
    for text in texts.values():
        file.write_text(text)
        worker.post(PUZZLE)
        told = worker.poll(LONG_S)
        assert isinstance(told, CheckOutcome)
        expected = check("guard")
        assert (told.verdict.name, told.verdict.status) == (GUARD, "failed")
        assert told.verdict.reason == expected.reason
        assert told.verdict.sections == expected.sections
    # The process that is asked is the one that checks.
    assert len(family(worker)) == 1


def test_an_answer_is_given_once(file: Path, worker: Worker) -> None:
    worker.post(PUZZLE)
    assert worker.busy
    assert isinstance(worker.poll(LONG_S), CheckOutcome)
    assert not worker.busy and worker.poll() is None


def test_html_is_drawn_when_it_is_asked_for(file: Path) -> None:
    drawing = Worker(html=True)
    try:
        drawing.post(PUZZLE)
        told = drawing.poll(LONG_S)
    finally:
        drawing.stop()
    assert isinstance(told, CheckOutcome) and "<img alt=" in told.html


def test_no_folder_of_answers_is_told_and_not_the_end(file: Path, worker: Worker) -> None:
    worker.post(PUZZLE)
    worker.poll(LONG_S)
    folder = file.parents[1]
    folder.rename(folder.with_name("elsewhere"))
    worker.post(PUZZLE)
    told = worker.poll(LONG_S)
    assert isinstance(told, CheckOutcome) and told.verdict.status == "error"
    assert "which is not a folder" in told.verdict.message
    folder.with_name("elsewhere").rename(folder)
    worker.post(PUZZLE)
    told = worker.poll(LONG_S)
    assert isinstance(told, CheckOutcome) and told.verdict.status == "failed"


def stand_in(text: str, html: bool = False) -> Worker:
    """Returns a Worker whose process runs this program instead."""
    return Worker(command=[sys.executable, "-c", text], html=html)


def test_a_check_that_hangs_is_ended_with_all_it_started() -> None:
    # Only after the program below it runs does it answer, so that both are there to be ended.
    hanging = stand_in(
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'print(1, flush=True); input()'],"
        " stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)\n"
        "child.stdout.readline()\n"
        f"sys.stdout.buffer.write({READY!r})\n"
        "sys.stdout.buffer.flush()\n"
        "child.wait()"
    )
    hanging.post(PUZZLE)
    assert isinstance(hanging.poll(LONG_S), CheckOutcome)
    both = family(hanging)
    assert len(both) == 2
    hanging.post(PUZZLE)
    hanging.stop()
    assert psutil.wait_procs(both, timeout=LONG_S)[1] == []
    assert not hanging.busy


@pytest.mark.parametrize("status", [0, 3])
def test_a_worker_that_ends_by_itself_is_told_and_replaced(
    file: Path, worker: Worker, status: int
) -> None:
    dying = stand_in(f"import sys; sys.stdin.buffer.read(1); sys.exit({status})")
    dying.post(PUZZLE)
    assert dying.poll(LONG_S) == Died(status)
    dying._command = list(COMMAND)
    dying.post(PUZZLE)
    assert isinstance(dying.poll(LONG_S), CheckOutcome)
    dying.stop()


def test_one_that_cannot_be_written_to_is_told_as_dead() -> None:
    dying = stand_in("pass")
    dying.warm()
    assert dying._process is not None
    dying._process.wait(LONG_S)
    dying.post(PUZZLE)
    assert dying.poll(LONG_S) == Died(0)


def test_stopping_twice_or_before_the_start_is_no_matter() -> None:
    idle = Worker()
    idle.stop()
    idle.warm()
    idle.stop()
    idle.stop()


@pytest.mark.skipif(os.name == "nt", reason="no kill without a chance to clean up")
def test_it_dies_with_its_parent(file: Path) -> None:
    # The parent is killed in the middle of an endless check, so nothing of it can tell the worker.
    file.write_text(ENDLESS)
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            PARENT,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert parent.stdout is not None and parent.stdin is not None
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    assert psutil.wait_procs([worker], timeout=LONG_S)[1] == []


def test_what_an_answer_prints_reaches_nobody(file: Path, worker: Worker) -> None:
    file.write_text(WRONG.replace("    out[i]", "    print(i)\n    out[i]"))
    worker.post(PUZZLE)
    assert isinstance(worker.poll(LONG_S), CheckOutcome)
    worker.post(PUZZLE)
    assert isinstance(worker.poll(LONG_S), CheckOutcome)


def test_modules_of_the_learner_take_no_module_s_place(
    file: Path, worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit('not the real one')")
    worker.post(PUZZLE)
    assert isinstance(worker.poll(LONG_S), CheckOutcome)


def test_what_keeps_a_check_from_a_verdict_is_told_in_its_place(file: Path) -> None:
    asked = {"name": GUARD, "folder": "/no such folder", "answers": None, "keep": True}
    told = reply(asked, html=False)
    assert isinstance(told, CheckOutcome) and told.verdict.status == "error"
    first, step = told.verdict.message.splitlines()
    assert first == "the current folder cannot be used: No such file or directory"
    assert step == "  try:    go to another"


def test_an_error_of_the_call_is_told_as_one(file: Path, worker: Worker) -> None:
    file.parents[1].rename(file.parents[1].with_name("elsewhere"))
    worker.ask(PUZZLE, file, own=True, seed=0)
    told = worker.poll(LONG_S)
    assert isinstance(told, CourseError) and "which is not a folder" in told.fact and told.hint


def test_a_worker_that_says_nonsense_is_dead(file: Path) -> None:
    speech = "import sys; sys.stdin.buffer.read(1); print('nonsense' * 9, flush=True)"
    lying = stand_in(f"{speech}\nwhile True: pass")
    lying.post(PUZZLE)
    assert isinstance(lying.poll(LONG_S), Died)


@pytest.mark.parametrize("limit", ["WAITING_S", "COMPUTING_S"])
def test_what_a_notebook_follows_is_held_to_the_limits_of_a_check(
    monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    hanging = stand_in("import sys; sys.stdin.buffer.read(1)\nwhile True: pass", html=True)
    hanging.post(PUZZLE)
    both = family(hanging)
    monkeypatch.setattr(worker_module, limit, 0.01)
    while (told := hanging.poll()) is None:
        pass
    assert isinstance(told, CheckOutcome) and told.verdict.reason == "deadline"
    assert "was not done after 0.01 seconds" in told.verdict.message
    assert "was not done after 0.01 seconds" in told.html
    assert not hanging.busy and psutil.wait_procs(both, timeout=LONG_S)[1] == []


def test_a_verdict_with_too_many_numbers_goes_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Verdict(GUARD, "failed", "hazard", 0, 10, SAID, evidence={"all": [np.zeros(1)] * 40})
    monkeypatch.setattr(transport, "MAX_VALUES", 3)
    told = transport.unpack(packed(CheckOutcome(found)), OBJECTS)
    assert told == CheckOutcome(replace(found, evidence={}))
