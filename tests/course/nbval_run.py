"""Runs nbval in strict mode on one notebook, in a process and a folder of its own."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from authoring.checkout import write
from authoring.execution import answers_copy, kernel_environment
from authoring.notebooks import notebook_text

SANITIZE = Path(__file__).with_name("nbval_sanitize.cfg")
WATCH = Path(__file__).with_name("watch_answers.py")
LOOKS = "CELLS_THAT_LOOK"
NEVER_COMPARED = {"image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json"}
IGNORED = {"nbval-ignore-output", "nbval-skip"}


@dataclass(frozen=True)
class Cells:
    """What nbval said of each code cell, by the number nbval gives it (code cells from 0)."""

    outcomes: Mapping[int, str]
    compared: Mapping[int, tuple[str, ...]]
    text: str
    looked_at: Sequence[tuple[int, Path]] = ()
    """Which cell opened which answer, or what is kept beside the folder of answers."""
    after: Mapping[str, str] | None = None
    """What the folder of answers of the second part held at the end."""

    @property
    def passed(self) -> list[int]:
        """The cells that passed."""
        return [number for number, outcome in self.outcomes.items() if outcome == "passed"]

    @property
    def with_compared_text(self) -> list[int]:
        """The cells of which nbval laid some output beside the stored one."""
        return [number for number, kinds in self.compared.items() if kinds]


@dataclass(frozen=True)
class SecondPart:
    """Cells that run after a notebook, in its kernel, with other answers and an empty namespace.

    Args:
        sources: the cells; they have to run clean, and nothing of theirs is compared.
        answers: as for `run_nbval`.
    """

    sources: Sequence[str]
    answers: Mapping[str, str]


def run_nbval(
    notebook: NotebookNode,
    answers: Mapping[str, str],
    verdicts: Path | None = None,
    second: SecondPart | None = None,
) -> Cells:
    """Returns nbval's word on each code cell of an executed notebook.

    The answers lie in a folder that is called otherwise than in the build, so that a stored output
    that names it is found out.

    Args:
        notebook: with its stored outputs.
        answers: {full puzzle name: text}, as in the build.
        verdicts: as in `answers_copy`.
        second: what is to run afterwards. Its cells are numbered on, after one that turns to it.
    """
    with (
        answers_copy(answers, "answers_of_this_run", verdicts) as folder,
        answers_copy(second.answers if second else {}) as others,
    ):
        home = folder.parent / "notebooks"
        whole = copy.deepcopy(notebook)
        if second is not None:
            new = {"GPU_COURSE_ANSWERS": str(others), "GPU_COURSE_GUESSES": "on"}
            turn = f"import os\nos.environ.update({new!r})\n%reset -f"
            whole.cells += [new_code_cell(source) for source in (turn, *second.sources)]
        write(home / "lesson.ipynb", notebook_text(whole))
        # A configuration of its own keeps that of this repository out of the run, and a folder of
        # its own that of the person who runs the tests.
        write(home / "pytest.ini", "[pytest]\n")
        startup = folder.parent / "ipython" / "profile_default" / "startup" / WATCH.name
        write(startup, WATCH.read_text(encoding="utf-8"))
        counts, looks = folder.parent / "counts.json", folder.parent / "looks.txt"
        write(looks, "")
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "tests.course.nbval_count"]
            + ["-p", "nbval.plugin", "-p", "no:cacheprovider", "--color=no", "-q"]
            + ["--nbval", "--nbval-current-env", "--nbval-cell-timeout", "600"]
            + [f"--nbval-sanitize-with={SANITIZE}"]
            + [f"--count-compared={counts}", "lesson.ipynb"],
            cwd=home,
            env=kernel_environment(folder, solved=True)
            | {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", LOOKS: str(looks)}
            | {"IPYTHONDIR": str(folder.parent / "ipython")},
            capture_output=True,
            text=True,
            check=False,
        )
        text = done.stdout + done.stderr
        if not counts.is_file():
            raise AssertionError(f"nbval did not run:\n{text}")
        cells = json.loads(counts.read_text(encoding="utf-8"))
        looked = [json.loads(line) for line in looks.read_text(encoding="utf-8").splitlines()]
        after = {
            path.relative_to(others).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
            for path in sorted(others.rglob("*.py"))
        }
    numbered = {int(name.removeprefix("Cell ")): cell for name, cell in cells.items()}
    return Cells(
        outcomes={number: cell["outcome"] for number, cell in numbered.items()},
        compared={number: tuple(cell["compared"]) for number, cell in numbered.items()},
        text=text,
        looked_at=[(number, Path(path).relative_to(folder.parent)) for number, path in looked],
        after=after if second is not None else None,
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
