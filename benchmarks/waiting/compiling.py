"""How long `gpu-course compile` takes, in a process of its own each time: part of `make bench`.

Start is what any command of the course takes: Python, the imports, and reading what puzzles there
are. Cold is a kernel that was never compiled; kept is the same one again, in another process. Both
come on top of start. Seconds on the clock depend on what else the machine does, so the seconds of
CPU, those of ptxas and nvdisasm among them, stand beside them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gpu_course.grading.workspace import ANSWERS_VARIABLE
from gpu_course.hardware.compiled.toolchain import NoCompiler, toolchain

SOLUTIONS = Path(__file__).parents[2] / "solutions"
KERNELS = ("zip_add", "block_sum", "matmul_register")
ROUNDS = 3
ONE = "--one"


def cpu_seconds() -> float:
    """Returns the seconds of CPU of this process and of those it has waited for."""
    return sum(os.times()[:4])


def measured(name: str) -> dict[str, list[float]]:
    """Returns seconds on the clock and of CPU, of the start and of the command after it."""
    begun = time.perf_counter()
    from gpu_course.grading.card import compiled, compiled_text
    from gpu_course.puzzle import index

    puzzle = index.find(name)
    started = time.perf_counter(), cpu_seconds()
    for seen in compiled.compile_answer(puzzle.name, path=SOLUTIONS / f"{puzzle.name}.py"):
        compiled_text.summary_text(seen), compiled_text.line_table(seen)
    return {
        "start": [started[0] - begun, started[1]],
        "compile": [time.perf_counter() - started[0], cpu_seconds() - started[1]],
    }


def apart(name: str, answers: Path) -> dict[str, list[float]]:
    """Returns the same from a new process, which keeps what it compiled beside `answers`."""
    done = subprocess.run(
        [sys.executable, __file__, ONE, name],
        env={**os.environ, ANSWERS_VARIABLE: str(answers)},
        capture_output=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def main() -> None:
    """Prints a table of medians."""
    try:
        tools = toolchain()
    except NoCompiler as error:
        print(error)
        return
    table = Table(title=f"gpu-course compile, {tools.named}: seconds on the clock (of CPU)")
    table.add_column("kernel")
    for head in ("start", "cold", "kept"):
        table.add_column(head, justify="right")
    for name in KERNELS:
        start, cold, kept = [], [], []
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                answers = Path(folder, "puzzles")
                answers.mkdir()
                first, second = apart(name, answers), apart(name, answers)
            start += [first["start"], second["start"]]
            cold.append(first["compile"])
            kept.append(second["compile"])
        cells = (
            "{:.2f} ({:.2f})".format(*map(statistics.median, zip(*each, strict=True)))
            for each in (start, cold, kept)
        )
        table.add_row(name, *cells)
    Console().print(table)


if __name__ == "__main__":
    if sys.argv[1:2] == [ONE]:
        print(json.dumps(measured(sys.argv[2])))
    else:
        main()
