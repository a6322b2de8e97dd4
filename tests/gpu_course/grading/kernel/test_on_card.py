"""`--gpu` without a GPU: from the command to the driver, on a card that does wrong what it is told.

The card is `tests.gpu_course.hardware.card`, behind a package that stands for Numba's successor.
The process that holds it, poisons, guard zones, canary and events are the real ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from gpu_course import commands, notebook
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.check import check
from gpu_course.grading.grade import grade
from gpu_course.grading.kernel import on_card
from gpu_course.grading.verdicts import exports
from gpu_course.grading.verdicts.facts import CARD_STATES
from gpu_course.grading.verdicts.sections import WIDTH
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.notebook.note import Note
from gpu_course.puzzle import KernelPuzzle, index
from tests.gpu_course.hardware.card import plant

pytestmark = pytest.mark.long(15)

ROOT = Path(__file__).parents[4]
SOLUTIONS = ROOT / "solutions"
GUARD = "01_threads/guard"
RIGHT = (SOLUTIONS / f"{GUARD}.py").read_text(encoding="utf-8")
SAME_BITS = next(
    p.name for p in index.puzzles() if isinstance(p, KernelPuzzle) and len(p.same_bits) > 1
)
SHORT_S = 1.0


def told(what: str, text: str = RIGHT) -> str:
    return f"# card: {what}\n{text}"


def changed(old: str, new: str) -> str:
    """The solution with a change to its code; its statement may say the same in words."""
    before, found, after = RIGHT.rpartition(old)
    assert found
    return before + new + after


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plant(tmp_path_factory.mktemp("card"), "numba_cuda_mlir")


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    yield
    on_card.stop()


@pytest.fixture(autouse=True)
def answers(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of answers on a machine with the card."""
    folder = tmp_path / "puzzles"
    folder.mkdir()
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(folder))
    monkeypatch.setenv("GPU_COURSE_SEED", "0")
    monkeypatch.setenv("GPU_COURSE_CUDA", "numba_cuda_mlir")
    monkeypatch.delenv("GPU_COURSE_GPU", raising=False)
    monkeypatch.syspath_prepend(package)
    yield folder
    for name in [name for name in sys.modules if name.startswith("numba_cuda_mlir")]:
        del sys.modules[name]


def put(folder: Path, text: str, name: str = GUARD) -> Path:
    workspace.write_text(folder / f"{name}.py", text)
    return folder / f"{name}.py"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands.app, list(arguments))


def card_of(verdict: Verdict) -> tuple[str, str, bool | None]:
    assert verdict.card is not None
    assert verdict.card.state in CARD_STATES
    return verdict.card.state, verdict.card.said, verdict.card.agrees


def test_both_verdicts_stand_side_by_side(answers: Path) -> None:
    put(answers, RIGHT)
    verdict = check("guard", gpu=True)
    assert verdict.passed
    cases = len(index.find("guard").cases) + 1
    assert card_of(verdict) == ("right", f"right in all {cases} cases, each twice", True)
    assert verdict.card is not None
    assert (verdict.card.device, verdict.card.seconds) == ("Card of the tests", 0.003)
    lines = verdict.message.splitlines()
    at = lines.index("  both:   simulator  passed")
    assert lines[at + 1 : at + 4] == [
        f"          card       right in all {cases} cases, each twice",
        "          time       3 ms for the visible example",
        "          device     Card of the tests",
    ]
    assert "simulator  passed" in exports.verdict_html(verdict)


