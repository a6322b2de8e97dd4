"""Prints what a map of 2^22 threads needs of memory, as JSON: {"process": bytes, "launch": bytes}.

The first is the most that the process has held at once, with Python, NumPy, LLVM and the arrays;
the second is by how much the launch raised that.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.simulated.cases import KERNELS, THREADS
from benchmarks.simulated.first_launch import WAYS
from simt.simulator import simulate

LANES = 1 << 22
WARM = 1 << 8


def peak_bytes() -> int:
    """Returns the most memory this process has held at once, in bytes."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    try:
        # What getrusage says of a new process begins with what the one that started it had held.
        told = Path("/proc/self/status").read_text(encoding="utf-8")
        return int(told.partition("VmHWM:")[2].split()[0]) * 1024
    except OSError:
        pass
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main(way: str) -> None:
    """Launches the map and prints the peak; what is read and compiled once is there before."""
    ready = simulate(f"{KERNELS}:scale", compiled=WAYS[way])
    ready[WARM // THREADS, THREADS](np.empty(WARM, np.float32), np.zeros(WARM, np.float32))
    a = np.arange(LANES, dtype=np.float32)
    out = np.full(LANES, np.nan, np.float32)
    before = peak_bytes()
    report = ready[LANES // THREADS, THREADS](out, a)
    peak = peak_bytes()
    if report.hazards or not np.allclose(out, 2 * a + 1):
        sys.exit(f"the map went wrong: {report}")
    print(json.dumps({"process": peak, "launch": peak - before}))


if __name__ == "__main__":
    main(*sys.argv[1:])
