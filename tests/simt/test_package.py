"""The engine as a distribution of its own: what its `pyproject.toml` says is what lies there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from simt.errors import HAZARD_ERRORS

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "simt"
PROJECT = tomllib.loads((ENGINE / "pyproject.toml").read_text(encoding="utf-8"))
# Read by whoever installs it, and not by Python.
NOT_INSTALLED = {"pyproject.toml", "README.md", "LICENSE"}


def files() -> list[Path]:
    """The files that git keeps: installing in place leaves others beside them."""
    made = re.compile(r"__pycache__|.*\.egg-info|build")
    return [
        p
        for p in ENGINE.rglob("*")
        if p.is_file() and not any(made.fullmatch(part) for part in p.relative_to(ENGINE).parts)
    ]


def test_every_folder_of_code_is_installed() -> None:
    folders = {p.parent.relative_to(ROOT) for p in ENGINE.rglob("__init__.py")}
    packages = PROJECT["tool"]["setuptools"]["packages"]
    assert packages == sorted(".".join(folder.parts) for folder in folders)


def test_every_other_file_is_installed_as_data() -> None:
    packages = {ROOT.joinpath(*p.split(".")) for p in PROJECT["tool"]["setuptools"]["packages"]}
    data = {
        ROOT.joinpath(*package.split(".")) / name
        for package, names in PROJECT["tool"]["setuptools"]["package-data"].items()
        for name in names
    }
    others = {p for p in files() if p.suffix != ".py" or p.parent not in packages}
    assert others - {ENGINE / name for name in NOT_INSTALLED} == data


def test_the_start_of_its_readme_shows_what_it_says(tmp_path: Path) -> None:
    readme = (ENGINE / "README.md").read_text(encoding="utf-8")
    script, commands, told = re.findall(r"```\w*\n(.*?)```", readme, flags=re.DOTALL)[:3]
    (tmp_path / "kernels.py").write_text(script)
    command = commands.splitlines()[-1].removeprefix("python ").split()
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, cwd=tmp_path, env=path
    )
    assert (done.stdout, done.stderr, done.returncode) == ("", told, 1)


def test_its_readme_lists_every_kind_of_hazard() -> None:
    readme = (ENGINE / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", readme, flags=re.MULTILINE)) == set(HAZARD_ERRORS)


def test_its_licence_is_the_repository_s() -> None:
    assert (ENGINE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_its_code_and_its_readme_know_nothing_of_a_course() -> None:
    # "puzzle" is a policy of `simulate`, which its docstring explains.
    found = [
        f"{path.relative_to(ROOT)}: {word.group()}"
        for path in files()
        if path.name not in ("pyproject.toml", "LICENSE")
        for word in re.finditer(
            r"gpu_course|\bcourses?\b|\blearners?\b",
            path.read_text(encoding="utf-8").replace(PROJECT["project"]["name"], ""),
        )
    ]
    assert found == []


def test_what_it_imports_it_names_as_needed() -> None:
    """Beside Python's own modules and what it stands in for."""
    needed = {re.match(r"[\w-]+", each).group() for each in PROJECT["project"]["dependencies"]}
    outside = set()
    for path in files():
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                outside |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                outside.add((node.module or "").partition(".")[0])
    plugins = {"pytest"}  # is there where the plugin is asked for
    assert outside - set(sys.stdlib_module_names) - {"simt", "numba"} - plugins == needed
