"""How long a schedule board takes to answer a hand: part of `make bench`.

An action is put elsewhere, asked about without being put, and put back: from what the browser sends
to the HTML that goes back. Times are of the processor; what the browser adds is not in them.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

from rich.console import Console
from rich.table import Table

from gpu_course.measure.pipelines import orders
from gpu_course.measure.pipelines.actions import Schedule
from gpu_course.notebook.interactive.pipeline_board import Board, board

MOST_S = 0.2
MOVES = 12
BOARDS: dict[str, Schedule] = {
    "1F1B, 4 ranks, 6 microbatches": orders.one_f_one_b(4, 6),
    "1F1B, 8 ranks, 24 microbatches": orders.one_f_one_b(8, 24),
    "interleaved, 8 ranks, 24 microbatches, 2 chunks": orders.interleaved(8, 24, 2),
    "ZB-H2, 8 ranks, 24 microbatches": orders.zb_h2(8, 24),
}


def main() -> int:
    """Prints the median and the worst answer of each board; 1 where one takes too long."""
    table = Table("board", "try", "put", "worst")
    slow = False
    for name, schedule in BOARDS.items():
        made = board(schedule)
        taken = {what: [_answer(made, what, k) for k in range(MOVES)] for what in ("try", "put")}
        worst = max(max(each) for each in taken.values())
        slow = slow or worst > MOST_S
        medians = [f"{1e3 * statistics.median(each):.0f} ms" for each in taken.values()]
        table.add_row(name, *medians, f"{1e3 * worst:.0f} ms")
    Console().print(table)
    return int(slow)


def _answer(made: Board, what: str, number: int) -> float:
    """Returns the seconds that a move of one place takes, there and, the next time, back."""
    step = 3 + number % 2
    asked = {"number": number, "do": what, "rank": 0, "step": step, "toRank": 0, "toStep": 7 - step}
    start = time.process_time()
    made.hand.value = json.dumps(asked)
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
