"""The GPU that runs on a laptop: `simulate(kernel)[grid, block](*args)` runs a Numba CUDA kernel.

A kernel goes through these rooms in order. `kernel`: its text becomes a syntax tree, is never
executed, what Numba would not compile is refused with the line, every variable gets the type that
Numba gives it, and all of that becomes a tree of small nodes, made once for a kernel and the types
of its arguments. `machine`: the grid is cut into batches of blocks, and each node is run for all
lanes at once, under a mask; each access is one event, handed to the observers. `vocabulary` is what
a kernel may say. `observe` turns the events into hazards and counters; no observer knows another.
`simulator` joins them, and `report` is what a launch leaves behind. `stepping` and `interleaving`
look at one launch more closely; `foreign` runs any script that says `from numba import cuda`.

`tiny` has the whole idea in one file: begin there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simt.report import Counters, Hazard, Report
    from simt.simulator import simulate

__version__ = "0.1.0"
__all__ = ["Counters", "Hazard", "Report", "__version__", "simulate"]

_HOMES = {
    "simulate": "simt.simulator",
    "Report": "simt.report",
    "Hazard": "simt.report",
    "Counters": "simt.report",
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
