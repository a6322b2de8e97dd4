"""Times the first launch of a process, and the second: run by simulator.py for each case and way.

The first reads the kernel, lowers it and, where it is compiled, loads LLVM and compiles.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.simulated.cases import CASES, KERNELS, Case
from simt.simulator import simulate

WAYS: dict[str, bool | None] = {"interpreted": False, "as it comes": None, "compiled": True}
"""What `simulate` is told by `compiled`."""


def timed(case: Case, simulation: Any, arguments: list[Any]) -> float:
    """Returns the milliseconds of the processor that a launch takes; exits where it goes wrong."""
    start = time.process_time()
    report = simulation()[case.launch](*arguments)
    seconds = time.process_time() - start
    mistake = str(report) if report.hazards else case.mistake(arguments)
    if mistake is not None:
        sys.exit(mistake)
    return seconds * 1e3


def main(name: str, way: str) -> None:
    """Prints the milliseconds of two launches."""
    case = CASES[name]
    given = [case.arguments(), case.arguments()]

    def simulation() -> Any:
        return simulate(f"{KERNELS}:{case.kernel}", compiled=WAYS[way])

    print(json.dumps([timed(case, simulation, arguments) for arguments in given]))


if __name__ == "__main__":
    main(*sys.argv[1:])
