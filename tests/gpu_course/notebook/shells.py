"""An IPython shell in this process, and what it displayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import RichOutput, capture_output


class Shell:
    """Runs cells as JupyterLab would and gives back what they showed."""

    def __init__(self) -> None:
        self.shell = InteractiveShell.instance()

    def run(self, cell: str) -> list[str]:
        """Returns the plain text of everything the cell displayed or printed."""
        with capture_output() as captured:
            result = self.shell.run_cell(cell, store_history=False)
        result.raise_error()
        shown = [str(output.data["text/plain"]) for output in captured.outputs]
        return shown + ([captured.stdout] if captured.stdout else [])

    def outputs(
        self, do: str | Callable[[], object], identity: str | None = None
    ) -> list[RichOutput]:
        """Returns what a cell, or something a person does, displays; prints come as one output.

        Args:
            do: the cell's text, or what the person does.
            identity: the cell's id, where the front end tells it.
        """
        with capture_output() as captured:
            if isinstance(do, str):
                self.shell.run_cell(do, store_history=False, cell_id=identity)
            else:
                do()
        printed = [RichOutput({"text/plain": captured.stdout})] if captured.stdout else []
        return [*printed, *captured.outputs]

    def names(self) -> dict[str, Any]:
        """Returns the namespace of the cells."""
        return self.shell.user_ns
