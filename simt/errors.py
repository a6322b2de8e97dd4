"""Every error the simulator raises on purpose: the fact, the place, and what to try."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simt.report import Hazard, Report


NOTEBOOK_CELL = "notebook cell"
"""What messages call the file of a kernel that was defined in a cell."""


def place(file: str, line: int) -> str:
    """Returns a line of a file as messages name it. A cell has no file name to click on.

    >>> place("puzzles/01_threads/guard.py", 12), place("notebook cell", 5)
    ('puzzles/01_threads/guard.py:12', 'notebook cell, line 5')
    """
    return f"{file}, line {line}" if file == NOTEBOOK_CELL else f"{file}:{line}"


class UserError(Exception):
    """What went wrong and what to try, in words its reader can act on.

    Args:
        fact: one sentence that says what is wrong, with the values at hand.
        hint: one sentence that says what to try; left out of the text when empty.
        places: where it is so, a line each; likewise.
    """

    def __init__(self, fact: str, hint: str = "", places: Sequence[str] = ()) -> None:
        self.fact = fact
        self.hint = hint
        self.places = tuple(places)
        lines = [fact]
        if places:
            lines.append("  where:  " + f"\n{'':10}".join(places))
        if hint:
            lines.append(f"  try:    {hint}")
        super().__init__("\n".join(lines))


class KernelRefused(UserError):
    """A kernel that Numba would not compile, or that uses what the simulator does not know.

    Args:
        fact: what is refused and why.
        file: the file the kernel stands in.
        line: the line of the refused construct in that file, counted from 1.
        text: that line of source.
        kernel: the kernel's name.
        hint: what to write instead.
    """

    def __init__(
        self, fact: str, *, file: str, line: int, text: str = "", kernel: str = "", hint: str = ""
    ) -> None:
        self.file = file
        self.line = line
        self.text = text
        self.kernel = kernel
        super().__init__(fact, hint, [f"{self.where}    {text}".rstrip()])

    @property
    def where(self) -> str:
        """The kernel and the line, as messages name them."""
        where = place(self.file, self.line)
        return f"kernel {self.kernel}, {where}" if self.kernel else where


class HazardError(UserError):
    """The first error a launch ran into, raised by `simulate(kernel, raise_on_hazard=True)`.

    Attributes:
        report: the whole Report of the launch.
        hazard: the Hazard that is raised.
    """

    def __init__(self, report: Report, hazard: Hazard) -> None:
        self.report = report
        self.hazard = hazard
        super().__init__(hazard.text())


class OutOfBoundsError(HazardError):
    """A load or store outside its array."""


class RaceError(HazardError):
    """Two threads touched one address, at least one wrote, and nothing ordered them."""


class BarrierDivergenceError(HazardError):
    """A barrier that some threads of the block did not reach."""


class UninitialisedReadError(HazardError):
    """A variable or a memory cell was read before anything was written to it."""


class InactiveLaneError(HazardError):
    """A warp operation named a lane that does not take part."""


class IllegalLaunchError(HazardError):
    """A grid, block or shared-memory size that no GPU accepts; nothing has run."""


class EndlessLoopError(HazardError):
    """A launch that does not end within its step budget."""


class MisalignedError(HazardError):
    """An access whose address is not a multiple of its own size."""


HAZARD_ERRORS: dict[str, type[HazardError]] = {
    "out-of-bounds": OutOfBoundsError,
    "race": RaceError,
    "barrier-divergence": BarrierDivergenceError,
    "uninitialised-read": UninitialisedReadError,
    "inactive-lane": InactiveLaneError,
    "illegal-launch": IllegalLaunchError,
    "endless-loop": EndlessLoopError,
    "misaligned": MisalignedError,
}


class SourceFileError(UserError):
    """A file of kernels that cannot be read as text."""


_FILE_STEPS = {
    errno.EACCES: "give yourself the right to read and write it, and its folder",
    errno.EPERM: "give yourself the right to read and write it, and its folder",
    errno.EROFS: "it lies where nothing can be written; copy all of it to a folder of your own",
    errno.ENOSPC: "make room on the disk and do it again; what was there before is unchanged",
    errno.EISDIR: "it is a folder: name a file, or move the folder away",
    errno.EEXIST: "a file stands where a folder should be; move it away",
    errno.ENOTDIR: "a file stands where a folder should be; move it away",
    errno.ENOENT: "see that its name is right, that its folder is there, and that it is no link to "
    "what is gone",
    errno.ELOOP: "it is a link that leads back to itself; remove it",
}


def file_problem(error: OSError, shown: str = "", done: str = "used") -> UserError:
    """Returns what the system says of a file as an error its reader can act on.

    Args:
        error: the system's.
        shown: what to call the file; default the path the system names.
        done: what cannot be done with it.

    >>> print(file_problem(PermissionError(errno.EACCES, "Permission denied"), "a.py", "read"))
    a.py cannot be read: Permission denied
      try:    give yourself the right to read and write it, and its folder
    """
    name = shown or os.fsdecode(error.filename2 or error.filename or "a file")
    hint = _FILE_STEPS.get(error.errno or 0, "see that it is there and that you may write to it")
    return UserError(f"{name} cannot be {done}: {error.strerror or error}", hint)
