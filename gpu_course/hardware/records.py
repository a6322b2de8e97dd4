"""What was measured on real GPUs, as plain data: written by `make gpu`, read by lessons.

A record is a file of JSON, benchmarks/records/GPU/PART.json of the checkout. It says on which card
it was made, with which driver and libraries and when, and holds one entry for each item. A record
that is not there is None: nothing is known, which is never a pass.
"""

from __future__ import annotations

import json
import os
import platform
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import gpu_course

PACKAGES = ("numpy", "numba", "numba-cuda", "numba-cuda-mlir", "torch", "cupy", "cuda-bindings")
"""Whose versions a record holds, where they are installed."""
_WHEELS = {"cupy": ("cupy", "cupy-cuda13x", "cupy-cuda12x")}


@dataclass(frozen=True)
class Record:
    """One part of what was measured on a GPU.

    Attributes:
        gpu: the folder it lies in, such as "nvidia-h200".
        part: the name of the file, such as "timings".
        device: the card: its "name", "driver", "compute_capability", "l2_bytes" and so on, None
            where the machine did not say.
        versions: of Python and the libraries; None for what is not installed.
        date: the day it was made, in UTC, such as "2026-11-23".
        commit: of the course, or None where git did not say.
        finished: False where the run ended before all items were measured.
        items: {name: what was found}; each has a "state".
    """

    gpu: str
    part: str
    device: Mapping[str, Any]
    versions: Mapping[str, str | None]
    date: str
    commit: str | None = None
    finished: bool = True
    items: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Timing:
    """How long a solution took on a GPU, at a size past its L2 cache, beside a large copy.

    Attributes:
        puzzle: its full name.
        gpu: the folder of the record, such as "nvidia-h200"; `device` the card's name, `driver` and
            `date` what it was measured with and when.
        sizes: of the case.
        seconds: of all launches of the case together, the median; `low_s` and `high_s` the least
            and the most of the samples.
        least_bytes: what has to cross the memory bus at least: each input read once and each output
            written once. What the kernel asks for may be more, and only counters say what it moved.
        copy_bytes_per_s: of a copy from one part of the card's memory to another, bytes read and
            bytes written added, measured in the same run.
        library, library_seconds: a library's call for the same work, and how long it took; None
            where there is none.
        matmul_flop_per_s: of PyTorch's product of float32 matrices without TF32 in the same run.
    """

    puzzle: str
    gpu: str
    device: str
    driver: str | None
    date: str
    sizes: Mapping[str, int]
    seconds: float
    low_s: float
    high_s: float
    least_bytes: int
    copy_bytes_per_s: float
    library: str | None = None
    library_seconds: float | None = None
    matmul_flop_per_s: float | None = None

    @property
    def share_of_library(self) -> float | None:
        """The library's time over this one: 1.0 is as fast as the library's call."""
        return None if self.library_seconds is None else self.library_seconds / self.seconds

    @property
    def bytes_per_s(self) -> float:
        """The least bytes over the seconds."""
        return self.least_bytes / self.seconds

    @property
    def share_of_copy(self) -> float:
        """The same over what a copy reaches: 1.0 is as fast as a copy of as many bytes."""
        return self.bytes_per_s / self.copy_bytes_per_s


def folder() -> Path:
    """Returns benchmarks/records of the checkout this package lies in."""
    return Path(gpu_course.__path__[0]).parent / "benchmarks" / "records"


def gpu_key(device: str) -> str:
    """Returns the name of a card's folder.

    >>> gpu_key("NVIDIA H100 80GB HBM3")
    'nvidia-h100-80gb-hbm3'
    """
    return re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")


def records(gpu: str | None = None, root: Path | None = None) -> tuple[Record, ...]:
    """Returns the records there are, by card and part; none is an empty tuple.

    Args:
        gpu: only those of one card: its folder, or its name as the driver says it.
        root: where they lie; default `folder()`.
    """
    root = folder() if root is None else root
    chosen = [root / gpu_key(gpu)] if gpu is not None else sorted(root.glob("*"))
    paths = [path for each in chosen for path in sorted(each.glob("*.json"))]
    return tuple(found for path in paths if (found := _read(path)) is not None)


def record(part: str, gpu: str, root: Path | None = None) -> Record | None:
    """Returns one part of what was measured on a card, or None where there is no record."""
    return next((each for each in records(gpu, root) if each.part == part), None)


def timing(puzzle: str, gpu: str | None = None, root: Path | None = None) -> Timing | None:
    """Returns how long a puzzle's solution took, or None where no record says so.

    Args:
        puzzle: its full name.
        gpu: a card's folder or name; default the first card with a record of this puzzle.
        root: where records lie.
    """
    for each in records(gpu, root):
        found = each.items.get(puzzle, {}) if each.part == "timings" else {}
        copy = each.items.get("copy", {}) if found else {}
        if _is_timed(found) and _is_timed(copy):
            library, matmul = found.get("library", {}), each.items.get("matmul", {})
            return Timing(
                puzzle=puzzle,
                gpu=each.gpu,
                device=str(each.device.get("name")),
                driver=each.device.get("driver"),
                date=each.date,
                sizes=found["sizes"],
                seconds=found["seconds"],
                low_s=found["low_s"],
                high_s=found["high_s"],
                least_bytes=found["least_bytes"],
                copy_bytes_per_s=copy["least_bytes"] / copy["seconds"],
                library=library.get("call"),
                library_seconds=library["seconds"] if _is_timed(library) else None,
                matmul_flop_per_s=matmul["flop"] / matmul["seconds"] if _is_timed(matmul) else None,
            )
    return None


def _is_timed(item: Mapping[str, Any]) -> bool:
    return item.get("state") == "timed" and item["seconds"] > 0


def write(found: Record, root: Path | None = None) -> Path:
    """Writes a record to its file, which holds the old one or the new one, and returns the file."""
    path = (folder() if root is None else root) / found.gpu / f"{found.part}.json"
    kept = {
        "device": dict(found.device),
        "versions": dict(found.versions),
        "date": found.date,
        "commit": found.commit,
        "finished": found.finished,
        "items": {name: dict(item) for name, item in found.items.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(kept, indent=1) + "\n")
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _read(path: Path) -> Record | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Record(path.parent.name, path.stem, **kept)
    except (OSError, ValueError, TypeError, RecursionError):  # what is no record says nothing
        return None


def versions() -> dict[str, str | None]:
    """Returns the versions of Python and of the libraries that a record depends on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


def _version(package: str) -> str | None:
    for wheel in _WHEELS.get(package, (package,)):
        try:
            return metadata.version(wheel)
        except metadata.PackageNotFoundError:
            continue
    return None


def today() -> str:
    """Returns the day in UTC, as records write it."""
    return datetime.now(UTC).date().isoformat()
