"""Processes come and go: what stays warm, what ends with its grader, and that nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from gpu_course.errors import CourseError
from gpu_course.grading.check import check
from gpu_course.grading.python import check as python_check
from gpu_course.grading.python.answers import read_python_answer
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.isolation import processes, servers
from gpu_course.puzzle import index
from tests.gpu_course.grading import python_toy as toy

ROOT = Path(__file__).parents[3]
needs_forkserver = pytest.mark.skipif(
    not servers.available(), reason="there is no forkserver on this system"
)


def cold(text: str) -> Verdict:
    """The verdict where no forkserver forks."""
    answer = read_python_answer(toy.COVER, text)
    return python_check.verdict_on(toy.COVER, answer, 0, warm=False)


@pytest.mark.parametrize(
    ("text", "reason", "diagnosis"),
    [
        (toy.RIGHT, None, None),
        (toy.WRONG, "wrong-result", "wrong"),
        (toy.answer("return cells // 0"), "exception", "exception"),
        (toy.answer("import os", "os._exit(3)"), "crash", "crash"),
        (toy.answer("a = []", "while True: a.append(bytearray(1 << 20))"), "crash", "memory"),
    ],
)
def test_without_a_forkserver_the_verdicts_are_the_same(
    text: str, reason: str | None, diagnosis: str | None
) -> None:
    found = cold(text)
    assert (found.reason, found.diagnosis) == (reason, diagnosis), found.message
    warm = check(toy.COVER, answer=text, seed=0)
    assert (warm.reason, warm.diagnosis) == (reason, diagnosis), warm.message
    assert found.sections == warm.sections


@needs_forkserver
def test_one_forkserver_serves_many_checks() -> None:
    check(toy.COVER, answer=toy.RIGHT)
    first = servers.forkserver("numpy").process.pid
    check(toy.COVER, answer=toy.WRONG)
    assert servers.forkserver("numpy").process.pid == first


@needs_forkserver
def test_a_forkserver_that_died_is_replaced() -> None:
    check(toy.COVER, answer=toy.RIGHT)
    old = servers.forkserver("numpy").process
    old.kill()
    old.wait()
    assert check(toy.COVER, answer=toy.RIGHT).passed
    assert servers.forkserver("numpy").process.pid != old.pid


@needs_forkserver
def test_shutting_down_leaves_no_process() -> None:
    check(toy.COVER, answer=toy.RIGHT)
    server = psutil.Process(servers.forkserver("numpy").process.pid)
    servers.shutdown()
    assert not server.is_running()
    assert check(toy.COVER, answer=toy.RIGHT).passed


@needs_forkserver
def test_libraries_that_cannot_be_imported_are_the_graders_fault() -> None:
    with pytest.raises(CourseError, match="cannot import no_such_library"):
        servers.Forkserver("no_such_library")
    assert check(toy.COVER, answer=toy.RIGHT).passed


def test_checks_from_several_threads_wait_for_each_other() -> None:
    found: list[str] = []

    def work(text: str) -> None:
        found.append(check(toy.COVER, answer=text, seed=0).status)

    threads = [threading.Thread(target=work, args=(t,)) for t in [toy.RIGHT, toy.WRONG] * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["failed"] * 3 + ["passed"] * 3


SCRIPT = """
import os, signal, sys, threading, time
import psutil
from gpu_course.grading.check import check
from tests.gpu_course.grading import python_toy as toy

def tell():
    me = psutil.Process()
    while True:
        family = me.children(recursive=True)
        if len(family) == 2:
            print(*(each.pid for each in family), flush=True)
            return
        time.sleep(0.02)

# What a shell starts in the background ignores it, and so does all that is started from there.
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Thread(target=tell, daemon=True).start()
check(toy.COVER, answer=toy.answer("import time", "time.sleep(600)"))
"""


@needs_forkserver
@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_grader_that_ends_takes_its_processes_with_it(by: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as grader:
        assert grader.stdout is not None
        family = [int(pid) for pid in grader.stdout.readline().split()]
        assert len(family) == 2 and len(list(tmp_path.iterdir())) == 1
        grader.send_signal(by)
        grader.wait(300)
    _end_within(family, 300)
    assert list(tmp_path.iterdir()) == []


WATCHED = """
import sys
from gpu_course.isolation.child import end_with_the_asker

end_with_the_asker()
print(sys.stdin.readline(), end="", flush=True)
while True:
    pass
"""


@pytest.mark.skipif(os.name != "posix", reason="pipes hang up on POSIX alone")
def test_an_answer_that_computes_sees_that_its_grader_is_gone() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WATCHED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write("asked\n")
        child.stdin.flush()
        assert child.stdout.readline() == "asked\n"
        assert child.poll() is None
        child.stdin.close()
        assert child.wait(300) == 1


JOBS = """
import sys, threading, time
import psutil
from gpu_course.grading import grade

