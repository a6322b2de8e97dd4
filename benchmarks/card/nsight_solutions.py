"""The sectors of the course's solutions on a real GPU, beside the simulator's.

    python -m benchmarks.nsight_solutions [NAME ...] [--csv FILE]

Each solution's visible example runs under `ncu`, and each launch is compared: its requests for
global memory, and its sectors. The simulator counts the kernel as written. Where the compiler has
merged loads or taken one out of a loop, or a thread has to ask until it is answered, the GPU asks
another number of times, and sectors tell nothing: `other requests`. Where both ask as often, the
sectors have to be equal, and a difference is ours to explain.

--csv reads what `ncu --csv` printed elsewhere for the same launches, on a machine without a GPU.
Exit status: 0 where nothing differs, 1 where sectors do, 2 where there is nothing to compare.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.card.nsight import NO_NCU, Counts, NoCounters, find_ncu, parse, profile
from gpu_course.errors import CourseError
from gpu_course.grading.kernel.trial import Given, attempt, poison, prepare
from gpu_course.hardware.run import run_natively, why_no_gpu
from gpu_course.puzzle import KernelPuzzle, index
from simt.kernel import source

SOLUTIONS = Path(__file__).parents[2] / "solutions"
KINDS = ("global_load", "global_store", "red", "atom")
EQUAL, OTHERWISE, DIFFERS, UNKNOWN = "equal", "other requests", "differs", "unknown"
MAX_SECONDS = 600.0


@dataclass(frozen=True)
class Compared:
    """One launch on both sides.

    Attributes:
        launch: "puzzle: kernel", with its place among the launches where there are several.
        state: EQUAL sectors; OTHERWISE, where the GPU asked another number of times; DIFFERS, where
            it asked as often and sectors are others; UNKNOWN, where ncu has no such counter.
        simulator, gpu: counter -> number.
    """

    launch: str
    state: str
    simulator: Mapping[str, int]
    gpu: Counts

    def different(self) -> list[str]:
        """Returns the counters that are not the same, with both numbers."""
        return [
            f"{name} {mine:,} here, {theirs:,} on the GPU"
            for name, mine in self.simulator.items()
            if (theirs := self.gpu[name]) is not None and mine != theirs
        ]


def chosen(names: Sequence[str]) -> tuple[KernelPuzzle, ...]:
    """Returns the kernel puzzles that are named, or all.

    Raises:
        CourseError: a name is none, or asks for no kernel.
    """
    found = [index.find(name) for name in names] or list(index.puzzles())
    kernels = tuple(each for each in found if isinstance(each, KernelPuzzle))
    if names and len(kernels) < len(found):
        raise CourseError("only kernels have sectors", "`gpu-course list` shows the puzzles")
    return kernels


def visible(puzzle: KernelPuzzle) -> Given:
    """Returns the visible example of a puzzle with its data, the same each time."""
    case = next(case for case in puzzle.cases if case.visible)
    return prepare(puzzle, case, seed=0)


def simulated(puzzle: KernelPuzzle) -> Iterator[tuple[str, dict[str, int]]]:
    """Yields (launch, counters of global memory) of a solution's visible example."""
    given = visible(puzzle)
    module = source.load(SOLUTIONS / f"{puzzle.name}.py")
    tried = attempt(given, {name: module.kernel(name) for name in puzzle.functions}, 0)
    for number, (launch, report) in enumerate(zip(given.launches, tried.reports, strict=True)):
        place = f" ({number + 1} of {len(given.launches)})" if len(given.launches) > 1 else ""
        counters = report.counters.as_dict()
        yield (
            f"{puzzle.short_name}: {launch.function}{place}",
            {
                f"{kind}.{what}": int(counters[kind][what])
                for kind in KINDS
                for what in ("requests", "sectors")
            },
        )


def launch_all(names: Sequence[str]) -> None:
    """Launches each visible example once on the GPU: what ncu looks at."""
    for puzzle in chosen(names):
        given = visible(puzzle)
        poisoned = {n: poison(a, 0) for n, a in given.outputs.items() if n not in given.inputs}
        path = SOLUTIONS / f"{puzzle.name}.py"
        run_natively(path, given.launches, {**given.inputs, **poisoned})


def compare(ncu: str, names: Sequence[str], seconds: float = MAX_SECONDS) -> list[Compared]:
    """Returns every launch on both sides, measured by ncu.

    Raises:
        NoCounters: ncu gave none, or those of another number of launches.
    """
    program = ["-m", "benchmarks.nsight_solutions", "--only-launch", *names]
    return compared(profile(ncu, program, seconds), names)


def compared(gpu: Sequence[Counts], names: Sequence[str]) -> list[Compared]:
    """Returns every launch on both sides.

    Args:
        gpu: what the GPU counted, launch by launch.
        names: the puzzles; none for all.

    Raises:
        NoCounters: these are counters of another number of launches.
    """
    ours = [each for puzzle in chosen(names) for each in simulated(puzzle)]
    if len(ours) != len(gpu):
        raise NoCounters(f"ncu saw {len(gpu)} launches of {len(ours)}")
    return [
        Compared(launch, _state(mine, theirs), mine, {name: theirs[name] for name in mine})
        for (launch, mine), theirs in zip(ours, gpu, strict=True)
    ]


def _state(mine: Mapping[str, int], theirs: Counts) -> str:
    """Returns what two sides come to; a kind of access that neither asks for says nothing.

    ncu has no counter of sectors for some kinds on some cards: where the simulator counts none
    there, nothing is missing.
    """
    states = set()
    for kind in KINDS:
        requests, sectors = (
            (mine[f"{kind}.{what}"], theirs[f"{kind}.{what}"]) for what in ("requests", "sectors")
        )
        if requests[1] is None or sectors[1] is None:
            states.add(UNKNOWN if requests[0] else EQUAL)
        elif requests[0] != requests[1]:
            states.add(OTHERWISE)
        else:
            states.add(EQUAL if sectors[0] == sectors[1] else DIFFERS)
    return next(state for state in (DIFFERS, OTHERWISE, UNKNOWN, EQUAL) if state in states)


def lines(found: Sequence[Compared]) -> list[str]:
    """Returns a line for each launch, and a sum."""
    width = max(len(each.launch) for each in found)
    told = [
        f"{each.launch:<{width}}  {each.state:<14}  {'; '.join(each.different())}".rstrip()
        for each in found
    ]
    counts = {state: sum(each.state == state for each in found) for state in _ORDER}
    summed = ", ".join(f"{number} {state}" for state, number in counts.items() if number)
    return [*told, "", f"{len(found)} launches: {summed}."]


_ORDER = (EQUAL, OTHERWISE, UNKNOWN, DIFFERS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the comparison; see the top of this file for the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="puzzles; default all kernels")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="what ncu --csv printed")
    parser.add_argument("--only-launch", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    try:
        if asked.only_launch:
            launch_all(asked.names)
            return 0
        if asked.csv is not None:
            found = compared(parse(asked.csv.read_text(encoding="utf-8")), asked.names)
        else:
            found = _measured(asked.names)
    except (NoCounters, CourseError, OSError, UnicodeDecodeError) as error:
        print(f"There is nothing to compare: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines(found)))
    return 1 if any(each.state == DIFFERS for each in found) else 0


def _measured(names: Sequence[str]) -> list[Compared]:
    chosen(names)  # a wrong name is told first
    reason, ncu = why_no_gpu(), find_ncu()
    if reason or ncu is None:
        raise NoCounters(f"no GPU to measure on ({reason})" if reason else NO_NCU)
    return compare(ncu, names)