WRONG = {  # what the card does with a right answer: its state, and what is said
    "off by one": ("wrong", "out[7] is "),
    "write nothing": ("wrong", "out[0] was never written; 8 of 8 cells are wrong (visible"),
    "change the input": ("wrong", "the input a is changed (visible example)"),
    "write next to it": ("outside", "a kernel wrote outside out: 1 cell after its last"),
    "write far away": ("far-outside", "a kernel wrote to memory of the GPU that is none of"),
    "fault": ("gave-up", "the GPU gave up on guard.py: [700] Call to cuCtxSynchronize"),
    "die": ("crash", "the process ended with status 7"),
    "hang": ("hang", f"no end after {SHORT_S:g} s (visible example)"),
    "refuse": ("refused", "TypingError: No implementation of function sorted"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_a_card_does_wrong_is_found_and_is_ours(
    what: str, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(answers, told(what))
    on_card.make_ready()
    with monkeypatch.context() as short:
        if what == "hang":
            short.setattr(on_card, "FIRST_S", SHORT_S)
        verdict = check("guard", gpu=True)
    state, words = WRONG[what]
    found, said, agrees = card_of(verdict)
    assert (found, agrees) == (state, False)
    assert words in said
    assert "since then" not in said  # in a fresh process the card is well
    # The simulator's verdict stands, and it says whose fault this is.
    assert verdict.passed and verdict.points == verdict.max_points
    text = " ".join(verdict.message.split())
    assert "That is ours to explain, not yours: the simulator's verdict stands." in text
    assert "report: these lines, your answer and what `gpu-course doctor` prints" in text
    assert max(map(len, verdict.message.splitlines())) <= WIDTH
    # The next answer finds a card that is well.
    put(answers, RIGHT)
    assert card_of(check("guard", gpu=True))[0] == "right"


def test_bits_that_change_from_run_to_run_are_found(answers: Path) -> None:
    text = (SOLUTIONS / f"{SAME_BITS}.py").read_text(encoding="utf-8")
    put(answers, told("other bits each time", text), SAME_BITS)
    on_card.stop()  # a fresh card has launched nothing: the bits differ by little
    verdict = check(SAME_BITS, gpu=True)
    assert verdict.passed
    state, said, agrees = card_of(verdict)
    assert (state, agrees) == ("wrong", False)
    assert "has other bits the second time" in said


def test_a_card_that_finds_the_same_fault_agrees(answers: Path) -> None:
    put(answers, changed("if i < size:", "if i >= 0:"))
    verdict = check("guard", gpu=True)
    assert verdict.reason == "hazard"
    state, _, agrees = card_of(verdict)
    assert (state, agrees) == ("outside", True)
    assert "ours to explain" not in verdict.message


def test_a_wrong_result_is_wrong_in_both(answers: Path) -> None:
    put(answers, changed("a[i] + 10", "a[i] + 9"))
    verdict = check("guard", gpu=True)
    assert verdict.reason == "wrong-result"
    state, said, agrees = card_of(verdict)
    assert (state, agrees) == ("wrong", True)
    assert said.startswith("out[0] is ")


def test_a_wrong_result_that_the_card_has_right_is_ours(answers: Path) -> None:
    put(answers, told("off by one", changed("a[i] + 10", "a[i] + 10 - (i == size - 1)")))
    verdict = check("guard", gpu=True)
    assert verdict.reason == "wrong-result"
    assert card_of(verdict)[::2] == ("right", False)


def test_a_hazard_with_a_right_result_is_luck(answers: Path) -> None:
    racing = changed("    if i < size:", "    out[0] = a[0] + 10\n    if i < size:")
    put(answers, racing)
    verdict = check("guard", gpu=True)
    assert verdict.reason == "hazard"
    assert card_of(verdict)[::2] == ("right", None)
    assert "The card had luck" in verdict.message
    assert run("check", "guard", "--gpu").exit_code == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "there is no kernel to run"),
        ("from numba import cuda\n\n@cuda.jit\ndef guard(out, a):\n    pass\n", "no kernel to run"),
        (changed("if i < size:", "while i < size:"), "it never comes to an end"),
    ],
    ids=["stub", "refused", "endless"],
)
def test_what_cannot_run_does_not(text: str | None, why: str, answers: Path) -> None:
    put(answers, workspace.stub_text(GUARD) if text is None else text)
    state, said, agrees = card_of(check("guard", gpu=True))
    assert (state, agrees) == ("not-run", None)
    assert why in said


def test_nothing_else_of_the_file_runs(answers: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    put(answers, f"{RIGHT}\nopen({str(mark)!r}, 'w')\n")
    assert card_of(check("guard", gpu=True))[0] == "right"
    assert not mark.exists()


def test_a_folder_handed_in_lends_the_card_no_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, mark = tmp_path / "handed-in", tmp_path / "mark"
    put(folder, RIGHT)
    for name in ("base64", "numba", "gpu_course"):
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'w')\n")
    monkeypatch.chdir(folder)
    (verdict,) = grade(folder, "guard", gpu=True)
    assert card_of(verdict)[0] == "right"
    assert not mark.exists()


# In a notebook, and as commands


def test_a_notebook_shows_both_and_remembers_the_pass(answers: Path) -> None:
    put(answers, RIGHT)
    verdict = notebook.check("guard", gpu=True)
    assert card_of(verdict)[0] == "right"
    assert GUARD in workspace.passes_won()
    put(answers, told("die"))
    assert card_of(notebook.check("guard", seed=3, gpu=True))[::2] == ("crash", False)


