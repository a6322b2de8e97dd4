"""The windows `gpu-course lab` opens: a notebook beside its first puzzle, and nothing lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jupyterlab_server.workspaces_handler import WorkspacesManager
from typer.testing import CliRunner

from gpu_course import commands, lab
from gpu_course.catalog import index

NOTEBOOK = "notebooks/01_threads.ipynb"
PUZZLE = "puzzles/01_threads/zip_add.py"
NAME = "gpu-course-01_threads"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the notebooks and the answer files of two lessons."""
    (tmp_path / "gpu_course").mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "notebooks").mkdir()
    for name in ("00_start_here", "01_threads"):
        (tmp_path / "notebooks" / f"{name}.ipynb").touch()
        (tmp_path / "puzzles" / name).mkdir(parents=True)
        for puzzle in index.lesson(name).puzzles:
            (tmp_path / "puzzles" / f"{puzzle.name}.py").touch()
    monkeypatch.chdir(tmp_path / "notebooks")
    return tmp_path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would have been started."""
    commands_seen: list[list[str]] = []
    monkeypatch.setattr(lab, "_run", lambda command, root: commands_seen.append(command) or 0)
    return commands_seen


def stored(checkout: Path) -> dict[str, object]:
    data: dict[str, object] = WorkspacesManager(str(checkout / lab.WORKSPACES)).load(NAME)["data"]
    return data


def test_the_notebook_stands_beside_its_first_puzzle(
    checkout: Path, started: list[list[str]]
) -> None:
    result = CliRunner().invoke(commands.app, ["lab", "01"])
    assert result.exit_code == 0
    assert result.stdout.startswith(f"JupyterLab opens {NOTEBOOK} beside {PUZZLE}. ")
    (command,) = started
    assert f"--LabApp.default_url=/lab/workspaces/{NAME}/tree/{NOTEBOOK}" in command
    assert f"--LabApp.workspaces_dir={lab.WORKSPACES}" in command
    data = stored(checkout)
    dock = data["layout-restorer:data"]["main"]["dock"]  # type: ignore[index]
    assert dock["orientation"] == "horizontal"
    widgets = [child["widgets"] for child in dock["children"]]
    assert widgets == [[f"notebook:{NOTEBOOK}"], [f"editor:{PUZZLE}"]]
    assert sum(dock["sizes"]) == pytest.approx(1)
    for (widget,), path in zip(widgets, (NOTEBOOK, PUZZLE), strict=True):
        assert data[widget]["data"]["path"] == path  # type: ignore[index]


def test_windows_a_learner_has_moved_stay_where_they_are(
    checkout: Path, started: list[list[str]]
) -> None:
    lab.open_jupyterlab("01")
    manager = WorkspacesManager(str(checkout / lab.WORKSPACES))
    mine = {"data": {"layout-restorer:data": {"main": "mine"}}, "metadata": {"id": NAME}}
    manager.save(NAME, json.dumps(mine))
    lab.open_jupyterlab("01")
    assert stored(checkout) == mine["data"]
    assert started[0] == started[1]


def test_every_lesson_has_windows_of_its_own(checkout: Path, started: list[list[str]]) -> None:
    lab.open_jupyterlab()
    lab.open_jupyterlab("01")
    assert len(list((checkout / lab.WORKSPACES).iterdir())) == 2


def test_a_first_puzzle_that_is_gone_leaves_the_place_to_the_next(checkout: Path) -> None:
    assert lab.first_puzzle_of("01", checkout) == PUZZLE
    (checkout / PUZZLE).unlink()
    assert lab.first_puzzle_of("01", checkout) == "puzzles/01_threads/guard.py"


def test_without_a_puzzle_the_notebook_opens_alone(
    checkout: Path, started: list[list[str]]
) -> None:
    for path in (checkout / "puzzles" / "01_threads").iterdir():
        path.unlink()
    lab.open_jupyterlab("01")
    assert f"--LabApp.default_url=/lab/tree/{NOTEBOOK}" in started[0]
    assert not any("workspaces" in word for word in started[0])
    assert not (checkout / ".gpu_course").exists()


def test_where_nothing_can_be_written_the_notebook_opens_alone(
    checkout: Path, started: list[list[str]]
) -> None:
    (checkout / ".gpu_course").write_text("a file where the folder should be")
    lab.open_jupyterlab("01")
    assert f"--LabApp.default_url=/lab/tree/{NOTEBOOK}" in started[0]


def test_a_damaged_workspace_does_not_keep_the_lesson_closed(
    checkout: Path, started: list[list[str]]
) -> None:
    lab.open_jupyterlab("01")
    (file,) = (checkout / lab.WORKSPACES).iterdir()
    file.write_text("{")
    lab.open_jupyterlab("01")
    assert f"--LabApp.default_url=/lab/tree/{NOTEBOOK}" in started[1]


@pytest.mark.parametrize("lesson", [lesson.name for lesson in index.lessons()])
def test_every_lesson_can_be_arranged(lesson: str, tmp_path: Path) -> None:
    notebook, puzzle = f"notebooks/{lesson}.ipynb", f"puzzles/{lesson}/x.py"
    name = lab.arrange(notebook, puzzle, tmp_path)
    assert name == f"gpu-course-{lesson}"
    loaded = WorkspacesManager(str(tmp_path / lab.WORKSPACES)).load(name)
    assert loaded["metadata"]["id"] == name
