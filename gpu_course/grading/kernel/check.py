"""One kernel's answer becomes one Verdict: its text is interpreted, case by case."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from gpu_course.grading.checking import Checking
from gpu_course.grading.diagnoses.patterns import Observation, Pattern, diagnose
from gpu_course.grading.kernel import budgets, messages, passing, sharing, trial
from gpu_course.grading.kernel.recognition import recognised
from gpu_course.grading.kernel.scene import scene_of
from gpu_course.grading.kernel.sharing import Unshared
from gpu_course.grading.kernel.trial import Trial
from gpu_course.grading.seeds import LISTED_SEED
from gpu_course.grading.verdicts.sections import Section, fact, heading, of_hazard
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.puzzle import Case, KernelPuzzle, Launch
from simt.kernel.source import Kernel
from simt.machine.launch import dim3


class KernelChecking(Checking):
    """The check of an answer's kernels."""

    puzzle: KernelPuzzle

    def __init__(self, puzzle: KernelPuzzle, kernels: Mapping[str, Kernel], seed: int) -> None:
        super().__init__(puzzle, seed)
        self.kernels = kernels
        self.visible: Trial | None = None
        self.right: list[Trial] = []

    def try_case(self, case: Case, seed: int, others: Sequence[Case]) -> None:
        """Stops where a case fails; it is kept where it is right in every order."""
        given = trial.prepare(self.puzzle, case, seed)
        first = trial.attempt(given, self.kernels, 0)
        self.visible = self.visible or first
        self._look_for_hazards(first)
        second = self._second(first)
        self._look_for_hazards(second)
        if first.changed:
            said = messages.input_changed(self.puzzle, first)
            name = next(iter(first.changed))
            same = trial.same_bits(given.inputs[name], first.changed[name])
            shown = self._marked(first, name, ~same)
            self._stop("input-changed", "input-changed", first, said, evidence=shown)
        self._compare(first, second, "blocks")
        fine = partial(self._like, first)
        together = self.puzzle.together
        for further in trial.more_orders(given, self.kernels, fine, together=together):
            self._look_for_hazards(further)
            self._compare(first, further, "warps")
            self._compare_bits(first, further)
        self._compare_bits(first, second)
        if self.puzzle.same_bits:
            for further in trial.orders_of_blocks(given, self.kernels):
                self._compare_bits(first, further)
            self._compare_outputs_bits(first)
        self.right.append(first)

    def _second(self, first: Trial) -> Trial:
        """Returns a case tried in the other order; counted only where there may be much to tell."""
        if self._is_right(first):
            second = trial.attempt(first.given, self.kernels, 1, counted=False)
            if self._like(first, second):
                return second
        return trial.attempt(first.given, self.kernels, 1)

    def _like(self, first: Trial, other: Trial) -> bool:
        """Whether there is nothing to tell of a trial beside the first: right, in the same bits."""
        bits = (trial.alike(first.got[n], other.got[n]) for n in self.puzzle.same_bits)
        return self._is_right(other) and all(same.all() for same in bits)

    def _is_right(self, tried: Trial) -> bool:
        faulty = any(hazard.severity == "error" for hazard in tried.hazards)
        names = tried.given.expected
        right = (trial.is_right(tried, name, self.puzzle).all() for name in names)
        return not faulty and all(right)

    def _look_for_hazards(self, tried: Trial) -> None:
        errors = [hazard for hazard in tried.hazards if hazard.severity == "error"]
        if not errors:
            return
        if errors[0].kind == "endless-loop":
            # One thread with the work of all is out of steps in a larger case: its loop does end.
            self._look_at_shares()
            if messages.may_end(errors[0]):
                self._look_at_what_was_begun(tried)
        said = messages.hazards(self.puzzle, tried, errors)
        number = next(n for n, each in enumerate(tried.reports) if errors[0] in each.hazards)
        self._stop(
            "hazard", messages.hazard_key(self.puzzle, tried, errors[0]), tried, said, number
        )

    def _compare(self, first: Trial, second: Trial, ordered: str) -> None:
        """Stops where an output is wrong in one of two orders of `ordered`."""
        for name in first.given.expected:
            self._compare_output(name, first, second, ordered)

    def _compare_bits(self, first: Trial, second: Trial) -> None:
        """Stops where an output that is to hold the same bits in every order does not."""
        for name in self.puzzle.same_bits:
            same = trial.alike(first.got[name], second.got[name])
            if not same.all():
                said = messages.order_dependent(self.puzzle, first, second, name, same, "blocks")
                self._stop("order-dependent", "order-dependent", second, said)

    def _compare_outputs_bits(self, tried: Trial) -> None:
        """Stops where two outputs that are to hold the same bits do not."""
        for one, other in pairwise(self.puzzle.same_bits):
            if not trial.alike(tried.got[one], tried.got[other]).all():
                said = messages.other_bits(self.puzzle, tried, one, other)
                number = tried.given.launches.index(messages.launch_of(tried.given, other))
                self._stop("wrong-result", "other-bits", tried, said, number)

    def _compare_output(self, name: str, first: Trial, second: Trial, ordered: str) -> None:
        rights = [trial.is_right(t, name, self.puzzle) for t in (first, second)]
        if rights[0].all() and rights[1].all():
            return
        written = trial.written_cells(name, first, second)
        if name in first.given.inputs:  # changed in place: a cell may rightly stay as it was
            written = written | rights[0] | rights[1]
        if rights[0].all() != rights[1].all() and written.all():
            tried, right = (second, rights[1]) if rights[0].all() else (first, rights[0])
            good = first if tried is second else second
            said = messages.order_dependent(self.puzzle, good, tried, name, right, ordered)
            shown = self._marked(tried, name, ~right)
            self._stop("order-dependent", "order-dependent", tried, said, evidence=shown)
        # A cell nobody wrote is wrong in both orders, whatever its poison happens to be.
        tried, right = (second, rights[1]) if rights[0].all() else (first, rights[0])
        right = right & written
        pattern = self._pattern(tried, name, right, written, order=int(tried is second))
        said = messages.wrong_result(self.puzzle, tried, name, right, written, pattern)
        evidence = {
            "case": tried.given.case,
            "array": tried.own_names(messages.launch_of(tried.given, name), name)[0],
            "expected": tried.given.expected[name],
            "got": tried.got[name],
            "mask": ~right,
            "written": written,
        }
        number = tried.given.launches.index(messages.launch_of(tried.given, name))
        self._stop("wrong-result", pattern.key, tried, said, number, evidence=evidence)

    def _marked(self, tried: Trial, name: str, mask: np.ndarray) -> dict[str, Any]:
        """Returns the cells of an array that a picture marks, as evidence."""
        own = tried.own_names(messages.launch_of(tried.given, name), name)
        return {"array": own[0] if own else name, "mask": mask}

    def _pattern(
        self, tried: Trial, name: str, right: np.ndarray, written: np.ndarray, *, order: int
    ) -> Pattern:
        before = [each.given for each in self.right]
        key = recognised(self.puzzle, tried, name, order, before) or self._own_diagnosis(tried)
        general = self._general_pattern(tried, name, right, written)
        return general if key in (None, general.key) else Pattern(key)

    def _own_diagnosis(self, tried: Trial) -> str | None:
        """Returns the key under which the puzzle itself knows a wrong result, or None."""
        given = tried.given
        if self.puzzle.diagnose is None:
            return None
        copies = ({n: a.copy() for n, a in d.items()} for d in (given.expected, tried.got))
        with np.errstate(all="ignore"):
            key: str | None = self.puzzle.diagnose(dict(given.inputs), given.case, *copies)
        return key

    def _general_pattern(
        self, tried: Trial, name: str, right: np.ndarray, written: np.ndarray
    ) -> Pattern:
        given = tried.given
        launch = messages.launch_of(given, name)
        if name in given.inputs and not trial.was_stored_to(tried, name):
            # What is changed in place holds its old values there, and nobody has copied them.
            return self._rebound(tried, launch, name) or Pattern("unwritten")
        seen = Observation(
            expected=given.expected[name],
            got=tried.got[name],
            written=written,
            right=right,
            grid=dim3(launch.grid, "grid"),
            block=dim3(launch.block, "block"),
            inputs={
                tried.own_names(launch, n)[0]: given.inputs[n]
                for n in launch.args
                if n in given.inputs
            },
            tolerance=given.tolerances[name],
        )
        found = diagnose(seen) or Pattern("wrong")
        if found.key == "unwritten":
            return self._rebound(tried, launch, name) or found
        return found

    def _rebound(self, tried: Trial, launch: Launch, name: str) -> Pattern | None:
        """Returns the pattern of `out = ...` where `out[i] = ...` is meant, or None."""
        kernel = self.kernels[launch.function]
        for own in tried.own_names(launch, name):
            for node in ast.walk(kernel.tree):
                if (
                    isinstance(node, ast.Name)
                    and node.id == own
                    and isinstance(node.ctx, ast.Store)
                ):
                    return Pattern("rebound", f"line {node.lineno} is `{own} = ...`")
        return None

    def _look_at_shares(self) -> None:
        """Stops where a few threads wrote the right results for all."""
        for tried in self.right:
            for found in sharing.unshared_results(self.puzzle, tried):
                self._stop_unshared(tried, found)

    def _look_at_what_was_begun(self, tried: Trial) -> None:
        """Stops where a thread had written more than its share before its steps were used up."""
        for found in sharing.unshared_results(self.puzzle, tried):
            said = messages.not_shared(self.puzzle, tried, found, ended=False)
            self._stop("hazard", found.key, tried, said, found.number)

    def look_at_costs(self) -> None:
        self._look_at_shares()
        for tried in self.right:
            over = budgets.overrun(self.puzzle, tried)
            if over is not None:
                charge = budgets.charge(self.puzzle, tried, over, self.kernels, self.right)
                said = budgets.over_budget(self.puzzle, tried, over, charge)
                number = budgets.costliest_launch(tried, over)
                shown = {
                    "counter": over.budget.counter,
                    "words": over.budget.words or over.budget.counter,
                    "lines": charge.lines(self.kernels[tried.given.launches[number].function]),
                    "spare": bool(charge.spare),
                }
                self._stop("over-budget", "over-budget", tried, said, number, evidence=shown)
        for tried in self.right:
            for found in sharing.unshared_work(self.puzzle, tried):
                self._stop_unshared(tried, found)

        self._look_at_stalls()

    def _look_at_stalls(self) -> None:
        """Stops where blocks began to wait before they had done what others wait for."""
        for stalled in self.puzzle.stalled:
            given = trial.prepare(self.puzzle, stalled.case, LISTED_SEED)
            tried = trial.attempt(given, self.kernels, 0)
            if not any(hazard.kind == "endless-loop" for hazard in tried.hazards):
                continue
            left = stalled.left(dict(given.inputs), stalled.case)
            waiting = replace(tried, given=replace(given, expected=left))
            for name in left:
                right = trial.is_right(waiting, name, self.puzzle)
                if not right.all():
                    said = messages.stalled(self.puzzle, waiting, name, right, stalled.diagnosis)
                    shown = self._marked(waiting, name, ~right)
                    self._stop("wrong-result", stalled.diagnosis, waiting, said, evidence=shown)

    def fixed_cases(self) -> Sequence[Case]:
        return (*self.puzzle.cases, *(stalled.case for stalled in self.puzzle.stalled))

    def _stop_unshared(self, tried: Trial, found: Unshared) -> NoReturn:
        said = messages.not_shared(self.puzzle, tried, found)
        self._stop("over-budget", found.key, tried, said, found.number)

    def passed(self) -> Verdict:
        assert self.visible is not None
        said = [*fact(self.all_right()), *passing.pass_sections(self.puzzle, self.right)]
        advice = tuple(h for tried in self.right for h in tried.hazards)
        if advice:
            said += [*heading("advice, which costs no points:"), *of_hazard(advice[0])]
        return self.made(
            [*said, *self._printed(self.visible)],
            status="passed",
            points=self.puzzle.points,
            hazards=advice,
            counters=self.visible.counters,
            report=self.visible.reports[-1],
            evidence={"picture": self.puzzle.debrief.picture if self.puzzle.debrief else ""},
            scene=scene_of(self.puzzle, self.kernels, self.visible, -1),
        )

    def _stop(
        self,
        reason: str,
        diagnosis: str,
        tried: Trial,
        said: list[Section],
        launch: int = -1,
        **more: Any,
    ) -> NoReturn:
        """Ends the check at a case, with the report of the launch at fault."""
        assert self.visible is not None
        self.case = tried.given.case
        self.stop(
            reason,
            diagnosis,
            said,
            after=self._printed(tried),
            hazards=tried.hazards,
            counters=self.visible.counters,
            report=tried.reports[launch],
            scene=scene_of(self.puzzle, self.kernels, tried, launch),
            **more,
        )

    def _printed(self, tried: Trial) -> list[Section]:
        return messages.printed("".join(report.printed for report in tried.reports))
