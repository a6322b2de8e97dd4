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
    warps,
)
from gpu_course.simt.vocabulary.functions import Builtin, Function

VALUES: dict[str, Builtin] = indices.VALUES
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
}
BUILTINS = frozenset(scalar_functions.BUILTINS) | {
    "divmod", "enumerate", "pow", "print", "sum", "zip",
}  # fmt: skip

LOOPS = frozenset(("builtin.enumerate", "builtin.zip"))
"""Known in a `for` only."""

NAMES = frozenset(VALUES) | frozenset(FUNCTIONS) | frozenset(allocate.SPACES) | LOOPS
"""Every dotted name the simulator knows, dtypes aside."""


def nearest(path: str) -> str:
    """Returns a sentence that names what was perhaps meant, or "" when nothing is near.

    >>> nearest("cuda.thredIdx.x")
    'did you mean cuda.threadIdx.x?'
    """
    close = difflib.get_close_matches(path, NAMES, n=1, cutoff=0.75)
    return f"did you mean {close[0]}?" if close else ""
