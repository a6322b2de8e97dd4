"""%%puzzle: what it writes, what it refuses to write, and what it shows."""

from __future__ import annotations

import json

import pytest

from gpu_course.grading import workspace
from gpu_course.notebook import puzzle_magic

NAME = "00_start_here/add_ten"
RIGHT = """from numba import cuda


@cuda.jit
def add_ten(out, a):
    i = cuda.threadIdx.x
    out[i] = a[i] + 10
"""
WRONG = RIGHT.replace("+ 10", "+ 11")


@pytest.fixture
def file(answers):
    return answers / f"{NAME}.py"


@pytest.fixture
def stub(answers):
    return workspace.stub_text(NAME)


def cell(text, line="add_ten"):
    # JupyterLab keeps no newline at the end of a cell; IPython puts one there.
    return f"%%puzzle {line}\n{text.removesuffix(chr(10))}"


def everything_under(folder):
    return {p: p.read_bytes() for p in folder.parent.rglob("*") if p.is_file()}


def test_a_stub_cell_writes_nothing_and_checks_what_is_there(shell, answers, file, stub):
    before = everything_under(answers)
    [shown] = shell.run(cell(stub))
    assert shown.startswith(f"{NAME}: not-started")
    file.parent.mkdir()
    file.write_text(RIGHT)
    before = everything_under(answers)
    [shown] = shell.run(cell(stub))
    assert shown.startswith(f"{NAME}: passed")
    assert everything_under(answers) == before


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        RIGHT.replace("\n", "\n    # \u00e4 {curly} $dollar %percent !bang\n", 1),
        RIGHT + "\n\n",
        "\n" + RIGHT,
        RIGHT.replace("    i", "  \n    i"),
    ],
    ids=["plain", "signs", "blank lines at the end", "a blank first line", "spaces"],
)
def test_an_edited_cell_becomes_the_file_byte_for_byte(shell, file, text):
    [shown] = shell.run(f"%%puzzle add_ten\n{text}")
    assert file.read_bytes() == text.encode()
    assert shown.startswith(f"{NAME}: passed")


def test_the_shipped_cell_and_an_edit_replace_the_stub_file(shell, file, stub):
    file.parent.mkdir()
    file.write_text(stub)
    shell.run(cell(RIGHT))
    assert file.read_text() == RIGHT


def test_the_verdict_of_a_wrong_answer_is_shown(shell, file):
    [shown] = shell.run(cell(WRONG))
    assert shown.startswith(f"{NAME}: failed")
    assert file.read_text() == WRONG


def test_a_cell_may_replace_what_it_wrote_itself(shell, file):
    shell.run(cell(WRONG))
    [shown] = shell.run(cell(RIGHT))
    assert shown.startswith(f"{NAME}: passed")
    assert file.read_text() == RIGHT
    assert not workspace.backups(NAME)


def test_a_file_changed_elsewhere_is_kept_and_the_difference_shown(shell, file):
    shell.run(cell(WRONG))
    file.write_text(WRONG + "# mine\n")
    [shown] = shell.run(cell(RIGHT))
    assert file.read_text() == WRONG + "# mine\n"
    assert "Nothing was written" in shown
    assert "\n-    out[i] = a[i] + 11\n-# mine\n+    out[i] = a[i] + 10\n" in shown
    assert "%%puzzle add_ten --replace" in shown


def test_a_file_no_cell_ever_wrote_is_kept_too(shell, file):
    file.parent.mkdir()
    file.write_text(WRONG)
    assert "Nothing was written" in shell.run(cell(RIGHT))[0]
    assert file.read_text() == WRONG


def test_a_stub_with_a_learner_s_comment_is_kept_too(shell, file, stub):
    file.parent.mkdir()
    file.write_text(stub + "# my thoughts\n")
    assert "Nothing was written" in shell.run(cell(RIGHT))[0]
    assert file.read_text() == stub + "# my thoughts\n"


def test_replace_backs_the_file_up_and_writes(shell, file):
    file.parent.mkdir()
    file.write_text(WRONG)
    [shown] = shell.run(cell(RIGHT, "add_ten --replace"))
    assert shown.startswith(f"{NAME}: passed")
    assert file.read_text() == RIGHT
    [kept] = workspace.backups(NAME)
    assert kept.read_text() == WRONG
    [shown] = shell.run(cell(WRONG))
    assert file.read_text() == WRONG


def test_replace_with_the_stub_gives_the_stub_back(shell, file, stub):
    file.parent.mkdir()
    file.write_text(WRONG)
    [shown] = shell.run(cell(stub, "add_ten --replace"))
    assert shown.startswith(f"{NAME}: not-started")
    assert file.read_text() == stub
    assert [kept.read_text() for kept in workspace.backups(NAME)] == [WRONG]


def test_a_cell_equal_to_the_file_is_taken_as_its_own(shell, file):
    file.parent.mkdir()
    file.write_text(WRONG)
    shell.run(cell(WRONG))
    shell.run(cell(RIGHT))
    assert file.read_text() == RIGHT


