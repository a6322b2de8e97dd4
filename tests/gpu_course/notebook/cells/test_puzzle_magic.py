"""%%puzzle: what it writes, what it keeps, and what it shows."""

from __future__ import annotations

import json
import os

import pytest
from IPython.utils.capture import capture_output

from gpu_course.grading import workspace
from gpu_course.notebook.cells import puzzle_magic
from gpu_course.notebook.cells.earlier_text import InTheFile
from gpu_course.notebook.cells.puzzle_magic import run_cell
from gpu_course.puzzle import index
from simt import files

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
    shown, _ = shell.run(cell(stub))
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


OTHERS = {
    "changed after the cell wrote it": WRONG + "# mine\n",
    "emptied": "",
    "a syntax error": "def (",
    "not UTF-8": b"# \xff\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("ran_before", [True, False])
def test_a_file_changed_elsewhere_does_not_stop_the_cell_and_is_kept(shell, file, text, ran_before):
    if ran_before:
        shell.run(cell(WRONG))
    data = text if isinstance(text, bytes) else text.encode()
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    verdict, offer = shell.run(cell(RIGHT))
    assert verdict.startswith(f"{NAME}: passed") and file.read_text() == RIGHT
    assert [kept.read_bytes() for kept in workspace.backups(NAME)] == [data]
    assert "add_ten.py had been changed outside this cell. That text is kept" in offer
    assert "`gpu-course restore add_ten` brings it back" in offer
    # The cell is in step again: its next text replaces its own, and nothing is offered.
    assert len(shell.run(cell(WRONG))) == 1
    workspace.restore("add_ten")
    assert file.read_bytes() == data
    assert WRONG.encode() in [kept.read_bytes() for kept in workspace.backups(NAME)]


def test_what_an_editor_saves_while_the_cell_runs_is_kept_and_offered(shell, file, monkeypatch):
    shell.run(cell(WRONG))
    exchange = files.exchange

    def late(path, data):
        path.write_text("# saved meanwhile\n")
        return exchange(path, data)

    monkeypatch.setattr(files, "exchange", late)
    verdict, offer = shell.run(cell(RIGHT))
    assert verdict.startswith(f"{NAME}: passed") and file.read_text() == RIGHT
    assert [kept.read_text() for kept in workspace.backups(NAME)] == ["# saved meanwhile\n"]
    assert "That text is kept" in offer


@pytest.mark.parametrize(
    ("writer", "offered"),
    [
        (lambda: puzzle_magic._named(os.getppid()), True),
        (lambda: "1 since 0.00", False),
        (lambda: f"{os.getpid()} since 0.00", False),
        (lambda: "", False),
        (lambda: {"no": "text"}, False),
    ],
    ids=["another kernel", "one that is gone", "one of the same number", "none", "nonsense"],
)
def test_what_the_cell_wrote_in_another_kernel_is_kept(shell, file, writer, offered):
    shell.run(cell(WRONG))
    workspace.update_state(lambda state: state["kernels"].update({NAME: writer()}))
    verdict, *offers = shell.run(cell(RIGHT))
    assert verdict.startswith(f"{NAME}: passed") and file.read_text() == RIGHT
    assert [kept.read_text() for kept in workspace.backups(NAME)] == [WRONG]
    assert len(offers) == offered
    # From now on this kernel is the one.
    assert len(shell.run(cell(WRONG))) == 1 and len(workspace.backups(NAME)) == 1


def test_half_a_character_is_told_with_its_line(shell, answers, file):
    [shown] = shell.run(cell(RIGHT + "\n# \ud83d\n"))
    assert "line 9 of this cell holds half a character, U+D83D" in shown
    assert not file.exists()


LOADED = {
    "line ends of Windows": (RIGHT.replace("\n", "\r\n").encode(), RIGHT),
    "a mark of order": (b"\xef\xbb\xbf" + RIGHT.encode(), RIGHT),
    "no end of the last line": (RIGHT.removesuffix("\n").encode(), RIGHT),
}


@pytest.mark.parametrize(("data", "text"), LOADED.values(), ids=LOADED)
def test_what_the_line_magic_has_loaded_is_nobody_else_s_text(shell, file, data, text):
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    seen = []
    shell.shell.set_next_input = lambda text, replace: seen.append(text)
    shell.run("%puzzle add_ten")
    assert seen == [cell(text)]
    assert len(shell.run(cell(WRONG))) == 1
    assert not workspace.backups(NAME)


def test_a_file_that_is_no_text_is_told_and_not_loaded(shell, file):
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"# caf\xe9\n")
    [shown] = shell.run("%puzzle add_ten")
    assert "add_ten.py is not UTF-8 text: byte 0xE9 in line 1" in shown


