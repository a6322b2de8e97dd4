"""What the grader says and the simulator counts, of every answer that is kept: for a comparison.

`python -m benchmarks.digest OUT` writes, for each solution and each named mistake, its verdict word
for word, and for each kernel a hash of every report: results, hazards, counters, touches, over all
cases. `python -m benchmarks.digest NEW --against OLD` says what differs. A change that only moves
things may change nothing here; it runs before such a change, and after it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from gpu_course.grading.check import check
from gpu_course.grading.kernel import trial
from gpu_course.grading.kernel.answers import mistake_answer, read_answer
from gpu_course.puzzle import KernelPuzzle, Mistake, Puzzle, index

SOLUTIONS = Path(__file__).parents[1] / "solutions"


def entries_of(name: str) -> dict[str, Any]:
    """Returns {"puzzle answer what": text or hash} of one puzzle."""
    puzzle = index.find(name)
    found: dict[str, Any] = {}
    for label, answer in _answers(puzzle):
        try:
            found[f"{name} {label} verdict"] = _verdict(puzzle, answer)
            if isinstance(puzzle, KernelPuzzle):
                found |= {
                    f"{name} {label} {case}": hashed for case, hashed in _reports(puzzle, answer)
                }
        except Exception as error:
            found[f"{name} {label}"] = f"{type(error).__name__}: {error}"
    return found


def _answers(puzzle: Puzzle) -> Iterator[tuple[str, Any]]:
    yield "solution", SOLUTIONS
    for mistake in puzzle.mistakes:
        yield _label(mistake), mistake_answer(puzzle, mistake, SOLUTIONS)


def _label(mistake: Mistake) -> str:
    return mistake.function


def _verdict(puzzle: Puzzle, answer: Any) -> str:
    verdict = check(puzzle, answer=answer, seed=0)
    counters = verdict.counters.as_dict() if verdict.counters is not None else None
    rows = [
        f"{verdict.status} {verdict.reason} {verdict.diagnosis} {verdict.points}",
        *(f"{h.kind} {h.severity} {h.line} {h.message}" for h in verdict.hazards),
        json.dumps(counters, sort_keys=True),
        _hash(_plain(dict(verdict.evidence))),
    ]
    return verdict.message + "\n" + "\n".join(rows)


def _reports(puzzle: KernelPuzzle, answer: Any) -> Iterator[tuple[str, str]]:
    try:
        kernels = read_answer(puzzle, answer).kernels
    except Exception as error:
        yield "read", str(error)
        return
    for number, case in enumerate(puzzle.cases):
        given = trial.prepare(puzzle, case, 0)
        for order in range(len(trial.ORDERS)):
            try:
                tried = trial.attempt(given, kernels, order)
            except Exception as error:
                yield f"case {number} order {order}", str(error)
                continue
            left = [
                {name: _plain(value) for name, value in tried.got.items()},
                [_plain(report) for report in tried.reports],
            ]
            yield f"case {number} order {order}", _hash(left)


def _plain(value: Any) -> Any:
    """Returns a value as `repr` tells it apart: arrays by their bytes, objects by their fields."""
    if isinstance(value, np.ndarray):
        held = np.ascontiguousarray(value)
        if held.dtype.hasobject:
            return repr(held.tolist())
        return str(held.dtype), held.shape, hashlib.sha256(held.tobytes()).hexdigest()
    if isinstance(value, dict):
        return [(str(key), _plain(each)) for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (int, float, str, bool, bytes, np.generic, type(None))):
        return repr(value)
    if hasattr(value, "__dataclass_fields__"):
        return [(name, _plain(getattr(value, name))) for name in value.__dataclass_fields__]
    # What a function is called says what it is; where it stands is free to change.
    return re.sub(r" at 0x[0-9a-f]+", "", getattr(value, "__name__", type(value).__name__))


def _hash(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]


def measured(only: list[str], jobs: int) -> dict[str, Any]:
    """Returns the entries of all puzzles, or of those named."""
    names = [puzzle.name for puzzle in index.puzzles() if not only or puzzle.short_name in only]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        found: dict[str, Any] = {}
        for entries in pool.map(entries_of, names):
            found |= entries
    return found


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Returns what differs between two digests, an entry each."""
    return [
        f"{name}\n--- before\n{old.get(name)}\n--- after\n{new.get(name)}"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]


def main(
    out: Annotated[Path, typer.Argument(help="where the digest is written")],
    against: Annotated[Path | None, typer.Option(help="an earlier one")] = None,
    only: Annotated[list[str] | None, typer.Option(help="a puzzle's last part")] = None,
    jobs: Annotated[int, typer.Option(help="processes")] = os.cpu_count() or 1,
) -> None:
    """Writes a digest, and says what differs from an earlier one."""
    found = measured(only or [], jobs)
    out.write_text(json.dumps(found, indent=0, sort_keys=True), encoding="utf-8")
    print(f"{len(found):,} entries, {_hash(sorted(found.items()))}")
    if against is not None:
        old = json.loads(against.read_text(encoding="utf-8"))
        asked = {name.split()[0] for name in found}
        old = {name: text for name, text in old.items() if not only or name.split()[0] in asked}
        changed = differences(old, found)
        print("\n\n".join(changed) or "nothing differs")
        sys.exit(1 if changed else 0)


if __name__ == "__main__":
    typer.run(main)
