"""A course on GPUs for deep learning, and the GPU simulator it runs on.

`simulate` runs a Numba CUDA kernel on a simulated GPU, `check` checks one answer to a puzzle,
`grade` checks a folder of them. Each is imported when it is first asked for, so that
`import gpu_course` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_course.grading.check import check
    from gpu_course.grading.grade import grade
    from simt.simulator import simulate

__version__ = "0.1.0"
__all__ = ["__version__", "check", "grade", "simulate"]

_HOMES = {
    "simulate": "simt.simulator",
    "check": "gpu_course.grading.check",
    "grade": "gpu_course.grading.grade",
}


def __getattr__(name: str) -> Any:
    try:
        home = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
