"""One answer in Python becomes one Verdict: it runs in a child, and is judged here."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.grading.checking import Checking, Failed
from gpu_course.grading.diagnoses import compare
from gpu_course.grading.diagnoses.patterns import Pattern
from gpu_course.grading.python import messages, recognition, replies
from gpu_course.grading.python.answers import PythonAnswer
from gpu_course.grading.python.cases import (
    Tried,
    one_thread,
    own_diagnosis,
    prepare,
    what_is_shown,
)
from gpu_course.grading.python.child import MORE_CASES, Child
from gpu_course.grading.python.children import child_of
from gpu_course.grading.python.reading import (
    function_named,
    left_as_set,
    looks_at_nothing,
    returns_nothing,
)
from gpu_course.grading.python.replies import Raised, Reply, Returned
from gpu_course.grading.python.trouble import Trouble
from gpu_course.grading.seeds import LISTED_SEED
from gpu_course.grading.verdicts.sections import Section, fact, section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.isolation.processes import Ended, OutOfMemory, OutOfTime, TooManyThreads
from gpu_course.puzzle import Case, Held, Judgement, PythonPuzzle
from gpu_course.puzzle.harness import Unusable
from gpu_course.ranks.stuck import HAS_FINISHED

if TYPE_CHECKING:
    from gpu_course.grading.python.ranked import RankedChild


COUNTED = {"wire", "told", "bytes_sent", "booked_bytes", "messages", "tcp_bytes"}
"""What the grader adds to the outputs of an answer on ranks."""


Further = Sequence[tuple[Tried, Mapping[str, Any]]]
"""Cases, each with what an answer gave there, or nothing where it came to no result."""
OF_FORM = {"wrong-type", "wrong-shape", "wrong-dtype"}
UNKNOWN = {"wrong", "partly-wrong"}
"""Of a wrong result of which nothing else is known."""
"""What is seen of a result that is none of the form asked for, whatever was thought."""


LEFT = "left-as-set"
"""The key of an answer that returns a name as it set it at first."""


class Wrong(Exception):
    """Ends the run of an answer that gave a wrong result.

    Attributes:
        tried, got, difference: what was asked, what came, and where it is wrong.
        pattern: what is seen of it without knowing the puzzle's mistakes.
        after: further cases with what came there, where what came here tells little.
    """

    def __init__(
        self,
        tried: Tried,
        got: dict[str, Any],
        difference: compare.Difference,
        pattern: Pattern,
        after: Further = (),
    ) -> None:
        self.tried, self.got = tried, got
        self.difference, self.pattern = difference, pattern
        self.after = after
        super().__init__(difference.fact)


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
    return PythonChecking(puzzle, answer, seed, warm=warm).verdict()


class PythonChecking(Checking):
    """The check of an answer in Python, which runs in a child; see `verdict_on`."""

    puzzle: PythonPuzzle

    def __init__(
        self, puzzle: PythonPuzzle, answer: PythonAnswer, seed: int, *, warm: bool = True
    ) -> None:
        super().__init__(puzzle, seed)
        self.answer = answer
        self.warm = warm
        self.tried: Tried | None = None
        self.child: Child | RankedChild | None = None
        self.too_dear: tuple[Tried, Judgement, dict[str, Any]] | None = None
        self.visible: tuple[Tried, dict[str, Any]] | None = None
        self.right: list[Tried] = []
        self.self_counted = False

    def verdict(self) -> Verdict:
        """Returns the verdict, with what the answer printed."""
        found = self._judged()
        # Only now, with the process gone, is everything it printed there.
        text, where = self.child.said() if self.child is not None else ("", [])
        first, *rest = found.sections
        text = messages.without_refusals(text, " ".join(first.lines))
        known = any(each.label == "where" for each in rest)
        if known or found.reason not in ("crash", "deadline"):
            where = []
        return replace(
            found,
            sections=(first, *where, *rest, *messages.printed(text)),
            evidence={
                **found.evidence,
                "isolation": self._isolation,
                "self-check": self._self_check,
                "printed": text,
            },
        )

    def _judged(self) -> Verdict:
        puzzle = self.puzzle
        try:
            with child_of(puzzle, self.answer, self.seed, warm=self.warm) as self.child:
                raised = self.child.load()
                if raised is not None:
                    self._stop_raised(None, raised)
                return super().verdict()
        except Failed as failed:
            return failed.verdict
        except Wrong as wrong:
            # The answer's process is gone: the mistakes can have one.
            return self._wrong(wrong)
        except Ended as ended:
            if not self._isolation:
                raise CourseError(f"the child ended before the answer ran ({ended})") from None
            return self.failed("crash", "crash", messages.ended(puzzle, self.tried, ended))
        except Trouble as trouble:
            return self._in_trouble(trouble)
        except TooManyThreads as many:
            said = messages.too_many_threads(puzzle, self.tried, many)
            return self.failed("crash", "crash", said)
        except OutOfMemory:
            said = messages.out_of_memory(puzzle, self.tried)
            return self.failed("crash", "memory", said)
        except OutOfTime:
            if not self._isolation:
                raise CourseError("the child did not start in time", "check again") from None
            said = messages.out_of_time(puzzle, self.tried)
            return self.failed("deadline", "deadline", said, status="timeout")

    def _in_trouble(self, trouble: Trouble) -> Verdict:
        key = trouble.key
        if self.tried is not None:
            gone = tuple(each.rank for each in trouble.stand if each.text == HAS_FINISHED)
            seen = {"wire": trouble.calls, "failed": trouble.key, "finished": gone}
            key = own_diagnosis(self.puzzle, self.tried, seen) or trouble.closer or trouble.key
        said = messages.in_trouble(self.puzzle, self.answer, self.tried, trouble, key)
        return self.failed(trouble.reason, key, said, status=trouble.status)

    @property
    def _isolation(self) -> str:
        """How the answer is held; "" where none of it has run."""
        return self.child.isolation if self.child is not None else ""

    @property
    def _self_check(self) -> str:
        """What was counted in the answer's own process alone, where it could be changed."""
        counted = ["memory"] if self.self_counted else []
        if self.child is not None and self.child.self_counted:
            counted.append("what the ranks sent")
        return "; ".join(filter(None, [*counted, self.puzzle.self_check]))

    def try_case(self, case: Case, seed: int, others: Sequence[Case]) -> None:
        """Stops where a case fails."""
        assert self.child is not None
        self.tried = tried = prepare(self.puzzle, case, seed)
        self._weigh(tried, self.child.run(tried), lambda got: self._compare(tried, got, others))

    def look_at_costs(self) -> None:
        """Stops where a right answer costs too much, or takes more memory than it may."""
        if self.too_dear is not None:
            self.tried, finding, got = self.too_dear
            self.case = self.tried.case
            said = self._found(self.tried, finding)
            shown = {"got": got, "shown": what_is_shown(self.puzzle, self.tried, got)}
            self.stop("over-budget", finding.key, said, evidence=shown)
        for held in self.puzzle.held:
            self._hold(held)

    def passed(self) -> Verdict:
        """Returns the verdict on an answer that is right and costs no more than it may."""
        assert self.visible is not None
        tried, got = self.visible
        said = [*fact(self.all_right()), *messages.pass_sections(self.puzzle, tried, got)]
        said += messages.self_counted() if self.self_counted else []
        return self.made(
            said,
            status="passed",
            points=self.puzzle.points,
            evidence={"case": tried.case, "got": got},
        )

    def fixed_cases(self) -> Sequence[Case]:
        """Returns the cases that are the same in every check."""
        return (*self.puzzle.cases, *(held.case for held in self.puzzle.held))

    def _cases(self) -> Iterator[tuple[Case, int, Sequence[Case]]]:
        """Yields cases as ever; of an answer on ranks, those with equally many ranks together."""
        ranks, cases = self.puzzle.ranks, super()._cases()
        if ranks is None:
            yield from cases
            return
        found = list(cases)
        numbers = [ranks(case) for case, _, _ in found]
        first, last = numbers[0], numbers[-1]
        # Each number starts ranks anew, and the drawn case comes last.
        turn = sorted(set(numbers), key=lambda n: (n != first, n == last, numbers.index(n)))
        *listed, drawn = found
        yield from sorted(listed, key=lambda each: turn.index(ranks(each[0])))
        yield drawn

    def _hold(self, held: Held) -> None:
        """Stops where a large case does not fit into the memory it may take."""
        assert self.child is not None
        self.case = held.case
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
            said = messages.not_held(self.puzzle, tried, held.bytes)
            self.stop("over-budget", "over-budget", said)
        self._weigh(tried, reply, lambda got: self._differs(tried, got, []))

    def _weigh(
        self, tried: Tried, reply: Reply, compare_with: Callable[[dict[str, Any]], None]
    ) -> None:
        """Stops where a reply is no right result.

        Everything the grader brings to this was worked out before, without the answer. So what
        goes wrong from here on goes wrong because of what the answer's process said, unless it
        goes wrong with the expected values in its place as well.
        """
        try:
            if not isinstance(reply, Returned):
                self._stop_without_result(tried, reply)
            elif reply.changed:
                said = messages.input_changed(self.puzzle, tried, reply.changed)
                self.stop("input-changed", "input-changed", said)
            else:
                with one_thread(self.puzzle):
                    compare_with(self._followed(tried, reply.got))
        except (Failed, Wrong, Ended, OutOfMemory, OutOfTime, TooManyThreads, CourseError):
            raise
        except Exception as error:
            if isinstance(reply, Returned) and self._fails_by_itself(tried, reply.got):
                raise
            shown = "no result"
            if isinstance(reply, Returned):
                shown = compare.show(reply.got, rough=True)
            what = f"the result is not of the form the puzzle asks for: {shown}"
            note = section("note", f"{type(error).__name__}: {str(error)[:160]}")
            said = messages.judged(self.puzzle, tried, "wrong-type", what)
            self.stop("wrong-result", "wrong-type", [*said, *note])

    def _fails_by_itself(self, tried: Tried, got: Mapping[str, Any]) -> bool:
        """True where even the expected values cannot be judged."""
        # Beside the outputs of an answer on ranks stands what the grader counted itself.
        counted = COUNTED & set(got) if self.puzzle.ranks is not None else set()
        if self.puzzle.judge is None or not got or set(got) - counted != set(tried.expected):
            return False
        try:
            own = copy.deepcopy({name: got[name] for name in counted} | dict(tried.expected))
            self.puzzle.judge(copy.deepcopy(dict(tried.inputs)), tried.case, own)
        except Exception:
            return True
        return False

    def _stop_without_result(self, tried: Tried, reply: Reply) -> None:
        if isinstance(reply, Raised):
            self._stop_raised(tried, reply.error)
        elif isinstance(reply, replies.Rejected):
            key, seen = reply.key, self._left()
            if seen is not None:
                key = seen.key
            elif key == "wrong-type" and "returned None" in reply.text:
                key = "missing-output"
            what, frames = reply.text, reply.frames
            said = messages.judged(
                self.puzzle, tried, key, what, self.answer, frames, seen.fact if seen else ""
            )
            self.stop("wrong-result", key, said)
        elif isinstance(reply, replies.Unsendable):
            said = messages.unsendable(self.puzzle, tried, reply.text)
            self.stop("wrong-result", "wrong-type", said)
        elif isinstance(reply, replies.TooLarge):
            self.stop("crash", "memory", messages.too_large(self.puzzle, tried, reply.text))

    def _followed(self, tried: Tried, got: dict[str, Any]) -> dict[str, Any]:
        """Returns the outputs to compare: what came, or what following it leads to."""
        if self.puzzle.follow is None:
            return got
        try:
            return self.puzzle.follow(copy.deepcopy(dict(tried.inputs)), tried.case, got)
        except Unusable as error:
            key, seen = error.key, self._left()
            function = function_named(self.answer.text, self.puzzle.functions[0])
            if got.get("result", ...) is None and returns_nothing(function):
                key = "missing-output"
            elif seen is not None:
                key = seen.key
            said = messages.judged(
                self.puzzle, tried, key, str(error), seen=seen.fact if seen else ""
            )
            self.stop("wrong-result", key, said, evidence=error.shown or {})

    def _compare(self, tried: Tried, got: dict[str, Any], others: Sequence[Case]) -> None:
        self._differs(tried, got, others)
        self._judge(tried, got)
        self.visible = self.visible or (tried, got)
        self.right.append(tried)

    def _differs(self, tried: Tried, got: dict[str, Any], others: Sequence[Case]) -> None:
        for name, expected in tried.expected.items():
            difference = self._difference(name, got.get(name), expected)
            if difference is not None:
                pattern = self._general_pattern(tried, got, difference, others)
                little = recognition.tells_little(got.get(name))
                after = self._further(others) or () if little else ()
                raise Wrong(tried, got, difference, pattern, after)

    def _difference(self, name: str, got: Any, expected: Any) -> compare.Difference | None:
        """Returns the first difference of an output; of one on ranks, that of the first rank."""
        tolerance = self.puzzle.tolerance
        if self.puzzle.ranks is None:
            return compare.first_difference(got, expected, tolerance, name)
        each = got if isinstance(got, tuple) else (None,) * len(expected)
        for rank, (own, right) in enumerate(zip(each, expected, strict=True)):
            found = compare.first_difference(own, right, tolerance, name)
            if found is not None:
                return replace(found, fact=f"rank {rank}: {found.fact}")
        return None

    def _right_elsewhere(self, wrong: Wrong) -> str:
        """Returns on which ranks the output that is wrong on one is right; "" where on none."""
        expected = wrong.tried.expected
        if self.puzzle.ranks is None:
            return ""
        name = max((each for each in expected if wrong.difference.place.startswith(each)), key=len)
        pairs = enumerate(zip(wrong.got[name], expected[name], strict=True))
        right = [
            str(rank)
            for rank, (own, due) in pairs
            if _holds_something(due)
            and not compare.first_difference(own, due, self.puzzle.tolerance, name)
        ]
        ranks = "rank" if len(right) == 1 else "ranks"
        return f"{name} is right on {ranks} {' and '.join(right)}" if right else ""

    def _wrong(self, wrong: Wrong) -> Verdict:
        tried, got, difference = wrong.tried, wrong.got, wrong.difference
        behind = self._behind(wrong)
        key = self._recognised(wrong, behind.diagnosis)
        pattern = wrong.pattern if key in (None, wrong.pattern.key) else Pattern(key)
        if key == LEFT:
            pattern = self._left(difference.place) or pattern
        others = self._right_elsewhere(wrong) if pattern.key in UNKNOWN else ""
        said = messages.wrong_result(self.puzzle, tried, difference, pattern, others)
        evidence = {
            "case": tried.case,
            "output": difference.place,
            "expected": difference.expected,
            "got": difference.got,
            "shown": what_is_shown(self.puzzle, tried, got),
            "passed over": behind.passed_over,
        }
        if difference.right is not None:
            evidence["mask"] = ~difference.right
        return self.failed("wrong-result", pattern.key, said, evidence=evidence)

    def _behind(self, wrong: Wrong) -> recognition.Recognised:
        place, text = wrong.difference.place, self.answer.text
        of, after = (wrong.tried, place, wrong.got, self.right), wrong.after
        return recognition.recognised(self.puzzle, *of, after, self.seed, text, warm=self.warm)

    def _recognised(self, wrong: Wrong, key: str | None) -> str | None:
        """Returns the diagnosis of a wrong result that the puzzle knows; None where it knows none.

        What an answer gives that looks at nothing is no clue to what was thought.

        Args:
            wrong: what went wrong.
            key: the diagnosis of the mistake that gives the same, or None.
        """
        puzzle, tried, got, text = self.puzzle, wrong.tried, wrong.got, self.answer.text
        place = wrong.difference.place
        function = function_named(text, puzzle.functions[0])
        if key is None and wrong.pattern.key == "missing-output" and returns_nothing(function):
            return wrong.pattern.key
        if key is None and self._left(place) is not None:
            return LEFT
        plain = key is None and not puzzle.harness and wrong.pattern.key not in OF_FORM
        if plain and looks_at_nothing(function):
            return "same-every-time"
        if puzzle.ranks is None:
            other = key is None and compare.in_another_order(
                got.get("result"), tried.expected.get("result"), puzzle.tolerance
            )
            return "other-order" if other else key or own_diagnosis(puzzle, tried, got)
        if wrong.pattern.key == "missing-output" and not tried.is_to_be_refused:
            return key  # None of one rank shows no pattern of all.
        key = key or own_diagnosis(puzzle, tried, got)
        # Barriers that no line of the answer calls are the harness's.
        silent = not any(call.line or call.kind != "barrier" for call in got["wire"])
        alone = silent and puzzle.ranks(tried.case) > 1 and wrong.pattern.key not in OF_FORM
        return "nothing-sent" if key is None and alone else key

    def _left(self, place: str = "") -> Pattern | None:
        """Returns the pattern of an answer that returns a name as it set it at first; else None.

        Args:
            place: where the result was found wrong; "" where nobody can tell.
        """
        if len(self.puzzle.functions) > 1:
            return None
        at = re.match(r"result\[(\d+)\]", place)
        function = function_named(self.answer.text, self.puzzle.functions[0])
        names = left_as_set(function, int(at[1]) if at is not None else None)
        if not names:
            return None
        name, line = min(names.items(), key=lambda each: each[1])
        return Pattern(LEFT, f"`{name}` is returned as line {line} sets it")

    def _general_pattern(
        self,
        tried: Tried,
        got: dict[str, Any],
        difference: compare.Difference,
        others: Sequence[Case],
    ) -> Pattern:
        puzzle = self.puzzle
        pattern = compare.pattern(difference, puzzle.tolerance)
        if pattern.key in ("wrong", "off-by-one") and difference.right is None:
            factor = self._factor(got, tried, others)
            if factor is not None:
                fact = f"it is {factor:.6g} times what is expected, in each case"
                return Pattern("constant-factor", fact)
        return pattern

    def _factor(self, got: dict[str, Any], tried: Tried, others: Sequence[Case]) -> float | None:
        """Returns the factor by which single numbers are wrong in this case and in others."""
        if self.puzzle.ranks is not None or len(tried.expected) != 1:
            return None
        further = self._further(others)
        if further is None:
            return None
        (name,) = tried.expected
        pairs = [(got.get(name), tried.expected[name])]
        pairs += [(each.get(name), other.expected[name]) for other, each in further]
        return compare.same_factor(pairs)

    def _further(self, others: Sequence[Case]) -> Further | None:
        """Returns what the answer gives in further cases; None where its process ended there."""
        assert self.child is not None
        found: list[tuple[Tried, Mapping[str, Any]]] = []
        # On ranks nothing of a case that went wrong is used again.
        for case in others[:MORE_CASES] if self.puzzle.ranks is None else ():
            other = prepare(self.puzzle, case, LISTED_SEED)
            try:
                reply = self.child.run(other)
            except (Ended, OutOfMemory, OutOfTime, TooManyThreads):
                return None
            got = reply.got if isinstance(reply, Returned) else {}
            found.append((other, recognition.followed(self.puzzle, other, got)))
        return found

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
        self.stop(finding.reason, finding.key, self._found(tried, finding))

    def _found(self, tried: Tried, finding: Judgement) -> list[Section]:
        frames = [("<module>", finding.line)] if finding.line else []
        return messages.judged(self.puzzle, tried, finding.key, finding.fact, self.answer, frames)

    def _stop_raised(self, tried: Tried | None, error: Mapping[str, Any]) -> None:
        said = messages.raised(self.puzzle, self.answer, tried, error)
        if error["memory"]:
            self.stop("crash", "memory", said)
        self.stop("exception", "exception", said)


def _holds_something(value: Any) -> bool:
    """Whether there is anything in a value that could be wrong: no array in it without a number."""
    if isinstance(value, list | tuple):
        return any(map(_holds_something, value))
    return not isinstance(value, np.ndarray) or value.size > 0
