"""Runs a built notebook in a folder of its own, with fixed answers and a fixed seed."""

from __future__ import annotations

import ast
import copy
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from authoring.checkout import AuthoringError, write
from gpu_course.grading.learner import verdict_cache
from gpu_course.notebook.guesses.asked import GUESSES_VARIABLE

NOT_STORED = "not-stored"
"""The tag of a cell whose output tells about the machine it ran on."""

NOT_RUN = "not-run"
"""The tag of a cell that a run passes over; it stands there no longer than the run takes."""

SAME_INSTRUCTIONS = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_CBWR": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}
"""What PyTorch and its libraries compute with. The room a convolution works in and the last bits of
a sum depend on it; with these, which any x86 machine of the last ten years has, a notebook gives
the same bytes and digits on all of them."""

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@contextmanager
def answers_copy(
    answers: Mapping[str, str], name: str = "puzzles", verdicts: Path | None = None
) -> Iterator[Path]:
    """Yields a temporary folder of answers, laid out as a learner's, and removes it at the end.

    Args:
        answers: {full puzzle name: text}.
        name: what the folder of answers is called; the learner's state lies beside it.
        verdicts: a folder in which several runs share the verdicts that `progress()` keeps, so
            that each answer is checked for it once and not once per notebook.
    """
    home = Path(tempfile.mkdtemp(prefix="gpu-course-"))
    kept = home / ".gpu_course" / verdict_cache.FOLDER
    try:
        (home / name).mkdir()
        for puzzle, text in answers.items():
            write(home / name / f"{puzzle}.py", text)
        if verdicts is not None and verdicts.is_dir():
            shutil.copytree(verdicts, kept)
        yield home / name
        if verdicts is not None and kept.is_dir():
            shutil.copytree(kept, verdicts, dirs_exist_ok=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def kernel_environment(
    answers: Path,
    instructions: Mapping[str, str] = SAME_INSTRUCTIONS,
    *,
    solved: bool = False,
) -> dict[str, str]:
    """Returns the environment in which a notebook always gives the same text.

    Args:
        answers: the folder that the notebook reads answers from and writes them to.
        instructions: what the libraries are told to compute with; with none, whatever the
            processor has, as in a learner's own run.
        solved: True for the teacher's edition, in which no answer waits for a guess.
    """
    package = Path(__file__).resolve().parents[1]
    environment = dict(os.environ)
    # A backend chosen for the terminal would hide the pictures; the kernel picks its own.
    environment.pop("MPLBACKEND", None)
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(package), environment.get("PYTHONPATH")))
    )
    environment.update(
        GPU_COURSE_ANSWERS=str(answers),
        GPU_COURSE_SEED="0",
        GPU_COURSE_GPU="off",
    )
    environment[GUESSES_VARIABLE] = "off" if solved else "on"
    if platform.machine() in ("x86_64", "AMD64"):
        for name in SAME_INSTRUCTIONS:
            environment.pop(name, None)
        environment.update(instructions)
    return environment


def execute(
    notebook: NotebookNode,
    answers: Path,
    *,
    lesson: str,
    deadline_s: float = 600.0,
    record_timing: bool = False,
    instructions: Mapping[str, str] = SAME_INSTRUCTIONS,
    solved: bool = False,
    run_not_stored: bool = True,
) -> NotebookNode:
    """Returns the notebook with the outputs of a run from a fresh kernel, top to bottom.

    Widget views are left out, since their numbers are random; what they show as text stays. So is
    all that a cell tagged `not-stored` says.

    Args:
        notebook: a built notebook; it is changed in place.
        answers: the folder of answers the run may change.
        lesson: how messages call the notebook.
        deadline_s: how long all cells together may take.
        record_timing: keep in each cell's metadata, under `execution`, when it began and ended.
        instructions, solved: as for `kernel_environment`.
        run_not_stored: False does not run the cells of which nothing is stored, but those that
            leave a name to later ones.

    Raises:
        AuthoringError: a cell raised an error, the kernel died, or the deadline passed.
    """
    folder = answers.parent / "notebooks"
    folder.mkdir(exist_ok=True)
    end = time.monotonic() + deadline_s
    passed_over = [] if run_not_stored else [c for c in notebook.cells if _only_tells(c)]
    for cell in passed_over:
        cell.metadata.tags.append(NOT_RUN)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
        timeout_func=lambda cell: max(1, int(end - time.monotonic())),
        record_timing=record_timing,
        store_widget_state=False,
        coalesce_streams=True,
        skip_cells_with_tag=NOT_RUN,
    )
    metadata = copy.deepcopy(notebook.metadata)
    try:
        client.execute(env=kernel_environment(answers, instructions, solved=solved))
    except CellExecutionError as error:
        raise AuthoringError(
            f"a cell of {lesson} raised {error.ename}: {COLOURS.sub('', error.evalue)}",
            file=_stopped_at(notebook, lesson),
            hint="run the cells up to this one in JupyterLab",
        ) from error
    except CellTimeoutError as error:
        raise AuthoringError(
            f"{lesson} takes longer than {deadline_s:g} seconds",
            file=_stopped_at(notebook, lesson),
            hint="make the cell's work smaller; a lesson is meant to run in under a minute",
        ) from error
    except DeadKernelError as error:
        raise AuthoringError(
            f"the kernel of {lesson} died", file=_stopped_at(notebook, lesson)
        ) from error
    finally:
        for cell in passed_over:
            cell.metadata.tags.remove(NOT_RUN)
    notebook.metadata = metadata
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    for number, cell in enumerate(code, 1):
        # As they count where all of them run.
        cell.execution_count = number
    for cell in notebook.cells:
        if NOT_STORED in cell.metadata.get("tags", ()):
            cell.outputs = []
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(WIDGET_VIEW, None)
    return notebook


def _only_tells(cell: NotebookNode) -> bool:
    """Whether nothing is stored of a cell, and it leaves no name: it is one call, or several."""
    if cell.cell_type != "code" or NOT_STORED not in cell.metadata.get("tags", ()):
        return False
    try:
        return all(isinstance(each, ast.Expr) for each in ast.parse(cell.source).body)
    except SyntaxError:  # a magic
        return True


def _stopped_at(notebook: NotebookNode, lesson: str) -> str:
    """Returns the first code cell without an execution count, or the one that raised."""
    at = 0
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code" and cell.source.strip():
            at = number
            raised = any(output.output_type == "error" for output in cell.outputs)
            if raised or cell.execution_count is None:
                break
    first_line = notebook.cells[at - 1].source.partition("\n")[0]
    return f"{lesson}, cell {at}, beginning `{first_line}`"
