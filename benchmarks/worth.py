"""Times launches against what `simt.compiled.worth` expects of them; its constants come from here.

    python benchmarks/worth.py

Each case is launched by the interpreter and compiled, and its kernel is compiled once. Times are
those of the processor, the least of three; of the compiler one, and none where it keeps the kernel
from a case above. What is expected of the interpreter may be twice too much without harm: a first
launch is compiled where it should take the interpreter twice as long.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from simt.compiled import filter as switch
from simt.compiled import run, worth
from simt.compiled.facts.analysis import NotCompiled
from simt.machine import launch
from simt.machine.faults import FaultLog
from simt.machine.observer import Setting
from simt.simulator import simulate

# As a script it finds only its own folder.
sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.simulated.cases import CASES, KERNELS, Case

ROUNDS = 3


def milliseconds(call: Callable[[], Any]) -> float:
    """Returns the CPU time of a call."""
    begun = time.process_time()
    call()
    return (time.process_time() - begun) * 1e3


def expected_and_taken(case: Case) -> list[tuple[float, float]]:
    """Returns milliseconds of a launch interpreted, compiled, and of its compiler, both ways."""
    settings: list[Setting] = []

    def look(setting: Setting) -> bool:
        settings.append(setting)
        return True

    kept = simulate(f"{KERNELS}:{case.kernel}", compiled=False)[case.launch]
    launch.run(
        kept.simulation.program,
        kept.grid,
        kept.block,
        case.arguments(),
        (),
        FaultLog(),
        step_budget=kept.simulation.step_budget,
        instead=look,
    )
    (setting,) = settings
    expected = switch.measured(setting)
    pairs = [(expected.interpreted_ms, least(kept, case))]
    try:
        kernel = run.kernel_of(setting.code, setting.block, frozenset())
    except NotCompiled:
        return pairs
    making = milliseconds(kernel.compiled)
    ready = simulate(f"{KERNELS}:{case.kernel}", compiled=True)[case.launch]
    pairs.append((expected.compiled_ms, least(ready, case)))
    return [*pairs, (worth.compiling_ms(kernel.text), making)]


def least(ready: Callable[..., Any], case: Case) -> float:
    """Returns the least CPU time of a launch, in milliseconds."""
    times = []
    for _ in range(ROUNDS):
        given = case.arguments()
        times.append(milliseconds(lambda given=given: ready(*given)))  # type: ignore[misc]
    return min(times)


def main() -> None:
    """Prints what is expected and measured, and the one over the other."""
    table = Table("launch", title="Milliseconds: expected / measured = ratio")
    for what in ("interpreted", "compiled", "compiling"):
        table.add_column(what, justify="right")
    for name, case in CASES.items():
        found = expected_and_taken(case)
        shown = [f"{one:.1f} / {other:.1f} = {one / other:.2f}" for one, other in found]
        table.add_row(name, *shown)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
