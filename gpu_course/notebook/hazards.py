"""What a launch did wrong, in lines that keep their shape in a narrow window."""

from __future__ import annotations

from gpu_course.grading.verdicts.sections import of_hazard, section
from gpu_course.notebook.note import Note, show
from simt.report import Report


def show_hazards(report: Report) -> None:
    """Shows the five lines of a launch's first hazard, and where each other one is."""
    show(hazard_note(report))


def hazard_note(report: Report) -> Note:
    """Returns the five lines of a launch's first hazard, and where each other one is."""
    if not report.hazards:
        return Note("The launch has no hazard.", "right")
    first, *others = report.hazards
    said = of_hazard(first)
    if others:
        places = dict.fromkeys(f"{hazard.kind} in line {hazard.line}" for hazard in others)
        said += section("also", f"{len(others):,} more: {', '.join(places)}")
    return Note.of(said, "plain" if report.ok else "trouble")
