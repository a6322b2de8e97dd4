"""The process an answer in Python runs in, as its check talks with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gpu_course.errors import CourseError
from gpu_course.grading.python import messages, replies
from gpu_course.grading.python.answers import PythonAnswer, not_defined
from gpu_course.grading.python.cases import Tried, hidden
from gpu_course.grading.python.replies import NoReply, Reply
from gpu_course.grading.seeds import LISTED_SEED, own_seed
from gpu_course.grading.verdicts.sections import Section
from gpu_course.isolation import lockdown
from gpu_course.isolation.processes import Ended, Process
from gpu_course.puzzle import PythonPuzzle

START_DEADLINE_S = 120.0
"""For Python, the libraries and the harness: no line of the answer runs in it."""

MORE_CASES = 3
"""So many further cases are tried to see whether a wrong number is off by one same factor."""


class Child:
    """One answer in a process of its own.

    Args:
        process: started, and told nothing yet.
        puzzle, answer: what is checked.
        seed: drew the random case.

    Attributes:
        isolation: the level and the layers that hold the answer; "" while none of it has run.
        self_counted: False; there is nothing that only its own process counts.
    """

    self_counted = False

    def __init__(
        self, process: Process, puzzle: PythonPuzzle, answer: PythonAnswer, seed: int
    ) -> None:
        self.isolation = ""
        self._process = process
        self._puzzle = puzzle
        self._answer = answer
        self._seed = seed
        self._turn = 0

    def load(self) -> Mapping[str, Any] | None:
        """Runs the answer's module; returns the error it raised, or None.

        Raises:
            AnswerProblem: a function is not there once the module has run.
            CourseError: the harness is at fault.
            Ended, OutOfMemory, OutOfTime: there was no reply.
        """
        puzzle = self._puzzle
        setup = {
            "harness": puzzle.harness,
            "memory_bytes": puzzle.memory_bytes,
            "cpu_s": puzzle.seconds * (len(puzzle.cases) + MORE_CASES + 2),
            "hidden": hidden(),
        }
        reply = self._process.ask(setup, START_DEADLINE_S)
        if "failed" in reply:
            raise CourseError(f"the harness {puzzle.harness} cannot be used: {reply['failed']}")
        layers = tuple(reply["layers"])
        self.isolation = f"{lockdown.level(layers)} ({', '.join(layers)})"
        self._process.watch(puzzle.memory_bytes)
        reply = self._process.ask(
            {
                "answer": self._answer.text,
                "file": self._answer.file,
                "functions": puzzle.functions,
                "seconds": puzzle.seconds,
            },
            puzzle.seconds,
        )
        if set(reply) == {"raised"}:
            with _well_formed():
                return replies.raised(reply["raised"]).error
        missing = reply.get("missing")
        if set(reply) == {"missing"} and type(missing) is str and missing in puzzle.functions:
            raise not_defined(puzzle, self._answer, missing)
        if set(reply) != {"loaded"} or reply["loaded"] is not True:
            raise Ended("garbled")
        return None

    def run(
        self, tried: Tried, *, held: bool = False, stand_ins: Mapping[str, str] | None = None
    ) -> Reply:
        """Returns the reply to one case.

        Args:
            tried: the case.
            held: True where the kernel counts the memory, so that the harness need not.
            stand_ins: for functions of the answer which other of its functions takes their place,
                from this case on.

        Raises:
            Ended, OutOfMemory, OutOfTime: there was none, or one to another case.
        """
        self._turn += 1
        puzzle = self._puzzle
        reply = self._process.ask(
            {
                "turn": self._turn,
                "inputs": dict(tried.inputs),
                "arguments": puzzle.parameters[puzzle.functions[0]],
                "seed": own_seed(self._seed if tried.case not in puzzle.cases else LISTED_SEED),
                "seconds": puzzle.seconds,
                "held": held,
                "stand_ins": dict(stand_ins or {}),
            },
            puzzle.seconds,
        )
        with _well_formed():
            return replies.reply_to(self._turn, reply, tried.inputs)

    def hold(self, memory_bytes: int) -> bool:
        """Has the kernel keep the process within a limit from now on; False where none does."""
        return "limits" in self.isolation and self._process.hold(memory_bytes)

    def said(self) -> tuple[str, list[Section]]:
        """Returns what the answer printed, and the line it was in at the end, where that is told.

        All of it is there once the process is gone.
        """
        return messages.without_stack(self._process.printed(), self._answer)


@contextmanager
def _well_formed() -> Iterator[None]:
    """What is no reply is told as nonsense from the answer's process."""
    try:
        yield
    except NoReply:
        raise Ended("garbled") from None
