"""check-sync: it sees every difference in git's index, and nothing of the work tree."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from authoring.__main__ import main
from authoring.build import write_stubs
from authoring.checkout import (
    AuthoringError,
    learner_notebook,
    lesson_sources,
    read,
    solution_files,
    teacher_notebook,
    write,
)
from authoring.notebooks import build_notebook, notebook_text
from authoring.stubs import build_stubs
from authoring.sync import check_sync

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="check-sync needs git")


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


def unexecuted(root: Path) -> None:
    """Builds all, running no cell: outputs are not check-sync's part."""
    stubs = build_stubs(root)
    write_stubs(root, stubs, say=lambda text: None)
    source = read(lesson_sources(root)["01_toy"])
    solutions = {name: read(path) for name, path in solution_files(root).items()}
    write(learner_notebook(root, "01_toy"), notebook_text(build_notebook("01_toy", source, stubs)))
    write(
        teacher_notebook(root, "01_toy"), notebook_text(build_notebook("01_toy", source, solutions))
    )


@pytest.fixture
def staged(toy: Path) -> Path:
    """A toy checkout, built and staged."""
    unexecuted(toy)
    git(toy, "init", "--quiet")
    git(toy, "add", ".")
    return toy


def replace(path: Path, old: str, new: str) -> None:
    assert old in read(path)
    write(path, read(path).replace(old, new))


def test_a_staged_build_is_in_step(
    staged: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_sync(staged) == ()
    monkeypatch.chdir(staged / "notebooks")
    assert main(["check-sync"]) == 0
    assert "are what their sources give" in capsys.readouterr().out


def test_the_work_tree_does_not_matter(staged: Path) -> None:
    replace(staged / "notebooks/source/01_toy.md", "First puzzle.", "Changed, not staged.")
    write(staged / "puzzles/01_toy/double.py", "a learner's answer\n")
    learner_notebook(staged, "01_toy").unlink()
    assert check_sync(staged) == ()


def change_source(root: Path) -> None:
    replace(root / "notebooks/source/01_toy.md", "First puzzle.", "The first.")


def change_solution(root: Path) -> None:
    replace(root / "solutions/01_toy/guarded.py", "2 * a[i]", "a[i] + a[i]")


def change_statement(root: Path) -> None:
    replace(root / "solutions/01_toy/guarded.py", "Twice each", "Two times each")


def edit_stub(root: Path) -> None:
    replace(root / "puzzles/01_toy/double.py", "    i = cuda.grid(1)", "    i = 0")


def edit_notebook(change: Callable[[nbformat.NotebookNode], None]) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        path = learner_notebook(root, "01_toy")
        notebook = nbformat.read(path, as_version=4)
        change(notebook)
        nbformat.write(notebook, path)

    return edit


def add_output(notebook: nbformat.NotebookNode) -> None:
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="hello\n")]


def add_tag(notebook: nbformat.NotebookNode) -> None:
    notebook.cells[1].metadata["tags"] = ["nbval-skip"]


def new_id(notebook: nbformat.NotebookNode) -> None:
    notebook.cells[1]["id"] = "another"


def drop_cell(notebook: nbformat.NotebookNode) -> None:
    notebook.cells.pop()


def older_python(notebook: nbformat.NotebookNode) -> None:
    notebook.metadata.language_info["version"] = "3.11.7"


