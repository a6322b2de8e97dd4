"""An answer's kernels on this machine's GPU, beside the simulator's verdict.

The kernels run in a process of their own (`hardware.apart`), on poisoned outputs, between guard
zones, beside a canary, each case twice; what is expected stays here, and here it is compared. The
simulator's verdict counts: it sees every access, and a card shows no more than what was left. Where
the two contradict each other, one of them is wrong about the same program, and that is a fault of
the course until it is explained.
"""

from __future__ import annotations

import atexit
import textwrap
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.answer_file import path_of
from gpu_course.grading.checking import cases_of
from gpu_course.grading.kernel.answers import is_path
from gpu_course.grading.kernel.trial import (
    ORDERS,
    Given,
    Trial,
    alike,
    is_right,
    poison,
    prepare,
    same_bits,
)
from gpu_course.grading.verdicts.facts import CardVerdict
from gpu_course.grading.verdicts.sections import INDENT, WIDTH, Section, section
from gpu_course.grading.verdicts.verdict import Verdict
from gpu_course.hardware import trial as hardware_trial
from gpu_course.hardware.apart import Apart, JobOutcome
from gpu_course.hardware.run import why_no_gpu
from gpu_course.puzzle import KernelPuzzle, Puzzle
from gpu_course.units import format_time_s

TARGET = hardware_trial.TARGET
READY_S = 60.0
"""Deadline of the card's own tests, before any answer runs."""
FIRST_S, CASE_S = 60.0, 20.0
"""Deadlines of an answer's first case, in which Numba compiles it, and of each further one."""
_RAN = ("hazard", "wrong-result", "order-dependent", "input-changed", "over-budget")
"""Why an answer failed in the simulator that can run on a card as well."""
_MAY_BE_LUCK = ("hazard", "order-dependent")


def answer_of(puzzle: Puzzle, answer: Any) -> Path:
    """Returns the file of an answer that is to run on a card.

    Raises:
        CourseError: the puzzle asks for no kernel, or the answer is no file.
    """
    if not isinstance(puzzle, KernelPuzzle):
        raise CourseError(f"{puzzle.name} asks for no kernel, so nothing of it runs on a GPU")
    if not is_path(answer):
        raise CourseError(
            "a GPU runs the answer in a file, and this one is a function",
            "write it to a file, and hand over its path",
        )
    found = workspace.answer_path(puzzle) if answer is None else path_of(puzzle, answer)
    return found.absolute()


def make_ready() -> str:
    """Returns the name of this machine's card, once a kernel that is right has run on it.

    Raises:
        CourseError: there is no GPU, or it does not compute; in one line.
    """
    reason = why_no_gpu()
    if reason:
        raise CourseError(f"there is no GPU to check on ({reason}); the simulator needs none")
    with _lock:
        return _card.make_ready()


def beside(verdict: Verdict, puzzle: KernelPuzzle, path: Path, seed: int) -> Verdict:
    """Returns the simulator's verdict on an answer with the card's beside it.

    Args:
        verdict: what the simulator says.
        puzzle: the puzzle.
        path: the answer's file.
        seed: of the case that is drawn, as for the simulator.

    Raises:
        CourseError: the card does not answer.
    """
    with _lock:
        device = _card.make_ready()
        why = _why_not(verdict)
        found = CardVerdict("not-run", why, device) if why else _try_all(puzzle, path, seed, device)
    found = replace(found, agrees=_agree(verdict, found))
    return replace(verdict, card=found, sections=(*verdict.sections, *_told(verdict, found)))


def unanswered(verdict: Verdict, error: Exception) -> Verdict:
    """Returns the simulator's verdict where the card gave none, and why."""
    said = error.fact if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
    found = CardVerdict("no-answer", said, "")
    return replace(verdict, card=found, sections=(*verdict.sections, *_told(verdict, found)))


def stop() -> None:
    """Ends the process that has the card; the next check starts another."""
    _card.end()


class _Card:
    """The process that has the card, kept from check to check while nothing went wrong in it."""

    def __init__(self) -> None:
        self._worker: Apart | None = None
        self._device = ""

    def run(self, job: Mapping[str, Any], deadline_s: float) -> JobOutcome:
        if self._worker is None:
            self._worker = Apart(TARGET)
        try:
            outcome = self._worker.run(dict(job), deadline_s)
        except BaseException:
            # Ctrl-C, or a notebook's interrupt: a kernel nobody waits for any more is ended.
            self.end()
            raise
        if outcome.state != "done" or outcome.value["state"] not in ("known", "right", "ran"):
            self.end()  # whatever it wrote at random may have hit the process too
        return outcome

    def make_ready(self) -> str:
        if self._worker is None or not self._device:
            device = self.run({"kind": "device"}, READY_S)
            known = self.run({"kind": "known"}, READY_S) if device.state == "done" else device
            if known.state != "done" or known.value["state"] != "right":
                self.end()
                said = known.said or known.value["said"]
                raise CourseError(f"the GPU does not answer: {said}")
            self._device = str(device.value["name"])
        return self._device

    def end(self) -> None:
        self._device = ""
        if self._worker is not None:
            worker, self._worker = self._worker, None
            worker.end()


_lock = threading.RLock()
_card = _Card()
atexit.register(stop)


def _why_not(verdict: Verdict) -> str:
    """Returns why an answer is not to run on a card, or ""."""
    if any(hazard.kind == "endless-loop" for hazard in verdict.hazards):
        return "it never comes to an end"
    if verdict.passed or verdict.reason in _RAN:
        return ""
    return "there is no kernel to run"


