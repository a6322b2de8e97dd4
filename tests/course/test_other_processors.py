"""Lessons that compute with PyTorch run, and say the same, on processors of other kinds.

How much room a convolution works in depends on the instructions that a library finds, and so do the
last bits of a sum. Stored outputs are made with one set of instructions; a learner's run takes
whatever their processor has. So the cells of these lessons run here with fewer, with all there are,
and without oneDNN, as PyTorch does on processors that oneDNN does not know. Of the lessons that
plan nothing from what they measured, `make test` draws a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from authoring.checkout import lesson_sources, read, teacher_notebook
from authoring.execution import SAME_INSTRUCTIONS, answers_copy, execute
from authoring.notebooks import build_notebook
from tests.course.editions import depends_on_answers

PLANNED = "18_optimal_checkpointing"
"""The lesson that plans from what it measured: it runs in most ways, the others in a few."""

WAYS: dict[str, tuple[Mapping[str, str], str]] = {
    "whatever there is": ({}, ""),
    "SSE4.1": ({"ONEDNN_MAX_CPU_ISA": "SSE41", "ATEN_CPU_CAPABILITY": "default"}, ""),
    "no oneDNN": (SAME_INSTRUCTIONS, "import torch\ntorch.backends.mkldnn.enabled = False"),
}
"""{how a lesson is run: (what the libraries are told, a cell before all others)}."""


SOME, ALWAYS = ("SSE4.1", "no oneDNN"), ("whatever there is", "SSE4.1")


def runs() -> Iterator[Any]:
    """Most ways of the lesson that plans, and of the others that compute with PyTorch a part."""
    for lesson, source in lesson_sources(Path(__file__).parents[2]).items():
        if "import torch\n" in read(source):
            for way in WAYS if lesson == PLANNED else SOME:
                always = lesson == PLANNED and way in ALWAYS
                marks = [] if always else [pytest.mark.series(1 / 8)]
                yield pytest.param(lesson, way, id=f"{lesson}-{way}", marks=marks)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("lesson", "way"), list(runs()))
def test_a_lesson_runs_and_gives_the_same_answers(
    lesson: str, way: str, root: Path, stubs: dict[str, str]
) -> None:
    instructions, first = WAYS[way]
    notebook = without_answers(lesson, root, stubs)
    notebook.cells.insert(0, new_code_cell(first))
    with answers_copy(stubs) as answers:
        done = execute(notebook, answers, lesson=lesson, instructions=instructions, solved=True)
    stored = sealed_answers(nbformat.read(teacher_notebook(root, lesson), as_version=4))
    told = sealed_answers(done)
    assert told == {cell: stored[cell] for cell in told}
    assert told


def without_answers(lesson: str, root: Path, stubs: dict[str, str]) -> NotebookNode:
    """The cells of a lesson that no answer of the learner's changes."""
    notebook = build_notebook(lesson, read(lesson_sources(root)[lesson]), stubs)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    left_out = set(depends_on_answers([cell.source for cell in cells]))
    notebook.cells = [cell for number, cell in enumerate(cells) if number not in left_out]
    return notebook


TOLD = ("It is ", "The answer is ")


def sealed_answers(notebook: NotebookNode) -> dict[str, str]:
    """Returns {source of a cell: what it gives as the answer to a prediction}."""
    return {
        cell.source: text.partition("\n")[0]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if (text := output.get("data", {}).get("text/plain", "")).startswith(TOLD)
    }
