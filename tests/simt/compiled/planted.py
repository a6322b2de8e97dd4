"""Faults planted in what compiles kernels, one at a time: each has to be found by comparing.

A fault is a text of `simt/compiled` and what stands there instead, as somebody might write it by
mistake. The text is found once in all files of the package together, wherever it stands.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import simt.compiled
from simt import simulator
from tests.simt.compiled import both_ways, random_kernels
from tests.simt.compiled.both_ways import Launch
from tests.simt.compiled.telling import TELLING

PACKAGE = "simt.compiled"
RECORD = Path(__file__).parents[1] / "records" / "planted_filter.json"
_BROKEN = "cannot be loaded"
FOLDER = Path(str(simt.compiled.__file__)).parent
SEEDS = range(5_000_000, 5_000_040)
"""Random kernels that are compared after those that tell one thing each."""


@dataclass(frozen=True)
class Planted:
    """A fault.

    Attributes:
        name: what goes wrong.
        old, new: a text, and what stands in its place.
    """

    name: str
    old: str
    new: str

    @property
    def file(self) -> Path:
        """The one file with the text.

        Raises:
            ValueError: it stands in none, or more than once.
        """
        found = [path for path in sorted(FOLDER.rglob("*.py")) for _ in range(self._count(path))]
        if len(found) != 1:
            raise ValueError(f"{self.name}: {len(found)} places have {self.old!r}")
        return found[0]

    def _count(self, path: Path) -> int:
        return path.read_text(encoding="utf-8").count(self.old)


def launches(folder: Path) -> list[Launch]:
    """Returns the launches by which faults are found, as the interpreter runs them."""
    found: list[Launch] = []
    original = simulator._Configured._launch

    def kept(self: Any, arguments: tuple[Any, ...], schedule: Any) -> Any:
        if schedule is not None:
            return original(self, arguments, schedule)
        ended, one = both_ways.recorded(original, self, arguments, label)
        found.append(one)
        return ended

    with both_ways.interpreted(kept):
        for label, telling in TELLING.items():
            telling.launch(folder, label)
        for seed in SEEDS:
            label = f"seed {seed}"
            with contextlib.suppress(Exception):
                random_kernels.draw(seed).launch(folder)
    return found


def found_by(fault: Planted | None, known: list[Launch]) -> str:
    """Returns the launch by which a fault is found, and how it differs; "" for none.

    It is planted in a process of its own, which is a copy of this one.

    Args:
        fault: what to plant; None for nothing.
        known: the launches to compare.

    Raises:
        ValueError: the package cannot be loaded with it.
    """
    return _Search(fault, known).end()


def each_found_by(
    faults: list[Planted], known: list[Launch], jobs: int
) -> Iterator[tuple[Planted, str]]:
    """Yields each fault and what finds it; so many are looked for at a time."""
    begun: list[_Search] = []
    for number, fault in enumerate(faults):
        while len(begun) < min(len(faults), number + jobs):
            begun.append(_Search(faults[len(begun)], known))
        yield fault, begun[number].end()


class _Search:
    """A process in which a fault is looked for."""

    def __init__(self, fault: Planted | None, known: list[Launch]) -> None:
        self.fault = fault
        self.read, write = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            said = _BROKEN
            try:
                os.close(self.read)
                said = _first_difference(fault, known)
            except BaseException as error:
                said = f"{_BROKEN}: {type(error).__name__}: {error}"
            finally:
                with os.fdopen(write, "w") as out:
                    out.write(said)
                os._exit(0)
        os.close(write)

    def end(self) -> str:
        """Waits for it; returns what it has found."""
        with os.fdopen(self.read) as told:
            said = told.read()
        _, status = os.waitpid(self.child, 0)
        if said.startswith(_BROKEN):
            raise ValueError(f"{self.fault.name if self.fault else 'nothing'}: {said}")
        return said or (f"the process ended by signal {status}" if status else "")


def _first_difference(fault: Planted | None, known: list[Launch]) -> str:
    with _patched(fault):
        both_ways.compiled = importlib.import_module(f"{PACKAGE}.run")
        importlib.import_module(f"{PACKAGE}.jit").LEVEL = 0  # type: ignore[attr-defined]
        for one in known:
            kind, _ = one.judge()
            if kind in both_ways.WRONG:
                return f"{one.label}: {kind}"
    return ""


@contextlib.contextmanager
def _patched(fault: Planted | None) -> Iterator[None]:
    """Within it the package is loaded anew, with a fault."""
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]
    finder = _Finder(fault)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder:
    """Finds the package's modules, one of them with a fault."""

    def __init__(self, fault: Planted | None) -> None:
        self.fault, self.file = fault, fault.file if fault is not None else None

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        """Returns where a module comes from, if it is the one with the fault."""
        if self.file is None:
            return None
        inside = self.file.relative_to(FOLDER).with_suffix("").parts
        if name != ".".join((PACKAGE, *inside)):
            return None
        return spec_from_file_location(name, self.file, loader=_Loader(name, self.file, self.fault))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: Path, fault: Planted | None) -> None:
        super().__init__(name, str(path))
        self.fault = fault

    def get_code(self, fullname: str) -> Any:
        """Compiles the module with the fault; nothing is kept of it."""
        assert self.fault is not None
        text = Path(self.path).read_text(encoding="utf-8").replace(self.fault.old, self.fault.new)
        return compile(text, self.path, "exec", dont_inherit=True)


def _read(text: str) -> list[Planted]:
    return [
        Planted(name, _side(lines, "-"), _side(lines, "+")) for name, lines in _FAULT.findall(text)
    ]


def _side(lines: str, sign: str) -> str:
    return "\n".join(line[1:] for line in lines.splitlines() if line.startswith(sign))


_FAULT = re.compile(r"^## ([^\n]+)\n\n```diff\n(.*?)```$", re.MULTILINE | re.DOTALL)
FAULTS = _read((Path(__file__).parent / "planted.md").read_text(encoding="utf-8"))
"""Those of `planted.md`."""
