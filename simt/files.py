"""Files that are written whole: a reader finds the old one or the new one, never half of one.

A new file is made beside the old one, is on the disk before it takes its place, and takes it in one
step. Where what was there may be somebody's work, it is handed back.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_AT_FDCWD, _EXCHANGE = -100, 2  # of Linux; macOS calls the second RENAME_SWAP
_MAX_NAME = 50


def write_text(path: Path, text: str) -> None:
    """Writes a text; see `write_bytes`. What no file can hold of it is written as an escape."""
    try:
        data = text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        data = text.encode(errors="backslashreplace")
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file so that a reader finds the old one or the new one.

    A link stays a link: what it leads to is written. Into a pipe or a device it is written as it
    comes, since there is nothing to take the place of.

    Raises:
        OSError: it cannot be written; the old file is as it was.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        with path.open("wb") as file:
            file.write(data)
        return
    path = _behind(path)
    with _beside(path, data) as new:
        os.replace(new, path)


def exchange(path: Path, data: bytes) -> tuple[Path, ...]:
    """Writes a file, and returns what stood in its place until that moment, oldest first.

    Whoever asked what is there and writes then would lose what was saved between the two. So what
    was there is moved aside by the very step that puts the new file there, and whoever calls this
    decides what becomes of it. It is empty where nothing was there.

    Raises:
        OSError: it cannot be written; the old file is as it was.
    """
    if not _leads_to_no_file(path):
        path = _behind(path)
    with _beside(path, data) as new:
        aside: list[Path] = []
        while True:
            try:
                if _swapped(new, path):
                    return (*aside, new)
            except FileNotFoundError:
                pass  # nothing is there, and so there is nothing to swap with
            except OSError as error:
                if error.errno not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
                    raise
                aside += _moved_aside(path)
            try:
                _put(new, path)
                return tuple(aside)
            except FileExistsError:
                continue  # somebody was quicker, and what they wrote is moved aside as well


def _leads_to_no_file(path: Path) -> bool:
    """True for a link to a folder, a pipe or a device, of which others may have need.

    Such a link is moved aside itself, and what it leads to stays where it is.
    """
    try:
        return path.is_symlink() and not stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


@contextmanager
def _beside(path: Path, data: bytes) -> Iterator[Path]:
    """Yields a file with this content in the folder of another, and with its rights.

    It is removed where the block fails.
    """
    handle, new = _fresh(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            # On the disk before it takes the place of what was there.
            os.fsync(file.fileno())
        _like(new, path)
        yield new
    except BaseException as error:
        new.unlink(missing_ok=True)
        name_file(error, path)
        raise


def _fresh(path: Path) -> tuple[int, Path]:
    """Returns a new file beside another, opened, and its name."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:_MAX_NAME]}.")
    except OSError as error:
        name_file(error, path)
        raise
    return handle, Path(name)


def name_file(error: BaseException, path: Path) -> None:
    """Has an error of the system name a file: a full disk does not say for which it was full."""
    if isinstance(error, OSError) and (error.filename is None or error.filename2 is not None):
        error.filename, error.filename2 = str(path), None
    elif isinstance(error, OSError) and Path(str(error.filename)).parent == path.parent:
        error.filename = str(path)


def _behind(path: Path) -> Path:
    """Returns the file that a link leads to, whether or not it is there; else the path itself."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        # A folder that is not there now, such as that of a disk, is not made up.
        raise FileNotFoundError(errno.ENOENT, "it is a link that leads nowhere", str(path))
    return target


def _like(new: Path, path: Path) -> None:
    try:
        about = path.stat()
    except FileNotFoundError:
        os.chmod(new, 0o644)
        return
    os.chmod(new, stat.S_IMODE(about.st_mode) & 0o777)
    if hasattr(os, "chown"):
        # Only root can give a file away, and only root would take it from its owner by this.
        with suppress(OSError):
            os.chown(new, about.st_uid, about.st_gid)


def _swapped(one: Path, other: Path) -> bool:
    """Has two files change their names in one step.

    Raises:
        OSError: they cannot; ENOSYS where this system has no such step.
    """
    step = {"linux": "renameat2", "darwin": "renamex_np"}.get(sys.platform, "")
    libc: Any = ctypes.CDLL(None, use_errno=True) if step else None
    if not hasattr(libc, step or "no such step"):
        raise OSError(errno.ENOSYS, "no exchange of names")
    names: tuple[Any, ...] = os.fsencode(one), os.fsencode(other)
    if step == "renameat2":
        names = _AT_FDCWD, names[0], _AT_FDCWD, names[1]
    if getattr(libc, step)(*names, _EXCHANGE):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(other))
    return True


def _moved_aside(path: Path) -> list[Path]:
    """Moves a file to a name of its own; returns that name, or nothing where no file is there."""
    handle, aside = _fresh(path)
    os.close(handle)
    try:
        os.replace(path, aside)
    except FileNotFoundError:
        aside.unlink()
        return []
    except BaseException:
        aside.unlink()
        raise
    return [aside]


def _put(new: Path, path: Path) -> None:
    """Gives a file a name that no other has.

    Raises:
        FileExistsError: another has it.
    """
    if os.name == "nt":
        os.rename(new, path)
        return
    try:
        os.link(new, path)
    except FileExistsError:
        raise
    except OSError:
        # A file system without links, such as that of a memory stick.
        with _alone_in(path.parent):
            if path.exists():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
            os.rename(new, path)
        return
    new.unlink()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Has everybody who asks for the same folder wait until the block has ended."""
    import fcntl  # not on Windows, which gives no file a name that another has

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
