"""`python -m gpu_course.simt SCRIPT [ARGS]`: runs a script for `numba.cuda` on the simulator."""

from __future__ import annotations

import sys


def main() -> int:
    """Returns the exit status of the script, or 1 when its kernels have errors."""
    from simt.foreign.script import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
