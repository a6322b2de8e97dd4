"""install.py: PyTorch's CPU build where no driver could use another, and PyPI when it is away."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from setuptools import find_packages

from gpu_course.hardware.compiled.record import record

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
specification = importlib.util.spec_from_file_location("install", ROOT / "install.py")
assert specification is not None and specification.loader is not None
install = importlib.util.module_from_spec(specification)
specification.loader.exec_module(install)


def names_in(file: str) -> set[str]:
    text = (ROOT / file).read_text(encoding="utf-8")
    return set(re.findall(r"^([\w-]+)==", text, flags=re.MULTILINE))


class Pip:
    """Notes what would be installed; `fails` names a word of a command that does not succeed."""

    def __init__(self, fails: str = "nothing") -> None:
        self.fails = fails
        self.calls: list[list[str]] = []

    def __call__(self, command: list[str]) -> int:
        self.calls.append(command)
        return int(self.fails in command)


def set_up(monkeypatch: pytest.MonkeyPatch, cpu: bool, installed: bool) -> None:
    monkeypatch.setattr(install, "wants_cpu_build", lambda: cpu)
    monkeypatch.setattr(install, "is_installed", lambda wanted: installed)


@pytest.mark.parametrize(
    ("cpu", "installed", "asks"), [(True, False, 2), (True, True, 1), (False, False, 1)]
)
def test_the_cpu_build_is_asked_for_first_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, cpu: bool, installed: bool, asks: int
) -> None:
    set_up(monkeypatch, cpu, installed)
    pip = Pip()
    assert install.main([], pip) == 0
    assert len(pip.calls) == asks
    assert pip.calls[-1][-2:] == ["-r", str(ROOT / "requirements.txt")]
    if asks == 2:
        first = pip.calls[0]
        assert first[-3:-1] == ["--index-url", install.CPU_INDEX]
        assert first[-1].startswith("torch==") and "--no-deps" in first
        # Where the index is away, that is found out by one try of a few seconds.
        assert first[first.index("--retries") + 1] == "0"
        assert int(first[first.index("--timeout") + 1]) <= 15


def test_an_index_that_is_away_leaves_it_to_pypi(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(monkeypatch, cpu=True, installed=False)
    pip = Pip(fails="--index-url")
    assert install.main(["requirements-dev.txt"], pip) == 0
    assert pip.calls[-1][-1] == str(ROOT / "requirements-dev.txt")
    assert "taking what PyPI has" in capsys.readouterr().out


def test_what_pip_says_at_last_is_the_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    set_up(monkeypatch, cpu=True, installed=False)
    assert install.main([], Pip(fails="-r")) == 1


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_a_driver_or_another_system_keeps_pypi_s_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str
) -> None:
    monkeypatch.setattr(install.shutil, "which", lambda name: None)
    sign = tmp_path / "version"
    assert install.wants_cpu_build(platform, [str(sign)]) == (platform == "linux")
    sign.touch()
    assert not install.wants_cpu_build(platform, [str(sign)])
    monkeypatch.setattr(install.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert not install.wants_cpu_build(platform, [])


def test_a_build_that_is_there_counts_whichever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install.metadata, "version", lambda name: "2.13.0+cpu")
    assert install.is_installed("torch==2.13.0") and not install.is_installed("torch==2.14.0")


def test_it_runs_where_nothing_is_installed() -> None:
    code = "import sys; sys.argv[1:] = []; import runpy; runpy.run_path('install.py')"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], cwd=ROOT, check=True)


def test_a_learner_gets_the_course_and_no_tools_of_its_makers() -> None:
    course, development = names_in("requirements.txt"), names_in("requirements-dev.txt")
    assert not course & development
    assert {"pytest", "nbval"} <= course
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    tools = {re.split("[<>=]", need)[0] for need in extra["optional-dependencies"]["dev"]}
    assert tools - {"pytest", "nbval"} == development
    for target, needs in re.findall(r"^([a-z-]+):(?: (.+))?$", MAKEFILE, flags=re.MULTILINE):
        if needs.startswith("export "):  # a variable of one target
            continue
        if target in ("lab", "grade"):
            assert needs == "$(STAMP)"
        elif target == "test-compiled":
            assert needs == "$(COMPILE_STAMP)"
        elif target == "gpu":
            assert not needs  # a borrowed machine may have no network to install from
        elif target != "help":
            assert needs in ("$(DEV_STAMP)", "lint check-sync", "test"), target


def test_the_compiler_that_is_tested_with_is_the_one_that_made_the_record() -> None:
    text = (ROOT / "requirements-compile.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==(\S+)$", text, flags=re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"]["compile"]
    assert set(pinned) == {re.split("[<>=]", need)[0] for need in extra}
    assert record().versions.items() <= pinned.items()


def test_what_is_installed_is_the_course_and_no_tool_of_its_makers() -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "setuptools"
    ]
    packages = set(find_packages(str(ROOT), **setup["packages"]["find"]))
    assert {name.split(".")[0] for name in packages} == {"gpu_course"}
    data = {
        path
        for package, patterns in setup["package-data"].items()
        for pattern in patterns
        for path in ROOT.joinpath(*package.split(".")).glob(pattern)
    }
    tables = set((ROOT / "gpu_course").rglob("*.toml"))
    assert tables and tables <= data


def test_the_hooks_before_a_commit_run_what_make_runs() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    commands = re.findall(r"entry: \.venv/bin/python -m (.+)", hooks)
    made = re.findall(r"\$\(RUN\) -m (.+)", MAKEFILE)
    assert commands
    assert [each for each in commands if not any(m.startswith(each) for m in made)] == []
