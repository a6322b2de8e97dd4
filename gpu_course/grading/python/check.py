"""One answer in Python becomes one Verdict: it runs in a child, and is judged here."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gpu_course.catalog import Case, Finding, Held, PythonPuzzle
from gpu_course.catalog.harness import Unusable
from gpu_course.errors import CourseError
from gpu_course.grading import compare, passing
from gpu_course.grading.diagnosis import Pattern
from gpu_course.grading.isolation import processes
from gpu_course.grading.isolation.processes import Ended, OutOfMemory, OutOfTime, TooManyThreads
from gpu_course.grading.labels import line
from gpu_course.grading.python import messages, replies
from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.cases import (
    LISTED_SEED,
    Tried,
    one_thread,
    own_diagnosis,
    prepare,
    what_is_shown,
)
from gpu_course.grading.python.child import MORE_CASES, Child
from gpu_course.grading.python.replies import Raised, Reply, Returned
from gpu_course.grading.verdict import Verdict


def verdict_on(
    puzzle: PythonPuzzle, answer: PythonAnswer, seed: int, *, warm: bool = True
) -> Verdict:
    """Returns the verdict on the text of an answer.

    Args:
        puzzle: the puzzle.
        answer: what was read of it.
        seed: draws the random case.
        warm: False to start Python anew where a forkserver could fork.

    Raises:
        AnswerProblem: the function is not there once the module has run.
        CourseError: the grader's own fault.
    """
    return _Checking(puzzle, answer, seed).verdict(warm)


class _Failure(Exception):
    """Ends a check with a verdict."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(verdict.message)


