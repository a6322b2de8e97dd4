"""`python -m gpu_course.simt SCRIPT [ARGS]`: runs a script for `numba.cuda` on the simulator."""

from __future__ import annotations

import sys


def main() -> int:
    """Returns the exit status of the script, or 1 when its kernels have errors."""
    # Here and not above: the launcher joins this room with the observers, which it may not know.
    from simt.foreign.script import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
