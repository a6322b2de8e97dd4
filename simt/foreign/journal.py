"""What was launched in other processes than the one that tells of a run.

A script may fork, start a pool or another Python, or end by `os._exit`. So each process but the one
that tells writes every launch down as soon as it is over, into a file of its own in one folder, and
the one that tells reads them. A file is locked as long as its process lives: who reads last knows
whether launches may be missing.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from simt.report import Counters, Hazard, Report

VARIABLE = "SIMT_JOURNAL"
"""Names the folder, for processes that are started."""
CHILDREN = Path(__file__).with_name("children")
LENGTH_BYTES = 8
NONE = "what other processes launched was not seen: there is no room for a temporary file"
"""Said where there was no journal."""


@dataclass(frozen=True)
class Entry:
    """One launch.

    Attributes:
        file, kernel: what was launched.
        hazards: what it showed.
        counters: what it cost.
    """

    file: str
    kernel: str
    hazards: tuple[Hazard, ...]
    counters: Counters

    @classmethod
    def of(cls, report: Report, more: Iterable[Hazard] = ()) -> Entry:
        """Returns what is kept of a report, and of what other orders of its threads showed."""
        return cls(report.file, report.kernel, (*report.hazards, *more), report.counters)


class Journal:
    """The folder into which the processes of a run write.

    Args:
        folder: it is there, and nobody else may write to it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, int] = {}
        self._file: int | None = None
        self._process = 0

    @classmethod
    @contextlib.contextmanager
    def made(cls) -> Iterator[Journal | None]:
        """Yields a journal in a temporary folder, which is removed afterwards.

        It is None where there is no room for one: then no other process can be seen.
        """
        try:
            folder = Path(tempfile.mkdtemp(prefix="simt-journal-"))
        except OSError:
            yield None
            return
        maker = os.getpid()
        try:
            yield cls(folder)
        finally:
            if os.getpid() == maker:  # and not in a fork that ends
                shutil.rmtree(folder, ignore_errors=True)

    def reached(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Returns an environment in which every Python that is started writes into this journal."""
        paths = environment.get("PYTHONPATH", "").split(os.pathsep)
        others = [each for each in paths if each and each != str(CHILDREN)]
        path = os.pathsep.join([str(CHILDREN), *others])
        return {**environment, "PYTHONPATH": path, VARIABLE: str(self.folder)}

    def write(self, entry: Entry) -> None:
        """Writes a launch down, whole and at once."""
        if self._process != os.getpid():
            # A fork's copy of the descriptor is its parent's file, and no lock comes along.
            self._process = os.getpid()
            self._file = _locked(self.folder / f"{self._process}.launches")
        assert self._file is not None
        data = pickle.dumps(entry)
        os.write(self._file, len(data).to_bytes(LENGTH_BYTES, "little") + data)

    def entries(self) -> Iterator[Entry]:
        """Yields what was written since this was last asked."""
        for path in sorted(self.folder.glob("*.launches")):
            data = path.read_bytes()
            at = self._read.get(path.name, 0)
            while (start := at + LENGTH_BYTES) <= len(data):
                end = start + int.from_bytes(data[at:start], "little")
                if end > len(data):
                    break
                yield pickle.loads(data[start:end])
                at = end
            self._read[path.name] = at

    def still_running(self) -> list[int]:
        """Returns the processes that have launched something and have not ended."""
        return [
            int(path.stem)
            for path in sorted(self.folder.glob("*.launches"))
            if int(path.stem) != os.getpid() and _is_locked(path)
        ]


def _locked(path: Path) -> int:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    if sys.platform != "win32":
        import fcntl

        # A record lock is a process's own: no fork inherits it, and the system ends it.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def _is_locked(path: Path) -> bool:
    if sys.platform == "win32":
        return False
    import fcntl

    with path.open("rb+") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False
