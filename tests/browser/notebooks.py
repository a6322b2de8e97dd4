"""Notebooks that a test writes for itself."""

from __future__ import annotations

from pathlib import Path

import nbformat


def write_notebook(path: Path, *cells: str) -> str:
    """Writes a notebook of code cells into the checkout; returns its name."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
    }
    nbformat.write(notebook, path)
    return path.name