class _Checking:
    """The check of one answer, with what it has found out so far."""

    def __init__(self, puzzle: PythonPuzzle, answer: PythonAnswer, seed: int) -> None:
        self.puzzle = puzzle
        self.answer = answer
        self.seed = seed
        self.tried: Tried | None = None
        self.child: Child | None = None
        self.too_dear: tuple[Tried, Finding, dict[str, Any]] | None = None
        self.visible: tuple[Tried, dict[str, Any]] | None = None
        self.self_counted = False

    def verdict(self, warm: bool) -> Verdict:
        """Returns the verdict, with what the answer printed."""
        found = self._judged(warm)
        # Only now, with the process gone, is everything it printed there.
        text = self.child.printed() if self.child is not None else ""
        text, where = messages.without_stack(text, self.answer)
        first, *rest = found.message.splitlines()
        if found.reason not in ("crash", "deadline") or any("  where:" in each for each in rest):
            where = []
        return replace(
            found,
            message="\n".join([first, *where, *rest, *messages.printed(text)]),
            evidence={
                **found.evidence,
                "isolation": self._isolation,
                "self-check": self._self_check,
                "printed": text,
            },
        )

    def _judged(self, warm: bool) -> Verdict:
        puzzle = self.puzzle
        try:
            with processes.started("torch" if puzzle.torch else "numpy", warm=warm) as process:
                self.child = Child(process, puzzle, self.answer, self.seed)
                raised = self.child.load()
                if raised is not None:
                    self._stop_raised(None, raised)
                return self._cases()
        except _Failure as failure:
            return failure.verdict
        except Ended as ended:
            if not self._isolation:
                raise CourseError(f"the child ended before the answer ran ({ended})") from None
            return self._failed("crash", "crash", messages.ended(puzzle, self.tried, ended))
        except TooManyThreads as many:
            lines = messages.too_many_threads(puzzle, self.tried, many)
            return self._failed("crash", "crash", lines)
        except OutOfMemory:
            lines = messages.out_of_memory(puzzle, self.tried)
            return self._failed("crash", "memory", lines)
        except OutOfTime:
            if not self._isolation:
                raise CourseError("the child did not start in time", "check again") from None
            lines = messages.out_of_time(puzzle, self.tried)
            return self._failed("deadline", "deadline", lines, status="timeout")

    @property
    def _isolation(self) -> str:
        """How the answer is held; "" where none of it has run."""
        return self.child.isolation if self.child is not None else ""

    @property
    def _self_check(self) -> str:
        """What was counted in the answer's own process alone, where it could be changed."""
        memory = ["memory"] if self.self_counted else []
        return "; ".join(filter(None, [*memory, self.puzzle.self_check]))

    def _cases(self) -> Verdict:
        puzzle = self.puzzle
        listed = sorted(puzzle.cases, key=lambda case: not case.visible)
        for number, case in enumerate(listed):
            self._try(prepare(puzzle, case, LISTED_SEED), listed[number + 1 :])
        drawn = puzzle.random_case(np.random.default_rng(self.seed))
        self._try(prepare(puzzle, drawn, self.seed), [])
        if self.too_dear is not None:
            self.tried, finding, got = self.too_dear
            lines = messages.found(puzzle, self.tried, finding.key, finding.fact)
            shown = {"got": got, "shown": what_is_shown(puzzle, self.tried, got)}
            return self._failed("over-budget", finding.key, lines, evidence=shown)
        for held in puzzle.held:
            self._hold(held)
        cases = len(listed) + 1
        assert self.visible is not None
        lines = [f"right in all {cases} cases: {puzzle.points} of {puzzle.points} points"]
        lines += passing.python_lines(puzzle, *self.visible)
        lines += messages.self_counted() if self.self_counted else []
        evidence = {"case": self.visible[0].case, "got": self.visible[1]}
        return self._verdict("passed", None, None, lines, puzzle.points, evidence)

    def _try(self, tried: Tried, others: list[Case]) -> None:
        """Raises _Failure where a case fails."""
        assert self.child is not None
        self.tried = tried
        self._weigh(tried, self.child.run(tried), lambda got: self._compare(tried, got, others))

    def _hold(self, held: Held) -> None:
        """Raises _Failure where a large case does not fit into the memory it may take."""
        assert self.child is not None
        self.tried = tried = prepare(self.puzzle, held.case, LISTED_SEED)
        if not self.child.hold(held.bytes):
            self.self_counted = True
            return
        try:
            reply = self.child.run(tried, held=True)
        except (Ended, OutOfMemory):
            # Libraries that are refused memory do not always get to say so.
            reply = None
        if reply is None or (isinstance(reply, Raised) and reply.error["memory"]):
            lines = messages.not_held(self.puzzle, tried, held.bytes)
            self._stop("over-budget", "over-budget", lines)
            return
        self._weigh(tried, reply, lambda got: self._differs(tried, got, []))

    def _weigh(
        self, tried: Tried, reply: Reply, compare_with: Callable[[dict[str, Any]], None]
    ) -> None:
        """Raises _Failure where a reply is no right result.

        Everything the grader brings to this was worked out before, without the answer. So what
        goes wrong from here on goes wrong because of what the answer's process said, unless it
        goes wrong with the expected values in its place as well.
        """
        try:
            if not isinstance(reply, Returned):
                self._stop_without_result(tried, reply)
            elif reply.changed:
                lines = messages.input_changed(self.puzzle, tried, reply.changed)
                self._stop("input-changed", "input-changed", lines)
            else:
                with one_thread(self.puzzle):
                    compare_with(self._followed(tried, reply.got))
        except (_Failure, Ended, OutOfMemory, OutOfTime, TooManyThreads, CourseError):
            raise
        except Exception as error:
            if isinstance(reply, Returned) and self._fails_by_itself(tried, reply.got):
                raise
            shown = compare.show(reply.got) if isinstance(reply, Returned) else "no result"
            fact = f"the result is not of the form the puzzle asks for: {shown}"
            note = line("note", f"{type(error).__name__}: {str(error)[:160]}")
            lines = messages.found(self.puzzle, tried, "wrong-type", fact)
            self._stop("wrong-result", "wrong-type", [*lines, *note])

    def _fails_by_itself(self, tried: Tried, got: Mapping[str, Any]) -> bool:
        """True where even the expected values cannot be judged."""
        if self.puzzle.judge is None or not got or set(got) != set(tried.expected):
            return False
        try:
            own = copy.deepcopy(dict(tried.expected))
            self.puzzle.judge(copy.deepcopy(dict(tried.inputs)), tried.case, own)
        except Exception:
            return True
        return False

    def _stop_without_result(self, tried: Tried, reply: Reply) -> None:
        if isinstance(reply, Raised):
            self._stop_raised(tried, reply.error)
        elif isinstance(reply, replies.Rejected):
            lines = messages.found(
                self.puzzle, tried, reply.key, reply.text, self.answer, reply.frames
            )
            self._stop("wrong-result", reply.key, lines)
        elif isinstance(reply, replies.Unsendable):
            lines = messages.unsendable(self.puzzle, tried, reply.text)
            self._stop("wrong-result", "wrong-type", lines)
        elif isinstance(reply, replies.TooLarge):
            self._stop("crash", "memory", messages.too_large(self.puzzle, tried, reply.text))

    def _followed(self, tried: Tried, got: dict[str, Any]) -> dict[str, Any]:
        """Returns the outputs to compare: what came, or what following it leads to."""
        if self.puzzle.follow is None:
            return got
        try:
            return self.puzzle.follow(copy.deepcopy(dict(tried.inputs)), tried.case, got)
        except Unusable as error:
            lines = messages.found(self.puzzle, tried, error.key, str(error))
            self._stop("wrong-result", error.key, lines, error.shown)
            raise

    def _compare(self, tried: Tried, got: dict[str, Any], others: list[Case]) -> None:
        self._differs(tried, got, others)
        self._judge(tried, got)
        self.visible = self.visible or (tried, got)

    def _differs(self, tried: Tried, got: dict[str, Any], others: list[Case]) -> None:
        for name, expected in tried.expected.items():
            difference = compare.first_difference(
                got.get(name), expected, self.puzzle.tolerance, name
            )
            if difference is not None:
                self._wrong(tried, got, difference, others)

    def _wrong(
        self,
        tried: Tried,
        got: dict[str, Any],
        difference: compare.Difference,
        others: list[Case],
    ) -> None:
        pattern = self._pattern(tried, got, difference, others)
        lines = messages.wrong_result(self.puzzle, tried, difference, pattern)
        evidence = {
            "case": tried.case,
            "output": difference.place,
            "expected": difference.expected,
            "got": difference.got,
            "shown": what_is_shown(self.puzzle, tried, got),
        }
        if difference.right is not None:
            evidence["mask"] = ~difference.right
        self._stop("wrong-result", pattern.key, lines, evidence)

    def _pattern(
        self,
        tried: Tried,
        got: dict[str, Any],
        difference: compare.Difference,
        others: list[Case],
    ) -> Pattern:
        puzzle = self.puzzle
        key = own_diagnosis(puzzle, tried, got)
        if key is not None:
            return Pattern(key)
        pattern = compare.pattern(difference, puzzle.tolerance)
        if pattern.key in ("wrong", "off-by-one") and difference.right is None:
            factor = self._factor(got, tried, others)
            if factor is not None:
                fact = f"it is {factor:.6g} times what is expected, in each case"
                return Pattern("constant-factor", fact)
        return pattern

    def _factor(self, got: dict[str, Any], tried: Tried, others: list[Case]) -> float | None:
        """Returns the factor by which single numbers are wrong in this case and in others."""
        assert self.child is not None
        pairs = []
        for name, expected in tried.expected.items():
            pairs.append((got.get(name), expected))
        if len(pairs) != 1:
            return None
        (name,) = tried.expected
        for case in others[:MORE_CASES]:
            other = prepare(self.puzzle, case, LISTED_SEED)
            try:
                reply = self.child.run(other)
            except (Ended, OutOfMemory, OutOfTime, TooManyThreads):
                return None
            outputs = reply.got if isinstance(reply, Returned) else {}
            pairs.append((outputs.get(name), other.expected[name]))
        return compare.same_factor(pairs)

    def _judge(self, tried: Tried, got: dict[str, Any]) -> None:
        puzzle = self.puzzle
        if puzzle.judge is None:
            return
        finding = puzzle.judge(copy.deepcopy(dict(tried.inputs)), tried.case, copy.deepcopy(got))
        if finding is None:
            return
        if finding.reason == "over-budget":
            self.too_dear = self.too_dear or (tried, finding, got)
            return
        lines = messages.found(puzzle, tried, finding.key, finding.fact)
        self._stop(finding.reason, finding.key, lines)

    def _stop_raised(self, tried: Tried | None, error: Mapping[str, Any]) -> None:
        lines = messages.raised(self.puzzle, self.answer, tried, error)
        if error["memory"]:
            self._stop("crash", "memory", lines)
        self._stop("exception", "exception", lines)

    def _stop(
        self, reason: str, key: str, lines: list[str], evidence: dict[str, Any] | None = None
    ) -> None:
        raise _Failure(self._failed(reason, key, lines, evidence=evidence))

    def _failed(
        self,
        reason: str,
        key: str,
        lines: list[str],
        *,
        status: str = "failed",
        evidence: dict[str, Any] | None = None,
    ) -> Verdict:
        puzzle = self.puzzle
        again = []
        fixed = (*puzzle.cases, *(held.case for held in puzzle.held))
        if self.tried is not None and not any(self.tried.case is case for case in fixed):
            call = f'check("{puzzle.short_name}", seed={self.seed})'
            again = line("again", f"{call} draws the same case")
        return self._verdict(status, reason, key, [*lines, *again], 0, evidence)

    def _verdict(
        self,
        status: str,
        reason: str | None,
        diagnosis: str | None,
        lines: list[str],
        points: int,
        evidence: dict[str, Any] | None = None,
    ) -> Verdict:
        return Verdict(
            name=self.puzzle.name,
            status=status,
            reason=reason,
            points=points,
            max_points=self.puzzle.points,
            message="\n".join(lines),
            diagnosis=diagnosis,
            evidence=evidence or {},
        )
