"""The engine as a distribution of its own: what its `pyproject.toml` says is what lies there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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
    needed = _names(PROJECT["project"]["dependencies"])
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
    extras = {
        name
        for extra in PROJECT["project"]["optional-dependencies"].values()
        for name in _names(extra)
    }
    assert outside - set(sys.stdlib_module_names) - {"simt", "numba"} - plugins == needed | extras


def _names(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", each).group() for each in requirements}


WITHOUT = "import sys; sys.modules['llvmlite'] = None"
TOO_OLD = "from llvmlite import binding; binding.llvm_version_info = (15, 0, 7)"
"""As with llvmlite 0.44, which comes with Numba 0.61."""
LARGE = """
import numpy as np
from simt.compiled import jit
from simt.simulator import simulate

out, a = np.zeros(1 << 16), np.arange(float(1 << 16))
report = simulate("kernel.py:scale")[256, 256](out, a)
print(jit.available(), report.ok, report.counters.global_load.requests, (out == 2 * a).all())
"""
KERNEL = """
from numba import cuda


def scale(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 2 * a[i]
"""


def _told(code: str, folder: Path, **environment: str) -> str:
    """What a new Python prints, in a folder with a kernel.py."""
    (folder / "kernel.py").write_text(KERNEL)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("first", [WITHOUT, TOO_OLD], ids=["none", "too old"])
@pytest.mark.parametrize("when", ["auto", "always"])
def test_without_a_compiler_all_launches_are_interpreted(
    first: str, when: str, tmp_path: Path
) -> None:
    told = _told(f"{first}\n{LARGE}", tmp_path, SIMT_COMPILED=when)
    assert told == "False True 2048 True\n"


def test_with_one_it_is_found(tmp_path: Path) -> None:
    assert _told(LARGE, tmp_path, SIMT_COMPILED="always") == "True True 2048 True\n"


SMALL = """
import sys
import numpy as np
from simt.simulator import simulate

out = np.zeros(64)
report = simulate("kernel.py:scale")[1, 64](out, np.arange(64.0))
print(report.ok, "llvmlite" in sys.modules)
"""


def test_a_small_launch_does_not_load_the_compiler(tmp_path: Path) -> None:
    """It takes 40 MB and longer than the launch."""
    assert _told(SMALL, tmp_path, SIMT_COMPILED="auto") == "True False\n"
    loaded = f"import llvmlite\n{SMALL}"
    assert _told(loaded, tmp_path, SIMT_COMPILED="auto") == "True True\n"
