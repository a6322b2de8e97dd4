"""Answers timed on this machine's GPU, at a size past its L2, beside a large copy and a library.

`bench` times a learner's own answers, and `run` does one job of it in a process of its own
(`hardware.apart`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.grading import workspace
from gpu_course.grading.card.large import CLOSE, furthest_off, large_case, least_bytes_of
from gpu_course.grading.card.library import CALLS, results, tensors, without_tf32
from gpu_course.grading.kernel.trial import Given, poison, prepare
from gpu_course.grading.learner.verdict_cache import check_own
from gpu_course.hardware import nvml, records
from gpu_course.hardware.apart import Apart, JobOutcome
from gpu_course.hardware.run import why_no_gpu
from gpu_course.hardware.timing import (
    Clock,
    bytes_past_l2,
    describe_device,
    time_natively,
)
from gpu_course.puzzle import KernelPuzzle, index

TARGET = "gpu_course.grading.card.bench:run"
"""What `hardware.apart` is given to run these jobs."""
ANSWER_S = 60.0
"""Deadline of one answer: its data, its reference and its runs."""
MATMUL_SIDE = 4096
"""Of the product of matrices that a card is known by: 137 GFLOP, and 200 MB."""
DEVICE = "cuda"
"""Where PyTorch keeps its tensors."""
FOLDER = "bench"


@dataclass(frozen=True)
class Timed:
    """What became of one answer.

    Attributes:
        puzzle: its full name.
        state: "timed"; "one-size" where its launch does not grow with the data; "not-passed";
            "wrong" where the result is, at the large size; or how its process failed.
        timing: how long it took, or None.
        said: why there is no timing, or "".
    """

    puzzle: str
    state: str
    timing: records.Timing | None
    said: str = ""


def bench(
    names: Sequence[str] = (), tell: Callable[[str], None] = lambda name: None
) -> tuple[Timed, ...]:
    """Returns how long the learner's answers take on this machine's GPU.

    Only an answer that passes is timed. What is found is kept in `bench/` of the state folder, as
    records are (`records.timing` with that folder as root).

    Args:
        names: the puzzles; default every kernel puzzle whose answer passes.
        tell: is told the name of each puzzle before its turn.

    Raises:
        UnknownName: no puzzle is called that.
        CourseError: there is no GPU, or it does not answer, or a puzzle named has no kernel.
    """
    reason = why_no_gpu()
    if reason:
        raise CourseError(
            f"there is no GPU to time on: {reason}",
            "`gpu-course doctor` says what this machine has; the checks need no GPU",
        )
    puzzles = [index.find(name) for name in names] or [*index.puzzles()]
    if others := [each for each in puzzles if names and not isinstance(each, KernelPuzzle)]:
        raise CourseError(
            f"{others[0].name} asks for no kernel, so there is nothing to time",
            "`gpu-course list` shows the puzzles; those of lessons on kernels can be timed",
        )
    found: list[Timed] = []
    items: dict[str, dict[str, Any]] = {}
    with Apart(TARGET) as worker:
        device = worker.run({"kind": "device"}, ANSWER_S)
        copy = worker.run({"kind": "copy"}, ANSWER_S)
        if device.state != "done" or copy.state != "done":
            raise CourseError(f"the GPU does not answer: {device.said or copy.said}")
        items["copy"] = copy.value
        items["matmul"] = _item(worker.run({"kind": "matmul"}, ANSWER_S))
        gpu = records.gpu_key(device.value["name"])
        for puzzle in puzzles:
            if not isinstance(puzzle, KernelPuzzle):
                continue
            if not check_own(puzzle).passed:
                if names:
                    said = "it does not pass yet: check it first"
                    found.append(Timed(puzzle.name, "not-passed", None, said))
                continue
            tell(puzzle.name)
            path = workspace.answer_path(puzzle)
            job = {"kind": "answer", "puzzle": puzzle.name, "path": str(path)}
            outcome = worker.run(job, ANSWER_S)
            items[puzzle.name] = _item(outcome)
            kept = records.Record(
                gpu=gpu,
                part="timings",
                # The clocks are those of a card that has just been at work.
                device={**device.value, **nvml.facts_of(device.value["name"])},
                versions=records.versions(),
                date=records.today(),
                items=items,
            )
            root = workspace.state_folder() / FOLDER
            records.write(kept, root)
            state, said = items[puzzle.name]["state"], items[puzzle.name].get("said", "")
            found.append(Timed(puzzle.name, state, records.timing(puzzle.name, gpu, root), said))
    return tuple(found)


def kept_timing(puzzle: str) -> records.Timing | None:
    """Returns what is on record of a puzzle: the learner's own answer, else the solution."""
    try:
        own = records.timing(puzzle, root=workspace.state_folder() / FOLDER)
    except CourseError:  # outside a checkout there are no answers
        own = None
    return own or records.timing(puzzle)


