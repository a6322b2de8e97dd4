"""What lesson 32 does on real ranks: a run that is killed and comes back, a hang, a slow disk."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpu_course.errors import CourseError
from gpu_course.lessons.failures import recorder
from gpu_course.lessons.failures.training_log import Record
from gpu_course.notebook.marks import asks_for_answers
from gpu_course.notebook.note import telling
from gpu_course.notebook.own.ranks import run_own
from gpu_course.ranks.programs import called
from gpu_course.ranks.runner import RankFailed, run_function
from simt.text import count

if TYPE_CHECKING:
    from gpu_course.lessons.failures.training import Logged

STEPS = 12
CLOSE = 1e-12
"""Relative: what another order of sums may change in float64."""


@dataclass(frozen=True)
class Back:
    """A run that has come back from its newest checkpoint.

    Attributes:
        ranks: on which it went on.
        began: with which step.
        losses: of the steps since.
        whole: losses of the same steps where nobody was killed.
        counted: {times: rows} that the history of the final weights has seen so often.
        again: steps that were done a second time.
        logs: what all ranks wrote, before the kill and after it.
    """

    ranks: int
    began: int
    losses: tuple[float, ...]
    whole: tuple[float, ...]
    counted: dict[int, int]
    again: int
    logs: tuple[Logged, ...] = field(repr=False)

    @property
    def same(self) -> str:
        """How near the losses are to those of the run that nobody killed."""
        if self.losses == self.whole:
            return "bit for bit"
        off = max(abs(a - b) / abs(b) for a, b in zip(self.losses, self.whole, strict=True))
        return "to 12 digits" if off < CLOSE else "not the same"

    def __str__(self) -> str:
        seen = ", ".join(f"{rows} rows {_times(times)}" for times, rows in self.counted.items())
        return "\n".join(
            (
                f"back on {count(self.ranks, 'rank')} with step {self.began}",
                f"steps done a second time: {self.again}",
                f"losses as if nobody had been killed: {self.same}",
                f"seen on the way to the final weights: {seen}",
            )
        )


@dataclass(frozen=True)
class Killed:
    """A run of which one rank was killed, and the folder that it left.

    Attributes:
        ranks: of the run.
        rank, step: who was killed, and in which step.
        said: what was told of the end.
        whole: losses of the same run without a kill.
        newest: the step of the newest whole checkpoint.
        folder: with its checkpoints and logs; gone with this object.
    """

    ranks: int
    rank: int
    step: int
    said: str
    whole: tuple[float, ...]
    newest: int
    folder: str = field(repr=False)

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def __str__(self) -> str:
        from gpu_course.lessons.failures.training import logs

        last = max((each.step for each in logs(self.folder)), default=None)
        kept = sorted(path.parent.name for path in Path(self.folder).glob("*/.metadata"))
        return "\n".join(
            (
                f"{self.said}, and the others could not go on",
                f"the last line of the logs: {'none' if last is None else f'step {last}'}",
                f"whole checkpoints: {', '.join(kept) or 'none'}",
            )
        )

    @telling
    def back(self, ranks: int) -> Back:
        """Returns what becomes of it on so many ranks.

        Args:
            ranks: 1, 2, 3, 4 or 6, which share a batch of 12 rows evenly.
        """
        from gpu_course.lessons.failures.training import BATCH, logs, train

        if BATCH % ranks:
            raise CourseError(f"{ranks} ranks do not share {BATCH} rows", "take 1, 2, 3, 4 or 6")
        with tempfile.TemporaryDirectory() as parent:
            folder = str(Path(parent, "run"))
            shutil.copytree(self.folder, folder)
            asked = {"folder": folder, "steps": STEPS, "attempt": 1}
            found = run_function(train, ranks, asked).results[0]
            began = found["began"]
            found_logs = tuple(logs(folder))
        counted, again = _counted(found_logs)
        losses = tuple(found["losses"])
        return Back(ranks, began, losses, self.whole[began:], counted, again, found_logs)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def killed(rank: int = 1, step: int = 8, ranks: int = 3) -> Killed:
    """Returns a run of which a process is ended in the middle of a step, by SIGKILL.

    Args:
        rank: whose process.
        step: in which, after its gradients are there.
        ranks: of the run, 1 to 4.

    Raises:
        CourseError: the numbers do not fit, or the ranks could not run at all.
    """
    from gpu_course.lessons.failures.training import BATCH, newest, train

    if not 0 <= rank < ranks or not 0 <= step < STEPS or ranks > 4 or BATCH % ranks:
        raise CourseError(
            f"rank {rank} of {ranks}, step {step} of {STEPS}",
            "ask for a rank of 1, 2, 3 or 4, and for one of the steps",
        )
    with tempfile.TemporaryDirectory() as undisturbed:
        asked = {"folder": undisturbed, "steps": STEPS}
        whole = tuple(run_function(train, ranks, asked).results[0]["losses"])
    folder = tempfile.mkdtemp()
    try:
        run_function(train, ranks, {"folder": folder, "steps": STEPS, "kill": [rank, step]})
    except RankFailed as failed:
        if failed.key != "ended" or failed.rank != rank:
            raise
        said = f"rank {rank} was ended by SIGKILL in step {step}"
        return Killed(ranks, rank, step, said, whole, newest(folder), folder)
    raise CourseError("the rank was to be killed, and the run came to its end")


def _counted(logs: Sequence[Logged]) -> tuple[dict[int, int], int]:
    """Returns ({times: rows seen so often}, steps done again) of a run's final history.

    Of a step that two attempts have done, the later one counts: the weights come from it.
    """
    latest: dict[int, int] = {}
    for each in logs:
        latest[each.step] = max(latest.get(each.step, 0), each.attempt)
    rows = Counter(row for each in logs if each.attempt == latest[each.step] for row in each.rows)
    times = Counter(rows.values())
    steps = {(each.attempt, each.step) for each in logs}
    return dict(sorted(times.items())), len(steps) - len(latest)


def log_of(back: Back) -> str:
    """Returns the log of a run that was killed and came back, as Megatron would have printed it.

    Times and rates are made up, since nobody measured them: 105,000 ms and 150 TFLOP/s.

    Args:
        back: it, on any number of ranks.
    """
    lines = []
    loaded = False
    for each in back.logs:
        if each.attempt and not loaded:
            lines.append(f"[default{each.size - 1}]: {_LOADED.format(back.began)}")
            loaded = True
        record = Record(each.step + 1, f"{each.loss:.6E}", "105000.0", "150.00")
        lines.append(f"[default{each.rank}]: {record.line}")
    return "\n".join([*lines, ""])


_LOADED = " successfully loaded checkpoint from /ckpt at iteration {}"


@asks_for_answers
@telling
def own_parse_text(back: Back) -> str:
    """Returns what your answer reads from the log of a run that was killed.

    Args:
        back: it, on as many ranks as before.
    """
    asked = {"text": log_of(back)}
    found = run_own("parse_log", called, 1, function="parse_log", asked=asked).results[0]
    try:
        kept = [record[0] for record in found["records"]]
        lost, restarts = found["lost"], found["restarts"]
    except (TypeError, KeyError, IndexError):
        raise CourseError("your parse_log returns no records") from None
    return "\n".join(
        (
            f"restarts: {restarts}",
            f"records that were lost: {lost}",
            f"iterations that count: {' '.join(map(str, kept))}",
        )
    )


@telling
def hang_text(fault: str = "another call", ranks: int = 3) -> str:
    """Returns what each rank's recorder says of a run that hangs, one list after the other.

    Args:
        fault: of rank 1, as for `hanging.hang`.
        ranks: of the run.
    """
    lines = []
    for rank, (entries, error) in enumerate(_hung(fault, ranks)):
        lines.append(f"rank {rank} {error or 'came to its end'}")
        lines += [f"  {e.number}  {e.name:<12}{e.state:<12}{e.place}" for e in entries]
    return "\n".join(lines)


@telling
def odd_one_text(fault: str = "another call", ranks: int = 3) -> str:
    """Returns which rank called another thing, found by laying the lists side by side.

    Args:
        fault, ranks: as for `hang_text`.
    """
    found = recorder.first_difference([entries for entries, _ in _hung(fault, ranks)])
    return str(found) if found else "all ranks called the same"


@lru_cache(8)
def _hung(fault: str, ranks: int) -> list[tuple[Sequence[recorder.Entry], str]]:
    from gpu_course.lessons.failures.hanging import hang

    results = run_function(hang, ranks, {"fault": fault}).results
    return [([_entry(each) for each in r["entries"]], r["error"]) for r in results]


def _entry(told: dict[str, Any]) -> recorder.Entry:
    sizes = tuple(tuple(map(int, each)) for each in told["sizes"])
    return recorder.Entry(**told | {"sizes": sizes})


@dataclass(frozen=True)
class Behind:
    """A checkpoint written while training went on.

    Attributes:
        events: on rank 0, in order.
        holds: the step whose weights it has.
    """

    events: tuple[str, ...]
    holds: int

    def __str__(self) -> str:
        return "\n".join(self.events)


def behind(copied: bool = True) -> Behind:
    """Returns what happens round a checkpoint of step 3 on a disk that is three steps late.

    Args:
        copied: whether the weights are copied before the call returns, as `async_save` does it.
    """
    from gpu_course.lessons.failures.saving import behind as program

    with tempfile.TemporaryDirectory() as folder:
        asked = {"path": str(Path(folder, "checkpoint")), "copied": copied}
        found = run_function(program, 2, asked).results[0]
    return Behind(tuple(found["events"]), int(found["holds"]))


LEAST_S = 0.01
"""By so much less than the median a slow rank waits: more than a busy laptop's pauses."""


