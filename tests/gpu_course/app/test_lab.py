"""`gpu-course lab`: the lesson opens alone, with our part of Jupyter and theirs unchanged."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyterlab_server.workspaces_handler import WorkspacesManager
from typer.testing import CliRunner

from gpu_course import commands
from gpu_course.app import lab

ROOT = Path(__file__).parents[3]
NOTEBOOK = "notebooks/01_threads.ipynb"
DATA = lab.JUPYTER / "data"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with the notebooks of two lessons."""
    for folder in ("gpu_course", "puzzles", "notebooks"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pyproject.toml").touch()
    for name in ("00_start_here", "01_threads"):
        (tmp_path / "notebooks" / f"{name}.ipynb").touch()
    monkeypatch.chdir(tmp_path / "notebooks")
    return tmp_path


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would have been started."""
    commands_seen: list[list[str]] = []
    monkeypatch.setattr(lab, "_run", lambda command, root: commands_seen.append(command) or 0)
    return commands_seen


def test_a_lesson_opens_alone_in_windows_of_its_own(
    checkout: Path, started: list[list[str]]
) -> None:
    result = CliRunner().invoke(commands.app, ["lab", "01"])
    assert result.exit_code == 0
    assert result.stdout.startswith(f"JupyterLab opens {NOTEBOOK}. ")
    lab.open_jupyterlab()
    addresses = [word for command in started for word in command if "default_url" in word]
    assert addresses == [
        f"--LabApp.default_url=/lab/workspaces/{name}/tree/notebooks/{name}.ipynb"
        for name in ("01_threads", "00_start_here")
    ]
    assert all(f"--LabApp.workspaces_dir={lab.WORKSPACES}" in command for command in started)
    data = stored(checkout)
    layout = data["layout-restorer:data"]
    tab = f"notebook:{NOTEBOOK}"
    assert layout["main"]["dock"]["widgets"] == [tab] == [name for name in data if ":" in name][1:]
    assert layout["left"]["collapsed"] and layout["right"]["collapsed"]
    assert layout["left"]["visible"] and not layout["right"]["visible"]
    assert data[tab]["data"]["path"] == NOTEBOOK


def stored(checkout: Path) -> dict:
    return WorkspacesManager(str(checkout / lab.WORKSPACES)).load("01_threads")["data"]


def test_windows_a_learner_has_moved_stay_where_they_are(
    checkout: Path, started: list[list[str]]
) -> None:
    lab.open_jupyterlab("01")
    mine = {"data": {"layout-restorer:data": {"main": "mine"}}, "metadata": {"id": "01_threads"}}
    WorkspacesManager(str(checkout / lab.WORKSPACES)).save("01_threads", json.dumps(mine))
    lab.open_jupyterlab("01")
    assert stored(checkout) == mine["data"]


@pytest.mark.parametrize("damage", ["a file for a folder", "half a file"])
def test_what_cannot_be_arranged_does_not_keep_the_lesson_closed(
    checkout: Path, started: list[list[str]], damage: str
) -> None:
    if damage == "half a file":
        lab.open_jupyterlab("01")
        (file,) = (checkout / lab.WORKSPACES).iterdir()
        file.write_text("{")
    else:
        (checkout / ".gpu_course").write_text("")
    lab.open_jupyterlab("01")
    assert any("01_threads" in word for word in started[-1])


def test_jupyter_s_guard_against_lost_work_stays_on(
    checkout: Path, started: list[list[str]]
) -> None:
    lab.open_jupyterlab("01")
    ours = [*started[0], *(path.read_text() for path in lab.JUPYTER.rglob("*.json"))]
    assert not any("lastModifiedCheckMargin" in text for text in ours)


def test_settings_a_kernel_and_an_extension_are_added_and_a_user_s_own_are_kept() -> None:
    before = {"PATH": "/bin", "JUPYTER_PATH": "/their/data", "HOME": "/home/ada"}
    after = lab.environment(before)
    assert after["HOME"] == "/home/ada"
    assert after["JUPYTER_PATH"].split(os.pathsep) == [str(DATA), "/their/data"]
    assert after["JUPYTER_CONFIG_PATH"] == str(lab.JUPYTER / "config")
    assert after["PATH"].endswith(f"{os.pathsep}/bin")
    # Jupyter's own folders, into which a user's settings are written, are not named.
    assert not {"JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR", "IPYTHONDIR"} & set(after)


def test_the_question_about_news_is_answered_and_widgets_are_saved_by_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from jupyterlab_server.settings_utils import _get_overrides

    for name, value in lab.environment({}).items():
        if name.startswith("JUPYTER"):
            monkeypatch.setenv(name, value)
    found, error = _get_overrides(str(tmp_path))
    assert not error
    assert found["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert found["@jupyter-widgets/jupyterlab-manager:plugin"]["saveState"] is True


def test_the_kernel_is_python_s_own_with_one_extension_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JUPYTER_PATH", str(DATA))
    spec = KernelSpecManager().get_kernel_spec("python3")
    assert Path(spec.resource_dir) == DATA / "kernels" / "python3"
    monkeypatch.delenv("JUPYTER_PATH")
    own = KernelSpecManager().get_kernel_spec("python3")
    *argv, added = spec.argv
    assert [re.sub(r".*python[\d.]*$", "python", word) for word in own.argv[:5]] == argv
    assert added == "--ext=gpu_course.before_imports"
    assert spec.display_name == own.display_name


@pytest.mark.parametrize("name", ["gpu-course", "gpu-course-stored"])
def test_an_extension_is_where_jupyterlab_looks(name: str) -> None:
    folder = DATA / "labextensions" / name
    package = json.loads((folder / "package.json").read_text())
    script = (folder / package["jupyterlab"]["_build"]["load"]).read_text()
    assert package["name"] == name and f'window._JUPYTERLAB["{name}"]' in script


def test_every_file_for_jupyterlab_is_installed_with_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["gpu_course.app"]
    shipped = {path for pattern in patterns for path in lab.JUPYTER.parent.glob(pattern)}
    assert {path for path in lab.JUPYTER.rglob("*") if path.is_file()} == shipped
