"""Runs nbval in strict mode on one notebook, in a process and a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from gpu_course.authoring.checkout import write
from gpu_course.authoring.execution import answers_copy, kernel_environment
from gpu_course.authoring.notebooks import notebook_text

SANITIZE = Path(__file__).with_name("nbval_sanitize.cfg")
NEVER_COMPARED = {"image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json"}
IGNORED = {"nbval-ignore-output", "nbval-skip"}


@dataclass(frozen=True)
class Cells:
    """What nbval said of each code cell, by the number nbval gives it (code cells from 0)."""

    outcomes: Mapping[int, str]
    compared: Mapping[int, tuple[str, ...]]
    text: str

    @property
    def passed(self) -> list[int]:
        """The cells that passed."""
        return [number for number, outcome in self.outcomes.items() if outcome == "passed"]

    @property
    def with_compared_text(self) -> list[int]:
        """The cells of which nbval laid some output beside the stored one."""
        return [number for number, kinds in self.compared.items() if kinds]


def run_nbval(
    notebook: NotebookNode, answers: Mapping[str, str], verdicts: Path | None = None
) -> Cells:
    """Returns nbval's word on each code cell of an executed notebook.

    The answers lie in a folder that is called otherwise than in the build, so that a stored output
    that names it is found out.

    Args:
        notebook: with its stored outputs.
        answers: {full puzzle name: text}, as in the build.
        verdicts: as in `answers_copy`.
    """
    with answers_copy(answers, "answers_of_this_run", verdicts) as folder:
        home = folder.parent / "notebooks"
        write(home / "lesson.ipynb", notebook_text(notebook))
        # A configuration of its own keeps that of this repository out of the run.
        write(home / "pytest.ini", "[pytest]\n")
        counts = folder.parent / "counts.json"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.course.nbval_count"]
            + ["-p", "no:cacheprovider", "-p", "no:xdist", "--color=no", "-q"]
            + ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "120"]
            + [f"--nbval-sanitize-with={SANITIZE}"]
            + [f"--count-compared={counts}", "lesson.ipynb"],
            cwd=home,
            env=kernel_environment(folder) | {"PYTEST_ADDOPTS": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        text = done.stdout + done.stderr
        if not counts.is_file():
            raise AssertionError(f"nbval did not run:\n{text}")
        cells = json.loads(counts.read_text(encoding="utf-8"))
    numbered = {int(name.removeprefix("Cell ")): cell for name, cell in cells.items()}
    return Cells(
        outcomes={number: cell["outcome"] for number, cell in numbered.items()},
        compared={number: tuple(cell["compared"]) for number, cell in numbered.items()},
        text=text,
    )


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """Returns the code cells, in the order in which nbval counts them."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell: NotebookNode) -> set[str]:
    """Returns the tags of a cell."""
    return set(cell.metadata.get("tags", ()))


def cells_to_compare(notebook: NotebookNode) -> list[int]:
    """Returns the code cells with a stored output that nbval has to compare."""
    return [
        number
        for number, cell in enumerate(code_cells(notebook))
        if not tags(cell) & IGNORED and any(_kinds(output) for output in cell.outputs)
    ]


def _kinds(output: NotebookNode) -> set[str]:
    if output.output_type == "stream":
        return {"text"}
    return set(output.get("data", ())) - NEVER_COMPARED
