"""Prints the most memory, in bytes, that a process needs for a map of 2^20 threads."""

from __future__ import annotations

import sys

import numpy as np
from cases import KERNELS, THREADS

from simt.simulator import simulate

LANES = 1 << 20


def peak_bytes() -> int:
    """Returns the most memory this process has held at once, in bytes."""
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    """Launches the map and prints the peak."""
    a = np.random.default_rng(0).standard_normal(LANES, np.float32)
    out = np.full(LANES, np.nan, np.float32)
    report = simulate(f"{KERNELS}:scale")[LANES // THREADS, THREADS](out, a)
    if report.hazards or not np.allclose(out, 2 * a + 1):
        sys.exit(f"the map went wrong: {report}")
    print(peak_bytes())


if __name__ == "__main__":
    main()