@pytest.mark.skipif(os.name == "nt", reason="there are no such pipes")
def test_a_pipe_in_the_place_of_the_file_is_waited_for_by_nobody(shell, file, stub):
    file.parent.mkdir(exist_ok=True)
    os.mkfifo(file)
    [shown] = shell.run(cell(stub))
    assert "not an ordinary file but a pipe" in shown
    [shown] = shell.run(cell(RIGHT))
    assert shown.startswith(f"{NAME}: passed")


def test_what_was_typed_in_the_editor_and_stood_in_the_cell_is_not_offered(shell, file):
    shell.run(cell(WRONG))
    typed = RIGHT + "# half a thou"
    file.write_text(typed)
    puzzle_magic.seen("add_ten", typed)
    assert len(shell.run(cell(RIGHT))) == 1
    assert not workspace.backups(NAME)


@pytest.mark.parametrize("ends", [("", "\n"), ("\n", "\n\n")])
def test_a_newline_at_the_end_is_no_other_text(shell, file, ends):
    file.parent.mkdir(exist_ok=True)
    before, after = (RIGHT.rstrip("\n") + end for end in ends)
    for on_disk, in_cell in ((before, after), (after, before)):
        file.write_text(on_disk)
        assert len(shell.run(cell(in_cell))) == 1
    assert not workspace.backups(NAME)


def test_a_stub_with_a_learner_s_comment_is_kept_too(shell, file, stub):
    file.parent.mkdir()
    file.write_text(stub + "# my thoughts\n")
    shell.run(cell(RIGHT))
    assert [kept.read_text() for kept in workspace.backups(NAME)] == [stub + "# my thoughts\n"]


def test_one_click_brings_the_kept_text_back_and_keeps_the_cell_s(shell, file):
    file.parent.mkdir()
    file.write_text(RIGHT)
    with capture_output() as captured:
        shell.shell.run_cell(cell(WRONG))
    bundle = captured.outputs[-1].data
    assert "application/vnd.jupyter.widget-view+json" in bundle and "is kept" in bundle["text/html"]
    file.write_text(RIGHT + "# again\n")
    *_, earlier = run_cell("add_ten", WRONG)
    told, verdict = earlier.bring_back()
    assert file.read_text() == RIGHT + "# again\n"
    assert "holds the kept text again" in repr(told) and verdict.passed
    assert workspace.backups(NAME)[-1].read_text() == WRONG


def test_a_stub_cell_offers_the_answer_that_the_file_holds(shell, file, stub):
    file.parent.mkdir()
    file.write_text(RIGHT)
    verdict, offer = shell.run(cell(stub))
    assert verdict.startswith(f"{NAME}: passed") and "`%puzzle add_ten`, alone in a cell" in offer
    page = InTheFile(index.find(NAME))._repr_html_()
    assert f'data-gpu-course="load" data-gpu-course-file="puzzles/{NAME}.py"' in page
    assert file.read_text() == RIGHT and not workspace.backups(NAME)


def test_the_line_magic_puts_the_file_s_text_into_the_cell(shell, file, stub):
    seen = []
    shell.shell.set_next_input = lambda text, replace: seen.append((text, replace))
    shell.run("%puzzle add_ten")
    file.parent.mkdir()
    file.write_text(WRONG)
    shell.run("%puzzle add_ten")
    assert seen == [(cell(stub), True), (cell(WRONG), True)]
    # From here on the cell is the file's own.
    assert len(shell.run(cell(RIGHT))) == 1 and file.read_text() == RIGHT
    assert "no puzzle is called" in shell.run("%puzzle addd")[0]


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
        ("add_ten --replace", "takes the name of one puzzle"),
        ("'add_ten", "no puzzle is called"),
    ],
)
def test_a_line_that_names_no_puzzle_is_answered_in_a_sentence(shell, answers, line, words):
    [shown] = shell.run(cell(RIGHT, line))
    assert words in shown and "Traceback" not in shown
    assert not list(answers.iterdir())


@pytest.mark.parametrize("line", ["add_ten", "00_start_here/add_ten", "add_ten  # mine"])
def test_names(line):
    assert puzzle_magic._parse(line).name == NAME


def test_no_path_of_the_machine_is_shown(shell, answers, file):
    file.parent.mkdir()
    file.write_text(WRONG)
    shown = shell.run(cell(RIGHT)) + shell.run(cell(WRONG))
    assert not any(str(answers) in text for text in shown)


def test_without_a_folder_of_answers_it_says_what_to_do(shell, monkeypatch, tmp_path):
    monkeypatch.setenv("GPU_COURSE_ANSWERS", str(tmp_path / "nowhere"))
    [shown] = shell.run(cell(RIGHT))
    assert "not a folder" in shown and "try:" in shown


def test_a_folder_in_the_place_of_the_file_is_told_and_kept(shell, file, stub):
    file.mkdir(parents=True)
    (file / "mine.txt").write_text("mine")
    for text in (WRONG, stub):
        [shown] = shell.run(cell(text))
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