def tell():
    me = psutil.Process()
    while True:
        family = me.children(recursive=True)
        # The tracker of Python's pools; and twice a worker, its forkserver, and an answer.
        if len(family) == 7:
            print(*(each.pid for each in family), flush=True)
            return
        time.sleep(0.02)

threading.Thread(target=tell, daemon=True).start()
grade(sys.argv[1], only=["occupancy", "sectors"], jobs=2)
"""


@needs_forkserver
def test_jobs_end_with_the_grader_that_was_killed(tmp_path: Path) -> None:
    for name in ("occupancy", "sectors"):
        puzzle = index.find(name)
        path = tmp_path / "answers" / f"{puzzle.name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        functions = "".join(
            f"def {name}({', '.join(parameters)}): pass\n"
            for name, parameters in puzzle.parameters.items()
        )
        path.write_text(f"import time\n{functions}time.sleep(600)\n")
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(
        [sys.executable, "-c", JOBS, str(tmp_path / "answers")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as grader:
        assert grader.stdout is not None
        family = [int(pid) for pid in grader.stdout.readline().split()]
        assert len(family) == 7
        grader.kill()
        grader.wait(300)
    _end_within(family, 300)
    assert list((tmp_path / "temporary").iterdir()) == []


def _end_within(family: list[int], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while any(map(_runs, family)) and time.monotonic() < deadline:
        threading.Event().wait(0.02)
    assert not any(map(_runs, family))


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


FORKED = """
import os
from gpu_course.grading.check import check
from gpu_course.isolation import servers
from tests.gpu_course.grading import python_toy as toy

assert check(toy.COVER, answer=toy.RIGHT).passed
mine = servers.forkserver("numpy").process.pid
pid = os.fork()
if pid == 0:
    ok = check(toy.COVER, answer=toy.RIGHT).passed
    ok = ok and servers.forkserver("numpy").process.pid != mine
    servers.shutdown()
    os._exit(0 if ok else 1)
assert os.waitpid(pid, 0)[1] == 0
assert check(toy.COVER, answer=toy.RIGHT).passed
assert servers.forkserver("numpy").process.pid == mine
"""


@needs_forkserver
def test_a_forked_copy_of_the_grader_has_a_forkserver_of_its_own() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-c", FORKED]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_forkserver
def test_what_pytorch_warns_of_is_not_told_as_the_answers_print(tmp_path: Path) -> None:
    answer = tmp_path / "accumulate.py"
    answer.write_text(
        "def accumulate(model, loss, x, y, parts):\n"
        "    for rows, targets in zip(x.tensor_split(parts), y.tensor_split(parts)):\n"
        "        model.zero_grad()\n"
        "        loss(model(rows), targets).backward()\n"
    )
    verdict = check("accumulate", answer=answer, seed=0)
    assert verdict.reason == "wrong-result"
    assert "prints:" not in verdict.message


def test_the_environment_and_the_folder_of_an_answer_are_bare(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    for name in ("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "A_SECRET"):
        monkeypatch.setenv(name, str(tmp_path / "sitecustomize.py"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("PYTHONHOME")
    servers.shutdown()
    text = toy.answer(
        "import os, sys, json, pathlib",
        "here = pathlib.Path.cwd()",
        f"seen = [p for p in sys.path if {str(tmp_path)!r} in p or not p]",
        "seen += list(os.listdir()) + [k for k in os.environ if 'SECRET' in k or 'PYTHON' in k]",
        "return seen",
    )
    verdict = check(toy.COVER, answer=text, seed=0)
    servers.shutdown()
    assert verdict.message.startswith("result is [], a list"), verdict.message
    assert not (tmp_path / "ran").exists()


def test_what_is_printed_is_kept_short_and_clean() -> None:
    text = toy.answer("print('\\x1b[31m' + 'x' * 50)", "print('y' * 10 ** 6)", "return 47")
    verdict = check(toy.COVER, answer=text, seed=0)
    printed = verdict.evidence["printed"]
    assert printed.startswith("[31m" + "x" * 50 + "\n")
    assert len(printed) <= processes.MAX_PRINTED_BYTES + 4 and printed.endswith(" ...")
    assert "  prints: [31mxxx" in verdict.message


@needs_forkserver
def test_an_interrupted_start_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Seen(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    def interrupted(self: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(servers.subprocess, "Popen", Seen)
    monkeypatch.setattr(servers.Forkserver, "_receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        servers.Forkserver("numpy")
    (process,) = started
    assert process.poll() is not None
