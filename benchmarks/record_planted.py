"""Records the loops of lesson 09 anew: `python -m benchmarks.record_planted`.

Each runs under torch.profiler in a process of its own, and its trace is kept in the lesson's room.
"""

from __future__ import annotations

import gzip
import json
from importlib.metadata import version

from gpu_course.lessons.profiling.planted import LOOPS, RECORD, compact
from gpu_course.lessons.profiling.recording import profiled_loops


def main() -> None:
    """Writes the record."""
    traces = profiled_loops(LOOPS)
    kept = {
        "torch": version("torch"),
        "traces": [compact(loop, trace) for loop, trace in zip(LOOPS, traces, strict=True)],
    }
    # No file name and no time in it: the same traces are the same bytes.
    RECORD.write_bytes(gzip.compress(json.dumps(kept, separators=(",", ":")).encode(), mtime=0))
    size = RECORD.stat().st_size
    print(f"{len(traces)} traces, {sum(len(t.events) for t in traces):,} events, {size:,} bytes")


if __name__ == "__main__":
    main()