def test_a_stub_with_windows_line_ends_is_still_the_stub(shell, file, stub):
    file.parent.mkdir()
    file.write_bytes(stub.replace("\n", "\r\n").encode())
    shell.run(cell(RIGHT))
    assert file.read_text() == RIGHT


def test_the_cell_is_never_executed(shell, file, tmp_path):
    witness = tmp_path / "executed"
    shell.run(cell(f"open({str(witness)!r}, 'w').close()\nADDED = 1\n{RIGHT}"))
    assert not witness.exists()
    assert "ADDED" not in shell.names() and "add_ten" not in shell.names()


def test_another_puzzle_s_memory_is_left_alone(shell, answers):
    workspace.update_state(cells={"01_threads/guard": "hash"}, hints={"x": 1})
    shell.run(cell(RIGHT))
    state = json.loads((answers.parent / ".gpu_course" / "state.json").read_text())
    assert state["cells"]["01_threads/guard"] == "hash"
    assert NAME in state["cells"] and state["hints"] == {"x": 1}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("add_tne", "did you mean 00_start_here/add_ten?"),
        ("", "takes the name of one puzzle"),
        ("add_ten guard", "takes the name of one puzzle"),
        ("add_ten --force", "takes the name of one puzzle"),
        ("--replace", "takes the name of one puzzle"),
        ("'add_ten", "no puzzle is called"),
    ],
)
def test_a_line_that_names_no_puzzle_is_answered_in_a_sentence(shell, answers, line, words):
    [shown] = shell.run(cell(RIGHT, line))
    assert words in shown and "Traceback" not in shown
    assert not list(answers.iterdir())


@pytest.mark.parametrize("line", ["add_ten", "00_start_here/add_ten", "add_ten  # mine"])
def test_names(line):
    assert puzzle_magic._parse(line)[0].name == NAME


def test_no_path_of_the_machine_is_shown(shell, answers, file):
    file.parent.mkdir()
    file.write_text(WRONG)
    shown = shell.run(cell(RIGHT)) + shell.run(cell(WRONG, "add_ten --replace"))
    assert not any(str(answers) in text for text in shown)


def test_without_a_folder_of_answers_it_says_what_to_do(shell, monkeypatch, tmp_path):
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path / "nowhere"))
    [shown] = shell.run(cell(RIGHT))
    assert "not a folder" in shown and "try:" in shown


def windows(answers, *names):
    """What JupyterLab writes down of its windows, with these open in two tab areas."""
    folder = answers.parent / ".gpu_course" / "workspaces"
    folder.mkdir(parents=True, exist_ok=True)
    areas = [{"type": "tab-area", "currentIndex": 0, "widgets": [each]} for each in names]
    dock = {"type": "split-area", "orientation": "horizontal", "sizes": [1], "children": areas}
    data = {"layout-restorer:data": {"main": {"dock": dock, "current": names[0]}}}
    path = folder / "gpu-course-00_start_here-e24b.jupyterlab-workspace"
    path.write_text(json.dumps({"data": data, "metadata": {"id": "x"}}))
    return path


def test_an_editor_with_the_old_text_is_told_of_when_the_file_was_written(shell, answers, file):
    windows(answers, "notebook:notebooks/00_start_here.ipynb", f"editor:puzzles/{NAME}.py")
    verdict, note = shell.run(cell(WRONG))
    assert verdict.startswith(f"{NAME}: failed")
    assert note.startswith("The editor that has add_ten.py open still shows")
    assert "File > Reload Python File from Disk" in note
    assert len(shell.run(cell(WRONG))) == 1  # nothing was written this time


@pytest.mark.parametrize("content", [None, "{", "[]", '{"data": {"layout-restorer:data": 3}}'])
def test_without_an_open_editor_nothing_is_said_of_one(shell, answers, file, content):
    path = windows(answers, "notebook:notebooks/x.ipynb", "editor:puzzles/00_start_here/other.py")
    if content is not None:
        path.write_text(content)
    assert len(shell.run(cell(WRONG))) == 1


def test_a_folder_in_the_place_of_the_file_is_told_and_kept(shell, file):
    file.mkdir(parents=True)
    (file / "mine.txt").write_text("mine")
    for line in ("add_ten", "add_ten --replace"):
        [shown] = shell.run(cell(WRONG, line))
        assert "is a folder where the answer should be" in shown and "move it away" in shown
    assert (file / "mine.txt").read_text() == "mine"


def test_a_state_that_cannot_be_kept_is_told_in_a_sentence(shell, answers, file):
    (answers.parent / ".gpu_course").write_text("a file where a folder should be")
    [shown] = shell.run(cell(WRONG))
    assert (
        ".gpu_course cannot be written: File exists" in shown
        and "try:    a file stands where a folder" in shown
    )
    shell.run("from gpu_course.notebook import hint")
    [shown] = shell.run('hint("add_ten")')
    assert "state.json cannot be used: Not a directory" in shown