def _try_all(puzzle: KernelPuzzle, path: Path, seed: int, device: str) -> CardVerdict:
    seconds, number = None, 0
    for case, its_seed, _ in cases_of(puzzle, seed):
        given = prepare(puzzle, case, its_seed)
        outcome = _card.run(_job(given, path, timed=not number), CASE_S if number else FIRST_S)
        if outcome.state != "done":
            return CardVerdict(outcome.state, f"{outcome.said} ({case.name}){_well()}", device)
        found = outcome.value
        if found["state"] != "ran":
            more = _well() if found["state"] == "gave-up" else ""
            return CardVerdict(found["state"], f"{found['said']} ({case.name}){more}", device)
        seconds = seconds if number else found["seconds"]
        said = _what_is_wrong(puzzle, given, found["left"])
        if said:
            return CardVerdict("wrong", f"{said} ({case.name})", device, seconds)
        number += 1
    return CardVerdict("right", f"right in all {number} cases, each twice", device, seconds)


def _well() -> str:
    """Returns "" where the card still computes in a fresh process, else what is the matter."""
    try:
        _card.make_ready()
    except CourseError as error:
        return f"; and since then {error.fact}"
    return ""


def _job(given: Given, path: Path, *, timed: bool) -> dict[str, Any]:
    runs = [{**given.inputs, **_poisoned(given, order)} for order in range(len(ORDERS))]
    both = [name for name in given.outputs if name in given.inputs]
    return hardware_trial.launch_job(path, given.launches, runs, restored=both, timed=timed)


def _poisoned(given: Given, order: int) -> dict[str, np.ndarray]:
    return {n: poison(a, order) for n, a in given.outputs.items() if n not in given.inputs}


def _what_is_wrong(puzzle: KernelPuzzle, given: Given, left: list[dict[str, Any]]) -> str:
    """Returns what is wrong with what two runs left, the first thing, or ""."""
    trials = [_trial(given, arrays, order) for order, arrays in enumerate(left)]
    for tried in trials:
        for name in tried.changed:
            return f"the input {name} is changed"
        for name in given.expected:
            wrong = ~is_right(tried, name, puzzle)
            if wrong.any():
                return _first_wrong(tried, name, wrong)
    for name in puzzle.same_bits:
        if not alike(trials[0].got[name], trials[1].got[name]).all():
            return f"{name} has other bits the second time"
    return ""


def _trial(given: Given, arrays: Mapping[str, Any], order: int) -> Trial:
    """What a run left, as the simulator's trials are looked at."""
    left = {name: hardware_trial.decoded(value) for name, value in arrays.items()}
    poisoned = _poisoned(given, order)
    begun = {n: poisoned[n] if n in poisoned else given.inputs[n] for n in given.outputs}
    # An output that no launch names stays as it was given.
    got = {name: left.get(name, array) for name, array in begun.items()}
    changed = {
        name: left[name]
        for name, before in given.inputs.items()
        if name in left and name not in given.outputs and not same_bits(before, left[name]).all()
    }
    kept = {name: same_bits(array, begun[name]) for name, array in got.items()}
    return Trial(given, got, kept, changed, (), {})


def _first_wrong(tried: Trial, name: str, wrong: np.ndarray) -> str:
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    cell = f"{name}[{', '.join(map(str, first))}]" if first else name
    count = f"; {int(wrong.sum())} of {wrong.size} cells are wrong" if wrong.size > 1 else ""
    expected = tried.given.expected[name][first]
    if name not in tried.given.inputs and tried.poisoned[name][first]:
        return f"{cell} was never written{count}"
    return f"{cell} is {tried.got[name][first]} and should be {expected}{count}"


def _agree(verdict: Verdict, found: CardVerdict) -> bool | None:
    """Returns whether two verdicts fit together; None where nothing follows from them."""
    if found.state == "not-run":
        return None
    right = found.state == "right"
    if verdict.passed or verdict.reason == "over-budget":
        return right
    if right and verdict.reason in _MAY_BE_LUCK:
        return None
    return not right


def _told(verdict: Verdict, found: CardVerdict) -> list[Section]:
    status = f"{verdict.status} ({verdict.reason})" if verdict.reason else verdict.status
    words = {
        "wrong": "wrong: ",
        "not-run": "not run: ",
        "no-answer": "no verdict: ",
        "refused": "not compiled: ",
    }
    rows = [("simulator", status), ("card", words.get(found.state, "") + found.said)]
    if found.seconds is not None:
        rows.append(("time", f"{format_time_s(found.seconds)} for the visible example"))
    rows.append(("device", found.device))
    said = section("both", *(line for name, text in rows for line in _row(name, text)))
    if found.agrees is False:
        said += section(
            "differ",
            "The two contradict each other. That is ours to explain, not yours: "
            "the simulator's verdict stands.",
        )
        said += section(
            "report",
            "these lines, your answer and what `gpu-course doctor` prints, to the people who "
            "maintain the course",
        )
    elif found.state == "right" and found.agrees is None:
        said += section(
            "also",
            "The card had luck: what the simulator found may give other numbers on the next card, "
            "or on the next run.",
        )
    return said


def _row(name: str, text: str) -> list[str]:
    """One row of the table of both verdicts; what is too long goes on below its beginning."""
    wide = 11
    first, *rest = textwrap.wrap(text, WIDTH - INDENT - wide) or [""]
    return [f"{name:<{wide}}{first}", *(" " * wide + each for each in rest)] if text else []
