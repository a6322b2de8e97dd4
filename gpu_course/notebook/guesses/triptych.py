"""One kernel, four numbers: a guess, the simulator's count, the compiler's figure, a card's time.

The simulator counts what a launch does, the compiler says what it is made of, and only a card knows
how long it takes. Where nobody has timed it, "no record" stands there and no number.
"""

from __future__ import annotations

import contextlib
import html
from dataclasses import dataclass
from pathlib import Path

import gpu_course
from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.card.bench import FOLDER as BENCH
from gpu_course.grading.card.compiled import Seen, compile_answer, recorded
from gpu_course.grading.check import check
from gpu_course.grading.kernel import budgets
from gpu_course.grading.kernel.passing import counted_text
from gpu_course.grading.learner.verdict_cache import check_own
from gpu_course.grading.verdicts.messages import describe
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.hardware import records
from gpu_course.hardware.compiled.compiler import USUAL
from gpu_course.hardware.compiled.toolchain import NoCompiler, ToolFailed
from gpu_course.notebook.guesses.prediction import Prediction
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import Note
from gpu_course.puzzle import KernelPuzzle, index
from gpu_course.units import format_time_s

NO_RECORD = "no record"
FIGURES = ("registers", "instructions", "shared_bytes", "stack_bytes", "spill_bytes")
"""What may be asked of the compiler besides a kind of instruction."""
_HEADS = ("your guess", "the simulator", "the compiler", "a card")
"""What stands before each row."""


@dataclass(frozen=True)
class Triptych:
    """A guess and what three instruments say of one kernel; the last line of a cell shows it.

    Attributes:
        guess: as it was asked; its answer is read when this is shown.
        counted: what the simulator counted on the visible example.
        compiled: what the compiler makes of the kernel.
        simulator, compiler, card: the rows in words.
        about: whose kernel was counted, and whose was compiled, in lines.
    """

    guess: Prediction
    counted: int
    compiled: int
    simulator: str
    compiler: str
    card: str
    about: tuple[str, ...]

    shows_the_guess = True
    """A cell that waits for the guess makes this anew once it is given (`held_cell`)."""

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """Each row: what it is from, and what that says."""
        said = self.guess.said or "none"
        return tuple(zip(_HEADS, (said, self.simulator, self.compiler, self.card), strict=True))

    def __repr__(self) -> str:
        wide = max(map(len, _HEADS)) + 2
        rows = [f"{head:{wide}}{said}" for head, said in self.rows]
        return "\n".join([*rows, *self.about])

    def _repr_html_(self) -> str:
        cell = "text-align:left;padding:0.15em 1em 0.15em 0;vertical-align:top"
        rows = "".join(
            f'<tr><th scope="row" style="{cell};font-weight:600;white-space:nowrap">{head}</th>'
            f'<td style="{cell}">{html.escape(said)}</td></tr>'
            for head, said in self.rows
        )
        table = f'<table style="border-collapse:collapse;margin:0;font-size:inherit">{rows}</table>'
        lines = "<br>".join(map(html.escape, self.about))
        about = f'<div style="margin-top:0.3em">{lines}</div>'
        return Note("").framed(table + about, prose=True)


