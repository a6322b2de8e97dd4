"""A view of the file system in which an answer finds Python and its libraries, and nothing else.

Source: Linux, Documentation/userspace-api/landlock.rst; linux/landlock.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_RIGHTS_OF_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Interface version -> how many rights on files it knows; 5 holds for later ones too."""


def version() -> int:
    """Returns the version of Landlock's interface in this kernel; 0 where there is none."""
    try:
        return max(_call(_CREATE_RULESET, None, 0, _VERSION_FLAG), 0)
    except OSError:
        return 0


def restrict(readable: Iterable[Path], hidden: Iterable[Path], *, network: bool = False) -> None:
    """Lets this thread read what lies under some paths, and use no other file; for good.

    Args:
        readable: files and folders; those that do not exist are left out.
        hidden: paths under them that stay out of reach all the same.
        network: True to leave TCP open.

    Raises:
        OSError: the kernel has no Landlock, or does not grant it here.
    """
    found = version()
    if not found:
        raise OSError(errno.ENOSYS, "no Landlock")
    rights = (1 << _RIGHTS_OF_VERSION[min(found, 5)]) - 1
    # From version 4 on TCP, from version 6 on abstract sockets and signals outside are closed too.
    closed, scope = (3 if found >= 4 and not network else 0), (3 if found >= 6 else 0)
    attributes = struct.pack("<QQQ", rights, closed, scope)
    size = 8 if found < 4 else 16 if found < 6 else 24
    ruleset = _call(_CREATE_RULESET, attributes, size, 0)
    try:
        for path, listing_only in grants(readable, hidden):
            _grant(ruleset, path, listing_only)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def grants(readable: Iterable[Path], hidden: Iterable[Path]) -> list[tuple[Path, bool]]:
    """Returns (path, True where only its listing is granted) so that what is hidden stays so.

    A right on a folder holds for all below it, so a folder with something hidden in it is granted
    child by child.
    """
    away = [path.resolve() for path in hidden]
    out: dict[tuple[Path, bool], None] = {}

    def add(path: Path) -> None:
        if path in away:
            return
        if not any(path in each.parents for each in away):
            out[path, False] = None
            return
        out[path, True] = None
        for child in sorted(path.iterdir()):
            if not child.is_symlink():
                add(child)

    for path in readable:
        if path.exists():
            add(path.resolve())
    return list(out)


def _grant(ruleset: int, path: Path, listing_only: bool) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = _READ_DIR if listing_only else _READ_FILE
        if path.is_dir():
            rights |= _READ_DIR
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("<Qi", rights, handle), 0)
    finally:
        os.close(handle)


def _call(number: int, *arguments: int | bytes | None) -> int:
    if platform.system() != "Linux":
        raise OSError(errno.ENOSYS, "not Linux")
    libc = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = int(libc.syscall(ctypes.c_long(number), *given))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
