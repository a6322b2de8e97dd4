"""Runs at the start of each Python that a run on the simulator starts: its launches are told too.

`simt.foreign.journal` puts this folder first on PYTHONPATH. Nothing is loaded before a
program asks for Numba, and a `sitecustomize` of the user's own runs as it would have.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder

HERE = os.path.dirname(os.path.abspath(__file__))


class BeforeNumba:
    """Puts the simulator in place when Numba is first asked for, and has it looked for anew."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in ("numba", "numba_cuda_mlir"):
            return None
        sys.meta_path.remove(BeforeNumba)  # type: ignore[arg-type]
        try:
            from simt.foreign import child
        except ImportError:  # a Python in which the simulator is not installed
            return None
        child.join()
        from importlib.util import find_spec

        return find_spec(name)


def run_own() -> None:
    """Runs the `sitecustomize` that this one stands before, if there is one."""
    others = [each for each in sys.path if os.path.abspath(each or os.curdir) != HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None and hasattr(spec.loader, "get_code"):
        code = spec.loader.get_code("sitecustomize")
        if code is not None:
            exec(code, {"__name__": "sitecustomize", "__file__": spec.origin})


if os.environ.get("SIMT_JOURNAL"):
    sys.meta_path.insert(0, BeforeNumba)  # type: ignore[arg-type]
run_own()