def _item(outcome: JobOutcome) -> dict[str, Any]:
    return outcome.value or {"state": outcome.state, "said": outcome.said}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Returns what a job found, with its "state".

    Args:
        job: {"kind": "device"}, {"kind": "copy"}, {"kind": "matmul"}, or {"kind": "answer",
            "puzzle": its full name, "path": the answer file}.
    """
    if job["kind"] == "device":
        return {"state": "known", **describe_device()}
    if job["kind"] == "copy":
        return time_copy(_clock())
    if job["kind"] == "matmul":
        return time_matmul(_clock)
    puzzle = index.find(job["puzzle"])
    assert isinstance(puzzle, KernelPuzzle)
    return time_answer(puzzle, Path(job["path"]), _least_bytes(), _clock)


def _library(puzzle: KernelPuzzle, given: Given, clock: Any) -> dict[str, Any]:
    """What the library takes; a call that fails says so, and the answer's own time is kept."""
    try:
        return time_library(puzzle, given, clock)
    except Exception as error:  # out of memory, or a call this version does not have
        words = " ".join(f"{type(error).__name__}: {error}".split())
        return {"state": "error", "said": words[:200]}


@lru_cache(1)
def _least_bytes() -> int:
    return bytes_past_l2(describe_device()["l2_bytes"])


@lru_cache(1)
def _clock() -> Clock:
    return Clock(_least_bytes() // 2)


def time_copy(clock: Clock) -> dict[str, Any]:
    """Returns how long a copy takes: "seconds" and "least_bytes", those read and those written."""
    sample = clock.sample(clock.copy)
    return {"state": "timed", **vars(sample), "least_bytes": 2 * clock.copy_bytes}


def time_matmul(clock: Callable[[], Any]) -> dict[str, Any]:
    """Returns how long PyTorch takes for a product of float32 matrices without TF32.

    Args:
        clock: () -> what times it; not called where PyTorch has no GPU.
    """
    torch, missing = torch_on_gpu()
    if torch is None:
        return {"state": "left-out", "said": missing}
    without_tf32(torch)
    a, b = (torch.randn(MATMUL_SIDE, MATMUL_SIDE, device=DEVICE) for _ in range(2))
    out = torch.empty_like(a)
    sample = clock().sample(lambda: torch.mm(a, b, out=out))
    return {
        "state": "timed",
        "call": f"torch.mm, {MATMUL_SIDE} x {MATMUL_SIDE}, float32 without TF32",
        **vars(sample),
        "flop": 2 * MATMUL_SIDE**3,
    }


def time_library(puzzle: KernelPuzzle, given: Given, clock: Any) -> dict[str, Any]:
    """Returns how long the library's call for the same work takes, or why it was not timed.

    Args:
        puzzle: the puzzle.
        given: the case, with what it is to give.
        clock: what times it.
    """
    call = CALLS.get(puzzle.short_name)
    if call is None:
        return {"state": "none", "said": "no library has a call for it"}
    torch, missing = torch_on_gpu()
    if torch is None:
        return {"state": "left-out", "call": call.words, "said": missing}
    without_tf32(torch)
    values = tensors(torch, given.inputs, DEVICE)
    outcome = results(call.run(torch, values))
    wanted = zip(outcome, given.expected.values(), strict=False)
    off = max(furthest_off(got, np.asarray(value)) for got, value in wanted)
    if off > CLOSE:
        return {
            "state": "differs",
            "call": call.words,
            "said": "the library computes another thing",
        }
    sample = clock.sample(lambda: call.run(torch, values))
    return {"state": "timed", "call": call.words, **vars(sample)}


def torch_on_gpu() -> tuple[Any, str]:
    """Returns PyTorch and "", or None and why it computes on no GPU here."""
    try:
        import torch
    except ModuleNotFoundError as error:
        return None, f"{error.name} is not installed"
    if not torch.cuda.is_available():
        return None, "this build of PyTorch uses no GPU"
    return torch, ""


def time_answer(puzzle: KernelPuzzle, path: Path, least_bytes: int, clock: Any) -> dict[str, Any]:
    """Returns how long an answer takes at a large size, and how far off its result was.

    Args:
        puzzle: the puzzle.
        path: the answer file.
        least_bytes: how large the case is to be.
        clock: () -> what times it; not called where nothing is to be timed.
    """
    case = large_case(puzzle, least_bytes)
    if case is None:
        return {"state": "one-size", "said": "its launch stays as it is, however large the data"}
    given = prepare(puzzle, case, seed=0)
    both = [name for name in given.outputs if name in given.inputs]
    poisoned = {n: poison(a, 0) for n, a in given.outputs.items() if n not in both}
    timer = clock()
    sample, left = time_natively(
        path, given.launches, {**given.inputs, **poisoned}, restored=both, clock=timer
    )
    off = max(
        (furthest_off(left[name], np.asarray(value)) for name, value in given.expected.items()),
        default=0.0,
    )
    return {
        "state": "timed" if off <= CLOSE else "wrong",
        "sizes": {name: int(size) for name, size in case.sizes.items()},
        "launches": len(given.launches),
        **vars(sample),
        "least_bytes": least_bytes_of(given),
        "furthest_off": off if math.isfinite(off) else None,
        "library": _library(puzzle, given, timer),
        **({} if off <= CLOSE else {"said": "the result is wrong at this size"}),
    }
