"""How near the planner comes to published runs: `python -m benchmarks.planner`.

One table, with the aim of each line beside it. Of two errors the first is the median's, the second
what nine in ten stay below. A line that misses its aim is not hidden.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from benchmarks.published import planner_memory, planner_time

PARTS: dict[str, Callable[[], list[tuple[str, str, str]]]] = {
    "memory": planner_memory.rows,
    "time": planner_time.rows,
}
"""Each part -> its lines: what, the figure, the aim."""


def main() -> int:
    """Prints the table."""
    table = Table("part", "what", "found", "aim", title="The planner against published runs")
    for part, rows in PARTS.items():
        for what, found, aim in rows():
            table.add_row(part, what, found, aim)
        table.add_section()
    console = Console(width=140)
    console.print(table)
    console.print("Where the time is far off:")
    for what, why in planner_time.MISSES.items():
        console.print(f"- {what}: {' '.join(why.split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
