"""The build: what it writes, what it leaves alone, and that a second one changes nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from authoring.__main__ import main
from authoring.build import build, write_stubs
from authoring.checkout import AuthoringError, find_root, read, write
from authoring.execution import WIDGET_VIEW, answers_copy, execute
from authoring.notebooks import build_notebook
from authoring.stubs import build_stubs


def files(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): read(path)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def quiet(text: str) -> None:
    """Takes what the build says."""


def test_a_build_writes_stubs_and_both_editions_and_is_repeatable(toy: Path) -> None:
    sources = set(files(toy))
    said: list[str] = []
    assert build(toy, say=said.append) == ()
    first = files(toy)
    written = {
        "puzzles/01_toy/double.py",
        "puzzles/01_toy/guarded.py",
        "gpu_course/puzzle/stubs.json",
        "notebooks/01_toy.ipynb",
        "solutions/notebooks/01_toy.ipynb",
    }
    assert set(first) - sources == written
    assert {line.removeprefix("wrote ") for line in said} == written

    said.clear()
    assert build(toy, say=said.append) == ()
    changed = {name for name, text in files(toy).items() if first[name] != text}
    # The one cell that says another thing each time is the one tagged for it.
    assert changed <= {"solutions/notebooks/01_toy.ipynb"}
    assert {line.removeprefix("wrote ") for line in said} == changed

    teacher = nbformat.read(toy / "solutions/notebooks/01_toy.ipynb", as_version=4)
    code = [cell for cell in teacher.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [1, 2, 3, 4, 5, 6]
    assert code[1].outputs[0].text == "double same as the file\n"
    assert code[4].outputs[0].data["text/plain"] == "42"
    learner = nbformat.read(toy / "notebooks/01_toy.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in learner.cells)
    assert learner.metadata.language_info == teacher.metadata.language_info == {"name": "python"}


def test_a_stub_follows_its_solution(toy: Path) -> None:
    write_stubs(toy, build_stubs(toy), say=quiet)
    solution = toy / "solutions/01_toy/double.py"
    write(solution, read(solution).replace("Twice each", "Two times each"))
    assert write_stubs(toy, build_stubs(toy), say=quiet) == ()
    assert "Two times each" in read(toy / "puzzles/01_toy/double.py")


def test_an_edited_puzzle_stays_and_is_backed_up_when_forced(toy: Path) -> None:
    write_stubs(toy, build_stubs(toy), say=quiet)
    mine = toy / "puzzles/01_toy/double.py"
    write(mine, "my answer\n")
    assert write_stubs(toy, build_stubs(toy), say=quiet) == (mine,)
    assert read(mine) == "my answer\n"

    assert write_stubs(toy, build_stubs(toy), force=True, say=quiet) == ()
    assert read(mine) == build_stubs(toy)["01_toy/double"]
    (backup,) = (toy / ".gpu_course" / "backups").iterdir()
    assert read(backup) == "my answer\n"


def test_two_backups_of_one_moment_are_both_kept(toy: Path) -> None:
    for text in ("first\n", "second\n"):
        write(toy / "puzzles/01_toy/double.py", text)
        write_stubs(toy, build_stubs(toy), force=True, say=quiet)
    backups = (toy / ".gpu_course" / "backups").iterdir()
    assert {read(path) for path in backups} == {"first\n", "second\n"}


def test_a_puzzle_without_solution_goes_unless_it_was_edited(toy: Path) -> None:
    write_stubs(toy, build_stubs(toy), say=quiet)
    edited = toy / "puzzles/01_toy/guarded.py"
    write(edited, "my answer\n")
    for name in ("double", "guarded"):
        (toy / f"solutions/01_toy/{name}.py").unlink()
    assert write_stubs(toy, {}, say=quiet) == (edited,)
    assert not (toy / "puzzles/01_toy/double.py").exists()
    assert read(edited) == "my answer\n"


def test_an_edited_notebook_stays_and_one_that_was_run_is_built_anew(
    toy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy)
    assert main(["build"]) == 0
    path = toy / "notebooks/01_toy.ipynb"
    clean = read(path)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].execution_count = 1
    nbformat.write(notebook, path)
    assert main(["build", "--only", "01_toy"]) == 0
    assert read(path) == clean

    notebook.cells[0].source += "\nmy note"
    nbformat.write(notebook, path)
    capsys.readouterr()
    assert main(["build"]) == 1
    assert "left alone, since it was edited: notebooks/01_toy.ipynb" in capsys.readouterr().out
    assert "my note" in read(path)
    assert main(["build", "--force"]) == 0
    assert read(path) == clean
    (backup,) = (toy / ".gpu_course" / "backups").iterdir()
    assert "my note" in read(backup)


def test_only_an_existing_lesson_can_be_asked_for(toy: Path) -> None:
    with pytest.raises(AuthoringError, match="no lesson '02_toy'") as caught:
        build(toy, only="02_toy")
    assert "one of: 01_toy" in str(caught.value)


def test_a_cell_that_raises_stops_the_build_and_is_named(tmp_path: Path) -> None:
    notebook = build_notebook("01_toy", "Words.\n\n```{code-cell}\n1 / 0\n```\n", {})
    with answers_copy({}) as answers, pytest.raises(AuthoringError) as caught:
        execute(notebook, answers, lesson="01_toy")
    assert "raised ZeroDivisionError: division by zero" in str(caught.value)
    assert "01_toy, cell 2, beginning `1 / 0`" in str(caught.value)


def test_a_lesson_past_its_deadline_is_named() -> None:
    source = "```{code-cell}\nwhile True:\n    pass\n```\n"
    with answers_copy({}) as answers, pytest.raises(AuthoringError) as caught:
        execute(build_notebook("01_toy", source, {}), answers, lesson="01_toy", deadline_s=1)
    assert "takes longer than 1 seconds" in str(caught.value)


def test_widget_views_are_left_out_of_stored_outputs() -> None:
    source = "```{code-cell}\nimport ipywidgets\nipywidgets.IntSlider(3)\n```\n"
    with answers_copy({}) as answers:
        done = execute(build_notebook("01_toy", source, {}), answers, lesson="01_toy")
    (output,) = done.cells[0].outputs
    assert output.data["text/plain"] == "IntSlider(value=3)"
    assert WIDGET_VIEW not in output.data
    assert "widgets" not in done.metadata


def test_what_is_said_of_the_machine_is_left_out_of_stored_outputs() -> None:
    source = "```{code-cell}\n:tags: [nbval-ignore-output, not-stored]\n\nprint(1)\n```\n"
    with answers_copy({}) as answers:
        done = execute(build_notebook("01_toy", source, {}), answers, lesson="01_toy")
    assert done.cells[0].outputs == []
    assert done.cells[0].execution_count == 1


def test_a_cell_of_which_nothing_is_stored_need_not_run_and_still_counts() -> None:
    source = (
        "```{code-cell}\n:tags: [nbval-ignore-output, not-stored]\n\n1 / 0\n```\n\n"
        "```{code-cell}\nprint(2)\n```\n"
        # A name that a later cell needs is left all the same.
        "```{code-cell}\n:tags: [nbval-ignore-output, not-stored]\n\nn = 3\nn\n```\n\n"
        "```{code-cell}\nprint(n)\n```\n"
    )
    with answers_copy({}) as answers:
        done = execute(
            build_notebook("01_toy", source, {}), answers, lesson="01_toy", run_not_stored=False
        )
    first, second, third, fourth = done.cells
    assert (first.outputs, first.execution_count) == (third.outputs, 1) == ([], 1)
    assert first.metadata.tags == third.metadata.tags == ["nbval-ignore-output", "not-stored"]
    assert (second.outputs[0].text, second.execution_count) == ("2\n", 2)
    assert (fourth.outputs[0].text, fourth.execution_count) == ("3\n", 4)


def test_the_copy_of_the_answers_is_gone_afterwards() -> None:
    with answers_copy({"01_toy/double": "x = 1\n"}) as answers:
        assert read(answers / "01_toy" / "double.py") == "x = 1\n"
    assert not answers.parent.exists()


def test_runs_share_the_verdicts_that_progress_keeps(tmp_path: Path) -> None:
    shared = tmp_path / "verdicts"
    place = Path(".gpu_course") / "verdicts" / "01_toy" / "double.json"
    with answers_copy({}, verdicts=shared) as answers:
        assert not (answers.parent / place).exists()
        write(answers.parent / place, "first")
    with answers_copy({}, verdicts=shared) as answers:
        assert read(answers.parent / place) == "first"
        write(answers.parent / place, "second")
    assert read(shared / "01_toy" / "double.json") == "second"
    with answers_copy({}) as answers:
        assert not (answers.parent / place).exists()


def test_the_checkout_is_found_from_a_folder_inside(toy: Path, tmp_path: Path) -> None:
    assert find_root(toy / "solutions" / "01_toy") == toy.resolve()
    shutil.rmtree(toy)
    with pytest.raises(AuthoringError, match="not part of a checkout"):
        find_root(tmp_path)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_stub_of_the_last_commit_counts_as_untouched(toy: Path) -> None:
    write_stubs(toy, build_stubs(toy), say=quiet)
    git = ["git", "-C", str(toy), "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message=all"]):
        subprocess.run([*git, *command], check=True, capture_output=True)
    (toy / "gpu_course/puzzle/stubs.json").unlink()
    solution = toy / "solutions/01_toy/double.py"
    write(solution, read(solution).replace("Twice each", "Two times each"))
    assert write_stubs(toy, build_stubs(toy), say=quiet) == ()
    assert "Two times each" in read(toy / "puzzles/01_toy/double.py")
