"""Turns the detectors' bare faults into Hazards: fact, where, who, why, and what to try."""

from __future__ import annotations

from simt.errors import HAZARD_ERRORS, place
from simt.kernel.source import Kernel
from simt.machine.faults import Fault, FaultLog
from simt.machine.lanes import place_of
from simt.observe.hazard_texts import WORDS, mark_contended
from simt.observe.places import Places
from simt.report import Dim3, Hazard

MAX_THREADS = 64


def explain(faults: FaultLog, kernel: Kernel, grid: Dim3, block: Dim3) -> tuple[Hazard, ...]:
    """Returns the faults of a launch as Hazards, errors first, then by line."""
    mark_contended(faults.found.values())
    found = [_hazard(fault, kernel, grid, block) for fault in faults.found.values()]
    return tuple(sorted(found, key=lambda h: (h.severity != "error", h.line, h.kind, h.message)))


def _hazard(fault: Fault, kernel: Kernel, grid: Dim3, block: Dim3) -> Hazard:
    kernel, places = fault.kernel or kernel, Places(grid, block)
    fact, why, advice = WORDS[fault.kind](fault, kernel, places)
    where = f"kernel {kernel.name}, {place(kernel.file, fault.line)}"
    if fault.caller:
        where += f", called from {fault.caller}"
    details = {
        **fault.facts,
        "where": where,
        "code": kernel.text(fault.line).strip(),
        "who": places.who(fault),
        "why": why,
        "try": advice,
        "count": fault.count,
    }
    if fault.cells.size:
        details["cells"] = tuple(fault.cells.tolist())
    return Hazard(
        kind=fault.kind,
        severity=fault.severity,
        message=f"{HAZARD_ERRORS[fault.kind].__name__}: {fact}",
        file=kernel.file,
        line=fault.line,
        threads=tuple(place_of(int(t), grid, block) for t in fault.threads[:MAX_THREADS]),
        details=details,
    )
