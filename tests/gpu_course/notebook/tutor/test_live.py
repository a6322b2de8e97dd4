"""The live panel: on an event loop that a test turns by hand, and in a real kernel."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import IPython
import nbformat
import psutil
import pytest
from nbclient import NotebookClient

from gpu_course.grading.learner.loop import KERNEL_DEADLINE_S, POLL_S
from gpu_course.grading.worker import CheckOutcome, Died
from gpu_course.notebook.note import Note
from gpu_course.notebook.tutor.live import LivePanel, _panels, live
from tests.gpu_course.grading import toy
from tests.gpu_course.grading.stage import FakeWorker, outcome

ROOT = Path(__file__).parents[4]
# By name: gpu_course.notebook also offers the function of the same name.
MODULE = importlib.import_module("gpu_course.notebook.tutor.live")


class Turned:
    """An event loop on which time passes only when a test lets it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waiting: list[tuple[float, Callable[[], None]]] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, call: Callable[[], None]) -> None:
        self.waiting.append((self.now + delay, call))

    def turn(self, seconds: float = 10 * POLL_S) -> None:
        end = self.now + seconds
        while self.waiting and self.waiting[0][0] <= end:
            self.now, call = self.waiting.pop(0)
            call()
        self.now = end


def drawn(status: str) -> CheckOutcome:
    return replace(outcome(status), html=f"<b>{status}</b>")


class Stand:
    """A panel on the toy puzzle, with its file, its worker and its clock."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.worker = FakeWorker()
        self.events: Any = Turned()
        self.panel = LivePanel(toy.TOY, self.events, self.worker)

    def save(self, text: str, reply: CheckOutcome | Died | None) -> None:
        """Saves the file, lets its check begin, and answers it."""
        self.file.write_text(text)
        self.events.turn(3 * POLL_S)
        self.worker.reply = reply
        self.events.turn()

    @property
    def head(self) -> str:
        return str(self.panel._head.value)

    @property
    def body(self) -> str:
        return str(self.panel._body.value)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "puzzles" / f"{toy.TOY.name}.py"
    path.parent.mkdir(parents=True)
    path.write_text(toy.STUB)
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path / "puzzles"))
    return path


@pytest.fixture
def stand(file: Path) -> Stand:
    return Stand(file)


@pytest.fixture(autouse=True)
def no_panels() -> Iterator[None]:
    yield
    for entries in _panels.values():
        for _, panel in entries:
            panel.stop()
    _panels.clear()


def test_each_save_brings_its_verdict(stand: Stand) -> None:
    stand.worker.reply = drawn("not-started")
    stand.events.turn()
    assert stand.body == "<b>not-started</b>"
    assert "following puzzles/90_toys/plus_ten.py: save it and it is checked" in stand.head
    stand.save("def (", drawn("failed"))
    assert stand.body == "<b>failed</b>" and "diff(" not in stand.head
    stand.save(toy.RIGHT, drawn("passed"))
    assert stand.body == "<b>passed</b>"
    assert "diff(&quot;plus_ten&quot;) shows the solution and discusses it" in stand.head


def test_a_loop_that_does_not_end_is_told_and_the_next_save_is_checked(stand: Stand) -> None:
    stand.save("while True: pass", None)
    assert "checking puzzles/90_toys/plus_ten.py ..." in stand.head
    stand.events.turn(KERNEL_DEADLINE_S)
    assert "stopped: the check of plus_ten was not done" in stand.body
    assert stand.worker.stops == 2, "once for the save, once for the deadline"
    stand.save(toy.RIGHT, drawn("passed"))
    assert stand.body == "<b>passed</b>"


def test_a_worker_that_dies_is_told_and_the_next_save_is_checked(stand: Stand) -> None:
    stand.events.turn(0)
    stand.worker.reply = Died(-9)
    stand.events.turn()
    assert "ended by itself, with exit status -9" in stand.body
    stand.save(toy.RIGHT, drawn("passed"))
    assert stand.body == "<b>passed</b>"


def test_an_error_of_the_panel_is_seen(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a <bug> of ours")

    monkeypatch.setattr(stand.panel._follower, "step", broken)
    stand.events.turn()
    assert "ZeroDivisionError: a &lt;bug&gt; of ours" in stand.body
    assert "run the cell again" in stand.head
    assert not stand.panel.running and stand.events.waiting == []


def test_a_stopped_panel_looks_no_more(stand: Stand) -> None:
    stand.panel.stop()
    stand.panel.stop()
    assert stand.worker.stops == 1
    stand.events.turn()
    assert stand.events.waiting == []
    assert "no longer followed" in stand.head


def test_a_stored_notebook_keeps_a_sentence(stand: Stand) -> None:
    bundle = stand.panel._repr_mimebundle_()
    stand.save(toy.RIGHT, drawn("passed"))
    assert stand.panel._repr_mimebundle_() == bundle
    said = "puzzles/90_toys/plus_ten.py is checked each time it is saved"
    assert bundle["text/plain"] == f"live panel of 90_toys/plus_ten: {said}"
    assert said in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


class Front:
    """A shell whose front end names its cells."""

    def __init__(self) -> None:
        self.cell: str | None = None
        self.run = 0

    def get_parent(self) -> dict[str, Any]:
        self.run += 1
        return self.message()

    def message(self) -> dict[str, Any]:
        metadata = {"cellId": self.cell} if self.cell else {}
        return {"header": {"msg_id": str(self.run)}, "metadata": metadata}


@pytest.fixture
def front(file: Path, monkeypatch: pytest.MonkeyPatch) -> Front:
    made = Front()
    monkeypatch.setattr(IPython, "get_ipython", lambda: made)
    monkeypatch.setattr(asyncio, "get_running_loop", Turned)
    monkeypatch.setattr(MODULE, "Worker", lambda html: FakeWorker())
    return made


def made_by(front: Front, cell: str | None, name: str = "guard") -> LivePanel:
    front.cell = cell
    panel = live(name)
    assert isinstance(panel, LivePanel)
    return panel


def test_a_cell_has_one_panel(front: Front) -> None:
    first = made_by(front, "a")
    other = made_by(front, "b")
    again = made_by(front, "a", "clip")
    assert (first.running, other.running, again.running) == (False, True, True)
    assert "replaced by a newer one" in first._head.value


def test_two_panels_of_one_run_live_together(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "get_parent", front.message)
    one, two = made_by(front, "a"), made_by(front, "a", "clip")
    assert one.running and two.running
    front.run += 1
    three = made_by(front, "a")
    assert (one.running, two.running, three.running) == (False, False, True)


def test_a_front_end_without_names_for_cells_gets_one_panel_a_puzzle(front: Front) -> None:
    first, other, again = (made_by(front, None, name) for name in ("guard", "clip", "guard"))
    assert (first.running, other.running, again.running) == (False, True, True)


def test_where_there_is_no_notebook_it_names_the_command(file: Path) -> None:
    told = live("guard")
    assert isinstance(told, Note)
    assert "`gpu-course watch guard`" in repr(told)


def test_trouble_is_a_sentence(file: Path, front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no puzzle is called 'nope'" in repr(live("nope"))
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(file / "gone"))
    assert "which is not a folder" in repr(live("guard"))


UNTIL = "\nwhile {} not in panel._{}.value: await asyncio.sleep(0.01)"
# A check that is over before it would count as slow never says that it is under way.
BEGUN = "\nwhile 'checking' not in panel._head.value and 'Endless' not in panel._body.value:"
BEGUN += " await asyncio.sleep(0.01)"
ENDLESS = """from numba import cuda


