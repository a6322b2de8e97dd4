"""What a kernel knows before the first cell of a lesson has run: `%%puzzle`, and how to say so.

`gpu-course lab` has every kernel load this as an IPython extension. It imports nothing of the
course until it is needed, so that a kernel starts as fast as it did.
"""

from __future__ import annotations

import sys
import traceback
from types import TracebackType
from typing import Any

NOTEBOOK = "gpu_course.notebook"
_IMPORTED = ("np", "cuda", "predict", "simulate")
"""Names that only the first cell of a lesson brings: they are missing where it did not run."""


def load_ipython_extension(shell: Any) -> None:
    """Makes a shell explain names that are not known yet, and know %%puzzle without an import."""

    def puzzle(line: str, cell: str) -> None:
        # The import puts the course's own magic in the place of this one.
        from gpu_course.notebook.cells import puzzle_magic

        puzzle_magic.keep_raw_cell(_raw_cell(shell))
        puzzle_magic.puzzle(line, cell)

    shell.set_custom_exc((NameError,), explain)
    if NOTEBOOK not in sys.modules:
        puzzle.no_var_expand = True  # type: ignore[attr-defined]
        shell.register_magic_function(puzzle, magic_kind="cell", magic_name="puzzle")


def explain(
    shell: Any,
    kind: type[NameError],
    error: NameError,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    """Shows a NameError of a cell in a sentence, and any other by its traceback.

    Args:
        shell: the IPython shell.
        kind, error, trace: the exception.
        tb_offset: how many frames of IPython's own to leave out of a traceback.
    """
    line = line_in_cell(shell, trace)
    if kind is not NameError or not error.name or line is None:
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)
        return
    # A front end shows this in the place of the traceback, and the cells below do not run.
    shell._showtraceback(kind, error, [sentence(shell, error, line)])


def sentence(shell: Any, error: NameError, line: int) -> str:
    """Returns what to say of a name that a cell uses and the kernel lacks."""
    if error.name in _IMPORTED or not _course_is_imported(shell):
        return (
            f"{error.name} is not known yet: run the first code cell of this notebook, which holds "
            "the imports, and then this cell again."
        )
    said = traceback.format_exception_only(error)[-1].strip()
    return (
        f"{said}\n  where:  line {line} of this cell\n  try:    if a cell above makes this name, "
        "run it first: Run > Run All Above Selected Cell"
    )


def line_in_cell(shell: Any, trace: TracebackType | None) -> int | None:
    """Returns the line of a cell that raised, or None where the error came from elsewhere."""
    frames = list(traceback.walk_tb(trace))
    if not frames or frames[-1][0].f_globals is not shell.user_ns:
        return None
    return frames[-1][1]


def _course_is_imported(shell: Any) -> bool:
    """True when a cell has brought anything of the course into the notebook."""
    values = list(shell.user_ns.values())
    return any(str(getattr(v, "__module__", "")).startswith("gpu_course") for v in values)


def _raw_cell(shell: Any) -> str:
    """The cell as it was typed, as far as the front end's message tells."""
    message = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return str(message.get("content", {}).get("code", ""))
