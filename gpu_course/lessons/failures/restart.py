"""torchrun restarts a run whose rank was killed: the program it starts, and what became of it.

torchrun starts all ranks again as soon as one has ended. On gloo the second attempt finds the
addresses of the first one in the store, connects to processes that are no more, and dies in
connectFullMesh. A `PrefixStore` named by TORCHELASTIC_RESTART_COUNT gives each attempt keys of its
own.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import torch.distributed as dist
import typer

from gpu_course.errors import CourseError
from gpu_course.lessons.failures.training import train

MODULE = "gpu_course.lessons.failures.restart"
ATTEMPT_VARIABLE = "TORCHELASTIC_RESTART_COUNT"
JOIN_S = 30.0
LIMIT_S = 180.0
_MARK = "event "


@dataclass(frozen=True)
class Happened:
    """Something that a rank told.

    Attributes:
        at_s: when, by this machine's clock.
        attempt: the how-manieth start, from 0.
        rank: who tells it.
        what: in words.
    """

    at_s: float
    attempt: int
    rank: int
    what: str


@dataclass(frozen=True)
class Transcript:
    """What the ranks told of a run under torchrun, the first first.

    Attributes:
        events: of all attempts.
        status: torchrun's own exit status.
        said: what the run and torchrun wrote beside that.
    """

    events: tuple[Happened, ...]
    status: int
    said: str

    def first(self, attempt: int, what: str) -> Happened:
        """Returns the first event of an attempt whose words begin so.

        Raises:
            CourseError: there was none.
        """
        for event in self.events:
            if event.attempt == attempt and event.what.startswith(what):
                return event
        raise CourseError(f"no rank told {what!r} in attempt {attempt}", f"it said: {self.said}")

    @property
    def back_s(self) -> float:
        """From the kill to the end of the first step after it."""
        return self.first(1, "has done step").at_s - self.first(0, "is killed").at_s

    @property
    def turns(self) -> tuple[Happened, ...]:
        """The events without the steps, but for the last of who is killed and the first after it.

        Of the first step after it rank 0 tells, whoever was quicker.
        """
        killed = self.first(0, "is killed")
        before = [e for e in self._steps(killed.rank) if e.attempt == 0][-1:]
        after = [e for e in self._steps(0) if e.attempt == 1][:1]
        kept = {*before, *after}
        return tuple(e for e in self.events if e in kept or not e.what.startswith("has done"))

    def _steps(self, rank: int) -> list[Happened]:
        return [e for e in self.events if e.rank == rank and e.what.startswith("has done step")]

    def __str__(self) -> str:
        killed = self.first(0, "is killed").at_s
        return "\n".join(
            f"{each.at_s - killed:+7.2f} s  attempt {each.attempt}  rank {each.rank} {each.what}"
            for each in self.turns
        )


def attempt_store() -> dist.Store:
    """Returns torchrun's store as this attempt sees it, with keys that no other attempt has."""
    store = dist.TCPStore(
        os.environ["MASTER_ADDR"],
        int(os.environ["MASTER_PORT"]),
        int(os.environ["WORLD_SIZE"]),
        is_master=False,
        timeout=timedelta(seconds=JOIN_S),
    )
    return dist.PrefixStore(os.environ[ATTEMPT_VARIABLE], store)


def launched(
    folder: str | os.PathLike[str],
    *,
    ranks: int = 2,
    steps: int = 12,
    kill: tuple[int, int] = (1, 8),
    plain: bool = False,
) -> Transcript:
    """Returns what became of a run that torchrun started, and started again after a kill.

    Args:
        folder: for checkpoints and logs, empty.
        ranks: processes on this machine.
        steps: of the run.
        kill: (rank, step), in the first attempt alone.
        plain: without the prefix, as `init_process_group("gloo")` does it.

    Raises:
        CourseError: it took longer than LIMIT_S.
    """
    asked = [os.fspath(folder), str(steps), *map(str, kill), *(["--plain"] if plain else [])]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    options = ["--nproc-per-node", str(ranks), "--max-restarts", "1", "-m", MODULE]
    process = subprocess.Popen(
        [*torchrun, *options, *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        raise CourseError(f"torchrun has not ended after {LIMIT_S:g} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    lines = said.splitlines()
    rest = "\n".join(line for line in lines if not line.startswith(_MARK))
    return Transcript(tuple(_events(lines)), process.returncode, rest)


def _events(lines: Iterable[str]) -> list[Happened]:
    told = [json.loads(line[len(_MARK) :]) for line in lines if line.startswith(_MARK)]
    return sorted((Happened(**each) for each in told), key=lambda each: each.at_s)


def main(
    folder: Path,
    steps: int,
    kill_rank: int,
    kill_step: int,
    plain: Annotated[bool, typer.Option(help="no prefix on the store")] = False,
) -> None:
    """Trains as one rank that torchrun started; in the first attempt one of them is killed."""
    attempt, rank = int(os.environ[ATTEMPT_VARIABLE]), int(os.environ["RANK"])

    def tell(what: str) -> None:
        event = {"at_s": time.time(), "attempt": attempt, "rank": rank, "what": what}
        # In one piece: all ranks write into one pipe.
        os.write(1, f"{_MARK}{json.dumps(event)}\n".encode())

    size, limit = int(os.environ["WORLD_SIZE"]), timedelta(seconds=JOIN_S)
    try:
        if plain:
            dist.init_process_group("gloo", timeout=limit)
        else:
            store = attempt_store()
            dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=limit)
        tell("has joined")
        kill = (kill_rank, kill_step) if attempt == 0 else None
        train(os.fspath(folder), steps, attempt, kill, tell)
    except RuntimeError as error:
        tell(f"fails: {_short(str(error))}")
        raise
    dist.destroy_process_group()


def _short(error: str) -> str:
    if "connectFullMesh" in error:
        return "connectFullMesh"
    gone = ("Connection closed by peer", "Connection reset by peer")
    return "its peer is gone" if any(each in error for each in gone) else error[:60]


if __name__ == "__main__":
    typer.run(main)