@dataclass(frozen=True)
class Watched:
    """What was measured of a run on real ranks, as the puzzle gets it.

    Attributes:
        measured: "arrived", "left", "own", "sizes" and "result", each (steps, ranks).
        off: ranks whose weights differ from those of the most at the end.
    """

    measured: dict[str, np.ndarray]
    off: tuple[int, ...]

    @property
    def waits_ms(self) -> list[float]:
        """For each rank, the median of its waits in the all-reduce."""
        waits = self.measured["left"] - self.measured["arrived"]
        return [float(each) for each in 1000 * np.median(waits, axis=0)]

    def __str__(self) -> str:
        waits = ", ".join(f"{wait:.0f}" for wait in self.waits_ms)
        return f"median wait in the all-reduce, rank by rank: {waits} ms"


def watched_run(
    slow: int = 2, flipped: tuple[int, int] = (1, 5), ranks: int = 4, steps: int = 8
) -> Watched:
    """Returns what is measured of replicas of which one computes more, and one gets another bit.

    Args:
        slow: the rank that computes more than the others; -1 for none.
        flipped: (rank, step) of the bit; rank -1 for none.
        ranks, steps: of the run.
    """
    from gpu_course.lessons.failures.faulty import watched

    asked = {"steps": steps, "slow": slow, "flipped": list(flipped)}
    told = run_function(watched, ranks, asked).results
    names = ("arrived", "left", "own", "sizes", "result")
    measured = {
        name: np.array([each[name] for each in told], dtype=np.float64).T.copy() for name in names
    }
    last = [each["weights"][-1] for each in told]
    most = max(last, key=last.count)
    off = tuple(rank for rank, each in enumerate(last) if each != most)
    return Watched(measured, off)


@asks_for_answers
@telling
def own_faulty_text(run: Watched) -> str:
    """Returns whom your answer finds in what was measured of a real run.

    Args:
        run: of `watched_run`.
    """
    puzzle, asked = "find_the_faulty_rank", {**run.measured, "least": LEAST_S}
    found = run_own(puzzle, called, 1, function=puzzle, asked=asked).results[0]
    try:
        late, corrupt = list(found["slow"]), [tuple(each) for each in found["corrupt"]]
        places = [f"step {step}, rank {rank}" for step, rank in corrupt]
    except (TypeError, KeyError, ValueError):
        raise CourseError(f"your {puzzle} returns no ranks") from None
    return "\n".join(
        (
            f"slow: {_listed(late)}",
            f"corrupt: {'; '.join(places) or 'none'}",
            f"weights that differ from the others' at the end: {_listed(run.off)}",
        )
    )


def _listed(ranks: Sequence[int]) -> str:
    return ", ".join(f"rank {rank}" for rank in ranks) or "none"
