"""What ncu counts of the solutions, beside the simulator: `-m benchmarks.nsight_solutions`."""

import sys

from benchmarks.card.nsight_solutions import main

if __name__ == "__main__":
    sys.exit(main())
