"""The names a kernel may use: under `cuda.`, `math.` and Python's own.

`VALUES` are read (`cuda.threadIdx.x`), `FUNCTIONS` are called (`cuda.grid(1)`, `math.sqrt(x)`).
"""

from __future__ import annotations

import difflib

from gpu_course.simt.vocabulary import (
    allocate,
    atomics,
    bits,
    half,
    indices,
    operators,
    overloads,
    printing,
    scalar_functions,
    synchronise,
    ufuncs,
    warps,
)
from gpu_course.simt.vocabulary.functions import Function

VALUES: dict[str, Function] = indices.VALUES
FUNCTIONS: dict[str, Function] = {
    **indices.FUNCTIONS,
    **scalar_functions.FUNCTIONS,
    **synchronise.FUNCTIONS,
    **allocate.FUNCTIONS,
    **atomics.FUNCTIONS,
    **warps.FUNCTIONS,
    **bits.FUNCTIONS,
    **operators.FUNCTIONS,
    **printing.FUNCTIONS,
    **overloads.FUNCTIONS,
    **half.FUNCTIONS,
    **ufuncs.FUNCTIONS,
}
BUILTINS = frozenset(scalar_functions.BUILTINS) | {
    "divmod", "enumerate", "pow", "print", "sum", "zip",
}  # fmt: skip

LOOPS = frozenset(("builtin.enumerate", "builtin.zip"))
"""Known in a `for` only."""

NAMES = frozenset(VALUES) | frozenset(FUNCTIONS) | frozenset(allocate.SPACES) | LOOPS
"""Every dotted name the simulator knows, dtypes aside."""


THREE_PARTS = frozenset(path.rpartition(".")[0] for path in VALUES if path.endswith(".x"))
"""What has `.x`, `.y` and `.z`, and is no number itself: `cuda.threadIdx` and its kin."""


def nearest(path: str) -> str:
    """Returns a sentence that names what was perhaps meant, or "" when nothing is near.

    >>> nearest("cuda.thredIdx.x")
    'did you mean cuda.threadIdx.x?'
    """
    home, _, own = path.partition(".")
    names = {name.partition(".")[2]: name for name in NAMES if name.startswith(f"{home}.")}
    close = difflib.get_close_matches(own, names, n=1, cutoff=0.75)
    return f"did you mean {names[close[0]]}?" if close else ""