@cuda.jit
def guard(out, a, size):
    i = cuda.threadIdx.x
    while i >= 0:
        i = i + 0
"""


def cells_of(file: Path, right: str) -> list[str]:
    """Returns what is run, one cell after the other; each ends when the panel shows its word."""
    return [
        "import asyncio, pathlib, psutil\nfrom gpu_course.notebook import live",
        f"file = pathlib.Path({str(file)!r})\npanel = live('guard')\n"
        + UNTIL.format("'not started'", "body"),
        f"file.write_text({ENDLESS!r})" + BEGUN,
        "print('the kernel answers')",
        "file.write_text('def (')" + UNTIL.format("'cannot read'", "body"),
        f"file.write_text({right!r})" + UNTIL.format("'right in all'", "body"),
        "print(panel)\nprint(*(p.pid for p in psutil.Process().children(recursive=True)))",
        "panel = live('guard')\nprint(len(psutil.Process().children()))",
    ]


def test_in_a_real_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpu_course.grading import workspace

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path / "puzzles"))
    guard = "01_threads/guard"
    workspace.write_text(tmp_path / "puzzles" / f"{guard}.py", workspace.stub_text(guard))
    right = (ROOT / "solutions" / f"{guard}.py").read_text(encoding="utf-8")
    sources = cells_of(tmp_path / "puzzles" / f"{guard}.py", right)
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=600).execute()
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    said = [output["text"] for output in outputs if output.get("name") == "stdout"]
    assert said[0] == "the kernel answers\n"
    panel, pids = said[1].splitlines()
    # One process that checks, and none that it started for that.
    (pid,) = pids.split()
    assert panel == f"live panel of {guard}: puzzles/{guard}.py is checked each time it is saved"
    assert said[2] == "1\n", "the panel that was replaced took its worker with it"
    assert not psutil.pid_exists(int(pid))
