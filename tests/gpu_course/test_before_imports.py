"""A kernel before the first cell of a lesson: %%puzzle works, an unknown name gets a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from authoring.execution import answers_copy, kernel_environment
from gpu_course.app import lab
from tests.gpu_course.notebook.cells.test_puzzle_magic import NAME, RIGHT

IMPORTS = "import numpy as np\nfrom gpu_course.notebook import predict"
FIRST_CELL = (
    "{} is not known yet: run the first code cell of this notebook, which holds the imports, and "
    "then this cell again."
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs cells one after the other in a fresh kernel, as `gpu-course lab` has it started."""
    for name, value in lab.environment({}).items():
        if name.startswith("JUPYTER"):
            monkeypatch.setenv(name, value)

    def run_cells(*cells: str) -> list[str]:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        client = NotebookClient(
            notebook, kernel_name="python3", allow_errors=True, extra_arguments=["--log-level=50"]
        )
        with answers_copy({}) as answers:
            client.execute(env=kernel_environment(answers))
            left = {p.stem: p.read_text() for p in answers.rglob("*.py")}
        shown = ["\n".join(map(_text, cell.outputs)) for cell in notebook.cells]
        return [*shown, json.dumps(left)]

    return run_cells


def _text(output: nbformat.NotebookNode) -> str:
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return str(output.get("text") or output.data["text/plain"])


def test_cells_run_out_of_order(run) -> None:
    blank = RIGHT.replace("    i", "  \n    i")
    cells = {
        'predict("how many?")': FIRST_CELL.format("predict"),
        "def f():\n    return format_bytes(3)\n\nf()": FIRST_CELL.format("format_bytes"),
        f"%%puzzle add_ten\n{blank}": f"{NAME}: passed",
        "np.zeros(3)": FIRST_CELL.format("np"),
        IMPORTS: "",
        "a = 1\nguess.compare(3)": (
            "NameError: name 'guess' is not defined\n  where:  line 2 of this cell\n"
            "  try:    if a cell above makes this name, run it first: "
            "Run > Run All Above Selected Cell"
        ),
        "1 / 0": "ZeroDivisionError",
        "def g():\n    x += 1\n\ng()": "UnboundLocalError",
        "import doctest; eval('missing', vars(doctest))": "Traceback (most recent call last)",
        "a": "1",
    }
    *shown, left = run(*cells)
    for (cell, expected), text in zip(cells.items(), shown, strict=True):
        whole = expected.startswith(("predict is", "format_bytes is", "np is", "NameError"))
        assert text == expected if whole else expected in text, cell
    # The text of the cell is the file's, byte for byte, also without the first cell.
    assert json.loads(left) == {"add_ten": blank}
