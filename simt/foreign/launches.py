"""The launches of a script or a test: each goes to the simulator, and its hazards are kept."""

from __future__ import annotations

import os
import sys
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from simt.foreign.dispatcher import Dispatcher
from simt.foreign.journal import Entry, Journal
from simt.foreign.more_orders import hazards_in_more_orders
from simt.foreign.rules import Rules, Suppression
from simt.kernel import source
from simt.machine.lent import lent_arguments
from simt.report import Counters, Hazard
from simt.simulator import Simulation, simulate

# Twenty times what a puzzle may take: a script was not written for the simulator, and whoever
# runs it can stop it.
STEP_BUDGET = 20_000_000


@dataclass
class Finding:
    """Hazards of one cause: a kind, between the same lines of one kernel.

    Attributes:
        hazard: as it was first seen.
        kernel: in which it was.
        severity: "error" or "advice", as the rules have it.
        arrays: on which it was seen.
        launches: in how many launches it was.
        suppressed: what lets it pass; None for all others.
    """

    hazard: Hazard
    kernel: str
    severity: str
    arrays: dict[str, None] = field(default_factory=dict)
    launches: int = 0
    suppressed: Suppression | None = None

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines it is between, in order."""
        return lines_of(self.hazard)


def lines_of(hazard: Hazard) -> tuple[int, ...]:
    """Returns the lines a hazard is between, in order."""
    other = hazard.details.get("other_line")
    return tuple(sorted({hazard.line, *([other] if isinstance(other, int) else [])}))


class Launches:
    """Every launch of a run, and the hazards found in them.

    Args:
        rules: of the project whose kernels they are.
        counters: whether to count what launches cost, which takes longer.
        orders: in how many orders of its threads each launch runs, where the order may matter.
        journal: where other processes than the one that tells write their launches.
        teller: the process that tells; default this one. None where it is no child of its own.
    """

    def __init__(
        self,
        rules: Rules | None = None,
        *,
        counters: bool = False,
        orders: int = 1,
        journal: Journal | None = None,
        teller: int | None = 0,
    ) -> None:
        self.rules = rules or Rules()
        self.orders = orders
        self.journal = journal
        self._teller = os.getpid() if teller == 0 else teller
        self._process = os.getpid()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.counters: dict[tuple[str, str], Counters] | None = {} if counters else None
        self._findings: dict[tuple[Any, ...], Finding] = {}
        self._simulations: dict[Dispatcher, Simulation] = {}
        self._one_at_a_time = threading.RLock()

    def launch(
        self,
        kernel: Dispatcher,
        grid: Any,
        block: Any,
        shared_bytes: int,
        arguments: tuple[Any, ...],
    ) -> None:
        """Runs a kernel, prints what it prints and keeps the hazards it shows."""
        if self._process != os.getpid():
            # A fork: whoever held the lock is not here to give it back.
            self._process, self._one_at_a_time = os.getpid(), threading.RLock()
        with self._one_at_a_time:
            # Globals are frozen at a kernel's first launch, as in Numba.
            if kernel not in self._simulations:
                self._simulations[kernel] = simulate(
                    source.from_function(kernel),
                    policy="foreign",
                    step_budget=STEP_BUDGET,
                    counters=self.counters is not None,
                )
            simulation, configuration = self._simulations[kernel], (grid, block, 0, shared_bytes)
            arguments = lent_arguments(simulation.kernel.parameters, arguments)
            more = hazards_in_more_orders(simulation, configuration, arguments, self.orders - 1)
            report = simulation[configuration](*arguments)
            if report.printed:
                sys.stdout.write(report.printed)
            entry = Entry.of(report, more)
            if self.journal is not None and self._teller != os.getpid():
                self.journal.write(entry)
            self._keep(entry)

    def forget(self) -> None:
        """Forgets what was found and counted; kernels stay as they are."""
        self.counts.clear()
        self._findings.clear()

    def gather(self) -> None:
        """Takes in what other processes have written into the journal."""
        if self.journal is not None:
            for entry in self.journal.entries():
                self._keep(entry)

    @property
    def unseen(self) -> list[int]:
        """The processes whose launches from now on nobody will see: they have not ended."""
        return [] if self.journal is None else self.journal.still_running()

    def _keep(self, report: Entry) -> None:
        name = report.file, report.kernel
        self.counts[name] += 1
        if self.counters is not None:
            self.counters[name] = self.counters.get(name, Counters()) + report.counters
        seen = set()
        for hazard in report.hazards:
            severity = self.rules.severity_of(hazard)
            if severity == "off":
                continue
            suppressed = self.rules.suppression(hazard, report.kernel)
            key = (*name, hazard.kind, severity, lines_of(hazard), suppressed is not None)
            finding = self._findings.setdefault(
                key, Finding(hazard, report.kernel, severity, suppressed=suppressed)
            )
            if array := hazard.details.get("array"):
                finding.arrays[array] = None
            finding.launches += key not in seen
            seen.add(key)

    @property
    def findings(self) -> list[Finding]:
        """What counts, errors first, each in the order in which it was seen."""
        told = [each for each in self._findings.values() if each.suppressed is None]
        return sorted(told, key=lambda each: each.severity != "error")

    @property
    def suppressed(self) -> list[Finding]:
        """What the rules let pass."""
        return [each for each in self._findings.values() if each.suppressed is not None]

    @property
    def ok(self) -> bool:
        """True when no launch showed an error."""
        return not any(each.severity == "error" for each in self.findings)