LEARNER, TEACHER = "notebooks/01_toy.ipynb", "solutions/notebooks/01_toy.ipynb"
DIFFERENCES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "a lesson's source": (
        change_source,
        [
            f"{LEARNER}, cell 3 (The first.): id, source differ",
            f"{LEARNER}: the notebook's metadata differ",
            f"{TEACHER}, cell 3 (The first.): id, source differ",
            f"{TEACHER}: the notebook's metadata differ",
        ],
    ),
    "a solution's answer": (
        change_solution,
        [
            f"{TEACHER}, cell 7 (%%puzzle guarded): source differ",
            f"{TEACHER}: the notebook's metadata differ",
        ],
    ),
    "a solution's other lines": (
        change_statement,
        [
            "puzzles/01_toy/guarded.py:1: is not what its solution gives",
            "gpu_course/puzzle/stubs.json:3: is not what its solution gives",
            f"{LEARNER}, cell 7 (%%puzzle guarded): source differ",
            f"{LEARNER}: the notebook's metadata differ",
            f"{TEACHER}, cell 7 (%%puzzle guarded): source differ",
            f"{TEACHER}: the notebook's metadata differ",
        ],
    ),
    "a stub by hand": (edit_stub, ["puzzles/01_toy/double.py:8: is not what its solution gives"]),
    "a missing stub": (
        lambda root: (root / "puzzles/01_toy/double.py").unlink(),
        ["puzzles/01_toy/double.py: missing"],
    ),
    "a stub too many": (
        lambda root: write(root / "puzzles/01_toy/more.py", "x = 1\n"),
        ["puzzles/01_toy/more.py: there is no solution it would be built from"],
    ),
    "a notebook too many": (
        lambda root: write(root / "notebooks/02_more.ipynb", "{}\n"),
        ["notebooks/02_more.ipynb: there is no source it would be built from"],
    ),
    "a missing notebook": (
        lambda root: teacher_notebook(root, "01_toy").unlink(),
        [f"{TEACHER}: missing"],
    ),
    "not a notebook": (
        lambda root: write(learner_notebook(root, "01_toy"), "<<<<<<<\n"),
        [f"{LEARNER}: not a notebook (Notebook does not appear to be JSON: '<<<<<<<\\n')"],
    ),
    "an output": (
        edit_notebook(add_output),
        [f"{LEARNER}: holds outputs, which only the teacher's edition does"],
    ),
    "a tag": (
        edit_notebook(add_tag),
        [f"{LEARNER}, cell 2 (from pathlib import Path): tags differ"],
    ),
    "an id": (
        edit_notebook(new_id),
        [f"{LEARNER}, cell 2 (from pathlib import Path): id differ"],
    ),
    "a cell too few": (
        edit_notebook(drop_cell),
        [f"{LEARNER}: has 8 cells, its source gives 9"],
    ),
    "metadata of a machine": (
        edit_notebook(older_python),
        [f"{LEARNER}: the notebook's metadata differ"],
    ),
}


@pytest.mark.parametrize(("change", "expected"), DIFFERENCES.values(), ids=DIFFERENCES.keys())
def test_each_staged_difference_is_named(
    staged: Path, change: Callable[[Path], object], expected: list[str]
) -> None:
    change(staged)
    assert check_sync(staged) == ()
    git(staged, "add", "--all")
    assert list(check_sync(staged)) == expected


def test_a_difference_is_told_with_what_to_do(
    staged: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    edit_stub(staged)
    git(staged, "add", "--all")
    monkeypatch.chdir(staged)
    assert main(["check-sync"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "puzzles/01_toy/double.py:8: is not what its solution gives",
        "1 difference(s) between the sources and the built files in git's index.",
        "  try:    make build, then stage what it wrote",
    ]


def test_a_checkout_inside_a_larger_one_is_found(staged: Path) -> None:
    shutil.rmtree(staged / ".git")
    git(staged.parent, "init", "--quiet")
    git(staged.parent, "add", ".")
    assert check_sync(staged) == ()
    edit_stub(staged)
    git(staged.parent, "add", ".")
    assert len(check_sync(staged)) == 1


def test_outside_of_git_it_says_so(
    toy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(toy.parent))
    with pytest.raises(AuthoringError, match="run it in a git checkout"):
        check_sync(toy)
    monkeypatch.chdir(toy)
    assert main(["check-sync"]) == 2
    assert "not a git repository" in capsys.readouterr().err


def test_nothing_staged_is_no_success(toy: Path) -> None:
    git(toy, "init", "--quiet")
    with pytest.raises(AuthoringError, match="git add"):
        check_sync(toy)
