"""Logs of training runs in the style of Megatron's, written from a story, and read again.

A story says what each attempt of a run did; so what a log must say is known without reading it.
Losses, times and rates are drawn: no line is of a real run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

ODD_LOSSES = ("NAN", "INF", "")
"""As printed; Megatron leaves out what is not above 0."""


@dataclass(frozen=True)
class Attempt:
    """What a job did from its start until it was killed.

    Attributes:
        loads: the iteration of the checkpoint that it loads; None for a job that begins anew.
        last: the last iteration that it finishes; none where this is not after the checkpoint.
        cut: the rank whose last line is cut, or None; -1 for the rank with the highest number.
    """

    loads: int | None
    last: int
    cut: int | None = None


@dataclass(frozen=True)
class Record:
    """One iteration, as a log tells it.

    Attributes:
        iteration: its number.
        loss: as printed; "" where it is left out.
        elapsed_ms: as printed.
        tflops: as printed.
    """

    iteration: int
    loss: str
    elapsed_ms: str
    tflops: str

    @property
    def line(self) -> str:
        """The record as Megatron prints it, without its rank."""
        loss = f" lm loss: {self.loss} |" if self.loss else ""
        nan = int(self.loss in ("", "NAN"))
        return (
            f" iteration {self.iteration:8d}/{115_000:8d} | consumed samples:"
            f" {2048 * self.iteration:12d} | elapsed time per iteration (ms): {self.elapsed_ms} |"
            f" learning rate: 6.000E-05 | global batch size: {2048:5d} |{loss} loss scale: 1.0 |"
            f" grad norm: {0.1 + self.iteration % 7 / 100:.3f} | number of skipped iterations:"
            f" {0:3d} | number of nan iterations: {nan:3d} | TFLOPs: {self.tflops} |"
        )

    @property
    def values(self) -> tuple[int, float, float, float]:
        """Iteration, loss, milliseconds and TFLOP/s as numbers."""
        loss = float(self.loss) if self.loss else math.nan
        return self.iteration, loss, float(self.elapsed_ms), float(self.tflops)


@dataclass(frozen=True)
class Story:
    """A log and what it says.

    Attributes:
        text: the log.
        result: what `parse_log` is to find in it.
    """

    text: str
    result: dict[str, Any]


def told(
    rng: np.random.Generator, attempts: Sequence[Attempt], ranks: int, odd: bool = True
) -> Story:
    """Returns the log of a run.

    Args:
        rng: draws numbers, and which ranks are late.
        attempts: what happened, in order.
        ranks: how many there are; the last one's records are those of the run.
        odd: True where some losses are NaN, infinite or left out.
    """
    late = np.sort(rng.choice([0, 0, 2, 5], ranks))[::-1]  # the last rank is the quickest
    text, waiting = "", [[] for _ in range(ranks)]  # type: tuple[str, list[list[str]]]
    kept: list[Record] = []
    lost: list[Record] = []
    for attempt in attempts:
        begin = 0 if attempt.loads is None else attempt.loads
        said: list[list[str]] = [[] for _ in range(ranks)]
        if attempt.loads is not None:
            lost += [record for record in kept if record.iteration > begin]
            kept = [record for record in kept if record.iteration <= begin]
            for lines in said:
                lines.append(
                    f" successfully loaded checkpoint from /ckpt/step{begin} at iteration {begin}"
                )
        records = _records(rng, range(begin + 1, attempt.last + 1), odd)
        kept += records
        for record in records:
            said[ranks - 1].append(record.line)
            if record.iteration % 5 == 0:
                saved = f" successfully saved checkpoint at iteration {record.iteration} to /ckpt"
                said[ranks - 1].append(saved)
            for rank in range(ranks - 1):
                said[rank].append(_of_another(rng, record, rank))
        cut = attempt.cut if attempt.cut is None or attempt.cut >= 0 else ranks - 1
        if cut is not None:
            said[cut].append(_drawn(rng, max(begin, attempt.last) + 1).line)
        for rank, lines in enumerate(said):
            ended = [f"[default{rank}]: {line}\n" for line in lines]
            if rank == cut:
                # So much is missing that no end of a field is taken for the end of the line.
                ended[-1] = ended[-1][: int(rng.integers(3, len(ended[-1]) - 12))]
            waiting[rank] += ended
        text += _mixed(rng, waiting, late, attempt is attempts[-1])
        if rng.integers(2) and text.endswith("\n"):
            text += "slurmstepd: error: *** JOB CANCELLED ***\n"
    return Story(
        text,
        {
            "records": [record.values for record in kept],
            "restarts": sum(attempt.loads is not None for attempt in attempts),
            "lost": len(lost),
            "lost_ms": sum(record.values[2] for record in lost),
        },
    )


def _mixed(
    rng: np.random.Generator, waiting: list[list[str]], late: np.ndarray, everything: bool
) -> str:
    """Takes lines of all ranks in a drawn order, each rank's in order, and leaves the late ones."""
    keep = [0 if everything else int(late[rank]) for rank in range(len(waiting))]
    keep = [min(keep[rank], len(lines)) for rank, lines in enumerate(waiting)]
    turns = [rank for rank, lines in enumerate(waiting) for _ in range(len(lines) - keep[rank])]
    found = "".join(waiting[rank].pop(0) for rank in rng.permutation(turns).tolist())
    return found


def _records(rng: np.random.Generator, iterations: range, odd: bool) -> list[Record]:
    """Returns a record for each; of four or more, one of each odd kind is among them."""
    records = [_drawn(rng, n) for n in iterations]
    if odd and len(records) > len(ODD_LOSSES):
        for loss, at in zip(ODD_LOSSES, rng.permutation(len(records)).tolist(), strict=False):
            records[at] = replace(records[at], loss=loss)
    return records


def _drawn(rng: np.random.Generator, iteration: int) -> Record:
    milliseconds = float(rng.uniform(104_000, 107_000))
    loss, rate = f"{rng.uniform(1.9, 2.6):.6E}", f"{15_680_000 / milliseconds:.2f}"
    return Record(iteration, loss, f"{milliseconds:.1f}", rate)


def _of_another(rng: np.random.Generator, record: Record, rank: int) -> str:
    """What another rank says meanwhile: every third one has records of its own replica."""
    if rank % 3 == 0:
        return _drawn(rng, record.iteration).line
    return f" iteration {record.iteration} | time (ms) | forward-compute: {rng.uniform(9, 10):.2f}"