@asks_for_answers
def triptych(
    name: str, guess: Prediction, counter: str, figure: str, *, function: str = "", cc: str = USUAL
) -> Triptych:
    """Returns a guess beside what simulator, compiler and card say of a puzzle's kernel.

    It is the learner's own answer where that passes, and before that the course's solution. Where
    no compiler is installed, its row is from the record of the solution.

    Args:
        name: of a kernel puzzle.
        guess: what `predict` gave back.
        counter: what the simulator counted, such as "shuffles": a key of `passing.COUNTED`.
        figure: one of FIGURES, or a kind of instruction such as "LDS" or "LDS.128".
        function: one of the puzzle's kernels; default the first that is launched.
        cc: the compute capability to compile for.

    Raises:
        UnknownName: no puzzle is called that, or no such capability or kernel.
        CourseError: not a kernel puzzle, or there are no solutions beside the answers.

    Examples:
        In a lesson, after the puzzle::

            seen = triptych("warp_sum", guess, "shuffles", "SHFL")
            guess.compare(seen.compiled)
            seen
    """
    puzzle = index.find(name)
    if not isinstance(puzzle, KernelPuzzle):
        raise CourseError(f"{puzzle.name} asks for no kernel", "name a puzzle of a kernel lesson")
    verdict, own = _verdict(puzzle)
    compiled, mine = _compiled(puzzle.name, cc, own)
    seen = next((each for each in compiled if function in ("", each.function)), None)
    if seen is None:
        known = ", ".join(each.function for each in compiled)
        raise CourseError(f"{puzzle.name} has no kernel {function}", f"it has {known}")
    if verdict.counters is None:
        raise CourseError(f"{puzzle.name} was not run: {verdict.fact}", "check the puzzle first")
    number = budgets.counter(verdict.counters, counter)
    return Triptych(
        guess,
        number,
        _figure(seen, figure),
        counted_text(counter, number),
        _compiler_text(seen, figure),
        _card_text(puzzle.name),
        _about(puzzle, own, mine, seen),
    )


def _verdict(puzzle: KernelPuzzle) -> tuple[Verdict, bool]:
    """Returns the verdict on the learner's answer and True, or on the solution and False."""
    verdict = check_own(puzzle)
    if verdict.passed:
        return verdict, True
    solution = solutions_folder() / f"{puzzle.name}.py"
    if not solution.is_file():
        raise CourseError(
            f"{puzzle.short_name} does not pass yet, and its solution is not here",
            "run this in a checkout of the course",
        )
    return check(puzzle, answer=solution, seed=0), False


def solutions_folder() -> Path:
    """Returns solutions/ of the checkout this package lies in, wherever the answers are."""
    return Path(gpu_course.__path__[0]).parent / "solutions"


def _compiled(name: str, cc: str, own: bool) -> tuple[tuple[Seen, ...], bool]:
    """Returns what the learner's answer compiles to and True, or the record and False.

    What the compiler has against an answer is said by `gpu-course compile`.
    """
    if own:
        with contextlib.suppress(NoCompiler, ToolFailed, CourseError):
            return compile_answer(name, cc), True
    return recorded(name, cc), False


def _figure(seen: Seen, figure: str) -> int:
    if figure in FIGURES:
        return int(getattr(seen.figures, figure))
    mix = seen.figures.mix
    return sum(n for kind, n in mix.items() if kind == figure or kind.startswith(f"{figure}."))


def _compiler_text(seen: Seen, figure: str) -> str:
    parts = {
        "instructions": f"{seen.figures.instructions:,} instructions",
        "registers": f"{seen.figures.registers} registers",
    }
    if figure not in parts:
        words = f"bytes of {figure.removesuffix('_bytes')} memory" if figure in FIGURES else figure
        parts = {figure: f"{_figure(seen, figure):,} {words}", **parts}
    return ", ".join([parts.pop(figure), *parts.values()])


def _about(puzzle: KernelPuzzle, own: bool, mine: bool, seen: Seen) -> tuple[str, ...]:
    whose = {True: "your answer", False: "the course's solution"}
    record = "" if mine else ", on record"
    lines = (
        f"Counted: {whose[own]}, {describe(puzzle.cases[0])}.",
        f"Compiled: {whose[mine]}, for {seen.capability}{record}.",
    )
    return lines if own else ("Your answer does not pass yet.", *lines)


def _card_text(name: str) -> str:
    """Returns how long a card took: the learner's own timing first, then the course's."""
    own = records.timing(name, root=workspace.state_folder() / BENCH)
    found = own or records.timing(name)
    if found is None:
        return NO_RECORD
    whose = "yours" if own else "the solution"
    share = f"{found.share_of_copy:.0%} of a copy"
    return f"{format_time_s(found.seconds)} on {found.device}, {share} ({whose}, {found.date})"
