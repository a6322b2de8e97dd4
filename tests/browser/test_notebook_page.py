"""The page that all browser tests look through: it sees what goes wrong in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser.lab import Server
from tests.browser.notebooks import write_notebook

pytestmark = pytest.mark.browser

QUIET = ("print('all is well')", "print('Traceback (most recent call last)')")
WIDGET = """from IPython.display import display
kind = "application/vnd.jupyter.widget-view+json"
display({kind: {"model_id": "none", "version_major": 2, "version_minor": 0}}, raw=True)"""
# What raises comes last: JupyterLab runs no cell behind it.
LOUD = {
    "look here": "import warnings; warnings.warn('look here')",
    "Error displaying widget": WIDGET,
    "ZeroDivisionError": "1 / 0",
}


def test_what_goes_wrong_in_a_cell_is_seen_and_its_twin_is_not(
    server: Server, page: Any, checkout: Path
) -> None:
    from tests.browser.notebook_page import NotebookPage

    def opened(*cells: str) -> NotebookPage:
        name = write_notebook(checkout / "notebooks" / f"{len(cells)}_cells.ipynb", *cells)
        return NotebookPage(page, server, f"notebooks/{name}")

    quiet = opened(*QUIET)
    quiet.run_all()
    assert quiet.errors() == []

    loud = opened(*QUIET, *LOUD.values(), *QUIET)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        loud.run_all()
    page.get_by_text("Error displaying widget").wait_for()
    told = "\n".join(loud.errors())
    assert [words for words in LOUD if words not in told] == []

    # Python that cannot be read has no stack, and so no line that says `Traceback`.
    loud = opened(*QUIET, "x = = 1")
    with pytest.raises(AssertionError, match="SyntaxError"):
        loud.run_all()
