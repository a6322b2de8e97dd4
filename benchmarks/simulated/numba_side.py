"""Times one case in Numba's own CUDA simulator; run by simulator.py with NUMBA_ENABLE_CUDASIM=1."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import warnings


def main(name: str) -> None:
    """Prints a launch's median milliseconds of the processor, and what is wrong with its result."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM") != "1":
        sys.exit("numba_side.py times Numba's simulator: set NUMBA_ENABLE_CUDASIM=1")
    # Numba announces that its own CUDA target moves to another package; the simulator stays.
    warnings.simplefilter("ignore")
    # Numba reads the environment when it is imported.
    from benchmarks.simulated import kernels
    from benchmarks.simulated.cases import CASES

    case = CASES[name]
    seconds = []
    for _ in range(case.rounds):
        arguments = case.arguments()
        start = time.process_time()
        getattr(kernels, case.kernel)[case.launch](*arguments)
        seconds.append(time.process_time() - start)
    milliseconds = statistics.median(seconds) * 1e3
    print(json.dumps({"milliseconds": milliseconds, "mistake": case.mistake(arguments)}))


if __name__ == "__main__":
    main(sys.argv[1])