def test_a_notebook_without_a_gpu_says_so_in_a_note(
    answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(answers, RIGHT)
    monkeypatch.setenv("GPU_COURSE_GPU", "off")
    note = notebook.check("guard", gpu=True)
    assert isinstance(note, Note)
    assert "there is no GPU to check on (switched off by GPU_COURSE_GPU)" in str(note)
    assert not (answers.parent / ".gpu_course").exists()


def test_the_command_says_both_and_passes(answers: Path) -> None:
    put(answers, RIGHT)
    result = run("check", "guard", "--gpu")
    assert result.exit_code == 0, result.output
    assert "simulator  passed" in result.stdout
    assert GUARD in workspace.passes_won()


def test_a_contradiction_is_no_failure_of_the_learner(answers: Path) -> None:
    put(answers, told("off by one"))
    result = run("check", "guard", "--gpu")
    assert result.exit_code == commands.AT_FAULT
    assert GUARD in workspace.passes_won()


def test_all_answers_of_a_folder(answers: Path) -> None:
    put(answers, RIGHT)
    for name, text in (("clip", ""), ("blocks", "# card: off by one\n")):
        full = index.find(name).name
        solution = (SOLUTIONS / f"{full}.py").read_text(encoding="utf-8")
        put(answers, text + solution, full)
    result = run("grade", "guard", "clip", "--gpu")
    assert result.exit_code == 0, result.output
    head, first, *_ = result.stdout.splitlines()
    assert head.split()[:3] == ["puzzle", "status", "card"]
    assert first.split()[:3] == [GUARD, "passed", "right"]
    assert "On Card of the tests 2 of 2 are right." in result.stdout
    result = run("grade", "guard", "blocks", "--gpu", "--jobs", "2")
    assert result.exit_code == commands.AT_FAULT
    assert "wrong: differs" in result.stdout
    assert "01_threads/blocks differs from the simulator: out[9] is " in result.stdout
    assert "ours to explain: please report it" in result.stdout


def test_programs_find_both_in_the_json(answers: Path) -> None:
    put(answers, RIGHT)
    (record,) = json.loads(run("grade", "guard", "--gpu", "--format", "json").stdout)["puzzles"]
    assert record["status"] == "passed"
    assert record["gpu"] == {
        "state": "right",
        "said": record["gpu"]["said"],
        "device": "Card of the tests",
        "seconds": 0.003,
        "agrees": True,
    }
    (plain,) = json.loads(run("grade", "guard", "--format", "json").stdout)["puzzles"]
    assert "gpu" not in plain


def test_a_card_that_dies_in_between_costs_no_verdict(
    answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(answers, RIGHT)

    def fail(*_: object) -> None:
        raise CourseError("the GPU does not answer: no word came from it")

    monkeypatch.setattr(on_card, "beside", fail)
    result = run("grade", "guard", "--gpu")
    assert result.exit_code == commands.AT_FAULT
    assert "1 of 1 passed" in result.stdout
    assert "01_threads/guard has no verdict of the card: the GPU does not" in result.stdout


@pytest.mark.parametrize("command", ["check", "grade"])
def test_without_a_gpu_one_line_and_nothing_is_marked(
    command: str, answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(answers, RIGHT)
    monkeypatch.setenv("GPU_COURSE_GPU", "off")
    result = run(command, "guard", "--gpu")
    assert result.exit_code == 2
    assert result.output == (
        "there is no GPU to check on (switched off by GPU_COURSE_GPU); the simulator needs none\n"
    )
    assert not (answers.parent / ".gpu_course").exists()


def test_a_card_that_computes_wrongly_is_not_asked(
    answers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(answers, RIGHT)
    on_card.stop()
    monkeypatch.setenv("CARD_OF_THE_TESTS", "off by one")
    result = run("check", "guard", "--gpu")
    on_card.stop()
    assert result.exit_code == 2
    assert result.output == (
        "the GPU does not answer: a kernel that is right left 2000.0 for 1999.0\n"
    )
    assert not (answers.parent / ".gpu_course").exists()


def test_what_is_no_kernel_or_no_file_is_a_bad_call() -> None:
    name = next(p.name for p in index.puzzles() if not isinstance(p, KernelPuzzle))
    with pytest.raises(CourseError, match="asks for no kernel, so nothing of it runs on a GPU"):
        check(name, gpu=True)
    with pytest.raises(CourseError, match="a GPU runs the answer in a file"):
        check("guard", answer=lambda out, a, size: None, gpu=True)


@pytest.mark.parametrize("name", ["numba", "numba_cuda_mlir"])
def test_both_packages_run_the_same_file(name: str, answers: Path, tmp_path: Path) -> None:
    put(answers, RIGHT)
    folder = plant(tmp_path / "package", name)
    environment = {
        **os.environ,
        "GPU_COURSE_CUDA": name,
        "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]),
    }
    done = subprocess.run(
        [sys.executable, "-m", "gpu_course", "check", "guard", "--gpu"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "card       right in all" in done.stdout


WITHOUT_A_NOTEBOOK = """
import sys
for name in "IPython ipykernel ipywidgets jupyterlab jupytext nbformat nbclient torch".split():
    sys.modules[name] = None
from gpu_course.cli import main
sys.exit(main(["check", "guard", "--gpu"]))
"""


def test_a_machine_without_jupyterlab_will_do(answers: Path, package: Path, tmp_path: Path) -> None:
    """What docs/real_card.md installs on Colab leaves its IPython and PyTorch alone."""
    put(answers, RIGHT)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_NOTEBOOK],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(package), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "card       right in all" in done.stdout
