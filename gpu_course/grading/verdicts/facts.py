"""What a verdict holds: plain data. Exports and pictures read it, and know no more of a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from gpu_course.grading.verdicts.sections import WIDTH, Section, text_of
from simt.machine.observer import Observer
from simt.report import Counters, Hazard, Recording, Report

STATUSES = ("passed", "failed", "not-started", "error", "timeout")
REASONS = (
    None, "refused", "hazard", "wrong-result", "order-dependent", "input-changed", "over-budget",
    "missing-function", "exception", "crash", "deadline", "grader",
)  # fmt: skip


CARD_STATES = (
    "right", "wrong", "outside", "far-outside", "gave-up", "hang", "crash", "error", "refused",
    "not-run", "no-answer",
)  # fmt: skip


class Rerun(Protocol):
    """The launch behind a verdict, as a picture asks for it (`kernel.scene`)."""

    @property
    def launch(self) -> int:
        """Which launch of its case it is."""

    def run(self, watch: Callable[[int], tuple[Observer, ...]]) -> object:
        """Runs the case once more; `watch` gives who watches a launch, by its number."""

    def record(self, block: int = 0) -> Recording:
        """Returns the launch, kept statement by statement."""


@dataclass(frozen=True)
class CardVerdict:
    """What a real GPU left of the same answer.

    Attributes:
        state: one of CARD_STATES: "right" in every case; "wrong" results; "outside" or
            "far-outside" where memory was written that is no array's; "gave-up" where the GPU did;
            "hang", "crash" or "error" of the process; "refused" by Numba; "not-run" where there was
            nothing to run; "no-answer" of the card.
        said: what was found, in one line.
        device: the card's name, or "".
        seconds: of all launches of the visible case on the card's own clock, or None.
        agrees: whether it fits the simulator's verdict: False where they contradict each other, and
            None where nothing follows, such as for a race whose result is right this time.
    """

    state: str
    said: str
    device: str
    seconds: float | None = None
    agrees: bool | None = None


@dataclass(frozen=True)
class VerdictFacts:
    """The grader's word on one answer, as data.

    Attributes:
        name: the puzzle's full name.
        status: one of STATUSES; `reason`: one of REASONS.
        points, max_points: what was earned and what could be.
        sections: what is said to a person, the fact first; no seconds, no absolute paths.
        hazards: of the launch that failed, or advice of the ones that passed.
        counters: summed over the launches of the visible case, or None when nothing ran.
        seconds: wall time of the check.
        diagnosis: the key of the pattern that was recognised (see Puzzle.diagnoses), or None.
        report: for pictures, the Report of the launch at fault, or of the visible case where all
            is right; None where nothing ran.
        evidence: plain data for pictures: "case", "expected", "got" and "mask" arrays when a result
            was wrong, and "array", what the kernel calls it. When a kernel was over budget
            "counter", the budget's "words" and the "lines" that cost most; of a pass "picture", as
            in Debrief.
        scene: how a kernel's launch can be run again for a picture; None where it cannot.
        card: what a real GPU says beside it, where one was asked; it changes nothing above.
    """

    name: str
    status: str
    reason: str | None
    points: int
    max_points: int
    sections: tuple[Section, ...]
    hazards: tuple[Hazard, ...] = ()
    counters: Counters | None = None
    seconds: float = 0.0
    diagnosis: str | None = None
    report: Report | None = field(default=None, repr=False)
    evidence: dict[str, Any] = field(default_factory=dict, repr=False)
    scene: Rerun | None = field(default=None, repr=False)
    card: CardVerdict | None = None

    @property
    def message(self) -> str:
        """The sections as text of at most WIDTH columns."""
        return text_of(self.sections, WIDTH)

    @property
    def fact(self) -> str:
        """What is the matter, in one line."""
        return self.sections[0].lines[0]

    @property
    def passed(self) -> bool:
        """True when the answer passed every case."""
        return self.status == "passed"
